#include "policy/settings.h"

#include "base/array.h"
#include "base/ensure.h"
#include "policy/policy_text.h"

enum { DAY_S = 86400, YEAR_S = 366 * DAY_S };

#define LONG_S (100.0 * YEAR_S)
#define WEIGHT_MAX 1e18
#define SHARE_OF_FOUR 0.25

/* Rows by type; the range is in the value's own unit. */
#define NUMBER(name, help, min, max, default_value)                                  \
    {                                                                                \
        name, help, FIELD_NUMBER, min, max, {default_value, 0, ""}, NULL, NULL, NULL \
    }
#define REAL(name, help, min, max, default_value)                                  \
    {                                                                              \
        name, help, FIELD_REAL, min, max, {0, default_value, ""}, NULL, NULL, NULL \
    }
#define BOOLEAN(name, help, default_value)                                     \
    {                                                                          \
        name, help, FIELD_BOOL, 0, 1, {default_value, 0, ""}, NULL, NULL, NULL \
    }
#define CHOICE(name, help, choices)                                     \
    {                                                                   \
        name, help, FIELD_CHOICE, 0, 0, {0, 0, ""}, choices, NULL, NULL \
    }
#define TEXT(name, help, default_value, check)                                 \
    {                                                                          \
        name, help, FIELD_TEXT, 0, 0, {0, 0, default_value}, NULL, NULL, check \
    }

