/* The pass of the models multifactor and basic. Of each group of equal jobs (pending.h) the first one competes; when it
 * has started, or got a reservation, the next one takes its place, and when it has not, nothing of its group would.
 *
 *     group "ann, 4 CPUs, batch"   17 21 30     17: priority 900
 *     group "bob, 1 CPU, batch"    18 19        18: priority 700
 *     free: 2 CPUs                 17 is reserved when 2 more are free; 18 starts if it ends before that
 *
 * Cost: O(groups) and O(log groups) for each start or reservation, beside those of the scheduler. */
#include "base/ensure.h"
#include "base/sort.h"
#include "engine/min_priority.h"
#include "engine/pass.h"

/* The first jobs of groups, in pending.fitting and pending.blocked: those that may start are all there; of the others,
 * which could only get a reservation, as many as there are reservations to give. */
struct heads {
    struct pass *p;
    struct pending *pending;
    ARRAY(uint32_t) fitting_of_shape; /* by shape: jobs in fitting, while one of the shape may start */
    uint32_t fitting_count;           /* the sum */
    bool has_more_blocked;            /* some were left out */
};

/* --- the order of jobs -------------------------------------------------------------------------------------------- */

static void set_terms(struct pass *p, const struct pending_group *g, const struct job *j, struct pending_head *head)
{
    struct state *s = p->c->s;
    struct multifactor_job input;
    multifactor_context_job(&p->multifactor, j, g->partition, p->amounts, &input);
    multifactor_terms(&s->policy.multifactor, &p->multifactor.cluster, &input, &head->terms);
    head->node = s->node_of.items[state_assoc_in_partition(s, j->assoc, g->partition)];
    head->priority = j->set_priority;
}

/* Describes an entry of a group, for its order. */
static void describe(struct pass *p, uint32_t group, uint32_t at, struct pending_head *head)
{
    struct state *s = p->c->s;
    const struct pending_group *g = &s->pending->groups.items[group];
    const struct queue_entry *entry = &s->pending->queue.groups.items[group].entries.items[at];
    const struct job *j = pass_job_of_entry(s, entry);
    bool is_always = (s->policy.multifactor.flags & FLAG_ACCRUE_ALWAYS) != 0;
    *head = (struct pending_head){.edition = s->pending->head_edition,
                                  .at = at,
                                  .position = entry->position << 32 | g->place,
                                  .since_us = is_always ? j->submit_us : j->accrue_us,
                                  .shape = pass_group_demand(p, group)->shape};
    head->tier = (uint32_t)s->objects[OBJECT_PARTITION].items[g->partition].object.value[PARTITION_TIER].number;
    if (s->policy.model == MODEL_BASIC)
        head->priority = job_basic_priority(j);
    else
        set_terms(p, g, j, head);
}

/* A time in the future does not count yet. */
static uint32_t priority_of(const struct pass *p, const struct pending_head *head)
{
    const struct multifactor_rules *rules = &p->c->s->policy.multifactor;
    bool is_future = head->since_us > p->c->now_us && (rules->flags & FLAG_ACCRUE_ALWAYS) == 0;
    if (head->priority != NONE) return head->priority; /* in priority/basic there are no factors */
    double factor = head->node != NONE ? p->factors[head->node] : 0.0;
    return multifactor_priority_of(rules, &head->terms, p->c->now_us, is_future ? 0 : head->since_us, factor);
}

/* With INCR_ONLY a job has a minimum priority. */
static uint32_t bound(const struct pass *p, uint32_t group, uint32_t at, uint32_t priority)
{
    const struct state *s = p->c->s;
    if (s->pending->are_alike) return priority;
    const struct queue_entry *entry = &s->pending->queue.groups.items[group].entries.items[at];
    uint32_t partition = s->pending->groups.items[group].partition;
    return min_priority_bound(s, pass_job_of_entry(s, entry), partition, priority);
}

