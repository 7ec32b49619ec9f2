/* The store: the engine's rows in one SQLite database, DIR/fairlead.db. The database is the truth; the engine's memory
 * is rebuilt from it at every start. Each turn of the loop is one transaction. After store_commit has returned 0, the
 * turn survives kill -9 and power loss (WAL, synchronous=FULL).
 *
 * The schema is public: docs/schema.md. */
#ifndef FAIRLEAD_STORE_STORE_H
#define FAIRLEAD_STORE_STORE_H

#include "engine/audit_query.h"
#include "engine/engine.h"
#include "engine/job_query.h"
#include "engine/moved_jobs.h"

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
    bool is_long; /* of store_script, store_command: it is not here, store_read_script has it */
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

/* Copies a submitted job's script and keeps it for the commit of this turn, in which the job's row is a change. One
 * that is long is for store_add_upload, because it would make the commit long. */
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

/* A committed job's script, in memory of arena; ERR_NOT_FOUND when there is none. Of one that is long, only is_long is
 * set. */
int store_script(struct store *s, uint32_t job_id, struct arena *arena, struct job_script *out_script, struct err *e);

/* What the job runs, without its environment: a script, or arguments if that is empty; reads no more than that. One of
 * more than max bytes: only is_long is set. */
int store_command(struct store *s, uint32_t job_id, uint32_t max, struct arena *arena, struct job_script *out_command,
                  struct err *e);

/* Likewise the whole script, however long it is, through a connection of its own, so it may run in another thread
 * beside the loop. */
int store_read_script(const char *directory, uint32_t job_id, struct arena *arena, struct job_script *out_script,
                      struct err *e);

/* --- long scripts (upload.c) --- */

/* A script, list of arguments or environment of more than STORE_PIECE_BYTES is stored before its job is accepted, in
 * pieces and by commits of their own, so that no commit takes long. */
enum { STORE_PIECE_BYTES = 256 * 1024 };
bool store_script_is_long(const struct job_script *script);

/* Prepares the upload of a script, which has to outlive it. May run in any thread. O(bytes) */
struct store_upload;
struct store_upload *store_upload_prepare(const struct job_script *script);
void store_upload_free(struct store_upload *u);

/* Stores the next pieces of the only upload that is in progress, in one transaction. Its commit has no number: as long
 * as no job has them, nothing is lost with them. 1: there are more; 0: all are durable; -1 as store_commit. What is
 * stored of an upload that comes to nothing is for store_remove_loose. */
int store_upload_step(struct store *s, struct store_upload *u, struct err *e);

/* As store_add_script, of an upload that is complete. */
void store_add_upload(struct store *s, uint32_t job_id, const struct store_upload *u);

/* Removes a piece of what no job has, in one transaction; not while an upload is in progress. 1: there may be more; 0:
 * there is nothing; -1 as store_commit. */
int store_remove_loose(struct store *s, struct err *e);

/* How a job ended whose end is committed. ERR_NOT_FOUND: it has not. O(its tasks). store_job_end_release frees the
 * sets. */
int store_job_end(struct store *s, uint32_t job_id, struct event_end *out_end, struct err *e);
void store_job_end_release(struct event_end *end);

/* The user of a job that is committed, in memory of arena; NULL: none is known. One query. */
const char *store_job_user(struct store *s, uint32_t job_id, struct arena *arena);

/* The row of a job whose end is committed, in memory of arena; its sets are released by store_ended_job_release.
 * out->err says what the job names that does not exist any more. ERR_NOT_FOUND: it has not ended. O(its tasks) */
int store_ended_job(struct store *s, const struct state *state, uint32_t job_id, struct arena *arena,
                    struct event_ended_job *out, struct err *e);
void store_ended_job_release(struct event_ended_job *job);

/* An array whose requeue is not complete (job.requeue_next). */
struct store_unfinished_requeue {
    uint32_t job_id, task_next;
    bool is_held;
    int64_t ended_us; /* 0: it lives */
};

/* All of them, in order of ids, in memory of arena. O(their number). */
int store_unfinished_requeues(struct store *s, struct arena *arena, struct store_unfinished_requeue **out_list,
                              uint32_t *out_count, struct err *e);

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

/* A commit that makes the write-ahead log long makes a checkpoint, which takes tens of ms. After store_leave_copying
 * the caller does most of that work in a thread: while store_log_is_long, it calls store_copy_log, which any thread may
 * call while the store is in use, and then store_reset_log, which makes the checkpoint and returns as
 * store_checkpoint. */
