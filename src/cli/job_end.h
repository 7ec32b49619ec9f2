/* How a job or task ended, as text and as an exit status. row: a record of job_fields. */
#ifndef FAIRLEAD_CLI_JOB_END_H
#define FAIRLEAD_CLI_JOB_END_H

#include "cli/command.h"
#include "fields/job_fields.h"

/* Exit statuses of wait for jobs that ended without one. They are just below those that already have a meaning: 123 for
 * xargs, 124 and 125 for timeout, 126, 127 and 128 + signal for the shell. */
enum {
    JOB_EXIT_OUT_OF_MEMORY = 118,
    JOB_EXIT_NOT_STARTED = 119, /* failed before its program ran */
    JOB_EXIT_CANCELLED = 120,
    JOB_EXIT_TIMEOUT = 121,
    JOB_EXIT_NODE_FAIL = 122,
};

extern const struct command_exit job_end_exits[];

/* Whether its program ran, and its exit status is known. */
bool job_end_has_status(const struct field_value *row);

/* The exit status of wait for an ended row: 0, the job's own, 128 + signal, or one of the above. */
int job_end_status(const struct field_value *row);

/* Appends "COMPLETED", "FAILED, exit status 3" or "FAILED, signal 9 (Killed)", followed by its detail if there is
 * one. */
void job_end_describe(const struct field_value *row, struct buf *out);

#endif
