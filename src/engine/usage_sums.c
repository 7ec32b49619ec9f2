/* Invariants
 *   1. While is_valid, a sum of an association is over it and all associations below it that existed when the sums were
 *      made; a change of the tree makes them invalid.
 *   2. No task is charged from a later time than latest_us. A question about an earlier time, after the clock was set
 *      back, is answered from the rows. */
#include "engine/usage_sums.h"

#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"

/* Of one row and kind. */
struct usage_sum {
    double stored;
    struct usage_rates running;
};

/* decay_scale at a time, computed once for all questions: of stored usage, and of the anchor. stored 0: not computed
 * yet. */
struct scales {
    double stored, anchor;
    struct decay of, of_anchor;
    int64_t at_us;
};

struct usage_sums {
    bool is_valid;
    uint32_t tree_builds, assoc_count, qos_count; /* of the state, when the sums were made */
    uint32_t change_count, change_max;            /* since then */
    struct decay decay, plain;                    /* anchors: with decay, and without */
    int64_t latest_us;
    struct scales scales;
    uint32_t kinds[USAGE_KIND_COUNT], kind_count; /* those asked for so far */
    /* Rows of kind_count sums, in the order of kinds, by association and by QOS; in memory of arena. */
    struct usage_sum *assocs, *qos;
    uint32_t *assoc_tasks, *qos_tasks; /* numbers of running tasks in the sums */
    struct arena arena;
};

void usage_sums_invalidate(struct state *s)
{
    if (s->usage_sums != NULL) s->usage_sums->is_valid = false;
}

