/* Requeue of what has ended: a job with all of its tasks, or single tasks, also of an array that lives. The tasks are
 * pending again under the same job id. An attempt that has run keeps its record and its usage, and becomes REQUEUED; a
 * task that was cancelled before it started has no attempt.
 *
 *     its row         the one in memory, if the job ended lately or a task of it lives; otherwise that of the event
 *                     (event.ended_jobs), which is added at its place by id
 *     what it names   association, partitions and so on are found again by name, because objects may have been deleted
 *                     and added since; a job that names something deleted is refused
 *     limits          those of submissions, with the jobs that the event has requeued before
 *     other jobs      a condition about it that was met stays met
 *
 * A run is the part of an event that is about ended jobs. Nothing of it is visible outside before requeue_run_end, and
 * until then all of it can be undone. */
#ifndef FAIRLEAD_ENGINE_REQUEUE_ENDED_H
#define FAIRLEAD_ENGINE_REQUEUE_ENDED_H

#include "engine/apply.h"

/* Lists the jobs of an EVENT_REQUEUE that are in no row of memory, in memory of arena. Returns their number; out_ids:
 * their ids in ascending order, if there are any. O(references x log) */
uint32_t requeue_ended_list(const struct state *s, const struct event *event, struct arena *arena,
                            const uint32_t **out_ids);

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

/* Whether a reference is to a job, or a task, that has ended. */
bool requeue_ended_is_of(const struct state *s, const struct event *event, struct job_ref ref);

/* The refusal of a job that was submitted so (requeue=no). ERR_CONFLICT. */
int requeue_ended_refuse_forbidden(struct apply_context *c, uint32_t job_id);

/* Whether it can be requeued. ERR_NOT_FOUND, ERR_DENIED, ERR_CONFLICT, ERR_TOO_LARGE: the error names the job.
 * requeue_run_revive checks that, too, and requeues it. O(tasks of the job); the store writes a row for each that had
 * started, so an array of 10^5 tasks takes 0.6 s (bench/bench_store.c). */
int requeue_ended_check(struct apply_context *c, const struct event *event, struct job_ref ref);
int requeue_run_revive(struct requeue_run *run, struct job_ref ref);

#endif
