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

/* The first jobs of groups. Those that may start are all there; of the others, which could only get a reservation, as
 * many as there are reservations to give. */
struct heads {
    struct pass *p;
    struct queue_candidates fitting, blocked;
    ARRAY(uint32_t) fitting_of_shape; /* by shape: jobs in fitting, while one of the shape may start */
    uint32_t fitting_count;           /* the sum */
    bool has_more_blocked;            /* some were left out */
};

/* --- the order of jobs -------------------------------------------------------------------------------------------- */

/* Changes when a term of the sum may have changed, for any job. */
static uint64_t terms_edition(const struct state *s)
{
    return 1 + ((uint64_t)s->rules_edition + s->tree_builds + s->host_edition);
}

static void compute_terms(struct pass *p, struct pending_group *g, const struct job *j)
{
    struct state *s = p->c->s;
    struct multifactor_job input;
    multifactor_context_job(&p->multifactor, j, g->partition, p->amounts, &input);
    multifactor_terms(&s->policy.multifactor, &p->multifactor.cluster, &input, &g->terms);
    g->node = s->node_of.items[state_assoc_in_partition(s, j->assoc, g->partition)];
    g->terms_edition = terms_edition(s);
}

/* With ACCRUE_ALWAYS the time of submission counts, for which rows have to be read. */
static uint32_t multifactor_priority_of_entry(struct pass *p, struct pending_group *g, const struct queue_entry *entry)
{
    const struct state *s = p->c->s;
    const struct multifactor_rules *rules = &s->policy.multifactor;
    if (g->terms_edition != terms_edition(s)) compute_terms(p, g, pass_job_of_entry(s, entry));
    if (g->set_priority != NONE) return g->set_priority;
    bool is_always = (rules->flags & FLAG_ACCRUE_ALWAYS) != 0;
    int64_t since_us = is_always ? pass_job_of_entry(s, entry)->submit_us : entry->since_us;
    if (since_us > p->c->now_us) since_us = is_always ? since_us : 0;
    double factor = g->node != NONE ? p->factors[g->node] : 0.0;
    return multifactor_priority_of(rules, &g->terms, p->c->now_us, since_us, factor);
}

/* The tier of the partition comes before the priority. */
static uint64_t order_of(struct pass *p, struct pending_group *g, const struct queue_entry *entry)
{
    const struct state *s = p->c->s;
    uint32_t tier = (uint32_t)s->objects[OBJECT_PARTITION].items[g->partition].object.value[PARTITION_TIER].number;
    if (s->policy.model == MODEL_BASIC) return sort_key_priority(tier, job_basic_priority(pass_job_of_entry(s, entry)));
    uint32_t priority = multifactor_priority_of_entry(p, g, entry);
    if (s->pending->are_alike) return sort_key_priority(tier, priority);
    return sort_key_priority(tier, min_priority_bound(s, pass_job_of_entry(s, entry), g->partition, priority));
}

/* --- the first jobs of the groups --------------------------------------------------------------------------------- */

static struct queue_candidate candidate_of(struct heads *h, uint32_t group, uint32_t at)
{
    struct state *s = h->p->c->s;
    struct pending_group *g = &s->pending->groups.items[group];
    const struct queue_entry *entry = &s->pending->queue.groups.items[group].entries.items[at];
    return (struct queue_candidate){order_of(h->p, g, entry), entry->position << 32 | g->place, group, at};
}

static void count_fitting(struct heads *h, uint32_t shape)
{
    while (h->fitting_of_shape.count <= shape) *array_add(&h->fitting_of_shape) = 0;
    h->fitting_of_shape.items[shape]++;
    h->fitting_count++;
}

static uint32_t reservations_left(const struct pass *p)
{
    if (p->cluster->rules.reservations != RUN_RESERVE_ALL) return 0;
    return p->cluster->rules.reservation_max - p->run.reservation_count;
}

/* after NULL: the first job of each group. Otherwise of groups whose jobs do not fit, those that come after it. */
static void collect(struct heads *h, const struct queue_candidate *after)
{
    struct pass *p = h->p;
    struct pending *pending = p->c->s->pending;
    uint32_t blocked_max = reservations_left(p);
    h->has_more_blocked = false;
    for (uint32_t g = 0; g < pending->queue.groups.count; g++) {
        if (pending->queue.groups.items[g].key == NULL) continue;
        const struct demand *d = pass_group_demand(p, g);
        bool may_start = run_may_start(&p->run, d);
        if (may_start ? after != NULL : blocked_max == 0) continue;
        uint32_t at = pass_admits(p, &pending->groups.items[g]) ? pass_find_startable(p->c->s, g, 0) : NONE;
        if (at == NONE) continue;
        const struct queue_candidate candidate = candidate_of(h, g, at);
        if (may_start) {
            *array_add(&h->fitting.list) = candidate;
            count_fitting(h, d->shape);
        } else if (after == NULL || queue_is_before(after, &candidate)) {
            h->has_more_blocked |= !queue_offer(&h->blocked, candidate, blocked_max);
        }
    }
    if (after == NULL) queue_order(&h->fitting);
    queue_order(&h->blocked);
}

/* The next job of a group that has started or got a reservation. */
static void push_next(struct heads *h, const struct queue_candidate *done, const struct demand *d)
{
    uint32_t at = pass_find_startable(h->p->c->s, done->group, done->at + 1);
    if (at == NONE) return;
    bool may_start = run_may_start(&h->p->run, d);
    if (may_start) count_fitting(h, d->shape);
    queue_push(may_start ? &h->fitting : &h->blocked, candidate_of(h, done->group, at));
}

/* --- the pass ----------------------------------------------------------------------------------------------------- */

/* Of the jobs that may start and those that could get a reservation the best one. */
static struct queue_candidate pop(struct heads *h)
{
    const struct queue_candidate *fitting = h->fitting.list.items, *blocked = h->blocked.list.items;
    bool has_blocked = h->blocked.list.count > 0 && reservations_left(h->p) > 0;
    return queue_pop(has_blocked && queue_is_before(blocked, fitting) ? &h->blocked : &h->fitting);
}

/* When none of a shape fits any more, those that did are among the ones that could get a reservation. */
static void decide(struct heads *h, const struct queue_candidate *candidate)
{
    struct pass *p = h->p;
    struct state *s = p->c->s;
    const struct demand *d = s->pending->groups.items[candidate->group].demand;
    const struct queue_group *members = &s->pending->queue.groups.items[candidate->group];
    if (!run_may_start(&p->run, d) && reservations_left(p) == 0) return;
    uint32_t job = state_find_job(s, members->entries.items[candidate->at].job);
    enum run_outcome outcome = pass_decide(p, job, d, UINT32_MAX);
    if (d->shape < h->fitting_of_shape.count && !run_may_start(&p->run, d)) {
        h->fitting_count -= h->fitting_of_shape.items[d->shape];
        h->fitting_of_shape.items[d->shape] = 0;
    }
    if (outcome != RUN_WAITS) push_next(h, candidate, d);
}

void pass_by_priority(struct pass *p)
{
    struct heads h = {.p = p};
    if (pass_count_fitting(p, 1) == 0) return;
    pass_begin_ranking(p);
    collect(&h, NULL);
    while (h.fitting_count > 0 && h.fitting.list.count > 0 && p->run.open_count > 0) {
        const struct queue_candidate best = pop(&h);
        decide(&h, &best);
        if (h.blocked.list.count == 0 && h.has_more_blocked && reservations_left(p) > 0) collect(&h, &best);
    }
    array_release(&h.fitting.list);
    array_release(&h.blocked.list);
    array_release(&h.fitting_of_shape);
}
