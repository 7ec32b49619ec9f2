/* Requeue of what has ended: a job with all of its tasks, or single tasks, also of an array that lives. The tasks are
 * pending again under the same job id. An attempt that has run keeps its record and its usage, and becomes REQUEUED; a
 * task that was cancelled before it started has no attempt.
 *
 *     its row         the one in memory, if the job ended lately or a task of it lives; otherwise that of the event
 *                     (event.ended_jobs), which is added at its place by id
 *     what it names   association, partitions and so on are found again by name, because objects may have been deleted
 *                     and added since; a job that names something deleted is refused
 *     limits          those of submissions, with the jobs that the event has requeued before; so are the checks of its
 *                     user and its QOS
 *     conditions      a task that was cancelled while it waited for other jobs is refused, others of its array are not
 *     other jobs      a condition about it that was met stays met
 *
 * This file says which jobs are meant and what refuses them; requeue_run.h requeues them. */
#ifndef FAIRLEAD_ENGINE_REQUEUE_ENDED_H
#define FAIRLEAD_ENGINE_REQUEUE_ENDED_H

#include "engine/apply.h"

/* Lists the jobs of an EVENT_REQUEUE that are in no row of memory, in memory of arena. Returns their number; out_ids:
 * their ids in ascending order, if there are any. O(references x log) */
uint32_t requeue_ended_list(const struct state *s, const struct event *event, struct arena *arena,
                            const uint32_t **out_ids);

/* Whether a reference is to a job, or a task, that has ended. */
bool requeue_ended_is_of(const struct state *s, const struct event *event, struct job_ref ref);

/* The refusal of a job that was submitted or updated with requeue=no. ERR_CONFLICT. */
int requeue_ended_refuse_forbidden(struct apply_context *c, uint32_t job_id);

/* Whether it can be requeued. out_assoc: the association that it gets. ERR_NOT_FOUND, ERR_DENIED, ERR_CONFLICT,
 * ERR_TOO_LARGE: the error names the job. The second one is about a row of the event that is not in memory yet:
 * what can be said of it before. O(tasks of the job) */
int requeue_ended_check(struct apply_context *c, const struct event *event, struct job_ref ref, uint32_t *out_assoc);
int requeue_ended_check_brought(struct apply_context *c, const struct event *event, const struct event_ended_job *b,
                                struct job_ref ref, uint32_t *out_assoc);

/* Adds the tasks of a reference that become pending. Returns whether a later slice (task_max) has more of them. */
bool requeue_ended_tasks(const struct state *s, const struct event *event, const struct job *j, struct job_ref ref,
                         struct idset *out);

#endif