void usage_sums_free(struct usage_sums *sums)
{
    if (sums == NULL) return;
    arena_release(&sums->arena);
    mem_free(sums);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static struct usage_sum *assoc_row(const struct usage_sums *u, uint32_t assoc)
{
    return &u->assocs[(size_t)assoc * u->kind_count];
}

static struct usage_sum *qos_row(const struct usage_sums *u, uint32_t qos)
{
    return &u->qos[(size_t)qos * u->kind_count];
}

static const struct decay *qos_anchor(const struct usage_sums *u, const struct object_row *qos)
{
    return usage_read_has_decay(qos) ? &u->decay : &u->plain;
}

/* What one task adds to the sums of a row, by kind: its rates, and the stored usage of the row that it is charged
 * to. */
struct addend {
    struct usage_sum of[USAGE_KIND_COUNT];
};

/* by: 1 or -1. */
static void add_running(struct usage_sums *u, const struct task *k, const struct decay *anchor, int64_t from_us,
                        double by, struct addend *out)
{
    if (from_us > u->latest_us) u->latest_us = from_us;
    if (decay_steps_due(anchor, from_us) > 0) u->is_valid = false; /* the factor would be too large */
    double factor = u->is_valid ? usage_rates_factor(anchor, from_us) : 0.0;
    for (uint32_t i = 0; i < u->kind_count; i++) {
        double rate = by * usage_read_rate(k, u->kinds[i]);
        out->of[i] = (struct usage_sum){.running = {rate, rate * factor}};
    }
}

/* tasks: how many more tasks the row has. Without tasks the rates are 0, whatever was rounded. */
static void add_to_row(const struct usage_sums *u, const struct addend *a, int tasks, struct usage_sum *row,
                       uint32_t *io_tasks)
{
    *io_tasks += (uint32_t)tasks;
    for (uint32_t i = 0; i < u->kind_count; i++) {
        row[i].stored += a->of[i].stored;
        row[i].running.rate += a->of[i].running.rate;
        row[i].running.begun += a->of[i].running.begun;
        if (*io_tasks == 0) row[i].running = (struct usage_rates){0};
    }
}

/* with_stored: also the stored usage of the rows that the task is charged to. is_own: only the association itself, not
 * those above it. */
static void change_assocs(struct state *s, const struct task *k, bool with_stored, bool is_own, int by)
{
    struct usage_sums *u = s->usage_sums;
    const struct assoc *own = &s->assocs.items[k->assoc];
    struct addend sum;
    add_running(u, k, &u->decay, usage_read_begin(s, k, own->reset_us), by, &sum);
    for (uint32_t i = 0; with_stored && i < u->kind_count; i++)
        sum.of[i].stored = by * usage_read_assoc_stored(own, u->kinds[i]);
    for (uint32_t a = k->assoc; a != NONE; a = is_own ? NONE : s->assocs.items[a].parent)
        add_to_row(u, &sum, by, assoc_row(u, a), &u->assoc_tasks[a]);
}

static void change_qos(struct state *s, const struct task *k, uint32_t qos, bool with_stored, int by)
{
    struct usage_sums *u = s->usage_sums;
    const struct object_row *q = &s->objects[OBJECT_QOS].items[qos];
    struct addend sum;
    add_running(u, k, qos_anchor(u, q), usage_read_begin(s, k, q->reset_us), by, &sum);
    for (uint32_t i = 0; with_stored && i < u->kind_count; i++)
        sum.of[i].stored = by * usage_read_qos_stored(q, u->kinds[i]);
    add_to_row(u, &sum, by, qos_row(u, qos), &u->qos_tasks[qos]);
}

static void change_all_qos(struct state *s, const struct task *k, bool with_stored, int by)
{
    change_qos(s, k, usage_read_job(s, k)->qos, with_stored, by);
    if (k->partition_qos != NONE) change_qos(s, k, k->partition_qos, with_stored, by);
}

static bool are_of_these_rows(const struct state *s)
{
    const struct usage_sums *u = s->usage_sums;
    return !s->tree_is_stale && u->tree_builds == s->tree_builds && u->assoc_count == s->assocs.count &&
           u->qos_count == s->objects[OBJECT_QOS].count;
}

static void change_task(struct state *s, const struct task *k, bool with_stored, int by)
{
    struct usage_sums *u = s->usage_sums;
    if (u == NULL || !u->is_valid || !task_is_charged(k)) return;
    if (!are_of_these_rows(s)) u->is_valid = false;
    if (!u->is_valid) return;
    u->change_count++;
    change_assocs(s, k, with_stored, false, by);
    change_all_qos(s, k, with_stored, by);
}

void usage_sums_add_task(struct state *s, const struct task *k)
{
    change_task(s, k, false, 1);
}

void usage_sums_remove_task(struct state *s, const struct task *k)
{
    change_task(s, k, false, -1);
}

void usage_sums_begin_charge(struct state *s, const struct task *k)
{
    change_task(s, k, true, -1);
}

void usage_sums_end_charge(struct state *s, const struct task *k)
{
    change_task(s, k, true, 1);
}

/* --- making ------------------------------------------------------------------------------------------------------- */

static void add_stored(struct state *s)
{
    struct usage_sums *u = s->usage_sums;
    for (uint32_t i = 0; i < u->kind_count; i++) {
        for (uint32_t a = 0; a < u->assoc_count; a++)
            assoc_row(u, a)[i].stored = usage_read_assoc_stored(&s->assocs.items[a], u->kinds[i]);
        for (uint32_t q = 0; q < u->qos_count; q++)
            qos_row(u, q)[i].stored = usage_read_qos_stored(&s->objects[OBJECT_QOS].items[q], u->kinds[i]);
    }
}

/* The sums of every association, which are its own so far, into those of the account above it. */
static void sum_up(struct state *s)
{
    struct usage_sums *u = s->usage_sums;
    const struct tree *t = &s->tree;
    for (uint32_t node = t->count; node-- > 1;) {
        uint32_t a = s->assoc_of.items[node], above = s->assoc_of.items[t->parent[node]];
        const struct usage_sum *from = assoc_row(u, a);
        struct usage_sum *to = assoc_row(u, above);
        u->assoc_tasks[above] += u->assoc_tasks[a];
        for (uint32_t i = 0; i < u->kind_count; i++) {
            to[i].stored += from[i].stored;
            to[i].running.rate += from[i].running.rate;
            to[i].running.begun += from[i].running.begun;
        }
    }
}

/* Anchors that differ between two makings of the same sums differ by whole half-lives, which are exact. */
static void set_anchors(struct state *s, int64_t now_us)
{
    const int64_t day_us = INT64_C(86400) * US_PER_S, halflife_us = s->decay.halflife_us;
    struct usage_sums *u = s->usage_sums;
    u->plain = (struct decay){0, now_us - now_us % day_us};
    u->decay = u->plain;
    if (halflife_us == 0) return;
    int64_t passed_us = now_us - s->decay.reference_us;
    u->decay = (struct decay){halflife_us, now_us - passed_us % halflife_us};
}

static void begin_sums(struct state *s, int64_t now_us)
{
    struct usage_sums *u = s->usage_sums;
    u->tree_builds = s->tree_builds;
    u->assoc_count = s->assocs.count;
    u->qos_count = s->objects[OBJECT_QOS].count;
    u->change_count = 0;
    u->change_max = 1000 + s->assocs.count + s->tasks.count;
    u->latest_us = 0;
    set_anchors(s, now_us);
    arena_clear(&u->arena);
    u->assocs = arena_alloc(&u->arena, (size_t)u->assoc_count * u->kind_count * sizeof *u->assocs);
    u->qos = arena_alloc(&u->arena, (size_t)u->qos_count * u->kind_count * sizeof *u->qos);
    u->assoc_tasks = arena_alloc(&u->arena, u->assoc_count * sizeof *u->assoc_tasks);
    u->qos_tasks = arena_alloc(&u->arena, u->qos_count * sizeof *u->qos_tasks);
    u->is_valid = true;
}

static void make(struct state *s, int64_t now_us)
{
    begin_sums(s, now_us);
    add_stored(s);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (!task_is_charged(k)) continue;
        change_assocs(s, k, false, true, 1);
        change_all_qos(s, k, false, 1);
    }
    sum_up(s);
}

