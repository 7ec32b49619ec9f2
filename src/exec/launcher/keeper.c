/* The keeper of a job. It works without launcher and daemon, which may end and restart meanwhile: it enforces the
 * time limit, takes orders as signals (keeper_orders.h), ends all processes that the job leaves behind, and appends
 * its records to the log (segments.h).
 *
 *     PREPARING   the job's process sets itself up            start line
 *     RUNNING     it has executed its program                 started, appended by the job's process
 *     ENDING      SIGTERM was sent to all; the grace runs     completing
 *     KILLING     SIGKILL, round by round                     completing, if ENDING came before
 *     GONE        no descendant is left                       ended
 *
 *  I1  The keeper has its lock before it does anything else. Its copy of the launcher's own lock keeps the next
 *      launcher away until then. The record "started" is in the log before the job's process may execute its program.
 *  I2  The end record is written when waitpid says that no descendant is left, or when only zombies are left that a
 *      tracer holds, and it is the last record. If the launcher that forked it is gone, the keeper syncs the end;
 *      otherwise the launcher does, if need be.
 *  I3  The first reason to end is the one that is recorded: a job that is cancelled during the grace after its time
 *      limit has TIMED_OUT.
 *  I4  During ENDING the deadline only moves nearer.
 *  I5  The time limit counts from started_us, whenever it is ordered. Without a daemon the last one that was ordered
 *      holds; the daemon, whose database has it, repeats it whenever it connects. The time in which the job is
 *      suspended does not count; only an order ends that.
 *  I6  That a job is ended for its memory is in the log before it is ended, so a keeper that is killed meanwhile does
 *      not make its end unknown.
 *
 *  I7  Behind the end, the keeper exits, which tells the launcher; or it tells the launcher, releases all that it had
 *      for the launch, and waits for the next one (next_launch.h). Which of both it does is decided before the end is
 *      written: a launcher that knows the end sends no launch to a keeper that exits.
 * Memory: where a control group has the job's limit, the kernel ends its processes. Elsewhere the launcher looks at all
 * jobs together (memory_watch.c), and the keeper of one that seems to use too much checks it (memory_check.c).
 *
 * Deadlines are in CLOCK_BOOTTIME: the time during which the machine sleeps counts. Records have the wall-clock time,
 * too.
 *
 * The keeper runs as the launcher's user; the job's process changes to the job's user (job_process.c). So under a root
 * launcher a user can neither forge a record nor kill a keeper, and a keeper can end processes that the user started
 * with another identity. */
#include "exec/launcher/keeper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/launcher/job_script.h"
#include "exec/launcher/job_stop.h"
#include "exec/launcher/job_terminal.h"
#include "exec/launcher/keeper_log.h"
#include "exec/launcher/keeper_orders.h"
#include "exec/launcher/keeper_usage.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/memory_check.h"
#include "exec/launcher/process_title.h"
#include "exec/launcher/process_tree.h"
#include "exec/launcher/segments.h"

#define LEFTOVER_GRACE_US (2 * US_PER_S) /* for processes that outlive the main process */
#define NOTICE_WAIT_US INT64_C(10000)    /* what ends sooner is only reported with its end */
#define KILL_WAIT_MIN_US INT64_C(1000)
#define KILL_WAIT_MAX_US INT64_C(200000)
#define NEVER INT64_MAX
#define START_FREE_US (2 * US_PER_S) /* a launch that never ran is not charged for less */

enum {
    SIGNALS_PER_READ = 8,
    START_S_MAX = 60, /* for a start of a system launcher, beside its time limit */
};

enum keeper_phase { PREPARING, RUNNING, ENDING, KILLING, GONE };

