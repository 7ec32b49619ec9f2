/* Waiting until an immediate job has started, or was cancelled because it did not. */
#ifndef FAIRLEAD_CLI_JOB_START_H
#define FAIRLEAD_CLI_JOB_START_H

#include "cli/command.h"

/* Returns 0 once the job has started. ERR_CONFLICT: it did not, with the instance's reason. Asks again for retry_s
 * while no instance answers: a restarted one decides about the job, too. */
int job_start_wait(struct call *call, uint32_t job_id, uint64_t retry_s, struct err *e);

#endif
