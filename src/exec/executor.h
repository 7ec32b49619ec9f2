/* The executor: the part that runs jobs, as the daemon sees it. The daemon sends it launches and gets records back.
 * There are two kinds: the launcher of this machine (launcher_client.c), and a pretend executor for tests and
 * simulation (pretend.c), which runs nothing and ends launches by a virtual clock. Neither ever blocks its caller.
 *
 *     start, end, acknowledge, set_cpu_weight, set_time_limit, suspend, signal, measure, sample  ->  executor  ->
 *     reports
 *
 * After connecting, an executor first reports the last record of every launch that it knows, then EXECUTOR_SYNCED. A
 * launch that was STARTING or RUNNING and is not among these records never started, or is lost. The executor knows a
 * launch until it is acknowledged; the daemon acknowledges a launch once its end is committed.
 *
 * A record contains all values of the launch's earlier records. So earlier records may be missing: the first record of
 * a short job can be ENDED. A job runs with the umask that the launcher was started with. */
#ifndef FAIRLEAD_EXEC_EXECUTOR_H
#define FAIRLEAD_EXEC_EXECUTOR_H

#include "base/array.h"
#include "base/err.h"
#include "exec/enforcement.h"
#include "exec/launch.h"
#include "exec/launcher_owner.h"
#include "exec/outside_warning.h"
#include "exec/process_sample.h"

enum executor_report_kind {
    EXECUTOR_RECORD,   /* record is new, or is repeated after connecting */
    EXECUTOR_SYNCED,   /* every known launch has been reported */
    EXECUTOR_ENFORCES, /* enforcement is known: before the first record, and when it changes */
    EXECUTOR_USAGE,    /* usage has been measured: the answer to executor_measure */
    EXECUTOR_PROCESS,  /* process was looked at: the answer to executor_sample */
    EXECUTOR_SAMPLED,  /* every process has been reported */
    EXECUTOR_GONE      /* the connection is lost: open a new one */
};

struct executor_report {
    enum executor_report_kind kind;
    union {
        struct launch_record record;       /* EXECUTOR_RECORD */
        struct launch_usage usage;         /* EXECUTOR_USAGE */
        struct enforcement enforcement;    /* EXECUTOR_ENFORCES */
        struct process_sample process;     /* EXECUTOR_PROCESS */
        struct process_sample_end sampled; /* EXECUTOR_SAMPLED */
    };
};

struct executor_reports {
    ARRAY(struct executor_report) list;
};

struct executor;

/* Connects to the launcher at directory/launcher.sock. If no launcher answers, starts one from launcher_path; it
 * outlives the process that started it. directory: the state directory, an absolute path, owned by this user, mode
 * 0700. Waits for the launcher for at most 5 s. Returns NULL on failure: ERR_INPUT, ERR_DENIED or ERR_IO for the
 * directory, ERR_UNAVAILABLE if no launcher can be started or none answers.
 *
 * launcher_path NULL: never starts one. That is for the daemon of a system instance, which has no right to: directory
 * is the system launcher's, root's and not writable by others. Waits for at most 1 s if nothing listens there.
 *
 * instance: which one this is, as a system launcher asks; else NULL. ERR_CONFLICT: the launcher belongs to another one,
 * which is not disturbed. */
struct executor *executor_open_launcher(const char *directory, const char *launcher_path,
                                        const struct launcher_owner *instance, struct err *e);

/* The state directory of the system launcher, unless it is told another one. */
#define EXECUTOR_SYSTEM_DIRECTORY "/var/lib/fairlead-launcher"

/* Starts a system launcher (fairlead-launcher --system), unless one serves the directory already; to be called by root,
 * before it becomes the daemon's account. The launcher outlives this process, is not its child, inherits none of its
 * descriptors, and writes to directory/launcher.log. directory: absolute; it is created if it is missing. Returns once
 * the launcher listens. ERR_DENIED: this is not root, or others can write the directory; ERR_UNAVAILABLE: it cannot be
 * started, with its own message if it has one, or does not listen within 5 s; ERR_INPUT, ERR_IO: the directory. */
struct system_launcher {
    const char *path;      /* the program */
    const char *directory; /* its state directory */
    const char *daemon_user;
    const char *cgroup; /* where it creates control groups; NULL: it finds out */
    bool allow_root;
};
int executor_start_system_launcher(const struct system_launcher *launcher, struct err *e);

/* Opens a pretend executor. now_us: its clock, which executor_pretend_advance moves. Each launch runs for run_us of
 * virtual time. */
struct executor *executor_open_pretend(int64_t now_us, int64_t run_us);
void executor_pretend_advance(struct executor *x, int64_t now_us);

/* How a launch runs. */
struct executor_plan {
    int64_t started_us;        /* the executor's time, or earlier if it is resumed */
    int64_t run_us;            /* at least 0 */
    int64_t time_limit_us;     /* 0: none */
    int64_t suspended_from_us; /* 0: it is not suspended */
    int64_t suspended_us;      /* how long it was before; neither run_us nor time_limit_us counts suspensions */
    int32_t exit_status;
    double cpus; /* that it uses */
    int64_t mem_kib;
};