static struct queue_candidate candidate_of(const struct pass *p, uint32_t group, const struct pending_head *head)
{
    uint32_t priority = bound(p, group, head->at, priority_of(p, head));
    return (struct queue_candidate){sort_key_priority(head->tier, priority), head->position, group, head->at};
}

/* --- the first jobs of the groups --------------------------------------------------------------------------------- */

/* Heads are kept from pass to pass while nothing that their terms depend on has changed. */
static void begin_heads(struct pass *p)
{
    const struct state *s = p->c->s;
    uint64_t source = (uint64_t)s->rules_edition + s->tree_builds + s->host_edition + p->cluster->made;
    if (s->pending->head_source == source && s->pending->head_edition != 0) return;
    s->pending->head_source = source;
    s->pending->head_edition++;
}

static const struct pending_head *head_of(struct pass *p, uint32_t group)
{
    struct pending *pending = p->c->s->pending;
    struct pending_head *head = &pending->heads.items[group];
    if (head->edition == pending->head_edition) return head;
    if (pending->queue.groups.items[group].key == NULL)
        *head = (struct pending_head){.edition = pending->head_edition, .shape = NONE};
    else
        describe(p, group, queue_next(&pending->queue, group, 0), head);
    return head;
}

/* The candidate of the first job of a group that has a task to start. Returns false if there is none. */
static bool find_candidate(struct pass *p, uint32_t group, const struct pending_head *head, struct queue_candidate *out)
{
    struct pending *pending = p->c->s->pending;
    bool is_certain = pending->jobs_started == 0 && !pending->groups.items[group].has_arrays;
    uint32_t at = is_certain ? head->at : pass_find_startable(p->c->s, group, 0);
    struct pending_head other;
    if (at == NONE) return false;
    if (at != head->at) describe(p, group, at, &other);
    *out = candidate_of(p, group, at != head->at ? &other : head);
    return true;
}

static void count_fitting(struct heads *h, uint32_t shape)
{
    while (h->fitting_of_shape.count <= shape) *array_add(&h->fitting_of_shape) = 0;
    h->fitting_of_shape.items[shape]++;
    h->fitting_count++;
}

static uint32_t reservations_left(const struct pass *p)
{
    if (p->cluster->rules.reservations == RUN_RESERVE_NONE) return 0;
    return p->cluster->rules.reservation_max - p->run.reservation_count;
}

static bool may_start(struct pass *p, uint32_t group, uint32_t shape)
{
    if (shape < p->run.shapes.count && p->run.shapes.items[shape].cannot_start) return false;
    if (shape < p->run.shapes.count && p->run.shapes.items[shape].could_start) return true;
    return run_may_start(&p->run, pass_group_demand(p, group));
}

/* Whether jobs that do not fit take part: they may get a reservation, or count as tried. */
static bool takes_part(const struct pass *p, const struct pending_group *g)
{
    bool may_reserve = g->is_reserving || p->cluster->rules.reservations == RUN_RESERVE_ALL;
    return run_counts_tests(&p->cluster->rules) || (may_reserve && reservations_left(p) > 0);
}

/* after NULL: the first job of each group. Otherwise of groups whose jobs do not fit, those that come after it. */
static void collect(struct heads *h, const struct queue_candidate *after)
{
    struct pass *p = h->p;
    struct pending *pending = h->pending;
    struct queue_candidate candidate;
    uint32_t blocked_max = run_counts_tests(&p->cluster->rules) ? UINT32_MAX : reservations_left(p);
    h->has_more_blocked = false;
    for (uint32_t g = 0; g < pending->heads.count; g++) {
        const struct pending_head *head = head_of(p, g);
        if (head->shape == NONE) continue;
        bool fits = may_start(p, g, head->shape);
        if (fits ? after != NULL : !takes_part(p, &pending->groups.items[g])) continue;
        if (p->has_threshold_qos && !pass_admits(p, &pending->groups.items[g])) continue;
        if (!find_candidate(p, g, head, &candidate)) continue;
        if (fits) {
            *array_add(&pending->fitting.list) = candidate;
            count_fitting(h, head->shape);
        } else if (after == NULL || queue_is_before(after, &candidate)) {
            h->has_more_blocked |= !queue_offer(&pending->blocked, candidate, blocked_max);
        }
    }
    if (after == NULL) queue_order(&pending->fitting);
    queue_order(&pending->blocked);
}

