/* The store: the engine's rows in one SQLite database, DIR/fairlead.db. The database is the truth; the engine's memory
 * is rebuilt from it at every start. Each turn of the loop is one transaction. After store_commit has returned 0, the
 * turn survives kill -9 and power loss (WAL, synchronous=FULL).
 *
 * The schema is public: docs/schema.md. */
#ifndef FAIRLEAD_STORE_STORE_H
#define FAIRLEAD_STORE_STORE_H

#include "engine/engine.h"
#include "engine/job_query.h"

struct store;

/* The program of a job and its input. The engine does not need it. script empty: arguments[0] is the program. Arguments
 * and environment contain no zero bytes; store_add_script ensures it. */
struct job_script {
    struct str script;
    const char *script_name; /* the file name that the user gave; "" for a command */
    struct str *arguments;
    uint32_t argument_count;
    struct str *environment; /* NAME=value */
    uint32_t environment_count;
};

/* Opens DIR/fairlead.db (mode 0600) in an existing directory; the caller closes it. Creates the file when there is
 * none, with its first rows: root, the default settings, the first half-life in the usage journal. Migrates an older
 * version. NULL with *e leaves the file unchanged. ERR_NOT_FOUND: no such directory; ERR_INPUT: not a directory, or on
 * a network file system; ERR_CONFLICT: a newer schema version, or another process has it open; ERR_IO: damaged, not a
 * database of Fairlead's, or it cannot be read or written. */
struct store *store_open(const char *directory, int64_t now_us, struct err *e);
void store_close(struct store *s);

/* Fills a fresh state (after state_init) with every row that has not ended. After -1 only state_release may use the
 * state. The load includes the changes that other programs have made, so commits are possible again after ERR_CONFLICT.
 * O(live rows). */
int store_load(struct store *s, struct state *out_state, struct err *e);

/* Copies a submitted job's script and keeps it for the commit of this turn, in which the job's row is a change. */
void store_add_script(struct store *s, uint32_t job_id, const struct job_script *script);

/* Drops the scripts added since the last commit, after a turn that failed. */
void store_abandon(struct store *s);

/* Writes every changed row, the journal and the added scripts in one transaction; 0 when it is durable. A turn without
 * any of these writes nothing. A change of TABLE_COUNTERS alone records that the daemon runs (store_last_commit_us).
 * After -1 nothing of the turn is in the database, not even after a crash, and the state has to be loaded again.
 * ERR_UNAVAILABLE: the disk is full, or another program has locked the database; ERR_CONFLICT: another program has
 * changed it; ERR_IO: all else. The scripts are kept until store_abandon. */
int store_commit(struct store *s, const struct state *state, const struct outcome *outcome, int64_t now_us,
                 struct err *e);

/* A committed job's script, in memory of arena; ERR_NOT_FOUND when there is none. */
int store_script(struct store *s, uint32_t job_id, struct arena *arena, struct job_script *out_script, struct err *e);

/* How a job ended whose end is committed. ERR_NOT_FOUND: it has not. O(its tasks). store_job_end_release frees the
 * sets. */
int store_job_end(struct store *s, uint32_t job_id, struct event_end *out_end, struct err *e);
void store_job_end_release(struct event_end *end);

/* The row of a job whose end is committed, in memory of arena; its sets are released by store_ended_job_release.
 * out->err says what the job names that does not exist any more. ERR_NOT_FOUND: it has not ended. O(its tasks) */
int store_ended_job(struct store *s, const struct state *state, uint32_t job_id, struct arena *arena,
                    struct event_ended_job *out, struct err *e);
void store_ended_job_release(struct event_ended_job *job);

/* The time of the last commit; the daemon has run at least until then. */
int64_t store_last_commit_us(const struct store *s);

/* The number of the last commit: each has the next one. 0: a database of an older version. */
uint64_t store_commit_number(const struct store *s);

/* Numbers up to this one are not used again. */
void store_use_up_commit_numbers(struct store *s, uint64_t number);

/* Up to this commit everything is in the database file, and damage of the write-ahead log undoes none of it. 0: not
 * known. store_checkpoint brings all commits there, and returns whether it could: another program may be reading. */
uint64_t store_certain_number(const struct store *s);
bool store_checkpoint(struct store *s);

/* The id of the instance that the rows belong to, "" if they have none. A new id, 32 hex digits, is written with the
 * next commit; a load before that has the old one. */
enum { STORE_INSTANCE_ID_SIZE = 33 };
const char *store_instance_id(const struct store *s);
void store_set_instance_id(struct store *s, const char *id);

