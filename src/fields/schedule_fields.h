/* Rows of a planned schedule: who runs, starts, has a reservation or waits. */
#ifndef FAIRLEAD_FIELDS_SCHEDULE_FIELDS_H
#define FAIRLEAD_FIELDS_SCHEDULE_FIELDS_H

#include "fields/column.h"
#include "fields/field.h"

enum schedule_field {
    SCHEDULE_FIELD_ID, /* "5", "5_3", "5_[3-9]" */
    SCHEDULE_FIELD_JOB_ID,
    SCHEDULE_FIELD_USER,
    SCHEDULE_FIELD_STATE,
    SCHEDULE_FIELD_START,
    SCHEDULE_FIELD_END,
    SCHEDULE_FIELD_SLOTS,
    SCHEDULE_FIELD_ENVIRONMENT,
    SCHEDULE_FIELD_PLACES,
    SCHEDULE_FIELD_REASON,
    SCHEDULE_FIELD_COUNT
};

/* By enum schedule_state (engine/schedule.h). */
#define SCHEDULE_STATES "RUNNING,SUSPENDED,STARTING,RESERVED,WAITING"

extern const struct field_table schedule_fields;
extern const struct column_table schedule_fields_columns;

struct schedule_values {
    struct field_value value[SCHEDULE_FIELD_COUNT];
};

#endif
