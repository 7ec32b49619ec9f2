/* Charges running tasks to the rows that have usage. The charge of a task for the time from charged_us to to_us goes to
 *
 *     its association    billing x usage factor, each of its TRES x usage factor, and its time x usage factor (wall);
 *                        stored at the decay reference
 *     its job's QOS      the same; stored likewise, or with NoDecay as it is
 *     the QOS that its partition had at its start, unless it is the same one: the same
 *     its usage owners   with SHARETREE_RESERVED_USAGE its CPUs and GiB (otherwise measured_usage.c charges them): the
 *                        user, or with a project the user in the project, and the project; decays by the rule of the
 *                        share tree and is stored as of the owner's at_us
 *
 * Invariants
 *   1. The charges for [a, b] and [b, c] add up to that for [a, c]. So a task may be charged up to any time, and must
 *      be charged up to now before a rule of decay changes.
 *   2. A row is not charged for a time before its last reset.
 *   3. at_us of a usage owner never decreases. A late charge, up to a time before at_us, decays from there to at_us.
 * Cost: O(TRES) for each charge; O(associations) when the decay reference moves, once in hundreds of half-lives.
 * Source: docs/formulas.md 1.2, 3.4 and 5.2. */
#include "base/ensure.h"
#include "engine/handlers.h"
#include "engine/usage_read.h"
#include "engine/usage_rule.h"
#include "engine/usage_sums.h"

/* --- usage stored at the decay reference -------------------------------------------------------------------------- */

/* Returns whether there is any usage. */
static bool convert_tres(double *usage_tres, const struct usage_conversion *by)
{
    bool has_usage = false;
    for (uint32_t i = 0; usage_tres != NULL && i < TRES_MAX; i++) {
        if (usage_tres[i] > 0.0) has_usage = true;
        usage_tres[i] = usage_conversion_apply(by, usage_tres[i]);
    }
    return has_usage;
}

static bool convert_assoc(struct state *s, uint32_t index, const struct usage_conversion *by)
{
    struct assoc *a = &s->assocs.items[index];
    bool has_usage = a->usage > 0.0 || a->usage_wall > 0.0;
    assoc_set_usage(s, index, usage_conversion_apply(by, a->usage));
    a->usage_wall = usage_conversion_apply(by, a->usage_wall);
    return convert_tres(a->usage_tres, by) || has_usage;
}

static bool convert_qos(struct object_row *q, const struct usage_conversion *by)
{
    bool has_usage = q->usage > 0.0 || q->usage_wall > 0.0;
    q->usage = usage_conversion_apply(by, q->usage);
    q->usage_wall = usage_conversion_apply(by, q->usage_wall);
    return convert_tres(q->usage_tres, by) || has_usage;
}

/* Converts every usage that is stored at the reference, because the reference moves. The rows of associations are
 * written later (usage_conversion.h). */
static void convert_usages(struct apply_context *c, const struct usage_conversion *by)
{
    struct state *s = c->s;
    bool has_usage = false;
    for (uint32_t i = 0; i < s->assocs.count; i++)
        has_usage |= s->assocs.items[i].deleted_us == 0 && convert_assoc(s, i, by);
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        struct object_row *q = &s->objects[OBJECT_QOS].items[i];
        if (q->is_deleted || !usage_read_has_decay(q) || !convert_qos(q, by)) continue;
        apply_note_change(c, TABLE_OBJECT, object_change(OBJECT_QOS, i));
    }
    if (has_usage) usage_conversion_note(c, *by);
    usage_sums_invalidate(s);
}

/* Moves the reference if a charge at at_us would be stored too large otherwise (policy/usage.h). */
static void move_reference(struct apply_context *c, int64_t at_us)
{
    struct state *s = c->s;
    const struct usage_conversion by = {.halvings = decay_steps_due(&s->decay, at_us), .scale = 1.0};
    if (by.halvings == 0) return;
    s->decay.reference_us += by.halvings * s->decay.halflife_us;
    convert_usages(c, &by);
    apply_note_change(c, TABLE_COUNTERS, 0);
}

/* --- usage owners ------------------------------------------------------------------------------------------------- */

