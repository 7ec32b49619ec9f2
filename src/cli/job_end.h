/* How a job or task ended: for people, and as an exit status. row: a record of job_fields. */
#ifndef FAIRLEAD_CLI_JOB_END_H
#define FAIRLEAD_CLI_JOB_END_H

#include "cli/command.h"
#include "fields/job_fields.h"

/* Exit statuses of wait for ends that have none of their own. Just below the ones with a meaning already: 123 is xargs',
 * 124 and 125 timeout's, 126, 127 and 128 + signal the shell's. */
enum {
    JOB_EXIT_NOT_STARTED = 119, /* failed before its program ran */
    JOB_EXIT_CANCELLED = 120,
    JOB_EXIT_TIMEOUT = 121,
    JOB_EXIT_NODE_FAIL = 122,
};

extern const struct command_exit job_end_exits[];

/* Whether its program ran and ended, and how is known. */
bool job_end_has_status(const struct field_value *row);

/* The exit status an ended row stands for: 0, its own, 128 + signal, or one of the above. */
int job_end_status(const struct field_value *row);

/* "COMPLETED", "FAILED, exit status 3", "FAILED, signal 9 (Killed)", with its detail where there is one. */
void job_end_describe(const struct field_value *row, struct buf *out);

#endif
