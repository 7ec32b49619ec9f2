/* What a job used of what it asked for, and what its next submission should ask for.
 *
 *     CPUs      CPU time of its tasks / (their CPUs x their run time)
 *     memory    the largest peak of a task / the memory of a task
 *     time      the longest run time of a task / the time limit
 *
 * Advice needs tasks that have ended: it is the measured use and a reserve (the constants of job_efficiency.c), and is
 * given only where it differs much from the request. An end as OUT_OF_MEMORY or TIMEOUT says that the request was too
 * small. */
#ifndef FAIRLEAD_CLI_JOB_EFFICIENCY_H
#define FAIRLEAD_CLI_JOB_EFFICIENCY_H

#include "fields/column.h"
#include "wire/wire.h"

enum efficiency_field {
    EFFICIENCY_JOB,
    EFFICIENCY_NAME,
    EFFICIENCY_TASKS,
    EFFICIENCY_CPUS,
    EFFICIENCY_CPUS_USED,
    EFFICIENCY_CPU_PERCENT,
    EFFICIENCY_MEM,
    EFFICIENCY_PEAK,
    EFFICIENCY_MEM_PERCENT,
    EFFICIENCY_LIMIT,
    EFFICIENCY_LONGEST,
    EFFICIENCY_TIME_PERCENT,
    EFFICIENCY_ADVICE,
    EFFICIENCY_COUNT,
};

extern const struct column_table job_efficiency_columns;

/* Sums up the rows of one job, records of job_fields, into out, a record of job_efficiency_columns. id: as it was asked
 * for. now_us: running tasks count until then. Texts are in arena. ERR_NOT_FOUND: no rows; ERR_CONFLICT: no task has
 * started; ERR_DENIED: another user's, whose use is hidden. */
int job_efficiency_compute(const char *id, const struct wire_list *rows, int64_t now_us, struct arena *arena,
                           struct field_value out[EFFICIENCY_COUNT], struct err *e);

#endif
