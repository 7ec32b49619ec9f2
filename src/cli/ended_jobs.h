/* The ended jobs that options select, for a requeue: the instance lists them, from memory and from its history, and the
 * caller names them. What has ended does not change meanwhile, and what was requeued is refused. */
#ifndef FAIRLEAD_CLI_ENDED_JOBS_H
#define FAIRLEAD_CLI_ENDED_JOBS_H

#include "api/bodies.h"
#include "cli/command.h"

/* Reads "FAILED,timeout" into bits by enum job_state, 1 << JOB_FAILED. ERR_INPUT: another word than a state in which a
 * job ends; the error also says that `running` is accepted. */
int ended_jobs_read_states(const char *text, uint32_t *out_states, struct err *e);

/* Lists the tasks that ended so in their last attempt and that fit the selection of body: "5", "5_3" (const char *), in
 * the call's arena, a state after the other, the oldest first. One request for each state, O(rows). */
int ended_jobs_list(struct call *call, const struct api_jobs *body, uint32_t states, struct wire_list *out_ids,
                    struct err *e);

#endif
