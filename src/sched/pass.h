/* One scheduling pass over one host: who of the pending starts now. A job stands in the queue once for each partition it
 * may start in; an array of which each task has a priority of its own, once for each of those tasks.
 *
 *     jobs         0: 1 task, 2 CPUs     1: 5 tasks, 1 CPU
 *     candidates   (0, fast) 900         (0, batch) 300    (1, batch) 500
 *     the pass     job 0 in fast, then tasks of job 1 as long as they fit; (0, batch) finds nothing left of job 0
 *
 * The highest order first, then the place in the list; what fits starts, and what does not fit stops nobody behind it. What
 * is free only shrinks meanwhile, so looking at each candidate once gives what looking for the best that fits gives again
 * and again. (Reservations, which keep a large job from being overtaken for ever, are a later policy.) */
#ifndef FAIRLEAD_SCHED_PASS_H
#define FAIRLEAD_SCHED_PASS_H

#include "base/arena.h"
#include "base/sort.h"
#include "sched/host.h"
#include "sched/pool.h"

/* What a job asks for. */
struct pass_job {
    uint32_t job;   /* the caller's index */
    uint32_t tasks; /* how many of it may start at once, at least 1 */
    struct capacity request;
    uint32_t slots_max; /* takes up to so many CPUs where they are free; 0: request.cpus */
    uint32_t need_count;
    const struct pool_need *needs; /* for each CPU */
};

struct candidate {
    uint32_t job; /* place in the jobs */
    uint32_t partition;
    uint32_t tasks; /* how many of the job may start in this place, at least 1 */
    uint64_t order; /* highest first: sort_key_priority or sort_key_prior, one of them in a pass */
};

/* Tiers of partitions come first, whatever the priority. */
static inline uint64_t sort_key_priority(uint32_t tier, uint32_t priority)
{
    return (uint64_t)tier << 32 | priority;
}
static inline uint64_t sort_key_prior(double priority)
{
    return sort_key_double(priority);
}

struct pass_queue {
    struct pass_job *jobs; /* tasks are counted down */
    uint32_t job_count;
    const struct candidate *candidates; /* in order of submission, then of task or partition */
    uint32_t candidate_count;
};

struct pass_start {
    uint32_t job; /* the caller's index */
    uint32_t partition;
    struct placement placement;
};

struct pass_starts {
    ARRAY(struct pass_start) list;
};

/* How many CPUs a task of the job would get now: from request.cpus to slots_max; 0: it does not fit. */
uint32_t pass_fits(const struct host *h, const struct pool *p, const struct pass_job *j);

/* Takes from h and p what starts, and appends to out_starts in the order of starting. O(n) and a stable sort of n
 * candidates; ends early when no CPU is free. */
void pass_run(struct host *h, struct pool *p, struct pass_queue *queue, struct arena *cycle,
              struct pass_starts *out_starts);

#endif
