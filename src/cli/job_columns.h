/* The columns of queue, history and show job: fields of jobs, and values computed from several fields. */
#ifndef FAIRLEAD_CLI_JOB_COLUMNS_H
#define FAIRLEAD_CLI_JOB_COLUMNS_H

#include "fields/column.h"

extern const struct column_table job_columns_queue, job_columns_start, job_columns_history, job_columns_show;

/* Of show job, those that all tasks of an array have in common. */
extern const struct column_table job_columns_array;

#endif
