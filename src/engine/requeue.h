/* Requeuing: a task ends as REQUEUED, and its number is pending again. The next start is a further row with its own
 * launch id, so each attempt has its own record and usage, and still no launch runs twice.
 *
 *     by request      fairlead requeue: the task is ended first, or has ended already (requeue_ended.h)
 *     by itself       with an exit status that the job names, or, if the job agrees, when its host or keeper failed
 *     as a retry      after a failure that the job's rule is about (fields/retry_text.h)
 *
 * By itself a task is requeued at most requeue_max times. After that a plain job is held, and of an array that task
 * alone (task_delays.h); the others go on. So it is with a request that holds (requeue --hold), unless it is of a whole
 * array that has ended. After its last retry a task has failed. All starts of a task count, whatever their cause. */
#ifndef FAIRLEAD_ENGINE_REQUEUE_H
#define FAIRLEAD_ENGINE_REQUEUE_H

#include "engine/apply.h"

/* Decides whether a task that ends in the state end is requeued: sets k->requeue, and k->detail if that is empty. */
void requeue_decide(const struct state *s, const struct job *j, struct task *k, enum job_state end);

/* The maximum of requeues, if a task that an operator has to release has gone beyond it; 0: it has not. */
uint32_t requeue_max_reached(const struct state *s, const struct job *j, uint32_t task_id);

/* The tasks that were requeued more often than the maximum; NULL: none. */
const struct idset *requeue_exceeding(const struct state *s, const struct job *j);

/* Makes the number of a task that has ended as REQUEUED pending again. It starts requeue_delay_s later at the earliest,
 * or after the backoff of its retry: of a plain job the begin is moved, and its age grows from then on; of an array
 * only the task waits. */
void requeue_task(struct apply_context *c, uint32_t job_index, const struct task *k);

/* The same of tasks that have ended already, and that are in no set of the job but its array. Restarts are the
 * caller's. */
void requeue_tasks(struct apply_context *c, uint32_t job_index, const struct idset *tasks, enum task_requeue requeue,
                   int64_t delay_us);

/* The setting requeue_delay_s. */
int64_t requeue_delay_us(const struct state *s);

/* Holds a task of an array that was requeued, beside its delay. requeue: who holds it. */
void requeue_hold_task(struct job *j, uint32_t task_id, enum task_requeue requeue);

#endif