/* Opens a pretend executor whose launches have plans. An order to end takes end_us. It keeps nothing: its user repeats
 * the plans of all launches that run, and then calls executor_pretend_synced. */
struct executor *executor_open_plans(int64_t now_us, int64_t end_us);
void executor_pretend_synced(struct executor *x);

/* Starts a launch, or resumes it. Its end is not before now_us. A launch that is known is only reported again. */
void executor_pretend_start(struct executor *x, uint64_t launch_id, const struct executor_plan *plan);

/* Ends a launch now as lost, as when its host fails. Does nothing if it does not run. */
void executor_pretend_lose(struct executor *x, uint64_t launch_id, const char *detail);

/* When the next launch ends by itself; the executor's time if reports wait; 0: none runs. */
int64_t executor_pretend_next_us(const struct executor *x);

/* Closes the connection; running jobs go on. x may be NULL. */
void executor_close(struct executor *x);

/* Orders. They copy their arguments, and are queued until executor_flush sends all of them together, or executor_ready
 * does. */
void executor_start(struct executor *x, const struct launch *launch);
void executor_acknowledge(struct executor *x, uint64_t launch_id);

/* An order to start that is made where it may take long, such as in a thread, and sent without a copy of its bytes.
 * Only for a launcher. executor_order_send empties the order. */
struct executor_order {
    uint64_t launch_id;
    struct buf bytes;
    bool is_refused; /* it is too long to be sent: the launch is reported as refused */
    struct err err;
};
void executor_order_make(const struct launch *launch, struct executor_order *out);
void executor_order_send(struct executor *x, struct executor_order *order);
void executor_order_release(struct executor_order *order);

/* Ends all processes of a launch: SIGTERM, then SIGKILL after grace_us. */
void executor_end(struct executor *x, uint64_t launch_id, int64_t grace_us);

/* Sets the weight of a launch's processes where they compete with others for CPUs: LAUNCH_CPU_WEIGHT_MIN to
 * LAUNCH_CPU_WEIGHT_MAX. Does nothing on a machine without control groups that the launcher can use and that have a cpu
 * controller. */
void executor_set_cpu_weight(struct executor *x, uint64_t launch_id, uint32_t cpu_weight);

/* Replaces the time limit of a launch; 0: none. It counts from the start of the launch, so one that has passed ends the
 * launch at once as TIMED_OUT. Does nothing to a launch that is being ended or has ended. The keeper has the limit in
 * its memory only: after each EXECUTOR_SYNCED the daemon repeats the limits of all launches that run. */
void executor_set_time_limit(struct executor *x, uint64_t launch_id, int64_t time_limit_us);

/* Stops all processes of a launch that runs, or lets them run. Its time limit does not count the time in which it is
 * stopped: suspended_us is how long it was before. The keeper has this in its memory only: after each EXECUTOR_SYNCED
 * the daemon repeats it for all launches that run. Does nothing to a launch that is being ended or has ended. */
void executor_suspend(struct executor *x, uint64_t launch_id, bool is_suspended, int64_t suspended_us);

/* Sends a signal to all processes of a launch that runs, or only to the first one. number: 1 to LAUNCH_SIGNAL_MAX. */
void executor_signal(struct executor *x, uint64_t launch_id, uint32_t number, bool is_to_first);

/* Measures all launches that run: one EXECUTOR_USAGE for each that has started and whose keeper runs, in no particular
 * order. The launcher keeps nothing about it between two orders. O(processes of the machine), in the launcher. A
 * pretend executor measures 1,000 at a time, in turns. */
void executor_measure(struct executor *x);

/* Looks at all processes of the machine but those of the kernel: one EXECUTOR_PROCESS for each that the launcher may
 * see, then EXECUTOR_SAMPLED. The launcher keeps nothing about it. O(processes of the machine), in the launcher, and
 * their open files if it has GPUs. A pretend executor has no processes, and reports nothing. */
void executor_sample(struct executor *x);

/* Gives all processes of these users outside launches a low weight, now and at every further order, and those of all
 * others what they had before. The launcher refuses users that no launch may run as, and system accounts; a private one
 * and a pretend executor do nothing. It lasts until the next order, or the orderly end of the launcher. */
void executor_set_low_weight(struct executor *x, const uint32_t *uids, uint32_t count);

/* Tells a user on the user's terminals; nothing is said about the outcome. Refused and left out as above. */
void executor_warn(struct executor *x, const struct outside_warning *warning);

/* Sends what is queued, as far as the socket accepts it at once, and at most 1 MiB. */
void executor_flush(struct executor *x);

/* For the loop. executor_descriptor: the descriptor to watch for reading, -1 for none. executor_wants_write: whether to
 * watch it for writing as well. executor_ready: to be called when it is ready; sends what is queued and appends what
 * was received to out_reports. */
int executor_descriptor(const struct executor *x);
bool executor_wants_write(const struct executor *x);
void executor_ready(struct executor *x, struct executor_reports *out_reports);

#endif
