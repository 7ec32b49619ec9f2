/* The events that change the state, and their outcome: changed rows (for the store) and decisions (for the executor).
 * An event's values and texts are borrowed; the engine copies what it keeps. */
#ifndef FAIRLEAD_ENGINE_EVENT_H
#define FAIRLEAD_ENGINE_EVENT_H

#include "base/ensure.h"
#include "engine/state.h"
#include "fields/job_fields.h"
#include "fields/permissions.h"

struct ticket_plan;
struct recovery_counts;

enum event_kind {
    EVENT_ACCOUNT_ADD, /* from here to EVENT_OBJECT_DELETE: changes by operators */
    EVENT_ACCOUNT_MODIFY,
    EVENT_ACCOUNT_DELETE,
    EVENT_USER_ADD,
    EVENT_USER_MODIFY,
    EVENT_USER_DELETE,
    EVENT_SETTINGS,
    EVENT_OBJECT_ADD,
    EVENT_OBJECT_MODIFY,
    EVENT_OBJECT_DELETE,
    EVENT_SUBMIT,
    EVENT_CANCEL,
    EVENT_HOLD,
    EVENT_RELEASE,
    EVENT_REQUEUE,
    EVENT_SUSPEND,
    EVENT_RESUME,
    EVENT_SIGNAL,
    EVENT_UPDATE,
    EVENT_HOST,      /* an executor of a host reports what the host has, or that it is down */
    EVENT_HOSTS,     /* the same of several hosts; those that do not exist are added */
    EVENT_LOAD,      /* the load values of a host */
    EVENT_CALENDARS, /* when the calendars close queues */
    EVENT_STARTED,   /* the executor's records of a launch */
    EVENT_COMPLETING,
    EVENT_ENDED,
    EVENT_MEASURED,   /* the executor's measurement of a launch */
    EVENT_SYNCED,     /* the executor has reported every launch that it knows */
    EVENT_RECOVERY,   /* commits are missing, of which something is known (engine/recovery.h) */
    EVENT_QUARANTINE, /* the state may not be the only one, or lacks commits (engine/quarantine.h) */
    EVENT_RESET,      /* a boundary of PriorityUsageResetPeriod has passed */
    EVENT_USAGE_ROWS, /* the next rows are written whose usage was converted (engine/usage_conversion.h) */
    EVENT_TIME        /* time has passed: runs the scheduling pass if one is due */
};

/* The user that sent the event, as the kernel reports it. */
struct actor {
    uint32_t uid, gid;
    const char *user;
    enum role role;
};

static inline bool actor_may(const struct actor *actor, enum permission p)
{
    return permission_is_of(p, actor->role);
}

/* A name and a value in the syntax of the command line. */
struct event_pair {
    const char *key, *value;
};

/* SHARES_UNSET keeps the shares (a new association gets 1). PRIORITY_UNSET keeps the priority (a new association
 * inherits its parent's); NONE lets the association inherit its parent's. A text that is NULL keeps the value. */
#define SHARES_UNSET UINT32_MAX
#define PRIORITY_UNSET (UINT32_MAX - 1)
struct event_account {
    const char *name;
    const char *parent; /* EVENT_ACCOUNT_ADD, NULL: root */
    uint32_t shares;
    uint32_t priority;
    bool resets_usage;              /* also that of all associations below it */
    const struct event_pair *pairs; /* limits to change (engine/assoc_limits.h) */
    uint32_t count;
};

struct event_user {
    const char *name;
    const char *account; /* NULL: all of the user's accounts; EVENT_USER_ADD, NULL: "default" */
    uint32_t shares;
    bool make_default; /* the association becomes the user's default */
    uint32_t priority;
    bool resets_usage;              /* account and partition NULL: also the user's usage in the share tree */
    const struct event_pair *pairs; /* limits to change, in each of the accounts */
    uint32_t count;
    /* The association that is only for this partition. NULL: that for all partitions; with account NULL all of the
     * user's associations. */
    const char *partition;
};

/* Either all pairs are applied, or none: each has to be valid, and all of them together. */
struct event_settings {
    const struct event_pair *pairs;
    uint32_t count;
};

/* An object of any kind by its name, and the fields to set (fields/objects.h). If the
 * kind has usage, EVENT_OBJECT_MODIFY also accepts RawUsage=0. */
struct event_object {
    enum object_kind kind;
    const char *name;
    const struct event_pair *pairs;
    uint32_t count;
};

/* One job, all of its tasks (task_id NONE) or one task of an array. */
struct job_ref {
    uint32_t job_id, task_id;
};

