/* The table of settings: what an administrator sets. A setting that Slurm or Grid Engine has, too, bears the keyword it
 * has there and takes the values it takes there; Fairlead's own end in their unit. Parsing, listing and the manual come
 * from a setting's row. What the settings mean together is the policy's business (policy/policy.h). */
#ifndef FAIRLEAD_FIELDS_SETTINGS_H
#define FAIRLEAD_FIELDS_SETTINGS_H

#include "fields/field.h"

enum setting {
    SET_HALFLIFE_S,
    SET_TIES,
    SET_DEFAULT_CPUS,
    SET_DEFAULT_MEM_MIB,
    SET_DEFAULT_TIME_S,
    SET_GRACE_S,
    SET_HOST_CPUS,
    SET_HOST_MEM_MIB,
    SET_HOST_GPUS,
    SET_MAX_ARRAY_TASKS,
    SET_MAX_JOBS,
    SET_MAX_INPUT_MIB,
    SET_MAX_USER_INPUT_MIB,
    SET_RESERVATIONS,
    SET_RESERVATION_DEPTH,
    SET_BF_WINDOW,
    SET_BF_RESOLUTION,
    SET_BF_MAX_JOB_TEST,
    SET_BF_MAX_JOB_USER,
    SET_PASS_RHYTHM,
    SET_REQUEUE_DELAY_S,
    SET_CHARGE_SUSPENDED,
    SET_HISTORY_KEEP_S,
    SET_MAX_MOVED_IN,
    SET_AUDIT_KEEP_S,
    SET_ENFORCE_MEMORY,
    SET_ENFORCE_CPUS,
    SET_MEMORY_SLACK,
    SET_MEMORY_POLL_S,
    SET_OPERATOR_GROUP,
    SET_ADMINISTRATOR_GROUP,
    SET_PRIVATE_DATA,
    SET_OUTSIDE_JOBS,
    SET_OUTSIDE_JOBS_CPUS,
    SET_OUTSIDE_JOBS_S,
    SET_OUTSIDE_JOBS_WARN_S,
    SET_OUTSIDE_JOBS_EXEMPT,
    SET_GPU_OUTSIDE,
    SET_GPU_POLL_S,
    SET_GPU_TIMEOUT_S,
    SET_SUBMIT_HOOK,
    SET_HOOK_TIMEOUT_S,

    SET_PRIORITY_TYPE,
    SET_PRIORITY_FLAGS,
    SET_WEIGHT_AGE,
    SET_WEIGHT_ASSOC,
    SET_WEIGHT_FAIRSHARE,
    SET_WEIGHT_JOB_SIZE,
    SET_WEIGHT_PARTITION,
    SET_WEIGHT_QOS,
    SET_WEIGHT_TRES,
    SET_MAX_AGE,
    SET_FAVOR_SMALL,
    SET_DAMPENING,
    SET_USAGE_RESET,
    SET_TRACKED_TRES,
    SET_BATCH_SCHED_DELAY,
    SET_ENFORCE,
    SET_ENFORCE_PART_LIMITS,
    SET_KILL_INVALID_DEPEND,
    SET_JOB_REQUEUE,
    SET_MAX_BATCH_REQUEUE,

    SET_GE_WEIGHT_TICKET,
    SET_GE_WEIGHT_URGENCY,
    SET_GE_WEIGHT_PRIORITY,
    SET_GE_WEIGHT_WAITING_TIME,
    SET_GE_WEIGHT_DEADLINE,
    SET_GE_TICKETS_SHARE,
    SET_GE_TICKETS_FUNCTIONAL,
    SET_GE_WEIGHT_USER,
    SET_GE_WEIGHT_PROJECT,
    SET_GE_WEIGHT_DEPARTMENT,
    SET_GE_WEIGHT_JOB,
    SET_GE_WEIGHT_JOB_CLASS,
    SET_GE_SHARE_OVERRIDE_TICKETS,
    SET_GE_SHARE_FUNCTIONAL_SHARES,
    SET_GE_MAX_FUNCTIONAL_JOBS,
    SET_GE_MAX_PENDING_TASKS,
    SET_GE_POLICY_HIERARCHY,
    SET_GE_COMPENSATION_FACTOR,
    SET_GE_HALFTIME,
    SET_GE_HALFLIFE_DECAY_LIST,
    SET_GE_USAGE_WEIGHT_LIST,
    SET_GE_SHARETREE_RESERVED_USAGE,
    SET_GE_ACCT_RESERVED_USAGE,
    SET_GE_LOAD_REPORT_TIME,
    SET_GE_LOAD_SENSOR,
    SET_GE_REPORT_PENDING_TICKETS,
    SET_GE_ENFORCE_USER,
    SET_GE_AUTO_USER_FSHARE,
    SET_GE_AUTO_USER_OTICKET,
    SET_GE_URGENCY_SLOTS,
    SET_GE_LOAD_FORMULA,
    SET_GE_LOAD_ADJUSTMENTS,
    SET_GE_ADJUSTMENT_DECAY,
    SET_GE_QUEUE_SORT,
    SET_GE_MAX_RESERVATION,
    SET_GE_DEFAULT_DURATION,
    SET_GE_PARAMS,
    SET_GE_SCHEDULE_INTERVAL,
    SET_GE_FLUSH_SUBMIT,
    SET_GE_FLUSH_FINISH,
    SET_GE_MAX_USER_RUNNING,
    SET_GE_MAX_USER_JOBS,
    SET_GE_MAX_ARRAY_RUNNING,

