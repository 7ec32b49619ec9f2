#include "fields/objects.h"

#include <string.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/expression.h"
#include "base/number.h"
#include "base/quantity.h"
#include "fields/calendar_text.h"
#include "fields/host_ranges.h"
#include "fields/host_text.h"
#include "fields/limit_fields.h"
#include "fields/limits.h"
#include "fields/quota_text.h"
#include "fields/request_text.h"
#include "fields/setting_text.h"

/* Pieces of a row, by type; ranges and defaults are in the value's own unit. */
#define NUMBER(low, high, value) \
    .type = FIELD_NUMBER, .min = (low), .max = (high), .default_value = {.number = (value), .text = ""}
#define MINUTES(low, high, value) \
    .type = FIELD_MINUTES, .min = (low), .max = (high), .default_value = {.number = (value), .text = ""}
#define REAL(low, high, value) \
    .type = FIELD_REAL, .min = (low), .max = (high), .default_value = {.real = (value), .text = ""}
#define MEMORY(low, value) \
    .type = FIELD_MEMORY, .min = (low), .max = MEM_MIB_MAX, .default_value = {.number = (value), .text = ""}
#define TEXT(value) .type = FIELD_TEXT, .default_value = {.text = (value)}
#define BOOLEAN(value) .type = FIELD_BOOL, .max = 1, .default_value = {.number = (value), .text = ""}
#define CHOICE(words) .type = FIELD_CHOICE, .choices = (words), .default_value = {.text = ""}

/* Every record begins with the name and ends with the time of its creation; that of a QOS has its usage before that. */
#define NAME                                         \
    {                                                \
        TEXT(""), .name = "name", .help = "the name" \
    }
#define CREATED                                                                                                        \
    {                                                                                                                  \
        .type = FIELD_TIME, .max = TIME_US_MAX, .name = "created_us", .help = "time of creation", .is_read_only = true \
    }
#define FSHARE                                                                  \
    {                                                                           \
        NUMBER(0, UINT32_MAX, 0), .name = "fshare", .help = "functional shares" \
    }
#define OTICKET                                                                 \
    {                                                                           \
        NUMBER(0, UINT32_MAX, 0), .name = "oticket", .help = "override tickets" \
    }
#define AT(field) [OBJECT_RECORD_FIELDS + (field)]