struct keeper {
    struct keeper_process *process;
    struct keeper_task *task;
    struct process_identity *identity;
    struct launch_record record; /* as last written; pid 0: the program was not executed */
    struct buf start_line;       /* which the job's process appends */
    int64_t log_offset;          /* of the end of the log before that */
    struct job_groups groups;
    struct memory_check memory_check;
    int64_t mem_limit_kib; /* 0: none */
    uint64_t mem_mib;      /* as requested */
    int oom_fd;            /* readable when the kernel is about to kill for memory; -1: no such descriptor */
    uint32_t cpu_weight;   /* as last ordered; 0: not yet */
    struct job_stop stop;  /* likewise the suspension */
    struct launch_command command;
    struct keeper_usage usage;
    struct job_process job; /* report_fd is -1 once there is nothing more to read */
    enum keeper_phase phase;
    int64_t time_limit_us, grace_us;
    int64_t started_us;   /* CLOCK_BOOTTIME: when the job's process was forked */
    int64_t notice_us;    /* CLOCK_BOOTTIME: until then it waits for signals only, so that a short job wakes it up once.
                           * Then the launcher is told of the start. NEVER: it was, or will not be */
    int64_t deadline_us;  /* CLOCK_BOOTTIME; of the next step: ending at the time limit, or killing */
    int64_t kill_wait_us; /* until the next round */
    bool has_reaped;      /* since the last round */
    bool is_main_gone;
    bool has_zombies;             /* that it cannot reap */
    bool was_looked_up;           /* its process was given up before it had the identity of its user */
    int main_status;              /* from waitpid, if is_main_gone */
    struct launch_record outcome; /* of the end record: id, end, exit_status, signal, detail */
    bool is_decided;              /* outcome.end is set (I3) */
    bool is_locked;               /* it has the lock of the launch (I1) */
    bool is_of_own_user;          /* the job can change this process */
    bool has_script;              /* launches/ID.script exists */
    int timer_fd;                 /* -1: not needed yet */
};

static void read_report(struct keeper *k);
static void give_up_start(struct keeper *k, enum launch_end end, const char *detail);

static int64_t min_us(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void decide_end(struct keeper *k, enum launch_end end, const char *detail)
{
    if (k->is_decided) return; /* I3 */
    k->is_decided = true;
    k->outcome.end = end;
    launch_record_set_detail(&k->outcome, detail);
}

/* --- memory ---------------------------------------------------------------------------------------------------- */

/* "used 3.2G of memory; it may use 2G, of which it had asked for 1.9G". used_kib 0: not known. */
static void decide_out_of_memory(struct keeper *k, int64_t used_kib, bool is_by_kernel)
{
    char used[32], limit[32], asked[32], detail[LAUNCH_DETAIL_SIZE];
    if (k->is_decided) return; /* I3 */
    memory_format(used, (uint64_t)(used_kib + BYTES_PER_KIB - 1) / BYTES_PER_KIB);
    memory_format(limit, (uint64_t)k->mem_limit_kib / BYTES_PER_KIB);
    memory_format(asked, k->mem_mib);
    if (is_by_kernel)
        text_format(detail, sizeof detail, "needed more than %s of memory, its limit; it had asked for %s", limit,
                    asked);
    else
        text_format(detail, sizeof detail, "used %s of memory; its limit is %s, it had asked for %s", used, limit,
                    asked);
    decide_end(k, LAUNCH_OUT_OF_MEMORY, detail);
    if (k->record.max_rss_kib < used_kib) k->record.max_rss_kib = used_kib;
}

/* A job of which the kernel has killed a process for its limit has run out of memory, also if its main process goes on
 * or ends by itself, as in Slurm. What others needed is not the job's fault. */
static void notice_kernel_kills(struct keeper *k)
{
    if (!k->groups.enforces_memory || k->is_decided) return;
    enum kernel_kill kill = job_groups_kernel_kill(&k->groups, k->identity);
    if (kill == KERNEL_KILL_OWN_LIMIT) decide_out_of_memory(k, k->mem_limit_kib, true);
    if (kill == KERNEL_KILL_OTHERS)
        decide_end(k, LAUNCH_EXITED,
                   "the kernel killed processes of it, because the machine had no more memory, not for its own limit");
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static void fill_exit_status(struct keeper *k)
{
    if (!k->is_main_gone || launch_end_is_never_ran(k->outcome.end) || k->record.pid == 0) return;
    if (WIFEXITED(k->main_status))
        k->outcome.exit_status = WEXITSTATUS(k->main_status);
    else
        k->outcome.signal = WTERMSIG(k->main_status);
}

/* Tells the launcher that the log has a new record. False: the fifo is full. */
static bool notify(struct keeper *k)
{
    k->notice_us = NEVER;
    return write(k->task->events_fd, &k->outcome.id, sizeof k->outcome.id) == (ssize_t)sizeof k->outcome.id;
}

static void remove_files(const struct keeper *k)
{
    if (k->has_script) job_script_remove(k->task->spool, k->outcome.id);
    job_terminal_remove(k->task->spool->fd);
}

/* Whether a launch that never ran is one whose process held its CPUs for long: its user may have stopped or delayed it.
 * Its end has the time of its start, so that it is charged. A launch that was unavailable goes back to the queue. */
static bool is_charged_unstarted(const struct keeper *k)
{
    return k->task->rules->is_system && k->started_us > 0 && k->outcome.end != LAUNCH_UNAVAILABLE &&
           !k->was_looked_up && clock_boot_us() - k->started_us >= START_FREE_US;
}

/* Decides whether this process keeps another launch, before the end says that it waits for one. */
static void settle_next(struct keeper *k)
{
    const struct keeper_process *p = k->process;
    struct keeper_task *t = k->task;
    bool is_unchanged = p->has_attributes && (!k->is_of_own_user || keeper_attributes_are(&p->attributes));
    if (k->has_zombies) is_unchanged = false;
    if (t->next_fd < 0 || (k->is_locked && is_unchanged && getppid() == t->launcher_pid)) return;
    close(t->next_fd);
    t->next_fd = -1;
}

static void finish(struct keeper *k)
{
    struct launch_record record = k->record;
    struct cgroup_usage group_usage;
    struct buf scratch = {0};
    k->phase = GONE;
    cgroup_read_sums(k->identity->cgroup.path, &scratch, &group_usage);
    buf_release(&scratch);
    notice_kernel_kills(k);
    remove_files(k);
    decide_end(k, LAUNCH_EXITED, "");
    fill_exit_status(k);
    record.id = k->outcome.id;
    record.phase = LAUNCH_ENDED;
    launch_record_set_time(&record, k->identity->boot_id);
    record.end = k->outcome.end;
    record.exit_status = k->outcome.exit_status;
    record.signal = k->outcome.signal;
    memcpy(record.detail, k->outcome.detail, sizeof record.detail);
    keeper_usage_fill(&k->usage, &group_usage, &record);
    if (record.max_rss_kib < k->record.max_rss_kib) record.max_rss_kib = k->record.max_rss_kib;
    if (launch_end_is_never_ran(record.end)) record.pid = 0;
    if (record.pid == 0 && !is_charged_unstarted(k)) record.started_us = record.started_boot_us = 0;
    settle_next(k);
    keeper_log_append_end(k->task, &record); /* I2 */
}

/* Reaps every child that has ended; finishes if no child is left (I2). */
static void reap_children(struct keeper *k)
{
    while (k->phase != GONE) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) finish(k);
        if (pid <= 0) return;
        k->has_reaped = true;
        keeper_usage_add(&k->usage, &usage);
        if (pid != k->job.pid) continue;
        k->is_main_gone = true;
        k->main_status = status;
        while (k->job.report_fd >= 0) read_report(k); /* its last report decides what its end means */
    }
}