void usage_owner_decay(const struct ticket_decay *d, struct usage_owner *o, int64_t at_us)
{
    double factor[USAGE_RESOURCE_COUNT];
    if (at_us <= o->at_us) return;
    if (o->at_us == 0) { /* no usage yet, like most owners of a large site */
        o->at_us = at_us;
        return;
    }
    ticket_decay_factors(d, seconds_between(o->at_us, at_us), factor);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) o->usage.used[r] *= factor[r];
    o->at_us = at_us;
}

struct ticket_usage charge_reserved_rates(const struct task *k)
{
    enum { MIB_PER_GIB = 1024 };
    struct ticket_usage rates = {{0}};
    rates.used[USAGE_CPU] = task_cpu_count(k);
    rates.used[USAGE_MEM] = (double)task_mem_mib(k) / MIB_PER_GIB;
    return rates;
}

void usage_owner_add(const struct ticket_decay *d, struct usage_owner *o, const struct ticket_usage *amounts,
                     int64_t at_us)
{
    double late_factor[USAGE_RESOURCE_COUNT];
    usage_owner_decay(d, o, at_us);
    ticket_decay_factors(d, seconds_between(at_us, o->at_us), late_factor);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) o->usage.used[r] += amounts->used[r] * late_factor[r];
}

static void charge_owner(const struct ticket_decay *d, struct usage_owner *o, const struct ticket_usage *rates,
                         int64_t from_us, int64_t to_us)
{
    struct ticket_usage charge;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++)
        charge.used[r] =
            ticket_decay_charge(d, (enum usage_resource)r, rates->used[r], seconds_between(from_us, to_us));
    usage_owner_add(d, o, &charge, to_us);
}

void usage_owner_resets(const struct state *s, const uint32_t owners[2], int64_t out_reset_us[2])
{
    out_reset_us[0] = s->owners.items[owners[0]].reset_us;
    if (out_reset_us[0] < s->usage_reset_us) out_reset_us[0] = s->usage_reset_us;
    out_reset_us[1] = out_reset_us[0];
    if (owners[1] != NONE && s->owners.items[owners[1]].reset_us > out_reset_us[1])
        out_reset_us[1] = s->owners.items[owners[1]].reset_us;
}

/* Charges a running task up to now, in a copy of all owners. */
static void charge_current(const struct state *s, const struct task *k, int64_t now_us, struct usage_owner *current)
{
    uint32_t owners[2];
    int64_t reset_us[2];
    if (!task_is_charged(k) || now_us <= k->charged_us) return;
    job_usage_owners(s, &s->jobs.items[state_find_job(s, k->job_id)], owners);
    usage_owner_resets(s, owners, reset_us);
    const struct ticket_usage rates = charge_reserved_rates(k);
    for (int o = 0; o < 2; o++) {
        if (owners[o] == NONE) continue;
        int64_t from_us = usage_read_begin(s, k, reset_us[o]);
        charge_owner(&s->policy.tickets.decay, &current[owners[o]], &rates, from_us, now_us);
    }
}

struct ticket_usage *usage_owner_current(struct state *s, int64_t now_us, struct arena *arena)
{
    const struct ticket_rules *rules = &s->policy.tickets;
    struct usage_owner *current = arena_alloc(arena, (s->owners.count + (size_t)1) * sizeof *current);
    struct ticket_usage *usage = arena_alloc(arena, (s->owners.count + (size_t)1) * sizeof *usage);
    for (uint32_t i = 0; i < s->owners.count; i++) {
        current[i] = s->owners.items[i];
        usage_owner_decay(&rules->decay, &current[i], now_us);
    }
    if (rules->charges_reserved) {
        for (uint32_t i = 0; i < s->tasks.count; i++) charge_current(s, &s->tasks.items[i], now_us, current);
    }
    for (uint32_t i = 0; i < s->owners.count; i++) usage[i] = current[i].usage;
    return usage;
}

/* --- charging ----------------------------------------------------------------------------------------------------- */

static void add_tres(double **usage_tres, const struct tres_list *tres, double charge_of_one)
{
    if (tres->count > 0 && *usage_tres == NULL) *usage_tres = mem_resize(NULL, 0, TRES_MAX * sizeof **usage_tres);
    for (uint32_t i = 0; i < tres->count; i++)
        (*usage_tres)[tres->items[i].tres] += tres->items[i].amount * charge_of_one;
}

