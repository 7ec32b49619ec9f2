/* The struct of the daemon, and the functions that its files share.
 *
 *     main.c       arguments, the configuration file      launches.c        acting on decisions
 *     loop.c       the loop                               ranking_thread.c  ranking in a thread
 *     state_dir.c  the state directory and its lock       verify_thread.c   verification in a thread
 *     config.c     the configuration file                 config_apply.c    its settings in force
 *     reset_period.c  midnights
 *     machine.c    CPUs, memory and GPUs                  schedule_file.c   the schedule file
 *     loads.c      the load values that are reported      log.c             the log
 *     calendars.c  the closed times that are reported     calendar_times.c  local clocks
 *     job_ends.c   how jobs of long ago ended             daemon_clock.c    the time, real or virtual
 *     recovery.c   commits that are missing               commit_log.c      what the last ones did
 *     identity.c   whether the directory is a copy        instance_mark.c   its mark
 *     pretend*.c   a cluster that is not there            instance_clock.c  following a clock that was set
 *     clock_decision.c  what the clocks of the machine mean  prune.c  removal of ended jobs
 *     backup.c     copies of the database               served_user.c  the name of the user
 *     clients.c    who the clients are                 users.c     the users of a system instance
 *     executor_link.c   the connection to the executor checkpoint_thread.c  checkpoints of the database
 *     bulk_changes.c    requests about many jobs, in slices   server_thread.c   what the server leaves to a thread
 *     snapshot_process.c  what the server leaves to a process with a copy of the state
 *     start_orders.c    orders to start tasks             task_environment.c  the environment of a task
 *     own_thread.c      threads for what waits for others
 *     uploads.c    submissions of long scripts, in pieces
 *     submit_hooks.c  a program of the site that is asked about submissions; hook_process.c, hook_file.c
 *     use.c        who uses the machine now              use_account.c   the same, from two samples
 *     outside_jobs.c  who uses it outside jobs
 *     gpus.c       the GPUs                               gpu_watch.c   the processes that look at them
 *     gpu_probe.c  such a process; its libraries          gpu_report.c  what it says
 */
#ifndef FAIRLEAD_DAEMON_DAEMON_H
#define FAIRLEAD_DAEMON_DAEMON_H

#include <sys/resource.h>

#include <uv.h>

#include "api/server/server.h"
#include "daemon/bulk_changes.h"
#include "daemon/commit_log.h"
#include "daemon/config.h"
#include "daemon/daemon_clock.h"
#include "daemon/instance_mark.h"
#include "daemon/load_sensors.h"
#include "daemon/machine.h"
#include "daemon/machine_load.h"
#include "daemon/own_thread.h"
#include "daemon/pretend.h"
#include "daemon/schedule_file.h"
#include "daemon/state_dir.h"
#include "daemon/submit_hooks.h"
#include "daemon/uploads.h"
#include "engine/engine.h"
#include "exec/executor.h"
#include "store/store.h"

struct ranking;
struct prune;
struct start_order;
struct snapshot_process;
struct users;
struct daemon_use;
struct gpus;
struct use_sample;

/* A request that says what an open gap is (clock_decision.h). */
struct gap_order {
    struct request *request;
    bool counts;
};

enum { DAEMON_SIGNAL_COUNT = 7 };

struct daemon {
    struct arena arena; /* of the process's lifetime */
    struct state_dir state_dir;
    struct machine machine;  /* of a pretend instance: without CPUs, memory and GPUs */
    struct pretend *pretend; /* NULL: its jobs are real */
    struct daemon_clock clock;
    const char *launcher_path;       /* NULL: it starts none */
    const char *launcher_directory;  /* where launcher.sock is */
    const char *terminals;           /* the directory below it with the sockets of jobs; NULL: a pretend instance */
    bool is_system;                  /* it serves all users of the machine; else only served_user */
    bool allows_root;                /* a system instance: root and system accounts may submit jobs */
    struct actor served_user;        /* the user of this process */
    struct users *users;             /* NULL: a private instance */
    struct known_users *known_users; /* likewise */
    int64_t started_us, now_us;      /* now_us: of the current turn; see clock_now */
    int64_t started_boot_us;         /* time since boot at the start */
    int64_t next_follow_us;          /* time since boot: after a failure, when to try again to follow the clock */
    ARRAY(struct gap_order) gap_orders;
    struct bulk_changes bulk;
    struct uploads uploads;
    struct submit_hooks submit_hooks;
    ARRAY(struct start_order *) long_orders;               /* start_orders.c */
    struct verification *verification, *next_verification; /* that runs, and that waits; NULL: none */
    struct rlimit file_limit; /* of open files, as at the start: the launcher and its jobs get it */