/* --- ending ------------------------------------------------------------------------------------------------------- */

/* Ends a launch of which only zombies are left that this process cannot reap: a tracer, which the job's user or root
 * has started, holds them. They use nothing, and may stay for ever. */
static void give_up_zombies(struct keeper *k)
{
    if (!k->is_main_gone) k->main_status = SIGKILL; /* as waitpid would say */
    k->is_main_gone = k->has_zombies = true;
    finish(k);
}

/* The next round follows without a pause as long as rounds end processes: a process that forks on and on must not get
 * away. */
static void kill_round(struct keeper *k)
{
    cgroup_kill(&k->identity->cgroup);
    process_tree_kill_children();
    if (k->has_reaped)
        k->kill_wait_us = 0;
    else
        k->kill_wait_us = min_us(k->kill_wait_us * 2 + KILL_WAIT_MIN_US, KILL_WAIT_MAX_US);
    k->has_reaped = false;
}

/* Whether the process that becomes the job has not the identity of its user yet: it is looking the user up. */
static bool is_looking_up(const struct keeper *k)
{
    struct buf scratch = {0};
    if (k->phase != PREPARING || k->job.pid <= 0) return false;
    uint32_t uid;
    bool is_other = process_read_uid(k->job.pid, &scratch, &uid) && uid != k->task->launch->uid;
    buf_release(&scratch);
    return is_other;
}

static void begin_killing(struct keeper *k)
{
    k->was_looked_up = k->was_looked_up || is_looking_up(k);
    k->phase = KILLING;
    k->deadline_us = k->notice_us = NEVER;
    kill_round(k);
    job_stop_end(&k->stop, k->identity, &k->groups); /* in version 1 what is stopped by a control group does not die */
}

