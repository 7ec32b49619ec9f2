/* The tasks of an array by their states, for 'show job': how many there are of each, and which. */
#ifndef FAIRLEAD_CLI_ARRAY_SUMMARY_H
#define FAIRLEAD_CLI_ARRAY_SUMMARY_H

#include "base/idset.h"
#include "cli/command.h"
#include "fields/job_fields.h"

/* The tasks of one state; those that are pending for one reason. */
struct array_group {
    int64_t state, reason;
    struct idset tasks;
};

/* All zero: no tasks. */
struct array_summary {
    ARRAY(struct array_group) groups; /* in the order of their first rows */
    bool is_array, has_pending;
};

/* Counts the tasks of all rows of a job; a job that is no array, or not known, leaves it empty. job_id: "5". */
int array_summary_read(struct call *call, const char *job_id, struct array_summary *out, struct err *e);

/* Appends "Tasks  10: 8 COMPLETED, 2 FAILED" and a line of tasks for each state. */
void array_summary_write(const struct array_summary *s, struct buf *out);

void array_summary_release(struct array_summary *s);

#endif
