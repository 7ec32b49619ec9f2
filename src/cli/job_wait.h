/* Waiting until jobs have ended. */
#ifndef FAIRLEAD_CLI_JOB_WAIT_H
#define FAIRLEAD_CLI_JOB_WAIT_H

#include "cli/command.h"
#include "wire/wire.h"

/* Waits until all ids have ended. Returns the first failure's status in their order, or -1. A connection that breaks is
 * tried again for retry_s. Says on standard error which failed. */
int job_wait(struct call *call, const struct wire_list *ids, uint64_t retry_s, struct err *e);

#endif