void store_leave_copying(struct store *s);
bool store_log_is_long(const struct store *s);
int store_copy_log(const char *directory, struct err *e);
bool store_reset_log(struct store *s);

/* The id of the instance that the rows belong to, "" if they have none. A new id, 32 hex digits, is written with the
 * next commit; a load before that has the old one. */
enum { STORE_INSTANCE_ID_SIZE = 33 };
const char *store_instance_id(const struct store *s);
void store_set_instance_id(struct store *s, const char *id);

/* Whether the rows are those of a pretend cluster, of which nothing really runs. store_set_pretend: with the next
 * commit they are. */
bool store_is_pretend(const struct store *s);
void store_set_pretend(struct store *s);

/* What the last start that found commits missing has found (daemon/recovery.c), and when; NULL: none did. A new text is
 * written with the next commit; a load before that has the old one. */
const char *store_recovery(const struct store *s, int64_t *out_at_us);
void store_set_recovery(struct store *s, const char *text, int64_t at_us);

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
    int64_t passed_us;               /* of a gap that is counted: so much later it is at once */
    const struct audit_entry *audit; /* of a change that a person asked for; otherwise NULL */
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

/* The audit log (engine/audit_query.h). The reader is valid until store_close. */
struct audit_reader store_audit_reader(struct store *s);

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
    uint64_t task_count, pruned_task_count;       /* pruned_task_count: those of which only sums are left */
    ARRAY(struct verify_difference) differences;  /* beyond 1e-9 relative and 1e-6 billing-seconds */
};

/* Recomputes every usage from the job records and the usage journal, and compares it with the stored one: of each
 * association and each QOS (in billing, by TRES and of time; 0 for deleted ones), and of each owner by resource. An
 * owner with usage from before the first OWNER_RULE in the journal (schema version 1) is skipped. Uses a read-only
 * connection of its own, so it may run in another thread beside the loop, or without a daemon. Names are in memory of
 * arena; the caller releases the differences. Before that it checks the rows of all jobs and tasks; ERR_INTERNAL names
 * the first that is damaged. About 2 us a task. */
int store_verify(const char *directory, struct arena *arena, struct verify_report *out_report, struct err *e);

/* --- pruning: ended jobs are removed from the history (prune_plan.c) ---
 *
 * A thread makes a plan, from a snapshot; the loop carries it out, piece by piece, between other commits. */

/* A job, or the tasks of an array up to last_task. */
struct prune_entry {
    uint32_t job_id, last_task;
    int64_t ended_us;
    bool ends_job; /* its row is removed, too */
};

/* What a row of pruned_usage becomes. */
struct prune_sum {
    const char *scope, *user, *project, *resource;
    uint32_t row_id;
    double amount, halvings;
    int64_t at_us;
};

/* What one transaction does: up to these indices. */
struct prune_piece {
    uint32_t entry_end, sum_end, job_count, task_count;
};

struct prune_plan {
    struct arena arena;
    ARRAY(struct prune_entry) entries;
    ARRAY(struct prune_sum) sums;
    ARRAY(struct prune_piece) pieces;
    bool has_more; /* more jobs are to be removed than are in the plan */
};

/* Plans the removal of jobs that ended before before_us, the oldest first: a limited number of them. as_of_us: the time
 * of now, which no later change of a rule precedes. On a connection of its own. ERR_INTERNAL: a record is damaged.
 * The caller releases the plan, also after -1. O(associations + rules + tasks). */
int store_prune_plan(const char *directory, int64_t before_us, int64_t as_of_us, struct prune_plan *out_plan,
                     struct err *e);
void store_prune_plan_release(struct prune_plan *plan);

/* How many jobs that would be, in all, and how many starts of tasks. O(those). */
int store_prune_count(const char *directory, int64_t before_us, uint64_t *out_jobs, uint64_t *out_tasks, struct err *e);

/* Removes the jobs of one piece, in one transaction with the sums and the entry for the audit log (NULL: none). The
 * pieces before it are done. No job of it may be in memory. The commit has no number: if it is lost, the jobs are there
 * again. ERR_CONFLICT: a job is not as it was planned; a new plan is needed. Other errors as store_commit. */
int store_prune(struct store *s, const struct prune_plan *plan, uint32_t piece, const struct audit_entry *audit,
                struct err *e);

/* Removes entries of the audit log from before a time, at most max of them, and keeps the last one. Returns their
 * number, or -1. */
int store_prune_audit(struct store *s, int64_t before_us, uint32_t max, struct err *e);

/* --- moving in: ended jobs of another instance (moved_jobs.c, history_export.c) --- */