/* Returns the position of the kind. */
static uint32_t want_kind(struct usage_sums *u, uint32_t kind)
{
    uint32_t i = 0;
    while (i < u->kind_count && u->kinds[i] != kind) i++;
    if (i < u->kind_count) return i;
    u->kinds[u->kind_count++] = kind;
    u->is_valid = false;
    return i;
}

static struct usage_sums *sums_of(struct state *s)
{
    if (s->usage_sums == NULL) s->usage_sums = mem_resize(NULL, 0, sizeof *s->usage_sums);
    return s->usage_sums;
}

/* Returns false if the answer must come from the rows (invariant 2). out_kind: its position. */
static bool update(struct state *s, uint32_t kind, int64_t now_us, uint32_t *out_kind)
{
    ensure(kind == USAGE_WALL || kind < s->policy.tres.count);
    struct usage_sums *u = sums_of(s);
    *out_kind = want_kind(u, kind);
    state_tree(s);
    bool is_old = u->change_count > u->change_max || decay_steps_due(&u->decay, now_us) > 0;
    if (!u->is_valid || !are_of_these_rows(s) || is_old) make(s, now_us);
    return u->is_valid && now_us >= u->latest_us;
}

static bool are_same(const struct decay *a, const struct decay *b)
{
    return a->halflife_us == b->halflife_us && a->reference_us == b->reference_us;
}