/* Which of all jobs are meant. NULL and false: any. Names that do not exist are refused, except those of users. */
struct job_selection {
    const char *user, *account, *partition, *qos, *name; /* one or several, separated by commas; NULL: any */
    /* Of an event about tasks: only those that have not started, only those that have, or of the latter only
     * suspended ones (with is_of_live). */
    bool is_of_pending, is_of_live, is_of_suspended;
};

/* A reference that was refused, and why. */
struct job_refusal {
    struct job_ref ref;
    enum err_code code;
    const char *message; /* a sentence */
};

/* What became of each job of an event_jobs; in memory of the arena. */
struct jobs_report {
    struct arena *arena;
    struct job_refusal *refused;
    uint32_t refused_count;
    struct job_ref *changed; /* those that are counted, in the order of the references, or of the rows */
    uint32_t changed_count;
};

/* The jobs to cancel, hold, release, requeue, suspend, resume or signal. If one reference is wrong, the event is
 * refused, unless there is a report. */
struct event_jobs {
    const struct job_ref *refs;
    uint32_t count;
    bool all;        /* instead of refs: every job that the actor may change and that the selection fits; with refs:
                        those of them that still live, which job_selection_list has found */
    bool holds;      /* EVENT_REQUEUE: they are held then */
    uint32_t signal; /* EVENT_SIGNAL: its number, and whether only the first process of each task gets it */
    bool is_to_first;
    bool is_dry_run; /* nothing is changed; the result says what would be */
    struct job_selection selection;
    /* Not NULL: a reference that is refused is reported, and the others are changed; otherwise one refusal refuses all.
     * The engine fills it. */
    struct jobs_report *report;
    /* EVENT_CANCEL, REQUEUE, SUSPEND and RESUME of one reference to a whole array, in slices. task_max: not 0: the
     * number of started tasks to change. task_first: of an array that had ended, its requeue_next, to go on with; 0 at
     * first. */
    uint32_t task_max, task_first;
};

/* A fact about a job that has ended and is in no row of memory any more (dependencies.h). */
struct event_end {
    uint32_t job_id;
    bool is_array;
    struct idset tasks, completed; /* all its tasks, and those of them that are COMPLETED */
    int64_t started_us;            /* the last start of a task; 0: none */
    bool is_pruned;                /* it was removed from the history: nothing but its end is known */
    const char *user;              /* of its association; NULL: not known */
};

/* A job that has ended and is in no row of memory any more, for EVENT_REQUEUE (requeue_ended.h). */
struct event_ended_job {
    uint32_t job_id;
    const char *user, *account; /* of its association, which may be deleted since */
    const struct job *row;      /* assoc is not set; failed is; NULL: it cannot be restored, as err says */
    struct err err;
};

/* The fields of a job to change. The table of job fields has those that an update may set. */
struct event_update {
    uint32_t job_id;
    const struct job_values *values;
};

/* The executor's record of a launch. The daemon fills it from struct exec_record (exec/launch.h). */
struct event_record {
    uint64_t launch_id;
    int64_t at_us;      /* when this phase began */
    int64_t started_us; /* 0: it never started */
    /* EVENT_ENDED: COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL or OUT_OF_MEMORY; or PENDING: the launch never ran,
     * because the machine could start nothing */
    enum job_state end;
    int32_t exit_status, signal;
    int64_t cpu_us, max_rss_kib, io_bytes;
    const char *detail;
};

/* The usage of a launch that runs. The daemon fills it from struct launch_usage (exec/launch.h). */
struct event_measured {
    uint64_t launch_id;
    int64_t at_us;
    int64_t cpu_us, io_bytes; /* since its start */
    int64_t mem_kib;          /* in use at at_us */
};

enum host_report {
    HOST_REPORT_UP,      /* from now on jobs can run there */
    HOST_REPORT_DOWN,    /* likewise, but nothing starts until it is reported as up; the executor ends what ran there */
    HOST_REPORT_DETACHED /* no executor is there, and nothing can run; of a host without tasks */
};

/* The state that administrators give a host is kept apart: a job starts on a host only if both say that it is up. */
struct event_host {
    struct capacity has;
    const char *name; /* NULL: this machine */
    enum host_report report;
    const char *features;              /* EVENT_HOSTS: those of a host that is added; NULL: none */
    const struct idset *withheld_gpus; /* GPUs that no job gets for now, of those that it has; NULL: none */
};

struct event_hosts {
    const struct event_host *items;
    uint32_t count;
};

/* What a host reports now: it replaces what it reported before. A name that occurs twice has the last value. */
struct event_load {
    const struct host_load *values;
    uint32_t count;
    const char *host; /* NULL: this machine */
};

/* The times in which a calendar closes queues, ascending; none overlaps another one. The last one may be endless: what
 * is not known counts as closed. */
struct event_calendar {
    const char *name;
    const struct closed_time *closed;
    uint32_t count;
};