/* Without this record the job ends just the same; so a failure is ignored. */
static void write_completing(struct keeper *k)
{
    struct launch_record record = k->record;
    record.phase = LAUNCH_COMPLETING;
    launch_record_set_time(&record, k->identity->boot_id);
    if (k->is_decided && k->outcome.end == LAUNCH_OUT_OF_MEMORY) { /* I6 */
        record.end = k->outcome.end;
        memcpy(record.detail, k->outcome.detail, sizeof record.detail);
    }
    if (keeper_log_append(k->task, &record) < 0) return;
    k->record = record;
    (void)notify(k); /* if the fifo is full, the launcher learns it with the end */
}

/* Sends SIGTERM to all processes now, and SIGKILL after the grace. While the job is being ended, this can only shorten
 * its grace. */
static void begin_ending(struct keeper *k, int64_t grace_us)
{
    int64_t deadline_us = clock_boot_us() + grace_us;
    ensure(grace_us >= 0);
    if (k->phase == PREPARING) {
        begin_killing(k); /* the user's program does not run yet */
    } else if (k->phase == RUNNING) {
        k->phase = ENDING;
        k->deadline_us = deadline_us;
        process_tree_terminate();
        job_stop_end(&k->stop, k->identity, &k->groups); /* for SIGTERM to act */
        write_completing(k);
    } else if (k->phase == ENDING && deadline_us < k->deadline_us) {
        k->deadline_us = deadline_us; /* I4 */
    }
}

static void cancel(struct keeper *k, int64_t grace_us)
{
    if (!k->is_main_gone) decide_end(k, LAUNCH_CANCELLED, "");
    begin_ending(k, grace_us);
}

/* As at a shutdown of the machine: no user has cancelled the job, so it ends as after a failure of its host. */
static void shut_down(struct keeper *k)
{
    if (!k->is_main_gone) decide_end(k, LAUNCH_LOST, "its keeper got SIGTERM, as at a shutdown");
    begin_ending(k, k->grace_us);
}

static void end_leftovers(struct keeper *k)
{
    notice_kernel_kills(k);
    decide_end(k, LAUNCH_EXITED, "");
    begin_ending(k, min_us(k->grace_us, LEFTOVER_GRACE_US));
}

/* Without a grace: the job has memory that is not its own, and takes more of it meanwhile. */
static void end_for_memory(struct keeper *k)
{
    if (k->phase == RUNNING) {
        k->phase = ENDING;
        write_completing(k); /* I6 */
    }
    if (k->phase == ENDING) begin_killing(k);
}

/* While the job is suspended, its memory does not grow, and the check would be stopped with it. */
static void check_memory(struct keeper *k)
{
    if (k->stop.is_stopped || memory_check_begin(&k->memory_check)) return;
    decide_end(k, LAUNCH_OUT_OF_MEMORY, "it stopped the process that checks its memory, again and again");
    end_for_memory(k);
}

/* The check has ended. */
static void on_memory_checked(struct keeper *k)
{
    int64_t used_kib = memory_check_end(&k->memory_check);
    if (used_kib <= k->mem_limit_kib || (k->phase != RUNNING && k->phase != ENDING)) return;
    decide_out_of_memory(k, used_kib, false);
    end_for_memory(k);
}

/* The kernel is about to kill a process of a group of version 1: it would choose one, and leave the others. */
static void on_oom_event(struct keeper *k)
{
    uint64_t count;
    (void)!read(k->oom_fd, &count, sizeof count);
    if (!cgroup_has_met_limit(&k->groups.memory)) return; /* a group above it */
    close(k->oom_fd);
    k->oom_fd = -1;
    if (k->phase != RUNNING && k->phase != ENDING) return;
    decide_out_of_memory(k, k->mem_limit_kib, true);
    end_for_memory(k);
}

/* A lookup of the user that does not answer is the machine's fault; what comes after it is the user's. */
static void give_up_slow_start(struct keeper *k)
{
    char detail[LAUNCH_DETAIL_SIZE];
    bool is_over_limit = k->time_limit_us > 0 && clock_boot_us() >= k->started_us + k->time_limit_us + k->grace_us;
    text_format(detail, sizeof detail, "its program was not executed within %d s", START_S_MAX);
    if (is_over_limit)
        give_up_start(k, LAUNCH_REFUSED, "its program was not executed within its time limit");
    else if (is_looking_up(k))
        give_up_start(k, LAUNCH_UNAVAILABLE, "the user database did not answer in time");
    else
        give_up_start(k, LAUNCH_REFUSED, detail);
}

