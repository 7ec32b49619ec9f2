#include "engine/wait_leaders.h"

#include <math.h>

#include "engine/min_priority.h"
#include "engine/pass.h"

/* The best candidate of each partition so far. */
struct finder {
    struct state *s;
    int64_t now_us;
    const double *factors;
    struct multifactor_context context;
    struct queue_candidate *best; /* by partition */
    bool *has_best;
    struct arena arena;
};

/* --- the order ---------------------------------------------------------------------------------------------------- */

static uint32_t priority_in(struct finder *f, const struct job *j, uint32_t partition)
{
    struct tres_amount amounts[TRES_MAX];
    struct multifactor_job input;
    struct multifactor_terms terms;
    if (f->s->policy.model == MODEL_BASIC) return job_basic_priority(j);
    multifactor_context_job(&f->context, j, partition, amounts, &input);
    multifactor_terms(&f->s->policy.multifactor, &f->context.cluster, &input, &terms);
    return min_priority_bound(f->s, j, partition, terms.priority);
}

static double factor_of(const struct finder *f, const struct job *j)
{
    uint32_t node = f->s->node_of.items[j->assoc];
    return f->factors != NULL && node != NONE ? f->factors[node] : (double)NAN;
}

/* The first job of a group that could start a task. What keeps it from starting for other reasons than resources keeps
 * all of the group. */
static void offer_group(struct finder *f, uint32_t group)
{
    struct pending *pending = f->s->pending;
    const struct pending_group *g = &pending->groups.items[group];
    uint32_t at = pass_find_startable(f->s, group, 0), partition = g->partition;
    if (at == NONE) return;
    const struct queue_entry *entry = &pending->queue.groups.items[group].entries.items[at];
    const struct job *j = pass_job_of_entry(f->s, entry);
    const struct object *o = &f->s->objects[OBJECT_PARTITION].items[partition].object;
    const struct queue_candidate candidate = {
        .order = sort_key_priority((uint32_t)o->value[PARTITION_TIER].number, priority_in(f, j, partition)),
        .position = entry->position << 32 | g->place,
        .group = group,
        .at = at};
    if (f->has_best[partition] && !queue_is_before(&candidate, &f->best[partition])) return;
    if (job_pending_reason(f->s, j->id, factor_of(f, j), f->now_us) != PENDING_NONE) return;
    f->best[partition] = candidate;
    f->has_best[partition] = true;
}

static void find(struct finder *f)
{
    struct state *s = f->s;
    uint32_t count = s->objects[OBJECT_PARTITION].count;
    f->best = arena_alloc(&f->arena, (count + (size_t)1) * sizeof *f->best);
    f->has_best = arena_alloc(&f->arena, count + (size_t)1);
    pending_update(s, f->now_us, !min_priority_is_kept(s));
    s->pending->jobs_started = 0;
    if (s->policy.model == MODEL_MULTIFACTOR)
        multifactor_context_make(s, f->now_us, f->factors, &f->arena, &f->context);
    for (uint32_t g = 0; g < s->pending->queue.groups.count; g++) {
        if (s->pending->queue.groups.items[g].key != NULL) offer_group(f, g);
    }
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

void wait_leaders_update(struct state *s, int64_t now_us, const double *factors)
{
    struct finder f = {.s = s, .now_us = now_us, .factors = factors};
    struct wait_leaders made = {.partition_count = s->objects[OBJECT_PARTITION].count, .now_us = now_us};
    wait_leaders_free(s->wait_leaders);
    s->wait_leaders = NULL; /* meanwhile no job is behind another one */
    if (s->policy.model == MODEL_TICKETS) return;
    find(&f);
    made.job_ids = arena_alloc(&made.arena, (made.partition_count + (size_t)1) * sizeof *made.job_ids);
    for (uint32_t p = 0; p < made.partition_count; p++) {
        const struct queue_candidate *best = &f.best[p];
        if (f.has_best[p]) made.job_ids[p] = s->pending->queue.groups.items[best->group].entries.items[best->at].job;
    }
    arena_release(&f.arena);
    s->wait_leaders = mem_resize(NULL, 0, sizeof *s->wait_leaders);
    *s->wait_leaders = made;
}
