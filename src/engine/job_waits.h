/* Whether hold, begin and dependencies let a job start, and which of its tasks. */
#ifndef FAIRLEAD_ENGINE_JOB_WAITS_H
#define FAIRLEAD_ENGINE_JOB_WAITS_H

#include "engine/state.h"

/* The pending tasks that may start: all of them, unless the job waits task by task. */
static inline const struct idset *job_waits_ready_tasks(const struct job *j)
{
    return j->waits_by_task ? &j->ready : &j->pending;
}

/* Whether it has a pending task, and neither a hold nor a condition keeps all of them from starting. O(conditions) */
bool job_waits_is_eligible(const struct job *j, int64_t now_us);

/* The time from which it is eligible if nothing changes; INT64_MAX: never. Whether it has a pending task and is not
 * held is not asked. */
int64_t job_waits_eligible_us(const struct job *j);

/* The time from which the age of a job grows that is submitted, released or freed now: 0: it does not. */
int64_t job_waits_accrual_us(const struct job *j, int64_t now_us);

/* To be called after a change of the job's conditions, or when a task of it became pending again. O(ranges). The second
 * one is for a change that concerns one task alone: O(conditions x log ranges). */
void job_waits_find_ready(struct job *j);
void job_waits_find_ready_task(struct job *j, uint32_t task_id);

/* Takes tasks that are cancelled out of the pending ones, and queues this as a cause (dependents.h). */
void job_waits_take(struct state *s, struct job *j, const struct idset *tasks);

/* Takes a task that is launched out of the pending ones, which ends the conditions of its job unless it waits task by
 * task. Returns whether it had some that are gone. Its begin is a cause (task_records.c). */
bool job_waits_take_task(struct job *j, uint32_t task_id);

#endif