static void charge_assoc(struct apply_context *c, const struct task *k, int64_t to_us)
{
    struct state *s = c->s;
    struct assoc *a = &s->assocs.items[k->assoc];
    int64_t from_us = usage_read_begin(s, k, a->reset_us);
    if (to_us <= from_us) return;
    assoc_set_usage(s, k->assoc, a->usage + usage_charge_stored(&s->decay, task_rate(k), from_us, to_us));
    double charge_of_one = usage_charge_stored(&s->decay, k->usage_factor, from_us, to_us);
    a->usage_wall += charge_of_one;
    add_tres(&a->usage_tres, &k->tres, charge_of_one);
    apply_note_change(c, TABLE_ASSOC, k->assoc);
}

static void charge_qos(struct apply_context *c, const struct task *k, uint32_t qos, int64_t to_us)
{
    struct state *s = c->s;
    struct object_row *q = &s->objects[OBJECT_QOS].items[qos];
    const struct decay d = usage_read_has_decay(q) ? s->decay : (struct decay){0, s->decay.reference_us};
    int64_t from_us = usage_read_begin(s, k, q->reset_us);
    if (to_us <= from_us) return;
    double charge_of_one = usage_charge_stored(&d, k->usage_factor, from_us, to_us);
    q->usage += usage_charge_stored(&d, task_rate(k), from_us, to_us);
    q->usage_wall += charge_of_one;
    add_tres(&q->usage_tres, &k->tres, charge_of_one);
    apply_note_change(c, TABLE_OBJECT, object_change(OBJECT_QOS, qos));
}

static void charge_owners(struct apply_context *c, const struct task *k, const struct job *j, int64_t to_us)
{
    struct state *s = c->s;
    uint32_t owners[2];
    int64_t reset_us[2];
    struct ticket_usage rates = charge_reserved_rates(k);
    job_usage_owners(s, j, owners);
    usage_owner_resets(s, owners, reset_us);
    for (int i = 0; i < 2; i++) {
        int64_t from_us = usage_read_begin(s, k, reset_us[i]);
        if (owners[i] == NONE || to_us <= from_us) continue;
        charge_owner(&s->policy.tickets.decay, &s->owners.items[owners[i]], &rates, from_us, to_us);
        apply_note_change(c, TABLE_OWNER, owners[i]);
    }
}

void charge_task(struct apply_context *c, struct task *k, int64_t to_us)
{
    if (k->charged_us == 0 || to_us <= k->charged_us) return;
    const struct job *j = usage_read_job(c->s, k);
    move_reference(c, to_us);
    usage_sums_begin_charge(c->s, k);
    if (k->usage_factor > 0.0) {
        charge_assoc(c, k, to_us);
        charge_qos(c, k, j->qos, to_us);
        if (k->partition_qos != NONE) charge_qos(c, k, k->partition_qos, to_us);
    }
    if (c->s->policy.tickets.charges_reserved) charge_owners(c, k, j, to_us);
    k->charged_us = to_us;
    usage_sums_end_charge(c->s, k);
}

void charge_finished(struct apply_context *c, struct task *k)
{
    struct state *s = c->s;
    uint32_t owners[2];
    int64_t reset_us[2];
    if (k->start_us == 0) return;
    charge_task(c, k, k->end_us);
    int64_t at_us = k->charged_us; /* the end, or a change of a rule between the end and its record */
    job_usage_owners(s, usage_read_job(s, k), owners);
    usage_owner_resets(s, owners, reset_us);
    for (int i = 0; i < 2; i++) {
        if (owners[i] == NONE || at_us <= reset_us[i]) continue;
        struct usage_owner *o = &s->owners.items[owners[i]];
        const struct ticket_decay *d = &s->policy.tickets.decay;
        usage_owner_decay(d, o, at_us);
        o->usage.used[USAGE_FINISHED_JOBS] +=
            ticket_decay_factor(d, USAGE_FINISHED_JOBS, seconds_between(at_us, o->at_us));
        apply_note_change(c, TABLE_OWNER, owners[i]);
    }
}

/* --- changes of rules --------------------------------------------------------------------------------------------- */

/* Charges running tasks up to now; qos not NONE: only those of that QOS. Returns their number. */
static uint32_t charge_running(struct apply_context *c, uint32_t qos)
{
    struct state *s = c->s;
    uint32_t charged = 0;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        if (!task_is_charged(k) || k->charged_us >= c->now_us) continue;
        if (qos != NONE && !usage_read_is_of_qos(s, k, qos)) continue;
        charge_task(c, k, c->now_us);
        apply_note_change(c, TABLE_TASK, i);
        charged++;
    }
    return charged;
}