    /* Which of the two counts where the manual of N1GE 6.1 and the program 8.1.9 differ. */
    SET_GE_POSIX_RANGE,
    SET_GE_DEADLINE_RULE,
    SET_GE_COMPENSATION_RULE,
    SET_GE_DECAY_RULE,
    SETTING_COUNT
};

/* Values of SET_USAGE_RESET: when all usage is set to 0. NOW does so once and leaves NONE; the others do at local
 * midnight. */
enum usage_reset {
    USAGE_RESET_NONE,
    USAGE_RESET_NOW,
    USAGE_RESET_DAILY,
    USAGE_RESET_WEEKLY, /* Sundays */
    USAGE_RESET_MONTHLY,
    USAGE_RESET_QUARTERLY,
    USAGE_RESET_YEARLY
};

/* Values of SET_RESERVATIONS: which jobs get a reservation if they cannot start now. AUTO: REQUESTED in
 * priority/tickets, ALL in the other models. With REQUESTED at most max_reservation jobs get one, with ALL at most
 * reservation_depth. */
enum reservations { RESERVATIONS_AUTO, RESERVATIONS_NONE, RESERVATIONS_REQUESTED, RESERVATIONS_ALL };

/* Values of SET_ENFORCE_PART_LIMITS. */
enum enforce_part_limits { PART_LIMITS_ANY, PART_LIMITS_ALL, PART_LIMITS_NO };

/* Values of SET_PASS_RHYTHM (engine/rhythm.h). */
enum pass_rhythm { PASS_RHYTHM_EVENTS, PASS_RHYTHM_DEFER, PASS_RHYTHM_INTERVAL };

/* Values of SET_OUTSIDE_JOBS: what is done about use outside jobs. Each does what those before it do, too. */
enum gpu_outside { GPU_OUTSIDE_REPORT, GPU_OUTSIDE_KEEP_BACK };
enum outside_jobs_action { OUTSIDE_JOBS_IGNORE, OUTSIDE_JOBS_SHOW, OUTSIDE_JOBS_WARN, OUTSIDE_JOBS_LOW_WEIGHT };

/* Values of SET_GE_QUEUE_SORT. */
enum queue_sort { QUEUE_SORT_LOAD, QUEUE_SORT_SEQ_NO, QUEUE_SORT_SHARE };

/* A row of the listing of settings. */
enum setting_field {
    SETTING_FIELD_NAME,
    SETTING_FIELD_VALUE,
    SETTING_FIELD_DEFAULT,
    SETTING_FIELD_HELP,
    SETTING_FIELD_GROUP,
    SETTING_FIELD_ACCEPTED,
    SETTING_FIELD_COUNT
};
extern const struct field_table setting_fields;

enum { SETTING_AUTO = FIELD_SPECIAL }; /* the value is found at start: "auto" */

struct settings {
    struct field_value value[SETTING_COUNT];
};

extern const struct field settings_table[SETTING_COUNT];
extern const struct field_table settings_fields; /* the same rows */

/* Every setting at Fairlead's default: fair share decides, GPUs are tracked. */
struct settings settings_defaults(void);

/* Every setting at the default of the program that it comes from: all weights are 0. A document that describes a
 * cluster of another scheduler starts from these. */
struct settings settings_upstream_defaults(void);

/* The setting of that name or of a keyword that means it (PriorityDecayHalfLife, sched_interval), any case; with the
 * field that reads its values. ERR_NOT_FOUND: there is none. */
int setting_find(struct str name, enum setting *out_setting, const struct field **out_field, struct err *e);

/* Finds and reads in one. */
int setting_read(struct str name, struct str value, struct arena *arena, enum setting *out_setting,
                 struct field_value *out_value, struct err *e);

/* Appends what a person should know about an accepted value: "compensation_factor: a negative value counts as ...".
 * Appends nothing if there is nothing to say. */
void setting_remark(enum setting s, const struct field_value *value, struct buf *out);

/* The value as its field reads it back. */
void setting_format(enum setting s, const struct field_value *value, struct buf *out);

static inline int64_t setting_number(const struct settings *s, enum setting which)
{
    return s->value[which].number;
}
static inline double setting_real(const struct settings *s, enum setting which)
{
    return s->value[which].real;
}
static inline const char *setting_text(const struct settings *s, enum setting which)
{
    return s->value[which].text;
}

#endif