/* The next job of a group that has started or got a reservation. */
static void push_next(struct heads *h, const struct queue_candidate *done, const struct demand *d)
{
    struct pending_head next;
    uint32_t at = pass_find_startable(h->p->c->s, done->group, done->at + 1);
    if (at == NONE) return;
    bool fits = run_may_start(&h->p->run, d);
    if (fits) count_fitting(h, d->shape);
    describe(h->p, done->group, at, &next);
    queue_push(fits ? &h->pending->fitting : &h->pending->blocked, candidate_of(h->p, done->group, &next));
}

/* --- the pass ----------------------------------------------------------------------------------------------------- */

/* Of the jobs that may start and those that could get a reservation the best one. */
static struct queue_candidate pop(struct heads *h)
{
    struct queue_candidates *fitting = &h->pending->fitting, *blocked = &h->pending->blocked;
    bool counts = run_counts_tests(&h->p->cluster->rules);
    bool has_blocked = blocked->list.count > 0 && (counts || reservations_left(h->p) > 0);
    bool is_blocked_next =
        has_blocked && (fitting->list.count == 0 || queue_is_before(blocked->list.items, fitting->list.items));
    return queue_pop(is_blocked_next ? blocked : fitting);
}

/* When none of a shape fits any more, those that did are among the ones that could get a reservation. */
static void decide(struct heads *h, const struct queue_candidate *candidate)
{
    struct pass *p = h->p;
    struct state *s = p->c->s;
    const struct demand *d = s->pending->groups.items[candidate->group].demand;
    const struct queue_group *members = &s->pending->queue.groups.items[candidate->group];
    bool counts = run_counts_tests(&p->cluster->rules);
    if (!counts && !run_may_start(&p->run, d) && reservations_left(p) == 0) return;
    uint32_t job = state_find_job(s, members->entries.items[candidate->at].job);
    uint32_t max = UINT32_MAX;
    enum run_outcome outcome = pass_may_try(p, job) ? pass_decide(p, job, d, &max) : RUN_WAITS;
    if (d->shape < h->fitting_of_shape.count && !run_may_start(&p->run, d)) {
        h->fitting_count -= h->fitting_of_shape.items[d->shape];
        h->fitting_of_shape.items[d->shape] = 0;
    }
    if (counts || outcome != RUN_WAITS) push_next(h, candidate, d);
}

/* Without another start, further reservations matter only for the schedule file. */
static bool goes_on(const struct heads *h)
{
    const struct pass *p = h->p;
    bool has_fitting = h->pending->fitting.list.count > 0;
    bool has_blocked = h->pending->blocked.list.count > 0 && reservations_left(p) > 0;
    return (h->fitting_count > 0 && has_fitting && p->run.open_count > 0) ||
           (p->is_listed && (has_fitting || has_blocked) && !run_is_over(&p->run));
}

void pass_by_priority(struct pass *p)
{
    struct heads h = {.p = p, .pending = p->c->s->pending};
    if (!p->is_listed && pass_count_fitting(p, 1) == 0) return;
    pass_begin_ranking(p);
    begin_heads(p);
    array_clear(&h.pending->fitting.list);
    array_clear(&h.pending->blocked.list);
    collect(&h, NULL);
    while (goes_on(&h)) {
        const struct queue_candidate best = pop(&h);
        decide(&h, &best);
        if (h.pending->blocked.list.count == 0 && h.has_more_blocked && reservations_left(p) > 0) collect(&h, &best);
    }
    array_release(&h.fitting_of_shape);
}