static const struct scales *scales_at(struct state *s, int64_t now_us)
{
    struct usage_sums *u = s->usage_sums;
    struct scales *k = &u->scales;
    bool is_known = k->stored > 0.0 && k->at_us == now_us && are_same(&k->of, &s->decay);
    if (is_known && are_same(&k->of_anchor, &u->decay)) return k;
    *k = (struct scales){.stored = decay_scale(&s->decay, now_us),
                         .anchor = decay_scale(&u->decay, now_us),
                         .of = s->decay,
                         .of_anchor = u->decay,
                         .at_us = now_us};
    return k;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

/* anchor: that of the sum, with its scale. */
static double read_sum(const struct usage_sum *sum, const struct decay *anchor, double stored_scale,
                       double anchor_scale, int64_t now_us)
{
    double stored = sum->stored > 0.0 ? sum->stored * stored_scale : 0.0;
    return stored + usage_rates_charge(&sum->running, anchor, anchor_scale, now_us);
}

double usage_sums_below(struct state *s, uint32_t assoc, uint32_t kind, int64_t now_us)
{
    ensure(assoc < s->assocs.count && s->assocs.items[assoc].deleted_us == 0);
    uint32_t i;
    if (update(s, kind, now_us, &i)) {
        const struct usage_sums *u = s->usage_sums;
        const struct scales *scales = scales_at(s, now_us);
        return read_sum(&assoc_row(u, assoc)[i], &u->decay, scales->stored, scales->anchor, now_us);
    }
    struct arena arena = {0};
    double usage = usage_read_below(s, kind, now_us, &arena)[s->node_of.items[assoc]];
    arena_release(&arena);
    return usage;
}

double usage_sums_qos(struct state *s, uint32_t qos, uint32_t kind, int64_t now_us)
{
    ensure(qos < s->objects[OBJECT_QOS].count);
    const struct object_row *q = &s->objects[OBJECT_QOS].items[qos];
    uint32_t i;
    if (update(s, kind, now_us, &i)) {
        const struct usage_sums *u = s->usage_sums;
        const struct scales *scales = scales_at(s, now_us);
        bool decays = usage_read_has_decay(q);
        return read_sum(&qos_row(u, qos)[i], qos_anchor(u, q), decays ? scales->stored : 1.0,
                        decays ? scales->anchor : 1.0, now_us);
    }
    double usage[USAGE_KIND_COUNT];
    usage_read_qos(s, qos, now_us, usage);
    return usage[kind];
}

/* --- listings ----------------------------------------------------------------------------------------------------- */

/* All kinds are wanted before the first one is asked for, so that they are made together. */
static bool update_all(struct state *s, int64_t now_us)
{
    uint32_t unused;
    for (uint32_t kind = 0; kind < s->policy.tres.count; kind++) (void)want_kind(sums_of(s), kind);
    return update(s, USAGE_WALL, now_us, &unused);
}

static void list_rows(struct state *s, const uint32_t *assocs, uint32_t count, int64_t now_us, double *out)
{
    uint32_t kinds = s->policy.tres.count;
    for (uint32_t kind = 0; kind < kinds; kind++) {
        struct arena arena = {0};
        const double *usage = usage_read_below(s, kind, now_us, &arena);
        for (uint32_t i = 0; i < count; i++) out[(size_t)i * kinds + kind] = usage[s->node_of.items[assocs[i]]];
        arena_release(&arena);
    }
}

void usage_sums_list(struct state *s, const uint32_t *assocs, uint32_t count, int64_t now_us, double *out_usage)
{
    uint32_t kinds = s->policy.tres.count;
    if (!update_all(s, now_us)) {
        list_rows(s, assocs, count, now_us, out_usage);
        return;
    }
    const struct usage_sums *u = s->usage_sums;
    const struct scales *scales = scales_at(s, now_us);
    for (uint32_t k = 0; k < u->kind_count; k++) {
        if (u->kinds[k] == USAGE_WALL) continue;
        for (uint32_t i = 0; i < count; i++) {
            const struct usage_sum *sum = &assoc_row(u, assocs[i])[k];
            out_usage[(size_t)i * kinds + u->kinds[k]] =
                read_sum(sum, &u->decay, scales->stored, scales->anchor, now_us);
        }
    }
}

void usage_sums_qos_list(struct state *s, uint32_t qos, int64_t now_us, double out_usage[USAGE_KIND_COUNT])
{
    memset(out_usage, 0, USAGE_KIND_COUNT * sizeof *out_usage);
    (void)update_all(s, now_us);
    for (uint32_t kind = 0; kind < s->policy.tres.count; kind++) out_usage[kind] = usage_sums_qos(s, qos, kind, now_us);
    out_usage[USAGE_WALL] = usage_sums_qos(s, qos, USAGE_WALL, now_us);
}
