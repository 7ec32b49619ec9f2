/* The table of job fields: every property of a job or task, and everything that a listing shows of one. A row defines
 *
 *     submissions and updates   decoding, ranges, who may set it and until when (api/server, engine/job_edit.c)
 *     the database              its column: writing, loading, listings (store)
 *     the API and listings      its name and type in JSON and in lines, its columns (wire, cli)
 *     the command line          its option, help, manual page, completion (cli)
 *     scenario documents        its key (sim)
 *     state_hash                whether decisions depend on it
 *
 *     home      where it is kept                  its value in a row of a listing
 *     JOB       struct job, table job             the job's
 *     TASK      struct task, table task           the task's; absent or empty where no task has started, except STATE
 *                                                 and PARTITION
 *     LISTING   nowhere                           found or computed when the row is listed
 *
 * To add a field: a row in the table and its name in the enum; its member in struct job or struct task and a row in
 * engine/job_members.c (a text that no decision depends on is a member of struct job_text, what a job asks of its
 * places one of struct job_placing); a migration in store/schema.c and a line in docs/schema.md. The tests of each
 * layer walk the table. */
#ifndef FAIRLEAD_FIELDS_JOB_FIELDS_H
#define FAIRLEAD_FIELDS_JOB_FIELDS_H

#include "fields/field.h"
#include "fields/job_state.h"
#include "fields/pending_reason.h"

enum job_field {
    JOB_FIELD_ID,     /* "5", "5_3", "5_[3-9%2]" */
    JOB_FIELD_JOB_ID, /* the number alone */
    JOB_FIELD_TASK_ID,
    JOB_FIELD_ARRAY_TASKS, /* "3-9", in a row that stands for several tasks */
    JOB_FIELD_ARRAY_LIMIT,
    JOB_FIELD_TASK_COUNT,
    JOB_FIELD_ASSOCIATION_ID,
    JOB_FIELD_ACCOUNT,
    JOB_FIELD_USER,
    JOB_FIELD_UID,
    JOB_FIELD_GID,

    JOB_FIELD_NAME,
    JOB_FIELD_COMMAND,
    JOB_FIELD_DIRECTORY,
    JOB_FIELD_OUT_PATTERN,
    JOB_FIELD_ERR_PATTERN, /* absent: standard error goes where standard output goes */
    JOB_FIELD_COMMENT,
    JOB_FIELD_ADMIN_COMMENT,
    JOB_FIELD_ORIGIN,   /* "INSTANCE/17": of a job that was moved in, where it ran and as which job */
    JOB_FIELD_OUT_PATH, /* the patterns with %j and the like replaced */
    JOB_FIELD_ERR_PATH,

    JOB_FIELD_STATE,
    JOB_FIELD_HELD,
    JOB_FIELD_HELD_BY_OPERATOR,
    JOB_FIELD_QUARANTINE, /* enum job_quarantine of the engine */
    JOB_FIELD_REASON,
    JOB_FIELD_DEPENDENCY,      /* "afterok:5,singleton": what it waits for; stored as a row for each condition */
    JOB_FIELD_DEPENDENCY_JOIN, /* "," or "?", between its conditions; "": it has none */

    JOB_FIELD_REQUEUE,         /* it starts again if its host or keeper fails */
    JOB_FIELD_FORBIDS_REQUEUE, /* requeue=no was given */
    JOB_FIELD_REQUEUE_EXIT,    /* "99,75-78": exit statuses with which it does so, too */
    JOB_FIELD_MAX_REQUEUE,
    JOB_FIELD_RETRY,    /* "3:exit=1,137:backoff=5m" (retry_text.h) */
    JOB_FIELD_RESTARTS, /* of a task: how often it was requeued before this attempt */

    JOB_FIELD_CPUS,
    JOB_FIELD_MEM_MIB,
    JOB_FIELD_GPUS,
    JOB_FIELD_MEM_PER_CPU, /* MEM_MIB is the memory of all CPUs then */
    JOB_FIELD_GPUS_PER_SLOT,
    JOB_FIELD_TIME_LIMIT,
    JOB_FIELD_TIME_MIN,
    JOB_FIELD_GRANTED_TIME, /* of a start whose time limit was cut */
    JOB_FIELD_WARN_SIGNAL,  /* "B:USR1@60": a signal before the time limit */
    JOB_FIELD_TERMINAL,     /* "pty,detach": of a job of the command run (terminal_text.h) */
    JOB_FIELD_SLOTS_MAX,
    JOB_FIELD_NODES,          /* "2", "2-4": the number of hosts */
    JOB_FIELD_SLOTS_PER_NODE, /* on each of them */
    JOB_FIELD_EXCLUSIVE,