static const struct field partition_rows[] = {
    NAME,
    AT(PARTITION_JOB_FACTOR) = {NUMBER(0, JOB_FACTOR_MAX, 1), .name = "PriorityJobFactor",
                                .help = "partition term of a job's priority"},
    AT(PARTITION_TIER) = {NUMBER(0, JOB_FACTOR_MAX, 1), .name = "PriorityTier",
                          .help = "jobs of a higher tier come first, whatever their priority"},
    AT(PARTITION_MAX_TIME) = {MINUTES(60, TIME_LIMIT_S_MAX, FIELD_SPECIAL), .name = "MaxTime", .special = "UNLIMITED",
                              .help = "maximum time limit of a job, in minutes or as D-H:M:S"},
    AT(PARTITION_BILLING_WEIGHTS) = {TEXT(""), .name = "TRESBillingWeights",
                                     .help = "billing of a job: CPU=1.0,Mem=0.25G; empty: its CPUs"},
    AT(PARTITION_FSHARE) = FSHARE,
    AT(PARTITION_OTICKET) = OTICKET,
    AT(PARTITION_HOSTS) = {TEXT(""), .name = "hosts", .check = host_ranges_names_check,
                           .help = "its hosts, and groups of hosts as @group: n[1-3,7],m1,@big; empty: all hosts"},
    AT(PARTITION_SLOTS) = {TEXT("AUTO"), .name = "slots", .check = host_text_host_values_check,
                           .help = "slots on each of its hosts: 4,[n1=2],[@big=8]; AUTO: the host's CPUs"},
    AT(PARTITION_SEQ_NO) = {TEXT("0"), .name = "seq_no", .check = host_text_host_values_check,
                            .help = "sequence number, smaller ones first: 0,[n1=5]"},
    AT(PARTITION_LOAD_THRESHOLDS) = {TEXT("NONE"), .name = "load_thresholds", .check = host_text_host_values_check,
                                     .help = "no job starts on a host with such a load: np_load_avg=1.75"},
    AT(PARTITION_PE_LIST) = {TEXT("NONE"), .name = "pe_list", .check = host_text_names_check,
                             .help = "its parallel environments"},
    AT(PARTITION_COMPLEX_VALUES) = {TEXT("NONE"), .name = "complex_values", .check = host_text_host_values_check,
                                    .help = "resources of the queue on each of its hosts: tape=1,[n1=tape=2]"},
    AT(PARTITION_USER_LISTS) = {TEXT("NONE"), .name = "user_lists", .check = host_text_names_check,
                                .help = "users, and departments as @department, whose jobs are accepted; NONE: all"},
    AT(PARTITION_XUSER_LISTS) = {TEXT("NONE"), .name = "xuser_lists", .check = host_text_names_check,
                                 .help = "users, and departments as @department, whose jobs are refused"},
    AT(PARTITION_STATE) = {TEXT("UP"), .name = "state", .check = host_text_host_values_check,
                           .help =
                               "UP; DRAIN: it accepts no new job; DOWN: nothing starts; INACTIVE: both; on a host UP, "
                               "DRAIN or DOWN: UP,[n1=DRAIN]"},
    AT(PARTITION_CALENDAR) = {TEXT("NONE"), .name = "calendar",
                              .help = "calendar that closes it: nothing starts that would run into a closed time"},
    AT(PARTITION_QOS) = {TEXT(""), .name = "QOS", .max = NAME_BYTES_MAX,
                         .help = "QOS whose limits its jobs have beside those of their own QOS; empty: none"},
    AT(PARTITION_DEFAULT_TIME) = {MINUTES(60, TIME_LIMIT_S_MAX, FIELD_SPECIAL), .name = "DefaultTime",
                                  .special = "NONE",
                                  .help =
                                      "time limit of a job that gives none; NONE: the setting default_time_s, and at "
                                      "most MaxTime"},
    AT(PARTITION_MIN_NODES) = {NUMBER(0, UINT32_MAX - 1.0, 0), .name = "MinNodes",
                               .help = "minimum number of nodes of a job"},
    AT(PARTITION_MAX_NODES) = {NUMBER(0, UINT32_MAX - 1.0, FIELD_SPECIAL), .name = "MaxNodes", .special = "UNLIMITED",
                               .help = "maximum number of nodes of a job"},
    AT(PARTITION_MAX_CPUS_PER_NODE) = {NUMBER(0, UINT32_MAX - 1.0, FIELD_SPECIAL), .name = "MaxCPUsPerNode",
                                       .special = "UNLIMITED",
                                       .help = "CPUs of each of its hosts that its jobs have together"},
    AT(PARTITION_MAX_MEM_PER_NODE) = {MEMORY(1, FIELD_SPECIAL), .name = "MaxMemPerNode", .special = "UNLIMITED",
                                      .help = "maximum memory of a job on each node"},
    AT(PARTITION_DEF_MEM_PER_CPU) = {MEMORY(1, FIELD_SPECIAL), .name = "DefMemPerCPU", .special = "UNLIMITED",
                                     .help = "memory for each CPU of a job that asks for none; UNLIMITED: that of the "
                                             "setting default_mem_mib"},
    AT(PARTITION_ALLOW_ACCOUNTS) = {TEXT("ALL"), .name = "AllowAccounts", .check = host_text_names_check,
                                    .help = "accounts whose jobs are accepted: physics,chem; ALL"},
    AT(PARTITION_DENY_ACCOUNTS) = {TEXT("NONE"), .name = "DenyAccounts", .check = host_text_names_check,
                                   .help = "accounts whose jobs are refused; ignored if AllowAccounts is set"},
    AT(PARTITION_ALLOW_QOS) = {TEXT("ALL"), .name = "AllowQos", .check = host_text_names_check,
                               .help = "QOS whose jobs are accepted: normal,long; ALL"},
    AT(PARTITION_DENY_QOS) = {TEXT("NONE"), .name = "DenyQos", .check = host_text_names_check,
                              .help = "QOS whose jobs are refused; ignored if AllowQos is set"},
    AT(PARTITION_CLOSED_UNTIL) = {.type = FIELD_TIME,
                                  .max = TIME_US_MAX,
                                  .name = "closed_until_us",
                                  .is_nullable = true,
                                  .is_read_only = true,
                                  .help = "when its calendar opens it again; none: it is open, or no opening is known"},
    AT(PARTITION_IS_DEFAULT) = {BOOLEAN(0), .name = "default", .is_read_only = true,
                                .help = "whether jobs that name no partition are submitted to it: the oldest one"},
    AT(PARTITION_RECORD_COUNT) = CREATED,
};

