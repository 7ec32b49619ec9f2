/* Whoever runs jobs, seen from the daemon: a place to send launches to and to read records from. Two kinds: the launcher
 * of this machine (launcher_client.c) and a pretend one for tests and simulation (pretend.c), which runs nothing and
 * ends things by a virtual clock. Neither ever blocks its caller.
 *
 *     start, end, acknowledge, weigh  ->  executor  ->  reports
 *
 * After connecting, an executor first reports the last record of every launch it still knows, then EXECUTOR_SYNCED;
 * what was STARTING or RUNNING and is not among them never started, or is lost. A launch is known until it is
 * acknowledged: the daemon does that once its end is committed.
 *
 * A record says all that earlier ones said, so earlier ones may be missing: a short job can be ENDED at once. A job runs
 * with the umask the launcher was started with. */
#ifndef FAIRLEAD_EXEC_EXECUTOR_H
#define FAIRLEAD_EXEC_EXECUTOR_H

#include "base/array.h"
#include "base/err.h"
#include "exec/launch.h"

enum executor_report_kind {
    EXECUTOR_RECORD, /* record is new, or told again after connecting */
    EXECUTOR_SYNCED, /* all that is known has been told */
    EXECUTOR_GONE    /* the connection is lost; open a new one */
};

struct executor_report {
    enum executor_report_kind kind;
    struct launch_record record;
};

struct executor_reports {
    ARRAY(struct executor_report) list;
};

struct executor;

/* The launcher behind directory/launcher.sock, started from launcher_path when none answers (it outlives its starter).
 * directory: the state directory, absolute, ours, mode 0700. May wait for the launcher for at most 5 s. NULL: *e says why. */
struct executor *executor_open_launcher(const char *directory, const char *launcher_path, struct err *e);

/* The pretend one: now_us is its clock (executor_pretend_advance). Every launch runs for run_us of virtual time. */
struct executor *executor_open_pretend(int64_t now_us, int64_t run_us);
void executor_pretend_advance(struct executor *x, int64_t now_us);

/* Gives the connection back; what runs goes on running. */
void executor_close(struct executor *x);

/* Sends. They copy what they are given and queue what the socket does not take at once. */
void executor_start(struct executor *x, const struct launch *launch);
void executor_end(struct executor *x, uint64_t launch_id, int64_t grace_us); /* SIGTERM, grace, SIGKILL, to all of it */
void executor_acknowledge(struct executor *x, uint64_t launch_id);

/* What a launch's processes get of the CPUs they share with others: LAUNCH_CPU_WEIGHT_MIN to LAUNCH_CPU_WEIGHT_MAX. Where the machine has no
 * way to do that (no control groups of ours with a cpu controller) nothing happens. */
void executor_set_cpu_weight(struct executor *x, uint64_t launch_id, uint32_t cpu_weight);

/* For the loop: the descriptor to watch (-1: none), whether also for writing, and what to do when it is ready: sends what
 * is queued, appends what was received to out_reports. */
int executor_descriptor(const struct executor *x);
bool executor_wants_write(const struct executor *x);
void executor_ready(struct executor *x, struct executor_reports *out_reports);

#endif
