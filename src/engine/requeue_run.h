/* A run is the part of a requeue that is about ended jobs (requeue_ended.h): the rows of the event are added, those
 * that are requeued live again, and the others are removed. Before requeue_run_end nothing of it is visible outside,
 * and all of it can be undone. */
#ifndef FAIRLEAD_ENGINE_REQUEUE_RUN_H
#define FAIRLEAD_ENGINE_REQUEUE_RUN_H

#include "engine/apply.h"

struct requeue_revival;
struct requeue_run {
    struct apply_context *c;
    const struct event *event;
    const uint32_t *brought; /* ids of the rows that were added, ascending; memory of the cycle */
    uint32_t brought_count;
    ARRAY(struct requeue_revival *) revived;
    uint32_t change_count; /* of the outcome when it began */
};

/* Adds the rows of the event. O(jobs) if there are any. requeue_run_end notes what was requeued, and removes the added
 * rows that were not. */
void requeue_run_begin(struct requeue_run *run, struct apply_context *c, const struct event *event);
void requeue_run_undo(struct requeue_run *run);
void requeue_run_end(struct requeue_run *run);

/* Requeues a job, or a task, unless requeue_ended_check refuses it. O(tasks of the job); the store writes a row for the
 * ones that had started, so an array of 10^5 tasks takes 0.6 s (bench/bench_store.c). */
int requeue_run_revive(struct requeue_run *run, struct job_ref ref);

#endif