    struct store *store;
    struct state state;
    struct server *server;
    struct executor *executor;      /* NULL: not connected to the launcher */
    bool is_synced;                 /* the executor has sent EXECUTOR_SYNCED */
    struct enforcement enforcement; /* of the executor that was connected last */

    /* A pass that a thread ranks (ranking_thread.c); at most one of the two is set. */
    struct ranking *ranking;  /* the thread is ranking */
    struct ticket_plan *plan; /* ranked: for the next EVENT_TIME */

    /* Of one turn. */
    struct outcome outcome;
    struct executor_reports reports;

    ARRAY(uint64_t) known_launches;  /* reported since the executor was opened, for EVENT_SYNCED */
    int64_t lost_us;                 /* for EVENT_SYNCED: the last commit before this start */
    bool is_first_of_boot;           /* the last commit was in another boot of the machine */
    uint64_t found_commit;           /* the last one of the database, as it was found */
    int64_t found_shift_us;          /* by which this start shifted all times of the database */
    struct instance_mark found_mark; /* of the directory, as it was found (identity.c) */
    struct instance_mark mark;       /* that the directory has to have (identity.c) */
    bool is_mark_due;                /* it is written once the tasks that may run elsewhere have ended */
    const char *elsewhere;           /* for EVENT_SYNCED: the state is under quarantine; NULL: it is not */
    struct buf recovery;             /* which commits this start found missing, and what follows; empty: none */
    struct commit_log commit_log;
    struct buf commit_lines; /* of the commit log, of one turn */
    uint64_t logged_commit;  /* the last one that is in the commit log */
    struct schedule_file schedule_file;
    char write_failure[200];     /* why the last commit failed; empty: it did not */
    char launcher_failure[600];  /* why no launcher could be reached at the last try; empty: one could */
    int64_t failure_logged_us;   /* time since boot: when launcher_failure was last logged */
    int64_t attached_us;         /* likewise: when the executor was opened */
    bool is_reopening;           /* a thread is connecting to the launcher */
    char launch_failure[200];    /* what was logged of it; empty: launches work */
    int64_t next_measurement_us; /* when to order the next measurement of running tasks; 0: none runs */

    /* Load values (loads.c). */
    struct machine_load machine_load;
    struct load_sensors *sensors;       /* NULL: not configured yet */
    struct buf sensor_paths;            /* the setting that they have */
    struct load_values measured, loads; /* loads: with the reports of sensors; what the engine has, or gets next */
    bool has_reports;                   /* of sensors, since loads was made */
    int64_t next_load_us;               /* when the next measurement is due */

    /* Calendars (calendars.c): what the engine has, or gets next. */
    ARRAY(struct event_calendar) calendars;
    struct arena calendar_arena;
    uint32_t calendar_edition; /* state.object_edition when they were made */
    int64_t next_calendars_us; /* when to make them anew; 0: there are none */

    struct daemon_use *use;                                               /* NULL: a pretend instance */
    struct gpus *gpus;                                                    /* likewise */
    void (*on_sample)(struct daemon *d, const struct use_sample *sample); /* a look at all processes; may be NULL */

    struct snapshot_process *snapshots; /* the one that runs, and those that wait for it (snapshot_process.c) */
    struct prune *prune;                /* prune.c */
    struct move_in *move_in;            /* move_in.c */
    bool is_backing_up;                 /* backup.c */
    bool is_copying_log;                /* checkpoint_thread.c */
    char former_user[STORE_USER_SIZE];  /* the name of the served user at the last start, if it has changed since */
    char found_user[STORE_USER_SIZE];   /* another name that was found since, to be taken by the next turn; or empty */
    int64_t user_lookup_us;             /* of the last lookup of the name; 0: none since the start */
    bool is_looking_up_user;