/* This charges a task that has ended, but whose end record has not arrived, for longer than it ran. The journal records
 * the time at which that may have happened as a change of the half-life to the same value. */
static void charge_up_to_now(struct apply_context *c, uint32_t qos)
{
    int64_t halflife_s = c->s->decay.halflife_us / US_PER_S;
    if (charge_running(c, qos) > 0) apply_note_usage_journal(c, USAGE_JOURNAL_HALFLIFE, 0, halflife_s, halflife_s);
}

/* Journals the tasks, of a QOS or all (NONE), whose start record has not arrived: they will be charged by the new rule
 * from their start on. */
static void note_late_starts(struct apply_context *c, uint32_t qos)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state) || k->charged_us != 0) continue;
        if (qos != NONE && !usage_read_is_of_qos(s, k, qos)) continue;
        apply_note_late_start(c, k);
    }
}

__extension__ typedef __int128 wide_us; /* a product of two durations */

/* With another half-life, all usages are as they were if the reference moves so that as many half-lives as before have
 * passed since it: then not a row of them changes. Returns false if there is no such time, or none that is exact
 * enough: the reference is a whole number of microseconds, an error of 4e-12 in a half-life of a day. */
static bool find_reference(const struct decay *old, int64_t halflife_us, int64_t now_us, int64_t *out_us)
{
    const int64_t halflife_min_us = INT64_C(86400) * US_PER_S, passed_max_us = 3650 * halflife_min_us;
    int64_t passed_us = now_us - old->reference_us;
    if (old->halflife_us == 0) passed_us = 0;
    if (passed_us != 0) {
        if (passed_us < 0 || halflife_us < halflife_min_us) return false;
        wide_us wide = (wide_us)passed_us * halflife_us / old->halflife_us;
        if (wide > passed_max_us || wide > now_us) return false;
        passed_us = (int64_t)wide;
    }
    *out_us = now_us - passed_us;
    return true;
}

void charge_change_halflife(struct apply_context *c, int64_t halflife_s)
{
    struct state *s = c->s;
    int64_t reference_us = c->now_us;
    charge_running(c, NONE);
    if (!find_reference(&s->decay, halflife_s * US_PER_S, c->now_us, &reference_us)) {
        const struct usage_conversion by = {.scale = decay_scale(&s->decay, c->now_us)};
        reference_us = c->now_us;
        convert_usages(c, &by);
    }
    usage_sums_invalidate(s);
    apply_note_usage_journal(c, USAGE_JOURNAL_HALFLIFE, 0, s->decay.halflife_us / US_PER_S, halflife_s);
    note_late_starts(c, NONE);
    s->decay = (struct decay){halflife_s * US_PER_S, reference_us};
    apply_note_change(c, TABLE_COUNTERS, 0);
}

void charge_change_owner_rule(struct apply_context *c, const struct settings *wanted)
{
    struct state *s = c->s;
    charge_up_to_now(c, NONE);
    apply_note_usage_journal_detail(c, USAGE_JOURNAL_OWNER_RULE, 0, 0, usage_rule_format(wanted, &s->arena));
    note_late_starts(c, NONE);
    for (uint32_t i = 0; i < s->owners.count; i++) {
        struct usage_owner *o = &s->owners.items[i];
        if (o->at_us == 0 || o->at_us >= c->now_us) continue;
        usage_owner_decay(&s->policy.tickets.decay, o, c->now_us);
        apply_note_change(c, TABLE_OWNER, i);
    }
}

void charge_change_qos_decay(struct apply_context *c, uint32_t qos, bool no_decay)
{
    struct state *s = c->s;
    struct object_row *q = object_row_at(s, OBJECT_QOS, qos);
    if (no_decay != usage_read_has_decay(q)) return;
    charge_up_to_now(c, qos);
    move_reference(c, c->now_us);
    double scale = decay_scale(&s->decay, c->now_us);
    const struct usage_conversion by = {.scale = no_decay ? scale : 1.0 / scale};
    convert_qos(q, &by);
    usage_sums_invalidate(s);
    apply_note_usage_journal(c, USAGE_JOURNAL_QOS_DECAY, 0, q->id, !no_decay);
    note_late_starts(c, qos);
}