const struct field settings_table[SETTING_COUNT] = {
    [SET_HALFLIFE_S] = {"halflife_s",
                        "usage counts half after this long; 0: it never fades",
                        FIELD_SECONDS,
                        0,
                        LONG_S,
                        {7 * DAY_S, 0, ""},
                        NULL,
                        NULL,
                        NULL},
    [SET_TIES] = CHOICE("ties", "equal levels: merge (as Fair Tree is published) or slurm (as Slurm 22.05 ranks)",
                        "merge,slurm"),
    [SET_DEFAULT_CPUS] = NUMBER("default_cpus", "CPUs of a job that does not say", 1, 65536, 1),
    [SET_DEFAULT_MEM_MIB] = {"default_mem_mib",
                             "memory of a job that does not say",
                             FIELD_MEMORY,
                             1,
                             1099511627776.0,
                             {256, 0, ""},
                             NULL,
                             NULL,
                             NULL},
    [SET_DEFAULT_TIME_S] = {"default_time_s",
                            "time limit of a job that does not say",
                            FIELD_SECONDS,
                            1,
                            10.0 * YEAR_S,
                            {DAY_S, 0, ""},
                            NULL,
                            NULL,
                            NULL},
    [SET_GRACE_S] = {"grace_s",
                     "from SIGTERM to SIGKILL when a job is ended",
                     FIELD_SECONDS,
                     0,
                     DAY_S,
                     {30, 0, ""},
                     NULL,
                     NULL,
                     NULL},
    [SET_HOST_CPUS] = {"host_cpus",
                       "CPUs to give out; auto: those this machine lets us use",
                       FIELD_NUMBER,
                       1,
                       65536,
                       {SETTING_AUTO, 0, ""},
                       NULL,
                       "auto",
                       NULL},
    [SET_HOST_MEM_MIB] = {"host_mem_mib",
                          "memory to give out; auto: what this machine has",
                          FIELD_MEMORY,
                          1,
                          1099511627776.0,
                          {SETTING_AUTO, 0, ""},
                          NULL,
                          "auto",
                          NULL},
    [SET_HOST_GPUS] = {"host_gpus",
                       "GPUs to give out; auto: those found at start",
                       FIELD_NUMBER,
                       0,
                       1024,
                       {SETTING_AUTO, 0, ""},
                       NULL,
                       "auto",
                       NULL},
    [SET_MAX_ARRAY_TASKS] = NUMBER("max_array_tasks", "tasks that one array may have", 1, 1000000, 100000),
    [SET_MAX_JOBS] =
        NUMBER("max_jobs", "jobs that may wait and run at once; an array counts as one", 1, 10000000, 1000000),

    [SET_PRIORITY_TYPE] =
        CHOICE("PriorityType", "who comes first: priority/multifactor, priority/tickets or priority/basic",
               "priority/multifactor,priority/tickets,priority/basic"),
    [SET_PRIORITY_FLAGS] =
        TEXT("PriorityFlags", "Slurm's flags, by commas: NO_FAIR_TREE, MAX_TRES ...; 'fairlead set --help' lists them",
             "", policy_text_priority_flags_check),
    [SET_WEIGHT_AGE] = NUMBER("PriorityWeightAge", "weight of how long a job waits", 0, UINT32_MAX, 0),
    [SET_WEIGHT_ASSOC] = NUMBER("PriorityWeightAssoc", "weight of the association's priority", 0, UINT32_MAX, 0),
    [SET_WEIGHT_FAIRSHARE] =
        NUMBER("PriorityWeightFairshare", "weight of the fair-share factor", 0, UINT32_MAX, 1000000),
    [SET_WEIGHT_JOB_SIZE] = NUMBER("PriorityWeightJobSize", "weight of the job's size", 0, UINT32_MAX, 0),
    [SET_WEIGHT_PARTITION] = NUMBER("PriorityWeightPartition", "weight of the partition's factor", 0, UINT32_MAX, 0),
    [SET_WEIGHT_QOS] = NUMBER("PriorityWeightQOS", "weight of the QOS priority", 0, UINT32_MAX, 0),
    [SET_WEIGHT_TRES] =
        TEXT("PriorityWeightTRES", "weights of what is asked for, by its part of the partition: cpu=1000,gres/gpu=3000",
             "", NULL),
    [SET_MAX_AGE] = {"PriorityMaxAge",
                     "how long a job waits until its age factor is full",
                     FIELD_MINUTES,
                     0,
                     LONG_S,
                     {7 * DAY_S, 0, ""},
                     NULL,
                     "UNLIMITED",
                     NULL},
    [SET_FAVOR_SMALL] = BOOLEAN("PriorityFavorSmall", "small jobs have the larger size factor", 0),
    [SET_DAMPENING] =
        NUMBER("FairShareDampeningFactor", "of classic and depth-oblivious: how mild overuse is", 1, 65535, 1),
    [SET_USAGE_RESET] =
        CHOICE("PriorityUsageResetPeriod", "when all usage becomes 0, at local midnight; NOW: once, at once",
               "NONE,NOW,DAILY,WEEKLY,MONTHLY,QUARTERLY,YEARLY"),
    [SET_TRACKED_TRES] =
        TEXT("AccountingStorageTRES", "TRES beyond the standard ones; only ever added to", "gres/gpu", NULL),

    [SET_GE_WEIGHT_TICKET] = REAL("weight_ticket", "weight of the normalised tickets", -WEIGHT_MAX, WEIGHT_MAX, 0.5),
    [SET_GE_WEIGHT_URGENCY] = REAL("weight_urgency", "weight of the normalised urgency", -WEIGHT_MAX, WEIGHT_MAX, 0.5),
    [SET_GE_WEIGHT_PRIORITY] =
        REAL("weight_priority", "weight of the normalised POSIX priority", -WEIGHT_MAX, WEIGHT_MAX, 0),
    [SET_GE_WEIGHT_WAITING_TIME] =
        REAL("weight_waiting_time", "urgency for each second of waiting", -WEIGHT_MAX, WEIGHT_MAX, 0.278),
    [SET_GE_WEIGHT_DEADLINE] = REAL("weight_deadline", "urgency at the deadline", -WEIGHT_MAX, WEIGHT_MAX, 3600000),
    [SET_GE_TICKETS_SHARE] = NUMBER("weight_tickets_share", "tickets of the share tree policy", 0, UINT32_MAX, 0),
    [SET_GE_TICKETS_FUNCTIONAL] =
        NUMBER("weight_tickets_functional", "tickets of the functional policy", 0, UINT32_MAX, 0),
    [SET_GE_WEIGHT_USER] = REAL("weight_user", "functional policy: weight of users", 0, WEIGHT_MAX, SHARE_OF_FOUR),
    [SET_GE_WEIGHT_PROJECT] =
        REAL("weight_project", "functional policy: weight of projects", 0, WEIGHT_MAX, SHARE_OF_FOUR),
    [SET_GE_WEIGHT_DEPARTMENT] =
        REAL("weight_department", "functional policy: weight of departments", 0, WEIGHT_MAX, SHARE_OF_FOUR),
    [SET_GE_WEIGHT_JOB] =
        REAL("weight_job", "functional policy: weight of the job's own shares", 0, WEIGHT_MAX, SHARE_OF_FOUR),
    [SET_GE_WEIGHT_JOB_CLASS] = REAL(
        "weight_job_class", "functional policy: weight of job classes (partitions), as the N1GE 6.1 manual has them", 0,
        WEIGHT_MAX, 0),
    [SET_GE_SHARE_OVERRIDE_TICKETS] =
        BOOLEAN("share_override_tickets", "a member's override tickets are divided among its jobs", 1),
    [SET_GE_SHARE_FUNCTIONAL_SHARES] =
        BOOLEAN("share_functional_shares", "a member's functional shares are divided among its jobs", 1),
    [SET_GE_MAX_FUNCTIONAL_JOBS] = NUMBER("max_functional_jobs_to_schedule",
                                          "pending jobs that the functional policy ranks exactly", 0, UINT32_MAX, 200),
    [SET_GE_MAX_PENDING_TASKS] =
        NUMBER("max_pending_tasks_per_job", "pending tasks of an array that get tickets", 1, UINT32_MAX, 50),
    [SET_GE_POLICY_HIERARCHY] =
        TEXT("policy_hierarchy", "order of the policies Override, Functional, Share tree; or NONE", "OFS",
             policy_text_hierarchy_check),
    [SET_GE_COMPENSATION_FACTOR] =
        REAL("compensation_factor", "how far above its target who used too little may go; 0: any", 0, WEIGHT_MAX, 5),
    [SET_GE_HALFTIME] = {"halftime",
                         "of the share tree's usage, in hours; 0: it never fades",
                         FIELD_HOURS,
                         0,
                         LONG_S,
                         {168 * 3600, 0, ""},
                         NULL,
                         NULL,
                         NULL},
    [SET_GE_HALFLIFE_DECAY_LIST] =
        TEXT("halflife_decay_list", "half-lives by resource in minutes: cpu=1440:mem=-1:io=0; or none", "none",
             policy_text_halflife_list_check),
    [SET_GE_USAGE_WEIGHT_LIST] = TEXT("usage_weight_list", "what counts as usage: cpu=1,mem=0,io=0", "cpu=1,mem=0,io=0",
                                      policy_text_usage_weights_check),
    [SET_GE_REPORT_PENDING_TICKETS] = BOOLEAN("report_pjob_tickets", "listings show the tickets of pending jobs", 1),
    [SET_GE_ENFORCE_USER] =
        CHOICE("enforce_user", "a user nobody named: named on submitting (auto), no tickets (none), refused (true)",
               "auto,none,true"),
    [SET_GE_AUTO_USER_FSHARE] =
        NUMBER("auto_user_fshare", "functional shares of a user named by enforce_user = auto", 0, UINT32_MAX, 0),
    [SET_GE_AUTO_USER_OTICKET] =
        NUMBER("auto_user_oticket", "override tickets of a user named by enforce_user = auto", 0, UINT32_MAX, 0),
    [SET_GE_URGENCY_SLOTS] =
        TEXT("urgency_slots", "slots that a job with a range counts for: min, max, avg or a number", "min",
             policy_text_urgency_slots_check),

    [SET_GE_POSIX_RANGE] =
        CHOICE("posix_priority_range",
               "POSIX priority is normalised over fixed -1023..1024 (8.1.9) or the jobs present (6.1 manual)",
               "fixed,present"),
    [SET_GE_DEADLINE_RULE] =
        CHOICE("deadline_weight", "the deadline's urgency has its own weight (8.1.9) or that of waiting (6.1 manual)",
               "own,waiting"),
    [SET_GE_COMPENSATION_RULE] =
        CHOICE("compensation_rule", "compensation_factor as 8.1.9 computes it (program) or as a cap (manual)",
               "program,manual"),
    [SET_GE_DECAY_RULE] =
        CHOICE("halftime_rule", "usage fades as in 8.1.9 (program) or exactly to a half (exact)", "program,exact"),
};

