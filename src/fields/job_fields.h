/* The table of job fields: everything a job or one of its tasks has, and everything a listing says of it. From a row come
 *
 *     submissions and updates   decoding, ranges, who may set it and until when (api/server, engine/job_fields.c)
 *     the database              its column: writing, loading, listings (store)
 *     the API and listings      its name and type in JSON and in lines, columns (wire, cli)
 *     the command line          its option, help, manual, completion (cli)
 *     documents                 its key (sim)
 *     state_hash                whether it decides anything
 *
 *     home      where it is kept                             a row of a listing has
 *     JOB       struct job, table job                        the job's value
 *     TASK      struct task, table task                      the task's value; none where no task has started
 *     LISTING   nowhere: made when a row is listed           what the store or the server makes of the others
 *
 * To add a field: a row here and its name in the enum; its member in struct job or struct task and a row in
 * engine/job_members.c (a text that nothing decides needs only a name in enum job_text); a migration in store/schema.c and
 * a line in docs/schema.md. The tests of each layer go over the table. */
#ifndef FAIRLEAD_FIELDS_JOB_FIELDS_H
#define FAIRLEAD_FIELDS_JOB_FIELDS_H

#include "fields/field.h"
#include "fields/job_state.h"

enum job_field {
    JOB_FIELD_ID,     /* "5", "5_3", "5_[3-9%2]" */
    JOB_FIELD_JOB_ID, /* the number alone */
    JOB_FIELD_TASK_ID,
    JOB_FIELD_ARRAY_TASKS, /* "3-9": of a row that stands for several tasks */
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
    JOB_FIELD_ERR_PATTERN, /* none: standard error goes where standard output goes */
    JOB_FIELD_COMMENT,
    JOB_FIELD_ADMIN_COMMENT,
    JOB_FIELD_OUT_PATH, /* the patterns with their %j filled in */
    JOB_FIELD_ERR_PATH,

    JOB_FIELD_STATE,
    JOB_FIELD_HELD,
    JOB_FIELD_REASON,

    JOB_FIELD_CPUS,
    JOB_FIELD_MEM_MIB,
    JOB_FIELD_GPUS,
    JOB_FIELD_TIME_LIMIT,
    JOB_FIELD_SLOTS_MAX,

    JOB_FIELD_SUBMIT,
    JOB_FIELD_BEGIN,
    JOB_FIELD_DEADLINE,
    JOB_FIELD_ACCRUE, /* since when its age grows; none: it does not */
    JOB_FIELD_START,
    JOB_FIELD_END,

    JOB_FIELD_CPU_IDS, /* "0-3": those a task has or had */
    JOB_FIELD_GPU_IDS,
    JOB_FIELD_TASK_MEM_MIB,
    JOB_FIELD_EXIT_STATUS,
    JOB_FIELD_SIGNAL,
    JOB_FIELD_CPU_TIME,
    JOB_FIELD_MAX_RSS,
    JOB_FIELD_DETAIL,

    JOB_FIELD_PARTITIONS, /* "fast,batch": where it may run */
    JOB_FIELD_PARTITION,  /* where a task runs; of what has not started as PARTITIONS */
    JOB_FIELD_QOS,
    JOB_FIELD_PROJECT,
    JOB_FIELD_REQUESTS,
    JOB_FIELD_TRES, /* "cpu=4,mem=8192": what a task has */
    JOB_FIELD_BILLING,
    JOB_FIELD_USAGE_FACTOR,
    JOB_FIELD_FAIR_SHARE,

    JOB_FIELD_NICE,
    JOB_FIELD_SITE,
    JOB_FIELD_SET_PRIORITY,
    JOB_FIELD_POSIX_PRIORITY,
    JOB_FIELD_JOB_SHARE,
    JOB_FIELD_OVERRIDE_TICKETS,

    JOB_FIELD_ARRAY,         /* in a submission "0-999%50"; kept: the task numbers, none where it is no array */
    JOB_FIELD_PENDING_TASKS, /* sets: "3-999" */
    JOB_FIELD_CANCELLED_TASKS,
    JOB_FIELD_CANCELLED, /* when the last of those was */
    JOB_FIELD_ENDED,

    JOB_FIELD_IS_CANCELLED,
    JOB_FIELD_LAUNCH_ID,
    JOB_FIELD_BOOT_ID,
    JOB_FIELD_LAUNCH,
    JOB_FIELD_CHARGED,
    JOB_FIELD_COUNT
};

enum job_field_home { JOB_HOME_LISTING, JOB_HOME_JOB, JOB_HOME_TASK };

/* Who may give it a value. */
enum job_field_setter {
    JOB_SET_BY_INSTANCE, /* nobody else */
    JOB_SET_BY_USER,     /* the job's user, and operators */
    JOB_SET_BY_OPERATOR,
    JOB_RAISED_BY_USER, /* users may only raise it, operators do as they like */
    JOB_LOWERED_BY_USER
};

/* Until when an update may change it. */
enum job_field_until {
    JOB_UNTIL_SUBMITTED,   /* a submission alone sets it */
    JOB_UNTIL_STARTED,     /* the first task has started: it was placed, and is charged, by this */
    JOB_UNTIL_ALL_STARTED, /* nothing of it is pending any more */
    JOB_UNTIL_ENDED
};

struct job_field_row {
    struct field field; /* first */
    enum job_field_home home;
    enum job_field_setter setter;
    enum job_field_until until;
    bool is_update_only; /* a submission sets it by another field */
    const char *column;  /* in the database; NULL: it is not kept there */
    bool is_constant;    /* its column is written once */
    bool empty_is_null;  /* its column is NULL where the value is 0 or the empty text */
    bool decides;        /* what is decided depends on it: it is part of the state's hash */

    const char *option;                      /* on the command line, without dashes; NULL: none of its own */
    char letter;                             /* the option's, or 0 */
    const char *argument, *argument_default; /* "N"; the option may stand without, and means this */
    const char *option_help;                 /* where it says more than the field's help */
    const char *document;                    /* its key in a document; NULL: none, or a key with a reader of its own */
};

extern const struct job_field_row job_field_rows[JOB_FIELD_COUNT];

/* The same, as a record of listings ("Job"). */
extern const struct field_table job_fields;

static inline const struct field *job_field_at(enum job_field f)
{
    return &job_field_rows[f].field;
}

/* Values by field, and which of them were given: a submission or an update. */
struct job_values {
    struct field_value value[JOB_FIELD_COUNT];
    bool is_given[JOB_FIELD_COUNT];
};

/* Whether a submission (is_update: an update) may name the field. */
bool job_field_is_settable(enum job_field f, bool is_update);

/* One row of a listing: a started or ended task; or what of a job has not started (no TASK_ID, PENDING); or what of it was
 * cancelled before it started (no TASK_ID, CANCELLED). */
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

/* The number, or instead where there is none. */
static inline int64_t job_row_number_or(const struct job_row *r, enum job_field f, int64_t instead)
{
    return r->value[f].number == FIELD_ABSENT ? instead : r->value[f].number;
}

#endif