static const struct field qos_rows[] = {
    NAME,
    AT(QOS_PRIORITY) = {NUMBER(0, UINT32_MAX, 0), .name = "priority", .help = "QOS term of a job's priority"},
    AT(QOS_USAGE_FACTOR) = {REAL(0, 1e9, 1.0), .name = "usage_factor",
                            .help = "factor by which the usage of its jobs is multiplied"},
    AT(QOS_USAGE_THRESHOLD) =
        {REAL(0, 1, 0), .name = "usage_threshold",
         .help = "minimum fair-share factor for a job to start, with flag EnforceUsageThreshold and if limits are "
                 "enforced"},
    AT(QOS_FLAGS) = {TEXT(""), .name = "flags", .check = setting_text_qos_flags_check,
                     .help = "NoDecay, EnforceUsageThreshold, DenyOnLimit, OverPartQOS, PartitionMaxNodes, "
                             "PartitionMinNodes, PartitionTimeLimit, separated by commas; flags= clears them"},
    AT(QOS_GRP_JOBS) = {LIMIT_COUNT_TYPE, .name = "GrpJobs", .help = "running jobs"},
    AT(QOS_GRP_SUBMIT) = {LIMIT_COUNT_TYPE, .name = "GrpSubmitJobs", .help = "jobs waiting and running"},
    AT(QOS_GRP_WALL) = {LIMIT_WALL_TYPE, .name = "GrpWall", .help = "run time of its jobs so far, decayed"},
    AT(QOS_GRP_TRES) = {LIMIT_TRES_TYPE, .name = "GrpTRES", .help = "TRES of running jobs: cpu=64,gres/gpu=4"},
    AT(QOS_GRP_TRES_MINS) = {LIMIT_TRES_TYPE, .name = "GrpTRESMins", .help = "usage in TRES-minutes, decayed"},
    AT(QOS_GRP_TRES_RUN_MINS) = {LIMIT_TRES_TYPE, .name = "GrpTRESRunMins",
                                 .help = "TRES-minutes that running jobs may still use"},
    AT(QOS_MAX_JOBS_PER_USER) = {LIMIT_COUNT_TYPE, .name = "MaxJobsPerUser", .help = "running jobs of a user"},
    AT(QOS_MAX_JOBS_PER_ACCOUNT) = {LIMIT_COUNT_TYPE, .name = "MaxJobsPerAccount",
                                    .help = "running jobs of an account"},
    AT(QOS_MAX_SUBMIT_PER_USER) = {LIMIT_COUNT_TYPE, .name = "MaxSubmitJobsPerUser",
                                   .help = "jobs of a user, waiting and running"},
    AT(QOS_MAX_SUBMIT_PER_ACCOUNT) = {LIMIT_COUNT_TYPE, .name = "MaxSubmitJobsPerAccount",
                                      .help = "jobs of an account, waiting and running"},
    AT(QOS_MAX_WALL) = {LIMIT_WALL_TYPE, .name = "MaxWall", .help = "time limit of a job"},
    AT(QOS_MAX_TRES) = {LIMIT_TRES_TYPE, .name = "MaxTRES", .help = "TRES of a job"},
    AT(QOS_MAX_TRES_PER_NODE) = {LIMIT_TRES_TYPE, .name = "MaxTRESPerNode", .help = "TRES of a job on each node"},
    AT(QOS_MAX_TRES_PER_USER) = {LIMIT_TRES_TYPE, .name = "MaxTRESPerUser", .help = "TRES of a user's running jobs"},
    AT(QOS_MAX_TRES_PER_ACCOUNT) = {LIMIT_TRES_TYPE, .name = "MaxTRESPerAccount",
                                    .help = "TRES of an account's running jobs"},
    AT(QOS_MAX_TRES_MINS) = {LIMIT_TRES_TYPE, .name = "MaxTRESMins", .help = "TRES of a job times its time limit"},
    AT(QOS_MIN_TRES) = {LIMIT_TRES_TYPE, .name = "MinTRES", .help = "minimum TRES of a job"},
    AT(QOS_USAGE) = {.type = FIELD_REAL,
                     .name = "usage",
                     .is_read_only = true,
                     .help = "usage of its jobs, in decayed billing-seconds"},
    AT(QOS_USAGE_WALL) = {.type = FIELD_REAL,
                          .name = "usage_wall_s",
                          .is_read_only = true,
                          .help = "time of its jobs, in decayed seconds, which GrpWall limits"},
    AT(QOS_USAGE_TRES) = {TEXT(""), .name = "usage_tres", .is_read_only = true,
                          .help = "usage of its jobs by TRES, in decayed TRES-seconds, which GrpTRESMins limits"},
    AT(QOS_RECORD_COUNT) = CREATED,
};