    JOB_FIELD_SUBMIT,
    JOB_FIELD_BEGIN,
    JOB_FIELD_DEADLINE,
    JOB_FIELD_IMMEDIATE,
    JOB_FIELD_CANCEL_REASON,
    JOB_FIELD_ACCRUE, /* the time from which its age counts; absent: it does not age */
    JOB_FIELD_START,
    JOB_FIELD_END,
    JOB_FIELD_SUSPENDED_FROM, /* since when a task is suspended */
    JOB_FIELD_SUSPENDED,      /* how long suspensions that are over have lasted */
    JOB_FIELD_EXPECTED_START, /* of a waiting job */
    JOB_FIELD_EXPECTED_PLACES,
    JOB_FIELD_WAITS_FOR,
    JOB_FIELD_NEVER_RUNS,
    JOB_FIELD_MISSING,

    JOB_FIELD_HOSTS,   /* "n1,n2": the hosts of a task; the next two fields have an item for each of them */
    JOB_FIELD_CPU_IDS, /* "0-3;0-1": the CPUs that a task has or had */
    JOB_FIELD_GPU_IDS,
    JOB_FIELD_TASK_MEM_MIB,
    JOB_FIELD_HOST_MEM_MIB, /* "4096;2048": on each of several hosts */
    JOB_FIELD_EXIT_STATUS,
    JOB_FIELD_SIGNAL,
    JOB_FIELD_CPU_TIME,
    JOB_FIELD_MAX_RSS,
    JOB_FIELD_MEM_TIME, /* memory x time */
    JOB_FIELD_IO,
    JOB_FIELD_DETAIL,

    JOB_FIELD_PARTITIONS, /* "fast,batch": where it may run */
    JOB_FIELD_PARTITION,  /* where a task runs; before its start the same as PARTITIONS */
    JOB_FIELD_QOS,
    JOB_FIELD_PROJECT,
    JOB_FIELD_REQUESTS,
    JOB_FIELD_SOFT,          /* soft requests */
    JOB_FIELD_QUEUES,        /* "all.q@n1,b.q": where it may run */
    JOB_FIELD_MASTER_QUEUES, /* where its first slot may be */
    JOB_FIELD_SOFT_QUEUES,   /* where it would rather run */
    JOB_FIELD_CONSTRAINT,    /* "avx&ssd": features of its hosts */
    JOB_FIELD_ENVIRONMENT,   /* its parallel environment */
    JOB_FIELD_RESERVE,       /* it asks for a reservation */
    JOB_FIELD_TRES,          /* "cpu=4,mem=8192": allocated to a task */
    JOB_FIELD_BILLING,
    JOB_FIELD_PARTITION_QOS, /* the QOS of its partition at its start, unless that is its own */
    JOB_FIELD_USAGE_FACTOR,
    JOB_FIELD_FAIR_SHARE,

    JOB_FIELD_NICE,
    JOB_FIELD_SITE,
    JOB_FIELD_SET_PRIORITY,
    JOB_FIELD_POSIX_PRIORITY,
    JOB_FIELD_JOB_SHARE,
    JOB_FIELD_OVERRIDE_TICKETS,
    JOB_FIELD_LIST_POSITION, /* in the scheduler's list: set by its submission, and again by each change by hand */

    JOB_FIELD_ARRAY,           /* in a submission "0-999%50"; stored: the task numbers, absent if it is not an array */
    JOB_FIELD_PENDING_TASKS,   /* a set: "3-999" */
    JOB_FIELD_CANCELLED_TASKS, /* a set: the tasks that were cancelled before they started */
    JOB_FIELD_RESTARTED_TASKS, /* "3-7;5": sets of tasks that were requeued at least once, at least twice ... */
    JOB_FIELD_DELAYED_TASKS, /* "1764000060:3-7;...": requeued tasks and when they may start, in seconds since the epoch */
    JOB_FIELD_REQUEUE_NEXT,      /* of an ended array whose requeue has begun: the first task that it has not come to */
    JOB_FIELD_INPUT_BYTES,       /* of its script, arguments and environment, as they are stored */
    JOB_FIELD_CANCELLED_BY_RULE, /* pending tasks were cancelled by kill_invalid_depend */
    JOB_FIELD_CANCELLED,         /* the time of the last of these cancellations */
    JOB_FIELD_ENDED,             /* the time when the last task ended */

