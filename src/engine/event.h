/* What can happen to the state, and what comes of it. Events carry plain values and borrowed text; nothing of them is
 * kept. What comes of them: rows that changed (for the store) and decisions (for the executor). */
#ifndef FAIRLEAD_ENGINE_EVENT_H
#define FAIRLEAD_ENGINE_EVENT_H

#include "engine/state.h"
#include "fields/job_fields.h"

struct ticket_plan;

enum event_kind {
    EVENT_ACCOUNT_ADD, /* what operators change: from here to EVENT_OBJECT_DELETE */
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
    EVENT_UPDATE,
    EVENT_HOST,    /* capacity was found */
    EVENT_STARTED, /* an executor's records */
    EVENT_COMPLETING,
    EVENT_ENDED,
    EVENT_SYNCED, /* the executor has told all it knows */
    EVENT_RESET,  /* a boundary of PriorityUsageResetPeriod has passed */
    EVENT_TIME    /* a moment: the scheduling pass, if one is due */
};

/* Who asks, as the kernel says. An operator may do everything; others what concerns themselves. */
struct actor {
    uint32_t uid, gid;
    const char *user;
    bool is_operator;
};

/* shares: SHARES_UNSET keeps what is (a new one gets 1). priority: PRIORITY_UNSET keeps what is (a new one has its parent's),
 * NONE has the parent's. Text NULL: keeps what is. */
#define SHARES_UNSET UINT32_MAX
#define PRIORITY_UNSET (UINT32_MAX - 1)
struct event_account {
    const char *name;
    const char *parent; /* NULL on adding: root */
    uint32_t shares;
    uint32_t priority;
    bool resets_usage; /* of all below it, too */
};

struct event_user {
    const char *name;
    const char *account; /* on modify and delete NULL: all of the user's; on adding NULL: "default" */
    uint32_t shares;
    bool make_default;
    uint32_t priority;
    bool resets_usage; /* account NULL: also what the share tree counts of the user */
};

/* "KEY" and "VALUE", as people write them. */
struct event_pair {
    const char *key, *value;
};

/* All are acceptable, together too, or none is applied. */
struct event_settings {
    const struct event_pair *pairs;
    uint32_t count;
};

/* A partition, QOS, user, project, department or resource by its name, and the fields to set (fields/objects.h), among them
 * on modify RawUsage=0 where a kind has usage. */
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

/* Cancel, hold, release: all refs are right, or nothing happens. all: every job the actor may touch. */
struct event_jobs {
    const struct job_ref *refs;
    uint32_t count;
    bool all;
};

/* Which fields of a job to change, of those that an update may (fields/job_fields.h). */
struct event_update {
    uint32_t job_id;
    const struct job_values *values;
};

/* How a launch ended, in the engine's words; the daemon translates exec/launch.h. */
struct event_record {
    uint64_t launch_id;
    int64_t at_us;      /* of this phase */
    int64_t started_us; /* 0: never */
    enum job_state end; /* EVENT_ENDED: COMPLETED, FAILED, CANCELLED, TIMEOUT or NODE_FAIL */
    int32_t exit_status, signal;
    int64_t cpu_us, max_rss_kib;
    const char *detail;
};

/* launch_ids: of every launch the executor knows. boot_id: of the running boot. lost_us: when a launch of an earlier boot
 * was last known to run. */
struct event_synced {
    const uint64_t *launch_ids;
    uint32_t count;
    const char *boot_id;
    int64_t lost_us;
};

struct event {
    enum event_kind kind;
    struct actor actor;
    union {
        struct event_account account;
        struct event_user user;
        struct event_settings settings;
        struct event_object object;
        const struct job_values *submit; /* those that are not given have their defaults */
        struct event_jobs jobs;
        struct event_update update;
        struct capacity host;
        struct event_record record;
        struct event_synced synced;
        int64_t reset_us; /* the boundary; not before anything that was charged yet, so apply it before all else */
        struct {
            const char *boot_id;            /* goes into the tasks that start */
            const struct ticket_plan *plan; /* that was run; NULL: the pass does all by itself (engine/ticket_plan.h) */
        } time;
    };
};

/* What answers an event; 0 where it has no such answer. */
struct event_result {
    uint32_t job_id;    /* EVENT_SUBMIT: of the new job */
    uint32_t job_count; /* EVENT_CANCEL, HOLD, RELEASE: jobs and tasks named, or of "all" the jobs */
};

/* A row that is new or different. index is into the state's table; the store reads the row from there when it commits.
 * The same row may be named several times. */
enum change_table {
    TABLE_USAGES, /* index 0: all usage becomes 0, before rows are written; those that only lose it are not noted */
    TABLE_ASSOC,
    TABLE_JOB,
    TABLE_TASK,
    TABLE_SETTING,
    TABLE_COUNTERS,
    TABLE_OBJECT,         /* index: object_change(kind, index); deleted ones go */
    TABLE_OWNER,          /* usage of users and projects */
    TABLE_MIN_PRIORITIES, /* index 0: those of all jobs go; before those of TABLE_MIN_PRIORITY are written */
    TABLE_MIN_PRIORITY,   /* index: of the job; its rows are replaced by the stored ones of job.min_priorities */
    TABLE_COUNT
};

struct change {
    enum change_table table;
    uint32_t index; /* TABLE_SETTING: enum setting; TABLE_COUNTERS: 0 (next ids, decay, resets) */
};

static inline uint32_t object_change(enum object_kind kind, uint32_t index)
{
    return (uint32_t)kind << 28 | index;
}

/* For people and for fairlead verify: what changed the meaning of usage and shares. */
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
    uint32_t assoc_id; /* SHARES, FOLD, LATE, RESET: of whom; else 0 */
    /* HALFLIFE: seconds; SHARES: shares; FOLD: when the association that took the usage had last been reset, and its id;
     * LATE: job and task, whose start was not known when the rules changed; QOS_DECAY: id, and whether its usage fades from
     * here on; RESET: when this was last reset, and from when on it counts */
    int64_t before, after;
    const char
        *detail; /* OWNER_RULE: the rule (usage_decay_rule_format); RESET without association: of what; else NULL */
};

enum decision_kind {
    DECIDE_START,       /* launch this task */
    DECIDE_END,         /* end this launch: SIGTERM, grace, SIGKILL */
    DECIDE_ACKNOWLEDGE, /* the end is known; the executor may forget the launch */
    DECIDE_WEIGHT       /* of the CPU time its processes get among running jobs */
};

struct decision {
    enum decision_kind kind;
    uint64_t launch_id;
    uint32_t job_id, task_id; /* DECIDE_START, DECIDE_END */
    uint32_t cpu_weight;      /* DECIDE_WEIGHT: 1 to 10000, 100 is ordinary */
};

/* What came of a turn: appended to by every engine_apply until outcome_clear. */
struct outcome {
    ARRAY(struct change) changes;
    ARRAY(struct usage_journal_entry) journal;
    ARRAY(struct decision) decisions;
};

/* Empty, memory kept; or given back. */
void outcome_clear(struct outcome *o);
void outcome_release(struct outcome *o);

#endif
