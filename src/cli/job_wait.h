/* Waiting until jobs have ended. */
#ifndef FAIRLEAD_CLI_JOB_WAIT_H
#define FAIRLEAD_CLI_JOB_WAIT_H

#include "cli/command.h"
#include "wire/wire.h"

/* Waits until all jobs of ids (const char *) have ended. Returns the status of the first failed one in their order, 0
 * if none failed, or -1 with *e. Retries for retry_s while no instance answers. Notes each failed job on standard
 * error. */
int job_wait(struct call *call, const struct wire_list *ids, uint64_t retry_s, struct err *e);

#endif