static const struct field user_rows[] = {
    NAME,
    AT(USER_FSHARE) = FSHARE,
    AT(USER_OTICKET) = OTICKET,
    AT(USER_DEPARTMENT) = {TEXT(DEFAULT_DEPARTMENT), .name = "department",
                           .help = "department whose functional shares and override tickets count, too"},
    AT(USER_MAY_USE_DEADLINE) = {BOOLEAN(0), .name = "deadline", .help = "whether the user's jobs may have a deadline"},
    AT(USER_FIELD_COUNT) = CREATED,
};

static const struct field project_rows[] = {
    NAME,
    AT(PROJECT_FSHARE) = FSHARE,
    AT(PROJECT_OTICKET) = OTICKET,
    AT(PROJECT_FIELD_COUNT) = CREATED,
};

static const struct field resource_rows[] = {
    NAME,
    AT(RESOURCE_TYPE) = {CHOICE("INT,DOUBLE,BOOL,TIME,MEMORY,STRING,CSTRING,RESTRING,HOST"), .name = "type",
                         .help = "how amounts are written"},
    AT(RESOURCE_URGENCY) = {REAL(-1e18, 1e18, 0), .name = "urgency", .help = "urgency per requested unit"},
    AT(RESOURCE_AMOUNT) = {NUMBER(0, WHOLE_REAL_MAX, FIELD_SPECIAL), .name = "amount", .special = "UNLIMITED",
                           .help = "amount for all jobs together"},
    AT(RESOURCE_RELOP) = {CHOICE("<=,==,!=,>=,<,>,EXCL"), .name = "relop",
                          .help = "how the requested value has to stand to the one that is there"},
    AT(RESOURCE_CONSUMABLE) = {CHOICE("YES,NO,JOB"), .name = "consumable",
                               .help = "what a job takes of it is free for no other one: for each slot (YES), or once "
                                       "(JOB)"},
    AT(RESOURCE_DEFAULT_AMOUNT) = {TEXT("0"), .name = "default_amount",
                                   .help = "taken by jobs that do not request it, where it is limited"},
    AT(RESOURCE_BUILT_IN) = {BOOLEAN(0), .name = "built_in", .is_read_only = true,
                             .help = "whether every cluster has it: it cannot be deleted or get another type"},
    AT(RESOURCE_RECORD_COUNT) = {.type = FIELD_TIME,
                                 .max = TIME_US_MAX,
                                 .name = "created_us",
                                 .is_nullable = true,
                                 .is_read_only = true,
                                 .help = "time of creation; of a built-in one that of its first change or request"},
};