    JOB_FIELD_IS_CANCELLED,
    JOB_FIELD_TASK_REQUEUE,       /* enum task_requeue of the engine */
    JOB_FIELD_SUSPENSIONS,        /* how often a task was suspended */
    JOB_FIELD_SUSPENSION_CHARGED, /* the time of its last suspension is charged */
    JOB_FIELD_SUSPENDED_BY_OPERATOR,
    JOB_FIELD_IS_OVER_LIMIT,  /* of a task that ends because a limit of usage is reached */
    JOB_FIELD_IS_TIME_EXEMPT, /* an operator has set its time limit */
    JOB_FIELD_LACKS_TIME_LIMIT,
    JOB_FIELD_HAS_DEFAULT_TIME, /* none was given, and it has not started */
    JOB_FIELD_LAUNCH_ID,
    JOB_FIELD_BOOT_ID,
    JOB_FIELD_LAUNCH,
    JOB_FIELD_LAUNCH_LIMIT, /* the time limit that it was launched with */
    JOB_FIELD_CHARGED,
    JOB_FIELD_MEASURED, /* the time of the last measurement, and the memory then */
    JOB_FIELD_MEASURED_MEM,
    JOB_FIELD_MEASURED_FROM, /* owners are charged for what is measured from here on */
    JOB_FIELD_CHARGED_CPU,   /* its part of its owners' usage, as of CHARGED_AS_OF */
    JOB_FIELD_CHARGED_MEM,
    JOB_FIELD_CHARGED_IO,
    JOB_FIELD_CHARGED_AS_OF,
    JOB_FIELD_COUNT
};

enum job_field_home { JOB_HOME_LISTING, JOB_HOME_JOB, JOB_HOME_TASK };

/* Who may set its value in a submission or an update. */
enum job_field_setter {
    JOB_SET_BY_INSTANCE, /* no request may set it */
    JOB_SET_BY_USER,     /* the job's user and operators */
    JOB_SET_BY_OPERATOR,
    JOB_RAISED_BY_USER,      /* operators set it; the job's user may only raise it */
    JOB_LOWERED_BY_USER,     /* operators set it; the job's user may only lower it */
    JOB_LOWERED_ONCE_STARTED /* operators set it; so does the job's user, who may only lower it once a task has started */
};

/* Until when an update may change it. */
enum job_field_until {
    JOB_UNTIL_SUBMITTED,   /* only a submission sets it */
    JOB_UNTIL_STARTED,     /* until the first task starts, because its placement and its charge depend on the value */
    JOB_UNTIL_ALL_STARTED, /* until no task is pending */
    JOB_UNTIL_ENDED
};

/* From when on a task has a value; before, the field is absent from its rows. */
enum job_field_since { JOB_SINCE_SUBMISSION, JOB_SINCE_START, JOB_SINCE_END };

struct job_field_row {
    struct field field; /* first, so that the rows are a field_table */
    enum job_field_home home;
    enum job_field_setter setter;
    enum job_field_until until;
    bool is_update_only; /* a submission sets it through another field */
    bool is_required;    /* a submission has to give it */
    enum job_field_since since;
    const char *column; /* in the database; NULL: it is not stored */
    bool is_constant;   /* its column is written once and never updated */
    bool is_indexed;    /* indices or foreign keys have its column, so it is only written where it changes */
    bool empty_is_null; /* its column is NULL where the value is 0 or the empty text */
    bool is_decisive;   /* decisions depend on it, so it is part of the state's hash */
    bool is_public;     /* private_data=details does not hide it */

    const char *option;           /* on the command line, without dashes; NULL: it has none */
    char letter;                  /* of the option, or 0 */
    const char *argument;         /* "N"; NULL: the option is a flag */
    const char *argument_default; /* the value of the option without an argument; NULL: an argument is required */
    const char *option_help;      /* NULL: the field's help */
    const char *document_key;     /* its key in a scenario document; NULL: none, or not with the same value */
    bool has_document_reader;     /* documents read the key by a rule of its own (sim/read_job_keys.c) */
};

extern const struct job_field_row job_field_rows[JOB_FIELD_COUNT];

/* The same rows as the record "Job" of listings. */
extern const struct field_table job_fields;

static inline const struct field *job_field_at(enum job_field f)
{
    return &job_field_rows[f].field;
}

/* The values that a submission or an update gives, and which fields it gives. */
struct job_values {
    struct field_value value[JOB_FIELD_COUNT];
    bool is_given[JOB_FIELD_COUNT];
};

/* Whether a submission, or an update if is_update, may give the field. */
bool job_field_is_settable(enum job_field f, bool is_update);

/* How many numbers a value of cpu_ids or gpu_ids has: "0-3;0-1" has 6. ERR_INPUT names name. */
int job_field_count_ids(struct str text, const char *name, uint32_t *out_count, struct err *e);

/* One row of a listing:
 *
 *     a task that has started
 *     PENDING     all tasks of a job that have not started          \  TASK_ID is absent
 *     CANCELLED   all tasks that were cancelled before they started /
 */
struct job_row {
    struct field_value value[JOB_FIELD_COUNT];
};

static inline int64_t job_row_number(const struct job_row *r, enum job_field f)
{
    return r->value[f].number;
}
static inline const char *job_row_text(const struct job_row *r, enum job_field f)
{
    return r->value[f].text;
}

/* The number, or fallback if it is absent. */
static inline int64_t job_row_number_or(const struct job_row *r, enum job_field f, int64_t fallback)
{
    return r->value[f].number == FIELD_ABSENT ? fallback : r->value[f].number;
}

#endif