    void (*turn)(struct daemon *d);

    uv_loop_t loop;
    struct own_threads threads;
    uv_poll_t server_poll;
    int executor_events;      /* that it is watched for */
    uv_poll_t *executor_poll; /* NULL without an executor or for a pretend one; its close callback frees it */
    uv_timer_t server_timer, retry_timer, alive_timer, due_timer, check_timer;
    uv_idle_t server_idle;  /* runs while the server has something to do, such as a long listing */
    uv_idle_t bulk_idle;    /* runs while a bulk change is in progress, or rows of usage are to be written */
    bool writes_usage_rows; /* in the turn that begins */
    uv_signal_t signals[DAEMON_SIGNAL_COUNT]; /* signals.c */
    bool has_lost_socket;                     /* the file was removed, and no other could be made */
    bool is_stopping;
    int exit_status;
};

/* Opens store, state, launcher and server, in this order, and applies config as an event. d: zero, except for the
 * members that main.c fills. -1 with the error of the one that failed; the caller calls daemon_close in any case. */
int daemon_open(struct daemon *d, const struct config *config, struct err *e);

/* Runs the loop until a signal stops it. Returns the exit status: 0, or 1 if the state could not be loaded again after
 * a failed commit, or its directory was removed. */
int daemon_run(struct daemon *d);

/* Closes and frees everything; jobs go on. */
void daemon_close(struct daemon *d);

/* signals.c. daemon_ignore_signals: at the beginning; what the daemon does not handle yet does not end it.
 * daemon_init_signals and daemon_watch_signals: with the loop, and once the server is open; the latter also begins to
 * look at socket and state directory. */
void daemon_ignore_signals(void);
void daemon_init_signals(struct daemon *d);
void daemon_watch_signals(struct daemon *d);

/* ranking_thread.c: starts a thread that ranks the next pass; afterwards the loop calls when_done, with d->plan set.
 * Returns false if no pass is due, or if it is small enough to run in the turn. Requires that neither ranking nor plan
 * is set. */
bool ranking_thread_begin(struct daemon *d, void (*when_done)(struct daemon *d));

/* ranking_thread.c: drops the plan, also one that a thread is ranking. For when the state or the executor is
 * replaced. */
void ranking_thread_abandon(struct daemon *d);

/* loads.c, for the server: struct server_host has what they do. */
int daemon_check_sensors(void *context, const char *paths, struct err *e);
void daemon_describe_sensors(void *context, struct buf *out);

/* loads.c: measures for the first time. */
void daemon_open_loads(struct daemon *d);

/* loads.c: measures and asks the sensors if it is time, and takes changed settings of them. Returns whether d->loads
 * may have changed. */
bool daemon_update_loads(struct daemon *d);
void daemon_close_loads(struct daemon *d);

/* calendars.c: makes d->calendars of the rows. daemon_update_calendars: if it is time; returns whether it was. */
void daemon_make_calendars(struct daemon *d);
bool daemon_update_calendars(struct daemon *d);
void daemon_close_calendars(struct daemon *d);

/* pretend_hosts.c. daemon_report_pretend_hosts: brings all hosts of the document to the engine, as they were at the
 * last commit; adds those that do not exist, or leaves them out. ERR_INPUT: a host of the document is refused. */
int daemon_report_pretend_hosts(struct daemon *d, bool adds, struct outcome *outcome, struct err *e);

/* pretend_hosts.c: takes what has happened up to now, and the reports of the executor; then, once the reports are
 * decided, brings changed hosts to the engine. Both do nothing if the jobs are real. */
void daemon_advance_pretend(struct daemon *d);
void daemon_report_pretend_changes(struct daemon *d);

/* pretend_hosts.c: when the next launch ends or a host changes; 0: never. Whether a host (by index) of the state is in
 * the document and not down. */