/* Those of all calendars: they replace the times of before. A calendar that is not among them closes nothing. */
struct event_calendars {
    const struct event_calendar *items;
    uint32_t count;
};

/* What is known of missing commits, in their order. */
struct event_recovery {
    const struct str *tasks; /* each row that was started or has ended: lines of task_text_format */
    uint32_t task_count;
    const uint32_t *ended_jobs; /* ids of jobs that have ended */
    uint32_t ended_job_count;
    uint32_t next_job_id; /* after the last of them */
    uint64_t next_launch_id;
    int64_t shift_us;               /* to be added to all their times, because those of the state were shifted since */
    struct recovery_counts *counts; /* the engine fills it; NULL: not wanted */
};

struct event_synced {
    const uint64_t *launch_ids; /* every launch that the executor knows */
    uint32_t count;
    const char *boot_id; /* of the current boot */
    int64_t lost_us;     /* the end of launches from an earlier boot: when they were last known to run */
    /* Not NULL: other launches may run elsewhere, or may have run. They end at lost_us as NODE_FAIL with this detail,
     * and none of them is started or requeued. */
    const char *elsewhere;
};

struct event {
    enum event_kind kind;
    struct actor actor;
    bool is_of_file;              /* EVENT_SETTINGS: those of the configuration file, at a start */
    const struct event_end *ends; /* EVENT_SUBMIT, EVENT_UPDATE: of the jobs that dependencies_list_ended lists, in its
                                     order: ascending ids */
    uint32_t end_count;
    const struct event_ended_job *ended_jobs; /* EVENT_REQUEUE: those that requeue_ended_list lists, in its order */
    uint32_t ended_job_count;
    uint32_t input_bytes; /* EVENT_SUBMIT: of its script, arguments and environment */
    union {
        struct event_account account;
        struct event_user user;
        struct event_settings settings;
        struct event_object object;
        const struct job_values *submit; /* fields that are not given get their defaults */
        struct event_jobs jobs;
        struct event_update update;
        struct event_host host;
        struct event_hosts hosts;
        struct event_load load;
        struct event_calendars calendars;
        struct event_record record;
        struct event_measured measured;
        struct event_synced synced;
        struct event_recovery recovery;
        const char *quarantine; /* why; a text for people, shorter than state.quarantine */
        uint32_t row_count;     /* EVENT_USAGE_ROWS: the most that are written; at least 1 */
        int64_t reset_us; /* the boundary; nothing may be charged past it, so it is applied before all other events */
        struct {
            const char *boot_id;            /* of the current boot, for the tasks that start */
            const struct ticket_plan *plan; /* after ticket_plan_run; NULL: the pass computes the ranking */
            /* No task of these jobs starts, although they wait: they are about to be held or cancelled. By ascending
             * ids. Not with tickets. has_kept: earlier passes kept some back that are not among them any more. */
            const struct job_ref *kept_back;
            uint32_t kept_back_count;
            bool has_kept;
        } time;
    };
};

/* The result of an event; 0 where the event has no such result. */
struct event_result {
    uint32_t job_id;     /* EVENT_SUBMIT: the new job */
    bool is_time_exempt; /* EVENT_UPDATE: an operator set the time limit above MaxWall, which does not count */
    /* EVENT_CANCEL, HOLD, RELEASE, REQUEUE, SUSPEND, RESUME, SIGNAL: the number of references, or of all jobs, that
     * it changed. */
    uint32_t job_count;
    /* With task_max: tasks are left, and the event has to be applied again, with this task_first. */
    bool is_unfinished;
    uint32_t task_next;
};

/* Where a new or changed row is. index is into the state's table; the store reads the row from there when it commits.
 * The same row may be noted several times. */
enum change_table {
    TABLE_CONVERSIONS, /* index 0: state.conversions replace the rows of the table */
    TABLE_ASSOC,
    TABLE_ASSOC_USAGE, /* the usage of an association whose row exists; nothing else of it */
    TABLE_JOB,
    TABLE_TASK,
    TABLE_SETTING,
    TABLE_COUNTERS,
    TABLE_OBJECT,         /* index: object_change(kind, index); the row of a deleted object is removed */
    TABLE_OWNER,          /* usage of users and projects */
    TABLE_MIN_PRIORITIES, /* index 0: removes those of all jobs, before TABLE_MIN_PRIORITY is written */
    TABLE_MIN_PRIORITY,   /* index: the job; job.min_priorities[].stored replace its rows */
    TABLE_DEPENDENCY,     /* index: the job; what is left of job.dependency replaces its rows */
    TABLE_COUNT
};

struct change {
    enum change_table table;
    uint32_t index; /* TABLE_SETTING: enum setting; TABLE_COUNTERS: 0 (next ids, decay, resets) */
};