static void on_deadline(struct keeper *k)
{
    if (k->phase == ENDING) {
        begin_killing(k);
    } else if (k->phase == PREPARING) {
        give_up_slow_start(k);
    } else if (k->phase == RUNNING) {
        decide_end(k, LAUNCH_TIMED_OUT, "");
        begin_ending(k, k->grace_us);
    }
}

/* While the job is being ended, its time limit does not count any more (I3). Before the program is executed, a user who
 * shares the machine must not get around it: by stopping the process, or with a file system that does not answer. The
 * grace is for the start, which has START_S_MAX as well: until it is reported, nothing is charged. */
static void set_limit_deadline(struct keeper *k)
{
    int64_t limit_us = k->time_limit_us;
    if (k->phase == PREPARING && !k->task->rules->is_system) return;
    if (k->phase != PREPARING && k->phase != RUNNING) return;
    if (limit_us > 0 && k->phase == PREPARING) limit_us += k->grace_us;
    if (k->phase == PREPARING) limit_us = min_us(limit_us > 0 ? limit_us : NEVER, START_S_MAX * US_PER_S);
    if (k->stop.is_wanted && k->phase == RUNNING) limit_us = 0;
    k->deadline_us = limit_us > 0 ? k->started_us + k->stop.suspended_us + limit_us : NEVER; /* I5 */
    job_stop_set_warning(&k->stop, k->phase == RUNNING ? k->deadline_us : NEVER);
}

/* --- suspending and signalling ------------------------------------------------------------------------------------ */

/* The first process keeps its pid until it is waited for. 0: it is gone. */
static pid_t main_pid(const struct keeper *k)
{
    return k->is_main_gone ? 0 : k->job.pid;
}

/* Before the program is executed, the order waits. */
static void apply_suspension(struct keeper *k)
{
    if (k->phase != RUNNING) return;
    job_stop_apply(&k->stop, k->task->cgroups, k->outcome.id, k->identity, &k->groups);
    set_limit_deadline(k);
}

/* --- the start ---------------------------------------------------------------------------------------------------- */

/* end: LAUNCH_REFUSED if the fault is the launch's, LAUNCH_UNAVAILABLE if it is the machine's. */
static void give_up_start(struct keeper *k, enum launch_end end, const char *detail)
{
    decide_end(k, end, detail);
    begin_killing(k);
}

/* The CPU weight of a group of version 1 is only needed if one is ordered: then all processes of the job move there. */
static void make_cpu_group(struct keeper *k)
{
    struct cgroup *group = &k->groups.cpu;
    if (group->path[0] != '\0' || k->task->cgroups->cpu_path[0] == '\0') return;
    cgroup_set_cpu_path(k->task->cgroups, k->outcome.id, k->identity->key, group);
    cgroup_create(group);
    if (group->path[0] != '\0') process_tree_attach(group);
}

static void apply_cpu_weight(struct keeper *k)
{
    if (k->cpu_weight == 0 || k->phase == PREPARING) return;
    make_cpu_group(k);
    (void)(cgroup_set_cpu_weight(&k->groups.cpu, k->cpu_weight) ||
           cgroup_set_cpu_weight(&k->identity->cgroup, k->cpu_weight));
}

/* Whether the log has the record "started" of this launch: its process was about to execute the program, and may have
 * done so. */
static bool has_start_record(const struct keeper *k)
{
    return segment_has_record(k->task->log_fd, k->log_offset, k->outcome.id);
}

/* The program runs. */
static void set_running(struct keeper *k)
{
    k->phase = RUNNING;
    k->record.pid = k->job.pid;
    set_limit_deadline(k);
    apply_cpu_weight(k);
    if (k->stop.is_wanted) apply_suspension(k);
}

/* The fault of the machine, as far as it is known: it has no memory. But a user who shares it with others could kill
 * the process, too, and would make all others wait. */
static enum launch_end killed_before_start(const struct keeper *k)
{
    return k->task->rules->is_system ? LAUNCH_REFUSED : LAUNCH_UNAVAILABLE;
}