static const struct field host_rows[] = {
    NAME,
    AT(HOST_CPUS) = {NUMBER(0, CPUS_MAX, FIELD_SPECIAL), .name = "cpus", .special = "AUTO",
                     .help = "number of CPUs; AUTO: of this machine those of the setting host_cpus, of another one 1"},
    AT(HOST_MEM) = {.type = FIELD_MEMORY,
                    .max = MEM_MIB_MAX,
                    .name = "mem",
                    .special = "AUTO",
                    .default_value = {.number = FIELD_SPECIAL, .text = ""},
                    .help = "memory; AUTO: of this machine that of the setting host_mem_mib, of another one no limit"},
    AT(HOST_COMPLEX_VALUES) = {TEXT("NONE"), .name = "complex_values", .check = host_text_named_values_check,
                               .help = "resources of the host: gres/gpu=4,arch=lx-amd64"},
    AT(HOST_LOAD_SCALING) = {TEXT("NONE"), .name = "load_scaling", .check = host_text_named_values_check,
                             .help = "factors of its load values: np_load_avg=0.5"},
    AT(HOST_STATE) = {CHOICE("UP,DRAIN,DOWN"), .name = "state",
                      .help = "UP; DRAIN: running jobs go on, nothing new starts; DOWN"},
    AT(HOST_FEATURES) = {TEXT("NONE"), .name = "features", .check = request_text_features_check,
                         .help = "what jobs ask for with a constraint: avx,ssd"},
    AT(HOST_IS_ATTACHED) = {BOOLEAN(0), .name = "attached", .is_read_only = true,
                            .help = "whether it runs jobs: this machine does, other hosts are only described"},
    AT(HOST_IS_DOWN) = {BOOLEAN(0), .name = "down", .is_read_only = true,
                        .help = "whether it is reported as down, whatever its state: nothing starts there"},
    AT(HOST_TOTAL_CPUS) = {.type = FIELD_NUMBER,
                           .max = UINT32_MAX,
                           .name = "total_cpus",
                           .is_nullable = true,
                           .is_read_only = true,
                           .help = "CPUs that it has for jobs; none of a host that is not attached"},
    AT(HOST_TOTAL_MEM) = {.type = FIELD_MEMORY,
                          .max = MEM_MIB_MAX,
                          .name = "total_mem",
                          .is_nullable = true,
                          .is_read_only = true,
                          .help = "memory that it has for jobs"},
    AT(HOST_TOTAL_GPUS) = {.type = FIELD_NUMBER,
                           .max = UINT32_MAX,
                           .name = "total_gpus",
                           .is_nullable = true,
                           .is_read_only = true,
                           .help = "GPUs that it has for jobs"},
    AT(HOST_LOAD) = {TEXT(""), .name = "load", .is_nullable = true, .is_pairs = true, .is_read_only = true,
                     .help = "load values that it reports: load_avg=0.45,mem_free=1024.000M"},
    AT(HOST_RECORD_COUNT) = CREATED,
};

static const struct field group_rows[] = {
    NAME,
    AT(GROUP_HOSTS) = {TEXT("NONE"), .name = "hosts", .check = host_ranges_names_check,
                       .help = "its hosts, and other groups as @group: n[1-3,7],m1,@big"},
    AT(GROUP_FIELD_COUNT) = CREATED,
};

