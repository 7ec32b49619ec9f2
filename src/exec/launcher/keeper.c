/* The keeper of one job. It works without launcher and daemon, which may end and restart meanwhile: it enforces the
 * time limit, takes orders from its control fifo, ends all processes that the job leaves behind, and writes the
 * records.
 *
 *     PREPARING   the job's process sets itself up            no record
 *     RUNNING     it may execute its program                  start
 *     ENDING      SIGTERM was sent to all; the grace runs     completing
 *     KILLING     SIGKILL, round by round                     completing, if ENDING came before
 *     GONE        no descendant is left                       end
 *
 *  I1  The start record is on disk before the job's process may execute its program. So a launch without a start record
 *      never ran.
 *  I2  The end record is written when waitpid says that no descendant is left, and it is the last record. The launcher
 *      is notified at once. The keeper syncs the record only if the daemon does not confirm within COMMIT_WAIT_US that
 *      the end is committed (record_log.c); it exits after the one or the other. If the keeper is killed in between,
 *      nothing that was written is lost.
 *  I3  The first reason to end is the one that is recorded: a job that is cancelled during the grace after its time
 *      limit has TIMED_OUT.
 *  I4  During ENDING the deadline only moves nearer.
 *  I5  The time limit counts from started_us, whenever it is ordered. Without a daemon the last one that was ordered
 *      holds; the daemon, whose database has it, repeats it whenever it connects.
 *
 * Deadlines are in CLOCK_BOOTTIME: the time during which the machine sleeps counts. Records have the wall-clock time,
 * too.
 *
 * The keeper runs as the launcher's user; the job's process changes to the job's user (job_process.c). So under a
 * root launcher a user can neither forge a record nor kill a keeper, and a keeper can end processes that the user
 * started with another identity. */
#include "exec/launcher/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/number.h"
#include "exec/clock.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/process.h"
#include "exec/launcher/process_title.h"
#include "exec/launcher/process_tree.h"
#include "exec/launcher/record_log.h"

#define LEFTOVER_GRACE_US (2 * US_PER_S) /* for processes that outlive the main process */
#define NOTICE_RETRY_US INT64_C(100000)
#define COMMIT_WAIT_US INT64_C(200000) /* for the daemon's commit of the end, which takes some milliseconds */
#define KILL_WAIT_MIN_US INT64_C(1000)
#define KILL_WAIT_MAX_US INT64_C(200000)
#define NEVER INT64_MAX
#define KEEPER_NAME "fairlead-keeper" /* 15 bytes, so the kernel keeps all of it */

enum keeper_phase { PREPARING, RUNNING, ENDING, KILLING, GONE };

struct keeper {
    struct keeper_task *task;
    struct record_log log;
    struct process_identity identity;
    struct cgroup cpu_group; /* carries the CPU weight if identity.cgroup cannot */
    uint32_t cpu_weight;     /* as last ordered; 0: not yet */
    struct launch_command command;
    struct job_process job; /* report_fd is -1 once there is nothing more to read */
    enum keeper_phase phase;
    int64_t time_limit_us, grace_us;
    int64_t started_us;   /* CLOCK_BOOTTIME; the program may execute since then */
    int64_t deadline_us;  /* CLOCK_BOOTTIME; of the next step: ending at the time limit, or killing */
    int64_t kill_wait_us; /* until the next round */
    bool has_reaped;      /* since the last round */
    bool is_main_gone;
    int main_status;              /* from waitpid, if is_main_gone */
    struct launch_record outcome; /* of the end record: id, end, exit_status, signal, detail */
    bool is_decided;              /* outcome.end is set (I3) */
    bool is_committed;            /* the daemon has committed the end */
    int signal_fd, timer_fd;
    struct buf orders; /* an incomplete line */
};

static void read_report(struct keeper *k);
static void read_orders(struct keeper *k);

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

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* What the kernel has added up for all processes that were waited for, however deep below the keeper. The group knows
 * more if a process ignored the ends of its children; it knows less of I/O that has not reached a device yet; so the
 * larger number counts. */