int64_t daemon_next_pretend_us(const struct daemon *d);
bool daemon_pretend_host_is_up(const struct daemon *d, uint32_t host);

/* pretend_launches.c: opens the executor with the launches that run; starts a task. */
void daemon_open_pretend_executor(struct daemon *d);
void daemon_start_pretend(struct daemon *d, const struct job *j, const struct task *k);

/* pretend_launches.c, for the server: whether a pretend job can run as its comment says. */
int daemon_check_pretend_comment(void *context, const char *comment, struct err *e);

/* instance_clock.c: the time at a start: after store_open, and before the state is loaded. Sets now_us. */
int daemon_start_clock(struct daemon *d, struct err *e);

/* instance_clock.c: follows a wall clock that was set. True: the times in the database have changed, and the state has
 * to be loaded again. daemon_settle_gap: carries out an order; -1 with *e: it is refused, or nothing could be
 * written. */
bool daemon_follow_clock(struct daemon *d);
int daemon_settle_gap(struct daemon *d, bool counts, const struct actor *actor, struct err *e);

/* instance_clock.c: the instance's time of an event that the executor saw. boot_us: the time since boot, 0 if not
 * known; is_of_this_boot: that boot is the present one; wall_us: what the wall clock showed. */
int64_t daemon_time_of(const struct daemon *d, int64_t boot_us, bool is_of_this_boot, int64_t wall_us);

/* instance_clock.c, for the server: struct server_host has what it does. */
void daemon_describe_clock(void *context, struct arena *arena, struct server_clock *out);

/* job_ends.c: sets the facts about ended jobs that an event needs, in memory of arena, and frees their sets; also for
 * struct server_host. */
void daemon_read_ends(void *daemon, struct event *event, struct arena *arena);
void daemon_release_ends(struct event *event);

/* job_ends.c: for struct server_host; in any thread. */
int daemon_read_script(void *daemon, uint32_t job_id, struct arena *arena, struct request_script *out, struct err *e);

/* identity.c. daemon_read_mark: reads the directory's mark, before the store is opened; ERR_INPUT: a copy by hard
 * links. daemon_identify: finds out whether the directory is its own or a copy; of a copy the state is put under
 * quarantine, in d->outcome. Writes the mark of a new one. daemon_end_identification: writes the mark of a copy; to be
 * called when the turn of EVENT_SYNCED is committed, before it is acted on. ERR_IO, ERR_UNAVAILABLE. */
int daemon_read_mark(struct daemon *d, struct err *e);
int daemon_identify(struct daemon *d, struct err *e);
void daemon_end_identification(struct daemon *d);

/* recovery.c. daemon_recover: applies what the commit log knows of commits that the database does not have; ERR_IO.
 * daemon_quarantine: puts the state under quarantine, and says so if no job is held for it. elsewhere: why its live
 * jobs may run elsewhere; NULL: they do not. daemon_last_recovery: what this start or one of the last week has found
 * missing, and when; NULL: nothing. daemon_check_launch: puts the state under quarantine if a launch that is reported
 * is newer than the database.
 * daemon_begin_commit_log: brings all commits into the database file, and resets the log; daemon_reset_commit_log: the
 * latter only. daemon_log_commit: to be called after each commit, before it is acted on. */
int daemon_recover(struct daemon *d, struct err *e);
int daemon_quarantine(struct daemon *d, const char *reason, const char *elsewhere, struct err *e);
const char *daemon_last_recovery(void *daemon, int64_t *out_at_us);
void daemon_check_launch(struct daemon *d, uint64_t launch_id);
void daemon_begin_commit_log(struct daemon *d);
void daemon_reset_commit_log(struct daemon *d);
void daemon_log_commit(struct daemon *d);

/* config_apply.c: commits the settings of the configuration file, and the changes so far, before the server accepts
 * requests. ERR_INPUT: settings that do not go together; ERR_IO. */
int daemon_apply_config(struct daemon *d, const struct config *config, struct err *e);

/* launches.c: carries out the decisions of d->outcome, once they are committed. */
void daemon_act(struct daemon *d);