/* One condition of a job that waits for others: its row is written as it is now, or removed. */
struct condition_change {
    uint32_t job, item; /* indices into the state's jobs, and into the items of its dependency */
};

/* The index of an object in a change. */
static inline uint32_t object_change(enum object_kind kind, uint32_t index)
{
    ensure(index < UINT32_C(1) << 28);
    return (uint32_t)kind << 28 | index;
}

/* The usage journal, for administrators and for `fairlead verify`: changes of the meaning of usage and shares. */
enum usage_journal_kind {
    USAGE_JOURNAL_HALFLIFE,
    USAGE_JOURNAL_SHARES,
    USAGE_JOURNAL_FOLD,
    USAGE_JOURNAL_LATE,
    USAGE_JOURNAL_QOS_DECAY,
    USAGE_JOURNAL_OWNER_RULE,
    USAGE_JOURNAL_RESET
};

struct usage_journal_entry {
    int64_t at_us;
    enum usage_journal_kind kind;
    uint32_t assoc_id; /* SHARES, FOLD, LATE, RESET: the association; 0: none */
    /*             before                                     after
     * HALFLIFE    seconds                                    seconds
     * SHARES      shares                                     shares
     * FOLD        last reset of the receiving association    id of the receiving association
     * LATE        job, started before a change of the rules  task, and its restarts x 2^32; its start became known
     *                                                        after the change
     * QOS_DECAY   id of the QOS                              1: its usage decays from now on; 0: it does not
     * RESET       previous reset                             usage counts from this time on */
    int64_t before, after;
    /* OWNER_RULE: the rule (usage_rule_format). RESET without association: what was reset. Otherwise NULL. */
    const char *detail;
};

enum decision_kind {
    DECIDE_START,       /* launch this task */
    DECIDE_END,         /* end this launch: SIGTERM, grace, SIGKILL */
    DECIDE_ACKNOWLEDGE, /* the end is recorded; the executor may forget the launch */
    DECIDE_WEIGHT,      /* set the CPU weight of the launch's control group */
    DECIDE_TIME_LIMIT,  /* replace the time limit of this launch, which counts from its start */
    DECIDE_SUSPENSION,  /* stop the processes of the launch, or let them run */
    DECIDE_SIGNAL       /* send a signal to them */
};

struct decision {
    enum decision_kind kind;
    uint64_t launch_id;
    uint32_t job_id, task_id; /* DECIDE_START, DECIDE_END */
    uint32_t cpu_weight;      /* DECIDE_WEIGHT: 1 to 10000; the kernel's default is 100 */
    int64_t time_limit_s;     /* DECIDE_TIME_LIMIT */
    uint32_t signal;          /* DECIDE_SIGNAL */
    bool is_to_first;         /* likewise: only the first process */
    bool is_suspended;        /* DECIDE_SUSPENSION */
    int64_t suspended_us;     /* likewise: how long it was suspended before; its time limit does not count that */
};

/* Tasks first to last of a job that are pending again after they had ended: the rows of those that ended in the store
 * become REQUEUED. Rows of tasks that are in memory are changes, too, and are written after that. */
struct requeued_tasks {
    uint32_t job_id, first, last;
};

/* The row of one suspension of a launch; replaces one with the same number. */
struct suspension_row {
    uint64_t launch_id;
    uint32_t number;           /* 1, 2, ... */
    int64_t from_us, until_us; /* until_us 0: it is not over */
    bool is_charged;
};

/* An administrative change, for the audit log (engine/audit.h). */
struct audit_entry {
    int64_t at_us;
    uint32_t uid; /* who made it, and the user's name then; NULL: it had none */
    const char *user;
    const char *command, *name, *field; /* field NULL: the whole */
    const char *before, *after;         /* NULL: there was, or is, no value */
};

/* The outcome of the events of one turn. Each engine_apply appends to it, until outcome_clear. */
struct outcome {
    ARRAY(struct change) changes;
    ARRAY(struct condition_change) conditions; /* written after the changes */
    ARRAY(struct requeued_tasks) requeued;     /* written before the changes */
    ARRAY(struct suspension_row) suspensions;  /* in this order */
    ARRAY(struct usage_journal_entry) journal;
    ARRAY(struct audit_entry) audit;
    struct arena audit_texts; /* of the entries */
    ARRAY(struct decision) decisions;
    struct buf schedule_lines; /* of the passes, for the schedule file, with MONITOR in params; else empty */
};

/* Both empty it; outcome_clear keeps the memory. */
void outcome_clear(struct outcome *o);
void outcome_release(struct outcome *o);

/* Whether there is something to write: an event may also only be entered in the audit log. */
bool outcome_has_rows(const struct outcome *o);

#endif