static void fill_usage(struct launch_record *record, const struct cgroup_usage *group)
{
    enum { BLOCK_SIZE = 512 }; /* of ru_inblock and ru_oublock: getrusage(2) */
    struct rusage usage;
    ensure(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    record->cpu_us = ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * US_PER_S + usage.ru_utime.tv_usec +
                     usage.ru_stime.tv_usec;
    record->max_rss_kib = usage.ru_maxrss;
    record->io_bytes = ((int64_t)usage.ru_inblock + usage.ru_oublock) * BLOCK_SIZE;
    if (record->cpu_us < group->cpu_us) record->cpu_us = group->cpu_us;
    if (record->io_bytes < group->io_bytes) record->io_bytes = group->io_bytes;
}

static void fill_exit_status(struct keeper *k)
{
    if (!k->is_main_gone || launch_end_is_never_ran(k->outcome.end) || k->log.record.pid == 0) return;
    if (WIFEXITED(k->main_status))
        k->outcome.exit_status = WEXITSTATUS(k->main_status);
    else
        k->outcome.signal = WTERMSIG(k->main_status);
}

static bool is_directory_removed(const struct launch_dir *d)
{
    struct stat s;
    return fstat(d->fd, &s) < 0 || s.st_nlink == 0;
}

/* Waits up to COMMIT_WAIT_US for the order that says that the daemon has committed the end. Returns whether it came. */
static bool wait_for_commit(struct keeper *k)
{
    int64_t until_us = clock_boot_us() + COMMIT_WAIT_US;
    for (int64_t left_us = COMMIT_WAIT_US; left_us > 0 && !k->is_committed; left_us = until_us - clock_boot_us()) {
        struct pollfd control = {.fd = k->task->dir.control_fd, .events = POLLIN};
        if (poll(&control, 1, (int)(left_us / US_PER_MS) + 1) > 0) read_orders(k);
    }
    return k->is_committed;
}

/* Returns whether the end record that was written survives power loss: in the daemon's database or on disk (I2). */
static bool make_end_durable(struct keeper *k)
{
    if (k->log.is_launcher_notified && wait_for_commit(k)) return true;
    return record_log_sync(&k->log, NULL) == 0;
}

/* Tries until a launch with a start record has a durable end record, because the disk may be full. Without a start
 * record the launcher needs none, and none can be written once the directory has been removed. */
static void write_end(struct keeper *k, struct launch_record record)
{
    bool has_start_record = k->log.record.pid != 0;
    while (record_log_write(&k->log, record, NULL) || (has_start_record && !make_end_durable(k))) {
        if (!has_start_record || is_directory_removed(&k->task->dir)) return;
        sleep(1);
    }
}

static _Noreturn void finish(struct keeper *k)
{
    struct launch_record record = k->log.record;
    struct cgroup_usage group_usage;
    struct buf scratch = {0};
    k->phase = GONE;
    read_orders(k);
    k->is_committed = false; /* the end has not been reported: a "committed" that is already here is void */
    cgroup_read_usage(k->identity.cgroup.path, &scratch, &group_usage);
    buf_release(&scratch);
    (void)cgroup_remove_wait(&k->identity.cgroup);
    (void)cgroup_remove_wait(&k->cpu_group);
    decide_end(k, LAUNCH_EXITED, "");
    fill_exit_status(k);
    record.id = k->outcome.id;
    record.phase = LAUNCH_ENDED;
    launch_record_set_time(&record, k->identity.boot_id);
    record.end = k->outcome.end;
    record.exit_status = k->outcome.exit_status;
    record.signal = k->outcome.signal;
    memcpy(record.detail, k->outcome.detail, sizeof record.detail);
    fill_usage(&record, &group_usage);
    if (launch_end_is_never_ran(record.end)) record.started_us = record.started_boot_us = record.pid = 0;
    write_end(k, record);
    _exit(0); /* the launcher sees that through its pidfd, in case it missed the notice */
}

/* Reaps every child that has ended; finishes if no child is left (I2). */
static void reap_children(struct keeper *k)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) finish(k);
        if (pid == 0) return;
        k->has_reaped = true;
        if (pid != k->job.pid) continue;
        k->is_main_gone = true;
        k->main_status = status;
        while (k->job.report_fd >= 0) read_report(k); /* its last report decides what its end means */
    }
}

/* --- ending ------------------------------------------------------------------------------------------------------- */

/* The next round follows without a pause as long as rounds end processes: a process that forks on and on must not get
 * away. */
static void kill_round(struct keeper *k)
{
    cgroup_kill(&k->identity.cgroup);
    process_tree_kill_children();
    if (k->has_reaped)
        k->kill_wait_us = 0;
    else
        k->kill_wait_us = min_us(k->kill_wait_us * 2 + KILL_WAIT_MIN_US, KILL_WAIT_MAX_US);
    k->has_reaped = false;
}

static void begin_killing(struct keeper *k)
{
    k->phase = KILLING;
    k->deadline_us = NEVER;
    kill_round(k);
}