/* launches.c: logs that the machine can start no job, or can again, once for each change. */
void daemon_log_launch_failure(struct daemon *d);

/* server_thread.c: the function for server_host.run_in_thread; context is the daemon. */
void daemon_run_in_thread(void *context, void (*run)(void *), void (*done)(void *), void *argument);

/* snapshot_process.c: the function for server_host.run_in_snapshot; context is the daemon. daemon_end_snapshots: the
 * daemon stops; those that have not ended fail. */
void daemon_run_in_snapshot(void *context, const struct snapshot_work *work, void *argument);
void daemon_end_snapshots(struct daemon *d);

/* prune.c: removal of ended jobs; daemon_prune is for server_host.prune, with the daemon as context. */
void daemon_open_prune(struct daemon *d);
void daemon_close_prune(struct daemon *d);
void daemon_shift_prune(struct daemon *d, int64_t shift_us); /* all times have changed */
int daemon_prune(void *context, struct request *request, int64_t before_us, bool is_dry_run, struct err *e);

/* move_in.c: jobs of other instances; daemon_move_in is for server_host.move_in, with the daemon as context. */
void daemon_open_move_in(struct daemon *d);
void daemon_close_move_in(struct daemon *d);
void daemon_move_in(void *context, struct request *request, const struct moved_jobs *jobs, bool is_dry_run);

/* history_export.c: prints the ended jobs of the instance in a directory, for 'fairlead move-in'. */
int daemon_export_history(const char *directory, struct err *e);

/* served_user.c. daemon_find_user: the user of this process; one without a name is named by its number.
 * daemon_follow_user: gives the rows of a renamed user the new name; after the time is known, and before the state is
 * loaded, for the audit log as done by command. daemon_hold_jobs_of_removed: in d->outcome, if the user has no name any
 * more. daemon_look_up_user: looks the name up in a thread, unless it has done so lately; if it is another one, a turn
 * follows. daemon_take_new_name: gives the rows that name; true: they have changed, and the state has to be loaded. */
int daemon_find_user(struct arena *arena, struct actor *out_user, struct err *e);
int daemon_follow_user(struct daemon *d, const char *command, struct err *e);
int daemon_hold_jobs_of_removed(struct daemon *d, struct err *e);
void daemon_look_up_user(struct daemon *d);
bool daemon_take_new_name(struct daemon *d);

/* executor_link.c. daemon_open_executor: waits for the launcher; -1 with *e: none answers. daemon_drop_executor:
 * disconnects, and connects again after wait_ms, then every DAEMON_RETRY_MS. daemon_watch_executor: for writing only
 * while bytes are queued. daemon_close_executor_poll: before the loop is closed. */
enum { DAEMON_RETRY_MS = 1000 };
int daemon_open_executor(struct daemon *d, struct err *e);
void daemon_drop_executor(struct daemon *d, uint64_t wait_ms);
void daemon_watch_executor(struct daemon *d);
void daemon_close_executor_poll(struct daemon *d);

/* clients.c. daemon_identify_client: the function for server_host.identify; context is the daemon.
 * daemon_refuse_submission: true, with *e, if it is one of root in a system instance that runs none. daemon_open_users:
 * does nothing in a private instance. */
int daemon_identify_client(void *context, uint32_t uid, uint32_t gid, struct arena *arena, struct actor *out,
                           struct err *e);
bool daemon_refuse_submission(const struct daemon *d, const struct event *event, struct err *e);
void daemon_open_users(struct daemon *d);
void daemon_close_users(struct daemon *d);

/* backup.c: the function for server_host.backup; context is the daemon. daemon_remove_unfinished_backup: of a daemon
 * that was killed; at a start. */
void daemon_remove_unfinished_backup(const struct daemon *d);
int daemon_backup(void *context, struct request *request, struct err *e);

/* checkpoint_thread.c: to be called after each commit. */
void daemon_copy_long_log(struct daemon *d);

/* verify_thread.c: the function for server_host.verify; context is the daemon. */
void daemon_verify(void *context, struct request *request);

#endif
