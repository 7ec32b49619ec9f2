/* Rows of 'fairlead top': what a user, a job or a process uses of the machine now. */
#ifndef FAIRLEAD_FIELDS_USE_FIELDS_H
#define FAIRLEAD_FIELDS_USE_FIELDS_H

#include "fields/column.h"
#include "fields/field.h"

enum use_field {
    USE_FIELD_USER,
    USE_FIELD_UID,
    USE_FIELD_JOB, /* "12_3"; absent: outside jobs, or a row of a user */
    USE_FIELD_PID,
    USE_FIELD_CPUS,
    USE_FIELD_MEM_KIB,
    USE_FIELD_GPUS, /* "0,2"; absent: none */
    USE_FIELD_JOB_CPUS,
    USE_FIELD_OUTSIDE_CPUS,
    USE_FIELD_OUTSIDE_MEM_KIB,
    USE_FIELD_OUTSIDE_GPUS,
    USE_FIELD_JOBS, /* "12,13_1" */
    USE_FIELD_PROCESSES,
    USE_FIELD_STATE,
    USE_FIELD_COMMAND,
    USE_FIELD_COUNT
};

extern const struct field_table use_fields;
extern const struct column_table use_fields_columns;

struct use_values {
    struct field_value value[USE_FIELD_COUNT];
};

#endif