static const struct field environment_rows[] = {
    NAME,
    AT(ENVIRONMENT_SLOTS) = {NUMBER(0, WHOLE_REAL_MAX, FIELD_SPECIAL), .name = "slots", .special = "UNLIMITED",
                             .help = "slots of all its jobs together"},
    AT(ENVIRONMENT_ALLOCATION_RULE) = {TEXT("$pe_slots"), .name = "allocation_rule",
                                       .check = host_text_allocation_rule_check,
                                       .help = "$pe_slots (all slots on one host), $fill_up, $round_robin, or slots "
                                               "per host"},
    AT(ENVIRONMENT_FIELD_COUNT) = CREATED,
};

static const struct field calendar_rows[] = {
    NAME,
    AT(CALENDAR_YEAR) = {TEXT("NONE"), .name = "year", .check = calendar_text_year_check,
                         .help = "closed days of the year, which take precedence: 24.12.-26.12.,13.3.2027=12-18=off"},
    AT(CALENDAR_WEEK) = {TEXT("NONE"), .name = "week", .check = calendar_text_week_check,
                         .help = "closed days of the week: mon-fri=6-20=off sat,sun; tue=13-17=on opens"},
    AT(CALENDAR_FIELD_COUNT) = CREATED,
};

static const struct field quota_rows[] = {
    NAME,
    AT(QUOTA_DESCRIPTION) = {TEXT(""), .name = "description", .help = "what it is for"},
    AT(QUOTA_ENABLED) = {BOOLEAN(1), .name = "enabled", .help = "whether its rules count"},
    AT(QUOTA_RULES) = {TEXT("NONE"), .name = "rules", .max = QUOTA_RULES_BYTES_MAX, .has_lines = true,
                       .check = quota_text_rules_check,
                       .help = "how much jobs may take together, the first rule that is for a job counts: limit users "
                               "{*} to slots=4; limit projects p hosts @big to license=2"},
    AT(QUOTA_FIELD_COUNT) = CREATED,
};

const struct field object_usage_reset_field = {NUMBER(0, 0, 0), .name = "RawUsage",
                                               .help = "0: discard the usage so far"};

#define RECORD(rows_, name_, help_)                                                                \
    .fields = (rows_) + OBJECT_RECORD_FIELDS, .record = {.name = (name_),                          \
                                                         .help = (help_),                          \
                                                         .rows = (rows_),                          \
                                                         .row_size = sizeof(struct field),         \
                                                         .count = sizeof(rows_) / sizeof *(rows_), \
                                                         .is_written = true}

