#include "fields/priority_fields.h"

#include "fields/job_state.h"

#define TEXT(name_, words)                                   \
    {                                                        \
        .name = (name_), .help = (words), .type = FIELD_TEXT \
    }
#define ID(name_, words)                                                          \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_NUMBER, .max = UINT32_MAX \
    }
#define REAL(name_, words)                                   \
    {                                                        \
        .name = (name_), .help = (words), .type = FIELD_REAL \
    }
#define TERM(name_, words)                                                        \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_REAL, .is_nullable = true \
    }
#define TERMS(name_, words)                                                       \
    {                                                                             \
        .name = (name_), .help = (words), .type = FIELD_TEXT, .is_nullable = true \
    }

static const struct field rows[PRIORITY_FIELD_COUNT] = {
    [PRIORITY_FIELD_MODEL] = TEXT("model", "the model in force, as PriorityType has it"),
    [PRIORITY_FIELD_ID] = {.name = "id",
                           .help = "5, 5_3 or, for several tasks, 5_[3-9%2]",
                           .type = FIELD_TEXT,
                           .is_task_set = true},
    [PRIORITY_FIELD_JOB_ID] = ID("job_id", "the job"),
    [PRIORITY_FIELD_TASK_ID] = {.name = "task_id",
                                .help = "the running task of an array; null: not one task of an array",
                                .type = FIELD_NUMBER,
                                .max = UINT32_MAX,
                                .is_nullable = true},
    [PRIORITY_FIELD_USER] = TEXT("user", "the job's user"),
    [PRIORITY_FIELD_ACCOUNT] = TEXT("account", "the account charged"),
    [PRIORITY_FIELD_PROJECT] = TEXT("project", "the project it counts for; empty: none"),
    [PRIORITY_FIELD_PARTITION] = TEXT("partition", "the partition"),
    [PRIORITY_FIELD_QOS] = TEXT("qos", "quality of service"),
    [PRIORITY_FIELD_STATE] = {.name = "state",
                              .help = "the state; HELD: waits for its release; SUSPENDED: only in documents",
                              .type = FIELD_CHOICE,
                              .choices = job_state_choices},
    [PRIORITY_FIELD_ELIGIBLE] = {.name = "eligible",
                                 .help = "whether it runs or may start now (not held, begin time passed)",
                                 .type = FIELD_BOOL,
                                 .max = 1},
    [PRIORITY_FIELD_PRIORITY] =
        TERM("priority", "the sort key, the highest comes first; 0: held; null: suspended by hand"),
    [PRIORITY_FIELD_RANK] = {.name = "rank",
                             .help =
                                 "position of its job among the waiting jobs that may start: 1 is the next one; null: "
                                 "not eligible, running, or only one job was asked for",
                             .type = FIELD_NUMBER,
                             .max = UINT32_MAX,
                             .is_nullable = true},
    [PRIORITY_FIELD_BILLING] = REAL("billing", "billing units per second that it costs or would cost there"),

    [PRIORITY_FIELD_SITE] = TERM("site", "multifactor: the site's term"),
    [PRIORITY_FIELD_AGE] = TERM("age", "multifactor: weighted age"),
    [PRIORITY_FIELD_ASSOC] = TERM("assoc", "multifactor: weighted priority of the association"),
    [PRIORITY_FIELD_FAIR_SHARE] = TERM("fair_share", "multifactor: weighted fair share"),
    [PRIORITY_FIELD_JOB_SIZE] = TERM("job_size", "multifactor: weighted size"),
    [PRIORITY_FIELD_PARTITION_TERM] = TERM("partition_term", "multifactor: weighted factor of the partition"),
    [PRIORITY_FIELD_QOS_TERM] = TERM("qos_term", "multifactor: weighted priority of the QOS"),
    [PRIORITY_FIELD_NICE] = TERM("nice", "multifactor: what is subtracted"),
    [PRIORITY_FIELD_TRES] = TERM("tres", "multifactor: sum of the weighted TRES"),
    [PRIORITY_FIELD_AGE_FACTOR] = TERM("age_factor", "multifactor: factor before weighing"),
    [PRIORITY_FIELD_ASSOC_FACTOR] = TERM("assoc_factor", "multifactor: factor before weighing"),
    [PRIORITY_FIELD_FAIR_SHARE_FACTOR] = TERM("fair_share_factor", "multifactor: factor before weighing"),
    [PRIORITY_FIELD_JOB_SIZE_FACTOR] = TERM("job_size_factor", "multifactor: factor before weighing"),
    [PRIORITY_FIELD_PARTITION_FACTOR] = TERM("partition_factor", "multifactor: factor before weighing"),
    [PRIORITY_FIELD_QOS_FACTOR] = TERM("qos_factor", "multifactor: factor before weighing"),
    [PRIORITY_FIELD_TRES_TERMS] = TERMS("tres_terms", "multifactor: each weighted TRES, as cpu=250,mem=25"),
    [PRIORITY_FIELD_TRES_FACTORS] = TERMS("tres_factors", "multifactor: each TRES before weighing"),

    [PRIORITY_FIELD_NORM_TICKETS] = TERM("norm_tickets", "tickets: relative to the largest ticket count, 0 to 1"),
    [PRIORITY_FIELD_NORM_URGENCY] = TERM("norm_urgency", "tickets: between the smallest and largest urgency, 0 to 1"),
    [PRIORITY_FIELD_NORM_POSIX] = TERM("norm_posix", "tickets: the POSIX priority, 0 to 1"),
    [PRIORITY_FIELD_URGENCY_RESOURCES] = TERM("urgency_resources", "tickets: urgency of the requested resources"),
    [PRIORITY_FIELD_URGENCY_WAITING] = TERM("urgency_waiting", "tickets: urgency of the waiting time"),
    [PRIORITY_FIELD_URGENCY_DEADLINE] = TERM("urgency_deadline", "tickets: urgency of the deadline"),
    [PRIORITY_FIELD_URGENCY] = TERM("urgency", "tickets: sum of the three"),
    [PRIORITY_FIELD_TICKETS] = TERM("tickets", "tickets: sum of the next three"),
    [PRIORITY_FIELD_OVERRIDE_TICKETS] = TERM("override_tickets", "tickets: of the override policy"),
    [PRIORITY_FIELD_FUNCTIONAL_TICKETS] = TERM("functional_tickets", "tickets: of the functional policy"),
    [PRIORITY_FIELD_SHARE_TICKETS] = TERM("share_tickets", "tickets: of the share tree policy"),
};

const struct field_table priority_fields = {
    .name = "Priority",
    .help = "A pending job in a partition it may run in, or a running task, and the terms of its priority.",
    .rows = rows,
    .row_size = sizeof rows[0],
    .count = PRIORITY_FIELD_COUNT,
};
