#include "engine/wait_leaders.h"

#include <math.h>
#include <string.h>

#include "engine/min_priority.h"
#include "engine/pass.h"
#include "engine/ranking.h"

/* The best candidate of each partition so far. */
struct finder {
    struct pending_order order;
    struct multifactor_context context;
    struct tres_amount amounts[TRES_MAX];
    struct queue_candidate *best; /* by partition */
    bool *has_best;
    struct arena arena;
};

static uint32_t leader_in(const struct finder *f, uint32_t partition)
{
    const struct queue_candidate *best = &f->best[partition];
    if (!f->has_best[partition]) return 0;
    return f->order.s->pending->queue.groups.items[best->group].entries.items[best->at].job;
}

/* The fair-share factor of a job of a group there, on which a QOS may insist. */
static double factor_in(const struct finder *f, const struct job *j, uint32_t partition)
{
    const struct state *s = f->order.s;
    uint32_t node = s->node_of.items[state_assoc_in_partition(s, j->assoc, partition)];
    return f->order.factors != NULL && node != NONE ? f->order.factors[node] : (double)NAN;
}

static bool is_before_best(const struct finder *f, uint32_t partition, const struct queue_candidate *candidate)
{
    return !f->has_best[partition] || queue_is_before(candidate, &f->best[partition]);
}

/* The first job of a group that could start a task. What keeps it from starting for other reasons than resources keeps
 * all of the group. Its head is valid. */
static void offer_group(struct finder *f, uint32_t group)
{
    struct state *s = f->order.s;
    struct pending *pending = s->pending;
    struct pending_first other;
    const struct pending_first *first = &pending->firsts.items[group];
    uint32_t partition = pending->heads.items[group].partition;
    struct queue_candidate candidate = pending_order_candidate(&f->order, group, first);
    if (!is_before_best(f, partition, &candidate)) return;
    uint32_t at = pass_find_startable(s, group, 0);
    if (at == NONE) return;
    if (at != first->at) {
        pending_order_describe(&f->order, group, at, &other);
        candidate = pending_order_candidate(&f->order, group, &other);
        if (!is_before_best(f, partition, &candidate)) return;
    }
    const struct job *j = pending_entry_job(s, &pending->queue.groups.items[group].entries.items[at]);
    if (job_pending_reason(s, j->id, factor_in(f, j, partition), f->order.now_us) != PENDING_NONE) return;
    f->best[partition] = candidate;
    f->has_best[partition] = true;
}

/* Those that were first are likely to be first again, or almost, and the bound of most groups is below theirs. */
static void offer_old_leader(struct finder *f, uint32_t job_id)
{
    const struct pending *pending = f->order.s->pending;
    uint32_t index = map_get_u64(&pending->by_id, job_id);
    if (index == NONE) return;
    for (uint32_t i = 0; i < pending->jobs.items[index].group_count; i++) {
        uint32_t group = pending_job_group(&pending->jobs.items[index], i);
        (void)pending_order_head(&f->order, group);
        offer_group(f, group);
    }
}

static void offer_all(struct finder *f)
{
    const struct pending *pending = f->order.s->pending;
    for (uint32_t g = 0; g < pending->heads.count; g++) {
        const struct pending_head *head = pending_order_head(&f->order, g);
        if (head->kind == NONE) continue;
        const struct queue_candidate *best = &f->best[head->partition];
        if (pending->are_alike && f->has_best[head->partition] &&
            pending_order_is_behind(&f->order, head, (uint32_t)best->order, best->position))
            continue;
        offer_group(f, g);
    }
}

static void begin(struct finder *f)
{
    struct state *s = f->order.s;
    f->order.multifactor = &f->context;
    f->order.amounts = f->amounts;
    pending_update(s, f->order.now_us, !min_priority_is_kept(s));
    s->pending->jobs_started = 0;
    f->order.cluster = live_cluster_update(s, f->order.now_us);
    if (s->policy.model == MODEL_MULTIFACTOR)
        multifactor_context_make(s, f->order.now_us, f->order.factors, &f->arena, &f->context);
    pending_order_begin(&f->order, &f->arena);
}

void wait_leaders_prepare(struct state *s, int64_t now_us, uint32_t max)
{
    struct finder f = {.order = {.s = s, .now_us = now_us}};
    if (s->policy.model == MODEL_TICKETS) return;
    begin(&f);
    for (uint32_t g = 0, made = 0; g < s->pending->heads.count && made < max; g++) {
        if (s->pending->heads.items[g].edition == s->pending->head_edition) continue;
        (void)pending_order_make_head(&f.order, g);
        made++;
    }
    arena_release(&f.arena);
}

/* old: of the last time, or NULL. */
static void find(struct finder *f, const struct wait_leaders *old)
{
    struct state *s = f->order.s;
    uint32_t count = s->objects[OBJECT_PARTITION].count;
    f->best = arena_alloc(&f->arena, (count + (size_t)1) * sizeof *f->best);
    f->has_best = arena_alloc(&f->arena, count + (size_t)1);
    begin(f);
    for (uint32_t i = 0; old != NULL && i < old->partition_count; i++) offer_old_leader(f, old->job_ids[i]);
    offer_all(f);
}

static bool any_qos_insists(const struct state *s)
{
    bool insists = false;
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count && !insists; i++)
        insists = ranking_qos_waits(s, i, -1.0); /* whether a factor below any other waits */
    return insists;
}

static void keep_factors(const struct state *s, const double *factors, struct wait_leaders *l)
{
    if (factors == NULL || !any_qos_insists(s)) return;
    l->factor_count = s->tree.count;
    l->factors = memcpy(arena_alloc(&l->arena, (l->factor_count + (size_t)1) * sizeof *factors), factors,
                        l->factor_count * sizeof *factors);
}

void wait_leaders_update(struct state *s, int64_t now_us, const double *factors)
{
    struct finder f = {.order = {.s = s, .now_us = now_us, .factors = factors}};
    struct wait_leaders made = {.partition_count = s->objects[OBJECT_PARTITION].count, .now_us = now_us};
    struct wait_leaders *old = s->wait_leaders;
    s->wait_leaders = NULL; /* meanwhile no job is behind another one */
    if (s->policy.model != MODEL_TICKETS) {
        find(&f, old);
        made.job_ids = arena_alloc(&made.arena, (made.partition_count + (size_t)1) * sizeof *made.job_ids);
        for (uint32_t p = 0; p < made.partition_count; p++) made.job_ids[p] = leader_in(&f, p);
        keep_factors(s, factors, &made);
        s->wait_leaders = mem_resize(NULL, 0, sizeof *s->wait_leaders);
        *s->wait_leaders = made;
        arena_release(&f.arena);
    }
    wait_leaders_free(old);
}
