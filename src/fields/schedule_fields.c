#include "fields/schedule_fields.h"

#include "fields/limits.h"

static const struct field rows[SCHEDULE_FIELD_COUNT] = {
    [SCHEDULE_FIELD_ID] = {.name = "id",
                           .help = "the job, or the task of an array; waiting tasks of one are a row",
                           .type = FIELD_TEXT},
    [SCHEDULE_FIELD_JOB_ID] = {.name = "job_id", .help = "the job", .type = FIELD_NUMBER, .max = UINT32_MAX},
    [SCHEDULE_FIELD_USER] = {.name = "user", .help = "its user", .type = FIELD_TEXT},
    [SCHEDULE_FIELD_STATE] = {.name = "state",
                              .help = "RUNNING or SUSPENDED; STARTING now; RESERVED: it starts later; WAITING",
                              .type = FIELD_CHOICE,
                              .choices = SCHEDULE_STATES},
    [SCHEDULE_FIELD_START] =
        {.name = "start_us",
         .help = "when it started or will start; null: it waits, or for the end of a job of unlimited time",
         .type = FIELD_TIME,
         .max = TIME_US_MAX,
         .is_nullable = true},
    [SCHEDULE_FIELD_END] = {.name = "end_us",
                            .help = "when it is planned to end; null: its time is unlimited, or its start is not known",
                            .type = FIELD_TIME,
                            .max = TIME_US_MAX,
                            .is_nullable = true},
    [SCHEDULE_FIELD_SLOTS] = {.name = "slots",
                              .help = "slots that it has; of a waiting job the minimum that it requests",
                              .type = FIELD_NUMBER,
                              .max = WHOLE_REAL_MAX},
    [SCHEDULE_FIELD_ENVIRONMENT] = {.name = "pe",
                                    .help = "its parallel environment; null: none",
                                    .type = FIELD_TEXT,
                                    .is_nullable = true},
    [SCHEDULE_FIELD_PLACES] =
        {.name = "places",
         .help = "slots in each queue on a host, the first task's first: all.q@n1=2,all.q@n2=4; null: "
                 "it waits",
         .type = FIELD_TEXT,
         .is_nullable = true},
    [SCHEDULE_FIELD_REASON] = {.name = "reason",
                               .help = "of a waiting job that can never run, or waits for other jobs: why",
                               .type = FIELD_TEXT,
                               .is_nullable = true},
};

const struct field_table schedule_fields = {.name = "Schedule",
                                            .help = "A job in a planned schedule.",
                                            .rows = rows,
                                            .row_size = sizeof rows[0],
                                            .count = SCHEDULE_FIELD_COUNT};

enum { PLACES_WIDTH_MIN = 24, REASON_WIDTH_MIN = 20 }; /* "batch@n11=4,batch@n12=4" */

static const struct column columns[] = {
    {.field = SCHEDULE_FIELD_ID, .name = "JOBID", .heading = "JOBID"},
    {.field = SCHEDULE_FIELD_USER, .name = "USER", .heading = "USER", .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 2},
    {.field = SCHEDULE_FIELD_STATE, .name = "STATE", .heading = "STATE"},
    {.field = SCHEDULE_FIELD_START, .name = "START", .heading = "START"},
    {.field = SCHEDULE_FIELD_END, .name = "END", .heading = "END", .rank = 5},
    {.field = SCHEDULE_FIELD_SLOTS, .name = "SLOTS", .heading = "SLOTS"},
    {.field = SCHEDULE_FIELD_ENVIRONMENT, .name = "PE", .heading = "PE", .width_min = COLUMN_NAME_WIDTH_MIN, .rank = 4},
    {.field = SCHEDULE_FIELD_PLACES, .name = "PLACES", .heading = "PLACES", .width_min = PLACES_WIDTH_MIN, .rank = 1},
    {.field = SCHEDULE_FIELD_REASON, .name = "REASON", .heading = "REASON", .width_min = REASON_WIDTH_MIN, .rank = 1},
};

const struct column_table schedule_fields_columns = {
    .fields = &schedule_fields, .columns = columns, .count = sizeof columns / sizeof *columns};