struct store_move {
    const struct moved_jobs *jobs; /* moved_jobs_check has accepted them */
    const char *user;
    uint32_t uid, gid;
    int64_t now_us, keep_from_us; /* keep_from_us: what ended before is not taken; 0: all is */
    uint64_t rows_max;            /* of the user, in all */
    bool is_dry_run;              /* counts, and writes nothing */
    uint32_t next_job_id, next_assoc_id;
};
struct store_moved {
    uint32_t jobs, tasks;                /* that are new: jobs, and starts of tasks */
    uint32_t known, removed;             /* jobs that were there already; that are too old, or were removed since */
    uint64_t row_count;                  /* of the user, in all */
    uint32_t next_job_id, next_assoc_id; /* for the state, which has to take them */
    bool is_first;                       /* the first from this instance */
};

/* Takes jobs into the history of the user, in one transaction; those that are there stay. ERR_TOO_LARGE: more than
 * rows_max, or from too many instances. Other errors as store_commit. O(rows). */
int store_move_in(struct store *s, const struct store_move *move, struct store_moved *out, struct err *e);

/* What an instance has to export. */
struct store_history {
    char instance_id[STORE_INSTANCE_ID_SIZE];
    uint64_t ended_jobs, live_jobs;
};

/* Reads the ended jobs of the instance in the directory, whether its daemon runs or not, by ascending ids, from one
 * snapshot. Calls begin once, and take for each job; of a job with many starts several times. ERR_CONFLICT: another
 * schema version, a pretend cluster, or an instance without an id. ERR_INPUT: no database; the directory or the file is
 * another user's. ERR_INTERNAL: a damaged row. -1 if begin or take return it. */
struct store_export {
    void *context;
    int (*begin)(void *context, const struct store_history *history, struct err *e);
    int (*take)(void *context, const struct moved_job *job, struct err *e);
};
int store_export_history(const char *directory, const struct store_export *exporter, struct err *e);

/* Writes a copy of the database as of one commit to path, mode 0600; a file that is there is replaced. Uses a
 * connection of its own, so it may run in another thread beside the loop. out_commit: the number of that commit. The
 * file is not synced. ERR_UNAVAILABLE: the disk is full; ERR_IO. O(size of the database). */
int store_backup(const char *directory, const char *path, uint64_t *out_commit, struct err *e);

/* What a database file is that no daemon uses. */
struct store_file {
    uint32_t version;                         /* of its schema */
    char instance_id[STORE_INSTANCE_ID_SIZE]; /* "": none */
    bool is_pretend;
};

/* Examines a file, reads all of it (PRAGMA quick_check), and changes nothing, nor makes a file beside it. ERR_INPUT: it
 * is damaged, or has no tables; ERR_CONFLICT: a newer schema version; ERR_IO: not a database of Fairlead's, or it
 * cannot be read. O(size of the file). */
int store_check_file(const char *path, struct store_file *out, struct err *e);

/* The user that a private instance served at its last start, as the uid and the name that it had then; name "": not
 * known. */
enum { STORE_USER_SIZE = 260 };
int store_served_user(struct store *s, uint32_t *out_uid, char out_name[STORE_USER_SIZE], struct err *e);

/* Stores who is served. Live jobs of the uid that was served before run as the new one. old_name not NULL: all rows of
 * that user get the new name, with the entry for the audit log, unless there are rows of that name already. In one
 * transaction; the caller loads the state after it. -1 as store_commit. O(associations + jobs). */
int store_serve_user(struct store *s, uint32_t uid, uint32_t gid, const char *name, const char *old_name,
                     const struct audit_entry *audit, bool *out_renamed, struct err *e);

/* A uid that a system instance knows, as the user database described it last. */
struct store_known_user {
    uint32_t uid;
    const char *name, *home;
    bool is_removed; /* there is no user with the uid any more; name: the last one */
};

/* All of them, in memory of arena. */
int store_known_users(struct store *s, struct arena *arena, struct store_known_user **out_users, uint32_t *out_count,
                      struct err *e);

/* Stores some of them in one transaction, beside the commits of the state. */
int store_put_known_users(struct store *s, const struct store_known_user *users, uint32_t count, struct err *e);

/* Gives all rows of a user of that name a new one and stores the known user, with the entry for the audit log; unless
 * there are rows of the new name already. In one transaction; the caller loads the state after it. -1 as store_commit.
 * O(associations). */
int store_rename_user(struct store *s, const struct store_known_user *user, const char *old_name,
                      const struct audit_entry *audit, bool *out_renamed, struct err *e);

#endif
