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

struct heads {
    struct pass *p;
    struct queue_candidates candidates;
    uint32_t fitting; /* groups whose next job may start */
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

static void push(struct heads *h, uint32_t group, uint32_t at)
{
    struct state *s = h->p->c->s;
    struct pending_group *g = &s->pending->groups.items[group];
    at = pass_find_startable(s, group, at);
    if (at == NONE) return;
    const struct queue_entry *entry = &s->pending->queue.groups.items[group].entries.items[at];
    const struct queue_candidate candidate = {order_of(h->p, g, entry), entry->position << 32 | g->place, group, at};
    g->is_fitting = run_may_start(&h->p->run, g->demand);
    h->fitting += g->is_fitting;
    queue_push(&h->candidates, candidate);
}

/* Without a reservation only what fits takes part. */
static void push_all(struct heads *h)
{
    struct pass *p = h->p;
    struct pending *pending = p->c->s->pending;
    bool reserves = p->cluster->rules.reservations == RUN_RESERVE_ALL;
    for (uint32_t g = 0; g < pending->queue.groups.count; g++) {
        if (pending->queue.groups.items[g].key == NULL) continue;
        bool may_start = run_may_start(&p->run, pass_group_demand(p, g));
        if ((may_start || reserves) && pass_admits(p, &pending->groups.items[g])) push(h, g, 0);
    }
}

/* --- the pass ----------------------------------------------------------------------------------------------------- */

/* What stays of a job that was reserved in one partition may still start in another one. */
static void decide(struct heads *h, const struct queue_candidate *candidate)
{
    struct state *s = h->p->c->s;
    const struct pending_group *g = &s->pending->groups.items[candidate->group];
    const struct queue_group *members = &s->pending->queue.groups.items[candidate->group];
    uint32_t job = state_find_job(s, members->entries.items[candidate->at].job);
    h->fitting -= g->is_fitting;
    if (pass_decide(h->p, job, g->demand, UINT32_MAX) != RUN_WAITS) push(h, candidate->group, candidate->at + 1);
}

void pass_by_priority(struct pass *p)
{
    struct heads h = {.p = p};
    if (pass_count_fitting(p, 1) == 0) return;
    pass_begin_ranking(p);
    push_all(&h);
    while (h.fitting > 0 && p->run.open_count > 0) {
        const struct queue_candidate best = queue_pop(&h.candidates);
        decide(&h, &best);
    }
    array_release(&h.candidates.list);
}