/* Without this record the job ends just the same; so a failure is ignored. */
static void write_completing(struct keeper *k)
{
    struct launch_record record = k->log.record;
    record.phase = LAUNCH_COMPLETING;
    launch_record_set_time(&record, k->identity.boot_id);
    (void)record_log_write(&k->log, record, NULL);
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
        write_completing(k);
    } else if (k->phase == ENDING && deadline_us < k->deadline_us) {
        k->deadline_us = deadline_us; /* I4 */
    }
}

static void cancel(struct keeper *k, int64_t grace_us, const char *detail)
{
    if (!k->is_main_gone) decide_end(k, LAUNCH_CANCELLED, detail);
    begin_ending(k, grace_us);
}

static void end_leftovers(struct keeper *k)
{
    decide_end(k, LAUNCH_EXITED, "");
    begin_ending(k, min_us(k->grace_us, LEFTOVER_GRACE_US));
}

static void on_deadline(struct keeper *k)
{
    if (k->phase == ENDING) {
        begin_killing(k);
    } else if (k->phase == RUNNING) {
        decide_end(k, LAUNCH_TIMED_OUT, "");
        begin_ending(k, k->grace_us);
    }
}

/* While the job is being ended, its time limit does not count any more (I3). */
static void set_limit_deadline(struct keeper *k)
{
    if (k->phase != RUNNING) return;
    k->deadline_us = k->time_limit_us > 0 ? k->started_us + k->time_limit_us : NEVER; /* I5 */
}

/* --- the start ---------------------------------------------------------------------------------------------------- */

/* end: LAUNCH_REFUSED if the fault is the launch's, LAUNCH_UNAVAILABLE if it is the machine's. */
static void give_up_start(struct keeper *k, enum launch_end end, const char *detail)
{
    decide_end(k, end, detail);
    begin_killing(k);
}

/* The order for a weight may come before the groups exist or after; so this is called at both times. */
static void apply_cpu_weight(const struct keeper *k)
{
    if (k->cpu_weight == 0) return;
    (void)(cgroup_set_cpu_weight(&k->cpu_group, k->cpu_weight) ||
           cgroup_set_cpu_weight(&k->identity.cgroup, k->cpu_weight));
}

/* Called after the start record is written: by the key in the record, the launcher finds this group if the keeper is
 * killed. */
static void join_cpu_group(struct keeper *k)
{
    struct cgroup *group = &k->cpu_group;
    cgroup_set_cpu_path(k->task->cgroups, k->task->launch->id, k->identity.key, group);
    cgroup_create(group);
    if (group->path[0] != '\0' && !cgroup_attach(group, k->job.pid)) {
        (void)cgroup_remove(group);
        group->path[0] = '\0';
    }
    apply_cpu_weight(k);
}

/* The job's process is ready. Writes the start record, then lets the process execute its program (I1). */
static void start_job(struct keeper *k)
{
    struct process main_process = {0};
    struct launch_record record = {.id = k->task->launch->id, .pid = k->job.pid};
    struct err e;
    (void)process_read(k->job.pid, &main_process);
    k->identity.start_ticks = main_process.start_ticks;
    if (!cgroup_attach(&k->identity.cgroup, k->job.pid)) {
        (void)cgroup_remove(&k->identity.cgroup);
        k->identity.cgroup.path[0] = '\0';
    }
    if (record_log_write_start(&k->log, record, &k->identity, &e)) {
        give_up_start(k, LAUNCH_UNAVAILABLE, ERR_SENTENCE(&e));
        return;
    }
    join_cpu_group(k);
    k->phase = RUNNING;
    k->started_us = clock_boot_us();
    set_limit_deadline(k);
    if (write(k->job.go_fd, "", 1) == 1) return;
    give_up_start(k, LAUNCH_UNAVAILABLE, "the job's process ended before it executed the program");
}

/* The program runs, or its process is gone: releases the pipes and the launch. */
static void release_launch(struct keeper *k)
{
    close(k->job.report_fd);
    k->job.report_fd = -1;
    if (k->job.go_fd >= 0) close(k->job.go_fd);
    k->job.go_fd = -1;
    k->task->launch = NULL;
    arena_release(k->task->memory);
    buf_release(k->task->bytes);
}