/* The end of the pipe: exec has closed it, or the process is gone, perhaps without having executed anything. */
static void on_report_end(struct keeper *k)
{
    bool has_started = has_start_record(k);
    if (has_started && k->phase == PREPARING)
        set_running(k);
    else if (has_started)
        k->record.pid = k->job.pid; /* it is being killed */
    else
        give_up_start(k, killed_before_start(k), "the job's process was killed before it executed the program");
}

/* Whether there is something to read. Until the program is executed, no call may fail that need not (job_process.c,
 * I1). */
static bool has_report(const struct keeper *k)
{
    struct pollfd p = {.fd = k->job.report_fd, .events = POLLIN};
    return k->job.report_fd >= 0 && poll(&p, 1, 0) > 0;
}

static void read_report(struct keeper *k)
{
    struct job_report report;
    ssize_t n = read(k->job.report_fd, &report, sizeof report);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n == (ssize_t)sizeof report) {
        char detail[ERR_SENTENCE_SIZE];
        job_process_explain(&report, k->task->launch, &k->command, detail, sizeof detail);
        bool is_machine = job_process_failed_for_machine(&report);
        give_up_start(k, is_machine ? LAUNCH_UNAVAILABLE : LAUNCH_REFUSED, detail);
    } else {
        on_report_end(k);
    }
    close(k->job.report_fd);
    k->job.report_fd = -1;
}

/* The job has run for a while: its launch is needed no more. */
static void on_notice_due(struct keeper *k)
{
    (void)notify(k);
    k->task->launch = NULL;
    arena_release(k->task->memory);
    buf_release(k->task->bytes);
}

/* --- orders ------------------------------------------------------------------------------------------------------- */

/* A value out of range is ignored, and so is a signal that is no order. */
static void take_order(struct keeper *k, enum keeper_order order, int64_t value)
{
    switch (order) {
    case KEEPER_ORDER_END:
        if (value >= 0 && value <= LAUNCH_GRACE_MAX_US) cancel(k, value);
        break;
    case KEEPER_ORDER_WEIGHT:
        if (value < LAUNCH_CPU_WEIGHT_MIN || value > LAUNCH_CPU_WEIGHT_MAX) break;
        k->cpu_weight = (uint32_t)value;
        apply_cpu_weight(k);
        break;
    case KEEPER_ORDER_LIMIT:
        if (value < 0 || value > LAUNCH_TIME_LIMIT_MAX_US) break;
        k->time_limit_us = value;
        set_limit_deadline(k);
        break;
    case KEEPER_ORDER_MEMORY:
        if (k->mem_limit_kib > 0 && (k->phase == RUNNING || k->phase == ENDING)) check_memory(k);
        break;
    case KEEPER_ORDER_SUSPENSION:
        if (job_stop_take(&k->stop, value)) apply_suspension(k);
        break;
    case KEEPER_ORDER_SEND:
        if (k->phase == RUNNING) job_stop_send(value, main_pid(k));
        break;
    case KEEPER_ORDER_COUNT: break;
    }
}

/* Those that arrived before the launch did. */
static void take_early_orders(struct keeper *k)
{
    struct keeper_process *p = k->process;
    for (uint32_t i = 0; i < p->early_count; i++) {
        if (p->early[i].tag == p->order_tag) take_order(k, p->early[i].order, p->early[i].value);
    }
    p->early_count = 0;
}

