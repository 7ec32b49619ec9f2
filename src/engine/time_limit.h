/* The time limit of tasks that run. It is the job's, or a shorter one with which the task was backfilled
 * (task_time_limit_s); the executor enforces it (exec/executor.h) and gets it with the start. The rows have the limit
 * that holds: it is sent again after each connection, because an order may have been lost together with the daemon or
 * with its executor. */
#ifndef FAIRLEAD_ENGINE_TIME_LIMIT_H
#define FAIRLEAD_ENGINE_TIME_LIMIT_H

#include "engine/apply.h"

/* To be called after a change of a job's time limit: what its live tasks have reserved and booked has another end, and
 * the executor is told. O(tasks) if tasks of the job are live. */
void time_limit_changed(struct apply_context *c, uint32_t job_index);

/* Gives the live tasks of a job whose limits were cut that of the job. Returns whether there are any: then
 * time_limit_changed has to be called. */
bool time_limit_restore(struct apply_context *c, uint32_t job_index);

/* Decides that the executor gets the limit of a live task. */
void time_limit_send(struct apply_context *c, const struct task *k);

#endif
