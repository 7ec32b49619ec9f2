/* How long a task has run, by its record. Pure. */
#ifndef FAIRLEAD_CLI_JOB_ELAPSED_H
#define FAIRLEAD_CLI_JOB_ELAPSED_H

#include <stdint.h>

#include "fields/field.h"

/* All its suspensions, also one that is not over. row: a record of job_fields. */
int64_t job_elapsed_suspended_us(const struct field_value *row, int64_t now_us);

/* From its start, which the row has, to its end or now, without suspensions; at least 0. */
int64_t job_elapsed_us(const struct field_value *row, int64_t now_us);

#endif