/* Other programs' keywords for our own settings, with the values those programs write. */
static const struct {
    enum setting setting;
    struct field field;
} aliases[] = {
    {SET_HALFLIFE_S, {"PriorityDecayHalfLife", "", FIELD_MINUTES, 0, LONG_S, {0, 0, ""}, NULL, NULL, NULL}},
    {SET_TIES, {"FairTreeTies", "", FIELD_CHOICE, 0, 0, {0, 0, ""}, "merge,slurm", NULL, NULL}},
};

struct settings settings_defaults(void)
{
    struct settings s;
    for (int i = 0; i < SETTING_COUNT; i++) s.value[i] = settings_table[i].default_value;
    return s;
}

struct settings settings_upstream_defaults(void)
{
    struct settings s = settings_defaults();
    s.value[SET_WEIGHT_FAIRSHARE].number = 0;
    s.value[SET_TRACKED_TRES].text = "";
    return s;
}

int setting_find(struct str name, enum setting *out_setting, const struct field **out_field, struct err *e)
{
    uint32_t place = field_find(settings_table, SETTING_COUNT, name);
    if (place != NONE) {
        *out_setting = (enum setting)place;
        *out_field = &settings_table[place];
        return 0;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (!str_equal_nocase(str(aliases[i].field.name), name)) continue;
        *out_setting = aliases[i].setting;
        *out_field = &aliases[i].field;
        return 0;
    }
    return err_not_found(e, "setting", name);
}

int setting_read(struct str name, struct str value, struct arena *arena, enum setting *out_setting,
                 struct field_value *out_value, struct err *e)
{
    const struct field *field;
    if (setting_find(name, out_setting, &field, e) != 0) return -1;
    return field_parse(field, value, arena, out_value, e);
}

void setting_format(enum setting s, const struct field_value *value, struct buf *out)
{
    ensure(s < SETTING_COUNT);
    field_format(&settings_table[s], value, out);
}
