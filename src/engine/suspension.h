/* Suspensions: the time in which the processes of a task are stopped. The task keeps its CPUs, memory and everything
 * else, and counts for limits. Its time limit stands still, and so does its charge, unless charge_suspended was set
 * when the suspension began. */
#ifndef FAIRLEAD_ENGINE_SUSPENSION_H
#define FAIRLEAD_ENGINE_SUSPENSION_H

#include "engine/apply.h"

/* Makes a RUNNING task SUSPENDED from now on. */
void suspension_begin(struct apply_context *c, uint32_t task_index, bool is_by_operator);

/* Ends the suspension of a task that has one, at at_us, but not before its begin: it is RUNNING then. The caller notes
 * the change. */
void suspension_end(struct apply_context *c, struct task *k, int64_t at_us);

/* Decides what the executor is to do with the processes of a task: stop them, or let them run. */
void suspension_send(struct apply_context *c, const struct task *k);

#endif