static void read_report(struct keeper *k)
{
    struct job_report report;
    ssize_t n = read(k->job.report_fd, &report, sizeof report);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n == (ssize_t)sizeof report && report.step == JOB_STEP_READY) {
        if (k->phase == PREPARING && !k->is_main_gone) start_job(k);
        return;
    }
    if (n == (ssize_t)sizeof report) {
        char detail[ERR_SENTENCE_SIZE];
        job_process_explain(&report, k->task->launch, &k->command, detail, sizeof detail);
        bool is_machine = job_process_failed_for_machine(&report, k->task->launch, k->task->spool->fd);
        give_up_start(k, is_machine ? LAUNCH_UNAVAILABLE : LAUNCH_REFUSED, detail);
    } else if (k->phase == PREPARING) {
        give_up_start(k, LAUNCH_UNAVAILABLE, "the job's process was killed before it executed the program");
    }
    release_launch(k);
}

/* --- orders ------------------------------------------------------------------------------------------------------- */

/* "end GRACE_US", "weight WEIGHT", "limit TIME_LIMIT_US", or "committed" once no descendant is left. Other lines are
 * ignored. */
static void take_order(struct keeper *k, struct str line)
{
    int64_t grace_us, limit_us;
    uint64_t weight;
    struct str argument;
    struct str word = str_cut(line, ' ', &argument);
    if (k->phase == GONE) {
        k->is_committed |= str_equal(word, str("committed"));
    } else if (str_equal(word, str("end"))) {
        if (!number_parse_i64(argument, &grace_us) || grace_us < 0 || grace_us > LAUNCH_GRACE_MAX_US) return;
        cancel(k, grace_us, "");
    } else if (str_equal(word, str("weight"))) {
        if (!number_parse_u64(argument, &weight)) return;
        if (weight < LAUNCH_CPU_WEIGHT_MIN || weight > LAUNCH_CPU_WEIGHT_MAX) return;
        k->cpu_weight = (uint32_t)weight;
        apply_cpu_weight(k);
    } else if (str_equal(word, str("limit"))) {
        if (!number_parse_i64(argument, &limit_us) || limit_us < 0 || limit_us > LAUNCH_TIME_LIMIT_MAX_US) return;
        k->time_limit_us = limit_us;
        set_limit_deadline(k);
    }
}

static void read_orders(struct keeper *k)
{
    enum { ORDERS_SIZE = 4096 };
    ssize_t n = read(k->task->dir.control_fd, buf_room(&k->orders, ORDERS_SIZE), ORDERS_SIZE);
    if (n <= 0) return;
    k->orders.length += (size_t)n;
    struct str rest = {k->orders.text, k->orders.length};
    while (rest.length > 0 && memchr(rest.text, '\n', rest.length) != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        take_order(k, line);
    }
    if (rest.length > ORDERS_SIZE) rest.length = 0; /* no order is that long */
    if (rest.length > 0) memmove(k->orders.text, rest.text, rest.length);
    k->orders.length = rest.length;
}

static void read_signals(struct keeper *k)
{
    struct signalfd_siginfo info;
    while (read(k->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTERM) cancel(k, k->grace_us, "its keeper got SIGTERM, as at a shutdown");
    }
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* Sets a timer of CLOCK_BOOTTIME, because poll's timeout stands still while the machine sleeps. */
static void set_timer(const struct keeper *k)
{
    int64_t now_us = clock_boot_us(), wake_us = k->deadline_us;
    if (k->phase == KILLING) wake_us = min_us(wake_us, now_us + k->kill_wait_us);
    if (k->log.is_notice_due) wake_us = min_us(wake_us, now_us + NOTICE_RETRY_US);
    struct itimerspec at = {0}; /* never */
    if (wake_us != NEVER)
        at.it_value = (struct timespec){.tv_sec = wake_us / US_PER_S, .tv_nsec = wake_us % US_PER_S * NS_PER_US};
    ensure(timerfd_settime(k->timer_fd, TFD_TIMER_ABSTIME, &at, NULL) == 0);
}

static _Noreturn void run_loop(struct keeper *k)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = k->signal_fd, .events = POLLIN},
                               {.fd = k->task->dir.control_fd, .events = POLLIN},
                               {.fd = k->job.report_fd, .events = POLLIN},
                               {.fd = k->timer_fd, .events = POLLIN}};
        set_timer(k);
        if (poll(fds, 4, -1) < 0) fds[0].revents = fds[1].revents = fds[2].revents = 0;
        if (fds[2].revents != 0) read_report(k);
        if (fds[1].revents != 0) read_orders(k);
        if (fds[0].revents != 0) read_signals(k);
        reap_children(k);
        if (k->is_main_gone && k->phase == RUNNING) end_leftovers(k);
        if (k->is_main_gone && k->phase == ENDING)
            k->deadline_us = min_us(k->deadline_us, clock_boot_us() + LEFTOVER_GRACE_US);
        if (clock_boot_us() >= k->deadline_us) on_deadline(k);
        if (k->phase == KILLING) kill_round(k);
        if (k->log.is_notice_due) record_log_notify(&k->log);
    }
}