static void read_signals(struct keeper *k)
{
    struct signalfd_siginfo infos[SIGNALS_PER_READ];
    ssize_t n = read(k->task->signal_fd, infos, sizeof infos);
    for (size_t i = 0; n > 0 && i < (size_t)n / sizeof *infos; i++) {
        const struct signalfd_siginfo *info = &infos[i];
        uint32_t order = info->ssi_signo - KEEPER_ORDER_SIGNAL;
        if (info->ssi_signo == SIGTERM) shut_down(k);
        bool is_own = info->ssi_errno == 0 || info->ssi_errno == k->process->order_tag;
        if (info->ssi_code == SI_QUEUE && order < KEEPER_ORDER_COUNT && is_own)
            take_order(k, (enum keeper_order)order, (int64_t)info->ssi_ptr);
    }
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* Whether the keeper waits for signals only. */
static bool is_quiet(const struct keeper *k)
{
    return k->notice_us != NEVER && clock_boot_us() < k->notice_us;
}

/* Sets a timer of CLOCK_BOOTTIME, because poll's timeout stands still while the machine sleeps. Without descriptors
 * there is none, and poll's timeout has to do. Returns when poll has to end by itself. */
static int64_t set_timer(struct keeper *k)
{
    int64_t wake_us = k->deadline_us;
    if (is_quiet(k)) return min_us(wake_us, k->notice_us);
    wake_us = min_us(wake_us, job_stop_next_us(&k->stop));
    if (k->phase == KILLING) wake_us = min_us(wake_us, clock_boot_us() + k->kill_wait_us);
    if (wake_us == NEVER && k->timer_fd < 0) return NEVER;
    if (k->timer_fd < 0) k->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (k->timer_fd < 0) return wake_us;
    struct itimerspec at = {0}; /* never */
    if (wake_us != NEVER)
        at.it_value = (struct timespec){.tv_sec = wake_us / US_PER_S, .tv_nsec = wake_us % US_PER_S * NS_PER_US};
    ensure(timerfd_settime(k->timer_fd, TFD_TIMER_ABSTIME, &at, NULL) == 0);
    return NEVER;
}

static void run_loop(struct keeper *k)
{
    while (k->phase != GONE) {
        int64_t until_us = set_timer(k);
        struct pollfd fds[] = {{.fd = k->task->signal_fd, .events = POLLIN},
                               {.fd = is_quiet(k) ? -1 : k->job.report_fd, .events = POLLIN},
                               {.fd = k->timer_fd, .events = POLLIN},
                               {.fd = k->memory_check.pid != 0 ? k->memory_check.result_fd : -1, .events = POLLIN},
                               {.fd = k->oom_fd, .events = POLLIN}};
        enum { COUNT = sizeof fds / sizeof *fds };
        if (poll(fds, COUNT, clock_poll_timeout_ms(until_us)) < 0) memset(fds, 0, sizeof fds);
        if (has_report(k)) read_report(k); /* before orders, which depend on it */
        if (fds[3].revents != 0) on_memory_checked(k);
        if (fds[4].revents != 0) on_oom_event(k);
        if (fds[0].revents != 0) {
            read_signals(k);
            reap_children(k);
        }
        if (k->phase == GONE) break;
        if (k->is_main_gone && k->phase == RUNNING) end_leftovers(k);
        if (k->is_main_gone && k->phase == ENDING)
            k->deadline_us = min_us(k->deadline_us, clock_boot_us() + LEFTOVER_GRACE_US);
        if (k->phase == RUNNING) job_stop_follow(&k->stop, main_pid(k));
        if (k->deadline_us != NEVER && clock_boot_us() >= k->deadline_us) on_deadline(k);
        if (k->phase == KILLING) {
            reap_children(k);
            if (k->phase == GONE) break;
            if (k->kill_wait_us == KILL_WAIT_MAX_US && !k->has_reaped && process_tree_is_dead())
                give_up_zombies(k);
            else
                kill_round(k);
        }
        if (k->phase != GONE && k->notice_us != NEVER && k->job.report_fd < 0 && !is_quiet(k)) on_notice_due(k);
    }
}

/* --- before the fork of the job ----------------------------------------------------------------------------------- */

static int set_up_process(struct keeper_process *p, struct err *e)
{
    const struct keeper_task *t = p->task;
    p->is_set_up = true;
    process_close_all_but((const int[]){t->spool->fd, t->log_fd, t->keepers_fd, t->events_fd, t->signal_fd, t->next_fd},
                          6);
    (void)setsid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot set up a keeper: %s", strerror(errno));
    p->has_attributes = keeper_attributes_read(&p->attributes);
    return 0;
}

/* Takes the lock of the launch, and gives back that of the launcher, which came with the launch (I1). */
static int take_lock(struct keeper *k, struct err *e)
{
    struct keeper_process *p = k->process;
    char title[32 + LAUNCH_NAME_MAX];
    k->is_locked = segments_lock_keeper(k->task->keepers_fd, k->outcome.id, e) == 0;
    if (!k->is_locked) return -1;
    if (p->lock_fd >= 0) close(p->lock_fd);
    p->lock_fd = -1;
    text_format(title, sizeof title, KEEPER_NAME " %s", k->task->launch->name);
    process_title_set(title);
    return p->is_set_up ? 0 : set_up_process(p, e);
}

static int write_script(struct keeper *k, struct err *e)
{
    const struct launch *launch = k->task->launch;
    if (launch->script.length == 0) return 0;
    k->has_script = true;
    return job_script_write(k->task->spool, launch, e);
}

/* The record that the job's process is going to append. */
static void prepare_record(struct keeper *k)
{
    launch_record_set_time(&k->record, k->identity->boot_id);
    k->record.started_us = k->record.at_us;
    k->record.started_boot_us = k->started_us = k->record.at_boot_us;
    keeper_usage_note_before(&k->record);
    k->notice_us = k->started_us + NOTICE_WAIT_US;
    log_text_add_start(&k->start_line, k->record);
    k->log_offset = lseek(k->task->log_fd, 0, SEEK_END);
    set_limit_deadline(k);
}

static int prepare_job(struct keeper *k, struct err *e)
{
    struct keeper_task *t = k->task;
    char script_path[LAUNCH_PATH_MAX + 64];
    if (take_lock(k, e)) return -1;
    text_format(script_path, sizeof script_path, "%s/launches/%" PRIu64 ".script", t->spool->path, t->launch->id);
    if (write_script(k, e)) return -1;
    launch_command_build(t->launch, script_path, k->identity->key, t->memory, &k->command);
    cgroup_create(&k->identity->cgroup); /* its path is in the start line, so that the launcher can remove it */
    job_groups_prepare(t->cgroups, t->launch, k->identity, &k->groups);
    if (k->groups.enforces_memory) k->oom_fd = cgroup_open_oom_event(&k->groups.memory);
    prepare_record(k);
    const struct job_surroundings surroundings = {t->inherited, t->rules, t->spool->fd, &k->groups};
    return job_process_fork(t->launch, &k->command, &surroundings, &k->identity->cgroup, t->log_fd, &k->start_line,
                            &k->job, e);
}

/* --- from one launch to the next ---------------------------------------------------------------------------------- */

/* Waits if the fifo is full of what the launcher has not read yet. */
static void notify_blocking(struct keeper *k)
{
    struct pollfd p = {.fd = k->task->events_fd, .events = POLLOUT};
    enum { LOOK_MS = 100 };
    while (!notify(k) && getppid() == k->task->launcher_pid) (void)poll(&p, 1, LOOK_MS);
}

/* Gives back all that it had for its launch. The launcher is told first, so that the next launch comes meanwhile; the
 * lock goes after the end was appended, so that the launch always has one of them (I1). Groups that are left because
 * this process is killed now are empty, and the launcher removes them (struct left_groups, job_groups_list). */
static void release(struct keeper *k)
{
    struct keeper_task *t = k->task;
    const int fds[] = {k->job.report_fd, k->oom_fd, k->timer_fd,
                       k->memory_check.pid != 0 ? k->memory_check.result_fd : -1, t->log_fd};
    if (t->next_fd >= 0) {
        segments_unlock_keeper(t->keepers_fd, k->outcome.id);
        notify_blocking(k);
    }
    (void)job_groups_remove_wait(&k->groups, k->identity);
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0) close(fds[i]);
    }
    buf_release(&k->start_line);
    if (t->memory == &k->process->memory) {
        arena_clear(t->memory);
    } else {
        arena_release(t->memory); /* copies of the launcher's */
        buf_release(t->bytes);
    }
}

void keeper_keep(struct keeper_process *p)
{
    struct err e;
    struct keeper_task *task = p->task;
    struct keeper k = {
        .process = p,
        .task = task,
        .identity = task->identity,
        .record = {.id = task->launch->id, .phase = LAUNCH_STARTED},
        .job = {.report_fd = -1},
        .time_limit_us = task->launch->time_limit_us,
        .grace_us = task->launch->grace_us,
        .stop = job_stop_of(task->launch),
        .deadline_us = NEVER,
        .notice_us = NEVER,
        .mem_limit_kib = task->launch->mem_limit_kib,
        .mem_mib = task->launch->mem_mib,
        .oom_fd = -1,
        .outcome = {.id = task->launch->id},
        .is_of_own_user = task->launch->uid == geteuid(),
        .timer_fd = -1,
    };
    p->order_tag = keeper_order_tag(k.outcome.id);
    if (prepare_job(&k, &e)) {
        decide_end(&k, LAUNCH_UNAVAILABLE, ERR_SENTENCE(&e)); /* nothing yet was the launch's own */
        finish(&k);
    } else {
        take_early_orders(&k);
        run_loop(&k);
    }
    release(&k);
}