/* What the database knows of the machine's clocks (daemon/clock_decision.h). */
struct store_clock {
    int64_t last_commit_us;
    char boot_id[40]; /* of the boot in which that was; "": not known */
    int64_t boot_us;  /* CLOCK_BOOTTIME at that time */
    bool has_gap;     /* before this boot, or an earlier one: how much time passed is not known, and none is counted */
    int64_t gap_from_us, gap_s; /* the last commit before the gap, and the length that the clock gave it */
};

/* As of the last commit. */
const struct store_clock *store_clock(const struct store *s);

/* Sets what later commits store: the boot, and its CLOCK_BOOTTIME. Without it they store that it is not known. */
void store_set_boot(struct store *s, const char *boot_id, int64_t boot_us);

enum clock_event_kind {
    CLOCK_SET_RUNNING,  /* the clock was set while the daemon ran */
    CLOCK_SET_STOPPED,  /* the clock was set while the machine ran, but not the daemon */
    CLOCK_GAP,          /* after a reboot, the clock is too far from the last commit: the time between is not counted */
    CLOCK_GAP_RESOLVED, /* the clock was set so that the gap became one that can be: it is counted */
    CLOCK_GAP_COUNTED,  /* a person says that it is to be counted */
    CLOCK_GAP_DISCARDED, /* a person says that it is not to be counted */
    CLOCK_EVENT_KIND_COUNT
};
extern const char *const clock_event_names[CLOCK_EVENT_KIND_COUNT]; /* "SET_RUNNING" ... */

struct clock_event {
    int64_t at_us;
    enum clock_event_kind kind;
    int64_t by_s, shift_s; /* how far the clock was set, or the length of the gap; what was added to all times */
};

/* A change of the time of the instance. */
struct clock_change {
    struct clock_event event;
    bool has_gap; /* afterwards; gap_s: its length then */
    int64_t gap_s;
    int64_t passed_us; /* of a gap that is counted: so much later it is at once */
};

/* Adds event.shift_s to every time in the database, records the event, and sets the gap, in one transaction, so that
 * all differences of times stay as they are. (A time that would come before 1970 or after 9999 becomes the first or the
 * last.) No boundary of a reset period counts that the shift passes. A gap that is counted lies before what has
 * happened since: tasks that run since this boot (store_set_boot), and live jobs that were submitted after it, keep
 * their distance from now. What has ended since counts as before the gap. The caller loads the state again. -1 as
 * store_commit. O(rows). */
int store_change_clock(struct store *s, const struct clock_change *change, struct err *e);

/* Whether a task that runs since this boot (store_set_boot) was charged already, because a rule of usage was changed.
 * It cannot be moved behind a gap then (passed_us). */
int store_has_charged_task(struct store *s, bool *out, struct err *e);

/* The newest events, at most max, the oldest of them first. */
int store_clock_events(struct store *s, struct clock_event *out, uint32_t max, uint32_t *out_count, struct err *e);

/* Listings (engine/job_query.h), each from a snapshot on a connection of its own. The reader is valid until
 * store_close. */
struct job_reader store_job_reader(struct store *s);

struct verify_difference {
    uint32_t assoc_id;          /* 0: the usage of a QOS or of an owner */
    const char *account, *user; /* user NULL: an account */
    const char *partition;      /* of an association of one partition; otherwise NULL */
    const char *qos;            /* NULL: the usage of an association or of an owner */
    const char *project;        /* of an owner (account and qos NULL); NULL: outside of projects. user NULL: its own */
    const char *tres;           /* in units x seconds; "wall": time; for an owner the resource; NULL: billing-seconds */
    double stored, recomputed;  /* at the reference time */
};
struct verify_report {
    uint32_t assoc_count, qos_count, owner_count; /* owner_count: without the skipped ones */
    uint64_t task_count;
    ARRAY(struct verify_difference) differences; /* beyond 1e-9 relative and 1e-6 billing-seconds */
};

/* Recomputes every usage from the job records and the usage journal, and compares it with the stored one: of each
 * association and each QOS (in billing, by TRES and of time; 0 for deleted ones), and of each owner by resource. An
 * owner with usage from before the first OWNER_RULE in the journal (schema version 1) is skipped. Uses a read-only
 * connection of its own, so it may run in another thread beside the loop, or without a daemon. Names are in memory of
 * arena; the caller releases the differences. Before that it checks the rows of all jobs and tasks; ERR_INTERNAL names
 * the first that is damaged. About 2 us a task. */
int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e);

#endif