/* --- before the fork of the job ----------------------------------------------------------------------------------- */

/* Closes every descriptor above 2 that is not in the list: the gaps between those that are, lowest first. */
static void close_all_but(const int *kept, int count)
{
    int next = 3;
    for (;;) {
        int lowest = -1;
        for (int i = 0; i < count; i++) {
            if (kept[i] >= next && (lowest < 0 || kept[i] < lowest)) lowest = kept[i];
        }
        if (lowest < 0) break;
        if (lowest > next) (void)close_range((unsigned)next, (unsigned)lowest - 1, 0);
        next = lowest + 1;
    }
    (void)close_range((unsigned)next, ~0u, 0);
}

static int set_up_process(struct keeper *k, struct err *e)
{
    struct keeper_task *t = k->task;
    char title[32 + LAUNCH_NAME_MAX];
    sigset_t all, wanted;
    close_all_but((const int[]){t->spool->fd, t->dir.fd, t->dir.lock_fd, t->dir.control_fd}, 4);
    (void)setsid();
    text_format(title, sizeof title, KEEPER_NAME " %s", t->launch->name);
    process_title_set(title);
    sigfillset(&all);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    ensure(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
    k->signal_fd = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    k->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (k->signal_fd < 0 || k->timer_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) {
        return err_set(e, ERR_UNAVAILABLE, "cannot set up a keeper: %s", strerror(errno));
    }
    return 0;
}

static int write_script(const struct keeper *k, struct err *e)
{
    struct str script = k->task->launch->script;
    if (script.length == 0) return 0;
    int fd = openat(k->task->dir.fd, "script", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && durable_write_all(fd, script) == 0 && close(fd) == 0) return 0;
    return err_set(e, ERR_IO, "cannot write the job's script: %s", strerror(errno));
}

static int make_key(struct keeper *k, struct err *e)
{
    struct buf id = {0};
    spool_read_instance_id(k->task->spool, &id);
    int result = process_identity_make_key((struct str){id.text, id.length}, k->identity.key, e);
    buf_release(&id);
    return result;
}

static int prepare_job(struct keeper *k, struct err *e)
{
    struct keeper_task *t = k->task;
    char script_path[LAUNCH_PATH_MAX + 64];
    if (set_up_process(k, e) || make_key(k, e)) return -1;
    k->identity.place = launch_dir_place(&t->dir);
    cgroup_set_path(t->cgroups, t->launch->id, k->identity.key, &k->identity.cgroup);
    if (launch_dir_write_keeper(&t->dir, &k->identity.cgroup, e) || write_script(k, e)) return -1;
    text_format(k->identity.boot_id, sizeof k->identity.boot_id, "%s", t->boot_id);
    text_format(script_path, sizeof script_path, "%s/launches/%" PRIu64 "/script", t->spool->path, t->launch->id);
    launch_command_build(t->launch, script_path, k->identity.key, t->memory, &k->command);
    cgroup_create(&k->identity.cgroup); /* its path is in the lock file, so that the launcher can remove it */
    return job_process_fork(t->launch, &k->command, t->inherited, &k->job, e);
}

bool keeper_is(pid_t pid)
{
    char path[32];
    struct buf text = {0};
    text_format(path, sizeof path, "/proc/%d/comm", (int)pid);
    bool is_keeper = pid > 0 && str_equal(str_trim(durable_read_text(path, &text)), str(KEEPER_NAME));
    buf_release(&text);
    return is_keeper;
}

_Noreturn void keeper_main(struct keeper_task *task)
{
    struct err e;
    ensure(task->dir.lock_fd >= 0 && task->dir.control_fd >= 0);
    struct keeper k = {
        .task = task,
        .log = {.dir = &task->dir, .spool_fd = task->spool->fd},
        .job = {.report_fd = -1, .go_fd = -1},
        .time_limit_us = task->launch->time_limit_us,
        .grace_us = task->launch->grace_us,
        .deadline_us = NEVER,
        .outcome = {.id = task->launch->id},
        .signal_fd = -1,
        .timer_fd = -1,
    };
    if (prepare_job(&k, &e)) {
        decide_end(&k, LAUNCH_UNAVAILABLE, ERR_SENTENCE(&e)); /* nothing yet was the launch's own */
        finish(&k);
    }
    run_loop(&k);
}