const struct object_class object_classes[OBJECT_KIND_COUNT] = {
    [OBJECT_PARTITION] = {.name = "partition",
                          .plural = "partitions",
                          .field_count = PARTITION_FIELD_COUNT,
                          .help = "where jobs are submitted to, and what they cost there",
                          RECORD(partition_rows, "Partition",
                                 "Where jobs are submitted to, and what they cost there.")},
    [OBJECT_QOS] = {.name = "qos",
                    .plural = "qos",
                    .field_count = QOS_FIELD_COUNT,
                    .has_usage = true,
                    .help = "quality of service: a priority, and a factor for usage",
                    RECORD(qos_rows, "Qos", "A quality of service.")},
    [OBJECT_USER_POLICY] = {.name = "user",
                            .plural = "users",
                            .field_count = USER_FIELD_COUNT,
                            .help = "what the ticket policies give a user",
                            RECORD(user_rows, "UserPolicy", "What the ticket policies give a user.")},
    [OBJECT_PROJECT] = {.name = "project",
                        .plural = "projects",
                        .field_count = PROJECT_FIELD_COUNT,
                        .has_usage = true,
                        .help = "what the ticket policies give the jobs of a project",
                        RECORD(project_rows, "Project", "What the ticket policies give the jobs of a project.")},
    [OBJECT_DEPARTMENT] = {.name = "department",
                           .plural = "departments",
                           .field_count = PROJECT_FIELD_COUNT,
                           .help = "what the ticket policies give the jobs of a department's users",
                           RECORD(project_rows, "Department",
                                  "What the ticket policies give the jobs of a department's users.")},
    [OBJECT_RESOURCE] = {.name = "resource",
                         .plural = "resources",
                         .field_count = RESOURCE_FIELD_COUNT,
                         .help = "what jobs request with -l, and how urgent it makes them",
                         RECORD(resource_rows, "Resource", "What jobs request by name.")},
    [OBJECT_HOST] = {.name = "host",
                     .plural = "hosts",
                     .field_count = HOST_FIELD_COUNT,
                     .help = "a machine that runs jobs",
                     RECORD(host_rows, "ClusterHost", "A machine that runs jobs.")},
    [OBJECT_GROUP] = {.name = "group",
                      .plural = "groups",
                      .field_count = GROUP_FIELD_COUNT,
                      .help = "a group of hosts, named @NAME where hosts are named",
                      RECORD(group_rows, "Group", "A group of hosts.")},
    [OBJECT_ENVIRONMENT] = {.name = "pe",
                            .plural = "pes",
                            .field_count = ENVIRONMENT_FIELD_COUNT,
                            .help = "how the slots of a parallel job are distributed over hosts",
                            RECORD(environment_rows, "ParallelEnvironment",
                                   "How the slots of a parallel job are distributed over hosts.")},
    [OBJECT_CALENDAR] = {.name = "calendar",
                         .plural = "calendars",
                         .field_count = CALENDAR_FIELD_COUNT,
                         .help = "when queues are closed",
                         RECORD(calendar_rows, "Calendar", "When queues are closed, in the local time of the daemon.")},
    [OBJECT_QUOTA] = {.name = "quota",
                      .plural = "quotas",
                      .field_count = QUOTA_FIELD_COUNT,
                      .help = "a resource quota set: how much jobs may take together",
                      RECORD(quota_rows, "Quota", "A resource quota set: how much jobs may take together.")},
};

/* The fields that are set, without the name and what is made. */
static struct field_table fields_of(const struct object_class *class)
{
    return (struct field_table){.rows = class->fields, .row_size = sizeof(struct field), .count = class->field_count};
}

uint32_t object_field_find(enum object_kind kind, struct str name)
{
    const struct field_table fields = fields_of(&object_classes[kind]);
    return kind == OBJECT_QOS ? limit_fields_find(&fields, name) : field_find(&fields, name);
}

struct object object_defaults(enum object_kind kind, const char *name)
{
    const struct object_class *class = &object_classes[kind];
    struct object o = {.name = name};
    for (uint32_t i = 0; i < OBJECT_FIELDS_MAX; i++)
        o.value[i] = i < class->field_count ? class->fields[i].default_value : (struct field_value){.text = ""};
    if (kind == OBJECT_RESOURCE && strcmp(name, SLOTS_RESOURCE) == 0) o.value[RESOURCE_URGENCY].real = SLOTS_URGENCY;
    return o;
}

struct object object_automatic_user(const struct settings *settings, const char *name)
{
    struct object o = object_defaults(OBJECT_USER_POLICY, name);
    o.value[USER_FSHARE].number = setting_number(settings, SET_GE_AUTO_USER_FSHARE);
    o.value[USER_OTICKET].number = setting_number(settings, SET_GE_AUTO_USER_OTICKET);
    return o;
}

int object_set(struct object *o, enum object_kind kind, struct str key, struct str value, struct arena *arena,
               struct err *e)
{
    const struct object_class *class = &object_classes[kind];
    uint32_t index = object_field_find(kind, key);
    if (index == NONE) {
        struct buf names = {0};
        const struct field_table fields = fields_of(class);
        field_names(&fields, &names);
        (void)err_unknown_field(e, NULL, key, names.text);
        buf_release(&names);
        return err_of(e, class->name, str(o->name));
    }
    if (field_parse(&class->fields[index], value, arena, &o->value[index], e) != 0)
        return err_of(e, class->name, str(o->name));
    return 0;
}

