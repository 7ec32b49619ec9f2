/* One scheduling pass over one host: which pending jobs start now. The queue has a candidate for each partition that a
 * job may start in. An array whose tasks have priorities of their own has a candidate for each of those tasks.
 *
 *     jobs         0: 1 task, 2 CPUs     1: 5 tasks, 1 CPU
 *     candidates   (0, fast) 900         (0, batch) 300    (1, batch) 500
 *     the pass     job 0 in fast, then tasks of job 1 as long as they fit; (0, batch) finds no task of job 0 left
 *
 * Candidates are tried from the highest order down, equal ones in the order of the list. A candidate that fits starts;
 * one that does not fit holds up no other. Free resources only shrink during a pass, so trying each candidate once
 * starts the same tasks as selecting the best candidate that fits again and again. (There are no reservations yet,
 * which would keep small jobs from overtaking a large one for ever.) */
#ifndef FAIRLEAD_SCHED_PASS_H
#define FAIRLEAD_SCHED_PASS_H

#include "base/arena.h"
#include "base/sort.h"
#include "sched/consumables.h"
#include "sched/host.h"

/* A job and its request. */
struct pass_job {
    uint32_t job;   /* the caller's index */
    uint32_t tasks; /* how many of its tasks may start at once, at least 1 */
    struct capacity request;
    uint32_t slots_max; /* a task takes up to so many CPUs if they are free; 0: request.cpus */
    uint32_t need_count;
    const struct consumable_need *needs; /* for each CPU */
};

struct candidate {
    uint32_t job; /* index into the queue's jobs */
    uint32_t partition;
    uint32_t tasks; /* how many of the job's tasks this candidate stands for, at least 1 */
    uint64_t order; /* highest first: sort_key_priority or sort_key_prior, the same one in all of a pass */
};

/* The tier of the partition comes before the priority. */
static inline uint64_t sort_key_priority(uint32_t tier, uint32_t priority)
{
    return (uint64_t)tier << 32 | priority;
}
static inline uint64_t sort_key_prior(double priority)
{
    return sort_key_double(priority);
}

struct pass_queue {
    struct pass_job *jobs; /* their tasks are counted down */
    uint32_t job_count;
    const struct candidate
        *candidates; /* in order of submission, then of task or partition; or in the order of starting */
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

/* The number of CPUs that a task of the job would get now, from request.cpus to slots_max; 0 if it does not fit. */
uint32_t pass_fits(const struct host *h, const struct consumables *c, const struct pass_job *j);

/* Starts what fits: takes it from h and c, and appends it to out_starts in the order of starting. Sorts n candidates
 * and tries each once, O(n); ends early when no CPU is free. */
void pass_run(struct host *h, struct consumables *c, struct pass_queue *queue, struct arena *cycle,
              struct pass_starts *out_starts);

#endif
