/* The priorities and ranks of waiting jobs, which the instance lists apart from the jobs (GET /v1/priorities), for the
 * columns 'priority' and 'rank' of listings of jobs. */
#ifndef FAIRLEAD_CLI_JOB_RANKS_H
#define FAIRLEAD_CLI_JOB_RANKS_H

#include "cli/command.h"

/* Reads those of all jobs, or of one (job_id not NONE), which then has no rank. Until then, and without an answer, no
 * job has any. Kept until they are read again. Fails as instance_request does. */
int job_ranks_read(struct call *call, uint32_t job_id, struct err *e);

/* The job's place among those that may start, 1 the next one; 0: it has none. */
uint32_t job_ranks_of(uint32_t job_id);

/* Its highest priority, as 'fairlead prio' has it. false: it has none. */
bool job_ranks_priority(uint32_t job_id, double *out_priority);

#endif