#define MEMORY_LETTERS "k, m, g, t (1000s), K, M, G or T (1024s)"

/* "0:30:0" and "90" as Grid Engine writes times: hours, minutes and seconds, or seconds. */
static bool parse_time(struct str value, double *out_s)
{
    double total = 0.0;
    int parts = 0;
    for (struct str rest = value; rest.text != NULL; parts++) {
        uint64_t part;
        if (!number_parse_u64(str_cut(rest, ':', &rest), &part) || part > 1000000000000) return false;
        total = total * 60.0 + (double)part;
    }
    *out_s = total;
    return parts == 1 || parts == 3;
}

/* A number with k, m, g, t (1000s) or K, M, G, T (1024s), as Grid Engine writes memory; in bytes. One without a letter
 * has the unit. */
static bool parse_memory(struct str value, double unit, double *out_bytes)
{
    static const struct {
        char letter;
        double bytes;
    } units[] = {{'k', 1e3},    {'m', 1e6},    {'g', 1e9},    {'t', 1e12},
                 {'K', 0x1p10}, {'M', 0x1p20}, {'G', 0x1p30}, {'T', 0x1p40}};
    double number;
    for (size_t i = 0; value.length > 0 && i < sizeof units / sizeof *units; i++) {
        if (value.text[value.length - 1] != units[i].letter) continue;
        unit = units[i].bytes;
        value.length--;
        break;
    }
    if (!number_parse_double(value, &number) || !(number >= 0.0 && number <= 1e15)) return false;
    *out_bytes = number * unit;
    return true;
}

int object_resource_mib_parse(const char *name, struct str value, double *out_mib, struct err *e)
{
    static const double mib_bytes = 0x1p20;
    double bytes;
    if (!parse_memory(value, mib_bytes, &bytes)) {
        (void)err_value(e, "amount", value, "MiB from 0 to 1e15, or with " MEMORY_LETTERS);
        return err_of(e, "resource", str(name));
    }
    *out_mib = bytes / mib_bytes;
    return 0;
}

int object_resource_amount_parse(enum resource_type type, const char *name, struct str value, double *out_amount,
                                 struct err *e)
{
    static const char *const accepted[] = {"a whole number from 0 to 9007199254740992",
                                           "a number from 0 to 1e15",
                                           "true or false",
                                           "seconds or H:M:S",
                                           "bytes from 0 to 1e15, or with " MEMORY_LETTERS,
                                           "a text"};
    uint64_t whole;
    double amount = 1.0;
    bool is_true;
    bool is_good = value.length > 0;
    switch (type) {
    case RESOURCE_INT:
        is_good = number_parse_u64(value, &whole) && whole <= UINT64_C(1) << 53;
        if (is_good) amount = (double)whole;
        break;
    case RESOURCE_DOUBLE: is_good = number_parse_double(value, &amount) && amount >= 0.0 && amount <= 1e15; break;
    case RESOURCE_BOOL:
        is_good = field_parse_bool(value, &is_true);
        if (is_good) amount = is_true;
        break;
    case RESOURCE_TIME: is_good = parse_time(value, &amount); break;
    case RESOURCE_MEMORY: is_good = parse_memory(value, 1.0, &amount); break;
    default: break;
    }
    if (!is_good) {
        (void)err_value(e, "amount", value, "%s", accepted[type < RESOURCE_STRING ? type : RESOURCE_STRING]);
        return err_of(e, "resource", str(name));
    }
    *out_amount = amount;
    return 0;
}

int object_resource_expression_check(enum resource_type type, const char *name, struct str value, struct err *e)
{
    if (!resource_type_is_text(type) || expression_check(value, "amount", e) == 0) return 0;
    return err_of(e, "resource", str(name));
}
