/* The keeper of one job. It needs nobody: it enforces the time limit, takes orders from its control fifo, ends whatever
 * the job leaves behind, and writes down what happened. Launcher and daemon may come and go meanwhile.
 *
 *     PREPARING   the job's process sets itself up            no record
 *     RUNNING     it may run its program                      start
 *     ENDING      SIGTERM was sent to all; grace runs         completing
 *     KILLING     SIGKILL, round by round                     completing
 *     GONE        no descendant is left                       end
 *
 *  I1  The start record is on disk before the job's process may execute its program. So: no start record, never ran.
 *  I2  The end record is written when waitpid says that no descendant is left, and is the last thing that is written.
 *      It is told at once and synced only if no word comes that the daemon has committed the end (journal.c): then by
 *      the keeper itself, which ends after the one or the other. Being killed in between loses nothing that was written.
 *  I3  The reason of an end is the first there was: a job that is cancelled in the grace after its time limit timed out.
 *  I4  A deadline only moves nearer.
 *
 * Time is CLOCK_BOOTTIME: the jobs of a machine that sleeps grow older too.
 *
 * The keeper keeps the identity of its launcher; the job's own process takes the user's (job.c). So under a launcher
 * with root a user can neither forge a record nor kill a keeper, and a keeper can end what the user ran as somebody else. */
#include "exec/launcher/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/number.h"
#include "exec/clock.h"
#include "exec/launcher/durable.h"
#include "exec/launcher/process_title.h"
#include "exec/launcher/process_tree.h"
#include "exec/launcher/record_log.h"

#define LEFTOVER_GRACE_US INT64_C(2000000) /* for what outlives the main process */
#define NOTICE_RETRY_US INT64_C(100000)
#define COMMIT_WAIT_US INT64_C(200000) /* for the daemon's commit of the end; it takes some ms */
#define KILL_WAIT_MIN_US INT64_C(1000)
#define KILL_WAIT_MAX_US INT64_C(200000)
#define NEVER INT64_MAX

enum phase { PREPARING, RUNNING, ENDING, KILLING, GONE };

struct keeper {
    struct keeper_task *task;
    struct record_log journal;
    struct process_identity traces;
    struct cgroup cpu_group; /* for its weight, where v2 has none */
    uint32_t cpu_weight;     /* ordered last; 0: never */
    struct launch_command command;
    struct job_process job; /* report_fd is -1 when there is nothing more to hear */
    enum phase phase;
    int64_t time_limit_us, grace_us;
    int64_t deadline_us;  /* steady; of what comes next: ending by time limit, killing */
    int64_t kill_wait_us; /* until the next round */
    bool reaped;          /* since the last round */
    bool main_gone;
    int main_status;
    struct launch_record outcome; /* grows into the end record: end, detail */
    bool decided;                 /* I3: outcome.end is fixed */
    bool committed;               /* the daemon has the end */
    int signal_fd, timer_fd;
    struct buf orders; /* an unfinished line */
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void decide(struct keeper *k, enum launch_end end, const char *detail)
{
    if (k->decided) return; /* I3 */
    k->decided = true;
    k->outcome.end = end;
    launch_record_set_detail(&k->outcome, detail);
}

/* ---- the end ---- */

static void hear_report(struct keeper *k);
static void hear_orders(struct keeper *k);

static void fill_usage(struct launch_record *record)
{
    struct rusage usage;
    ensure(getrusage(RUSAGE_CHILDREN, &usage) == 0);
    record->cpu_us = ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
                     usage.ru_stime.tv_usec;
    record->max_rss_kib = usage.ru_maxrss;
}

static void fill_status(struct keeper *k)
{
    if (!k->main_gone || k->outcome.end == LAUNCH_REFUSED || k->journal.record.pid == 0) return;
    if (WIFEXITED(k->main_status))
        k->outcome.exit_status = WEXITSTATUS(k->main_status);
    else
        k->outcome.signal = WTERMSIG(k->main_status);
}

static bool directory_gone(const struct launch_dir *d)
{
    struct stat s;
    return fstat(d->fd, &s) < 0 || s.st_nlink == 0;
}

/* Whether the daemon says within COMMIT_WAIT_US that the end is in its database. */
static bool committed_soon(struct keeper *k)
{
    int64_t until_us = clock_boot_us() + COMMIT_WAIT_US;
    for (int64_t left_us = COMMIT_WAIT_US; left_us > 0 && !k->committed; left_us = until_us - clock_boot_us()) {
        struct pollfd control = {.fd = k->task->dir.control_fd, .events = POLLIN};
        if (poll(&control, 1, (int)(left_us / 1000) + 1) > 0) hear_orders(k);
    }
    return k->committed;
}

/* Nothing is to be done any more for the end record that was written (I2). */
static bool end_is_safe(struct keeper *k)
{
    if (k->journal.told && committed_soon(k)) return true;
    return record_log_sync(&k->journal, NULL) == 0;
}

/* A full disk delays the end record of a job that ran; of one that did not, the launcher needs none. When there is no
 * directory any more, nobody waits for it. */
static void write_end(struct keeper *k, struct launch_record record)
{
    bool ran = k->journal.record.pid != 0;
    while (record_log_write(&k->journal, record, NULL) || (ran && !end_is_safe(k))) {
        if (!ran || directory_gone(&k->task->dir)) return;
        sleep(1);
    }
}

static _Noreturn void finish(struct keeper *k)
{
    struct launch_record record = k->journal.record;
    k->phase = GONE;
    hear_orders(k);
    k->committed = false; /* nobody has been told yet: a word of it that is there already means nothing */
    (void)cgroup_remove_wait(&k->traces.cgroup);
    (void)cgroup_remove_wait(&k->cpu_group);
    decide(k, LAUNCH_EXITED, "");
    fill_status(k);
    record.id = k->outcome.id;
    record.phase = LAUNCH_ENDED;
    record.at_us = clock_wall_us();
    record.end = k->outcome.end;
    record.exit_status = k->outcome.exit_status;
    record.signal = k->outcome.signal;
    memcpy(record.detail, k->outcome.detail, sizeof record.detail);
    fill_usage(&record);
    if (record.end == LAUNCH_REFUSED) record.started_us = record.pid = 0;
    write_end(k, record);
    _exit(0); /* the launcher sees that, should it have missed the notice */
}

/* Waits for whoever can be waited for; finishes when nobody is left (I2). */
static void reap(struct keeper *k)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) finish(k);
        if (pid == 0) return;
        k->reaped = true;
        if (pid != k->job.pid) continue;
        k->main_gone = true;
        k->main_status = status;
        while (k->job.report_fd >= 0) hear_report(k); /* its last word, before anything is made of its end */
    }
}

/* ---- ending ---- */

/* Without a pause as long as somebody dies of it: who forks on and on must not get away. */
static void kill_round(struct keeper *k)
{
    cgroup_kill(&k->traces.cgroup);
    process_tree_kill_children();
    if (k->reaped)
        k->kill_wait_us = 0;
    else
        k->kill_wait_us = earlier(k->kill_wait_us * 2 + KILL_WAIT_MIN_US, KILL_WAIT_MAX_US);
    k->reaped = false;
}

static void begin_killing(struct keeper *k)
{
    k->phase = KILLING;
    k->deadline_us = NEVER;
    kill_round(k);
}

static void write_completing(struct keeper *k)
{
    struct launch_record record = k->journal.record;
    record.phase = LAUNCH_COMPLETING;
    record.at_us = clock_wall_us();
    (void)record_log_write(&k->journal, record, NULL); /* news only: without it the job ends all the same */
}

/* SIGTERM to all now, SIGKILL after the grace. In the midst of it: only a nearer end. */
static void begin_ending(struct keeper *k, int64_t grace_us)
{
    int64_t deadline_us = clock_boot_us() + grace_us;
    if (k->phase == PREPARING) {
        begin_killing(k); /* nothing of the user's runs yet */
    } else if (k->phase == RUNNING) {
        k->phase = ENDING;
        k->deadline_us = deadline_us;
        process_tree_terminate();
        write_completing(k);
    } else if (k->phase == ENDING && deadline_us < k->deadline_us) {
        k->deadline_us = deadline_us; /* I4 */
    }
}

static void end_by_order(struct keeper *k, int64_t grace_us, const char *detail)
{
    if (!k->main_gone) decide(k, LAUNCH_CANCELLED, detail);
    begin_ending(k, grace_us);
}

static void end_leftovers(struct keeper *k)
{
    decide(k, LAUNCH_EXITED, "");
    begin_ending(k, k->grace_us < LEFTOVER_GRACE_US ? k->grace_us : LEFTOVER_GRACE_US);
}

static void deadline_passed(struct keeper *k)
{
    if (k->phase == ENDING) {
        begin_killing(k);
    } else if (k->phase == RUNNING) {
        decide(k, LAUNCH_TIMED_OUT, "");
        begin_ending(k, k->grace_us);
    }
}

/* ---- the start ---- */

static void refuse(struct keeper *k, const char *detail)
{
    decide(k, LAUNCH_REFUSED, detail);
    begin_killing(k);
}

static void stop_listening(struct keeper *k)
{
    close(k->job.report_fd);
    k->job.report_fd = -1;
    if (k->job.go_fd >= 0) close(k->job.go_fd);
    k->job.go_fd = -1;
}

/* The order may come before the groups are there, or after. */
static void weigh(const struct keeper *k)
{
    if (k->cpu_weight == 0) return;
    (void)(cgroup_set_cpu_weight(&k->cpu_group, k->cpu_weight) ||
           cgroup_set_cpu_weight(&k->traces.cgroup, k->cpu_weight));
}

/* After the start was written down: by the key in it this group is found again if we are killed. */
static void join_cpu_group(struct keeper *k)
{
    struct cgroup *group = &k->cpu_group;
    cgroup_set_cpu_path(k->task->cgroups, k->task->launch->id, k->traces.key, group);
    cgroup_create(group);
    if (group->path[0] != '\0' && !cgroup_attach(group, k->job.pid)) {
        (void)cgroup_remove(group);
        group->path[0] = '\0';
    }
    weigh(k);
}

/* The job's process is ready. Its start is written down, then it is let go (I1). */
static void let_go(struct keeper *k)
{
    struct process self = {0};
    struct launch_record record = {.id = k->task->launch->id, .pid = k->job.pid};
    struct err e;
    (void)process_read(k->job.pid, &self);
    k->traces.born = self.born;
    if (!cgroup_attach(&k->traces.cgroup, k->job.pid)) {
        (void)cgroup_remove(&k->traces.cgroup);
        k->traces.cgroup.path[0] = '\0';
    }
    if (record_log_write_start(&k->journal, record, &k->traces, &e)) {
        refuse(k, ERR_SENTENCE(&e));
        return;
    }
    join_cpu_group(k);
    k->phase = RUNNING;
    if (k->time_limit_us > 0) k->deadline_us = clock_boot_us() + k->time_limit_us;
    if (write(k->job.go_fd, "", 1) == 1) return;
    refuse(k, "the job's process ended before it ran the program");
}

/* The program runs, or its process is gone: what it was started from is needed no more. */
static void started(struct keeper *k)
{
    k->task->launch = NULL;
    arena_release(k->task->memory);
    buf_release(k->task->bytes);
}

static void hear_report(struct keeper *k)
{
    struct job_report report;
    ssize_t n = read(k->job.report_fd, &report, sizeof report);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n == (ssize_t)sizeof report && report.step == JOB_STEP_READY) {
        if (k->phase == PREPARING && !k->main_gone) let_go(k);
        return;
    }
    if (n == (ssize_t)sizeof report) {
        char why[ERR_SENTENCE_SIZE];
        job_process_explain(&report, k->task->launch, &k->command, why, sizeof why);
        refuse(k, why);
    } else if (k->phase == PREPARING) {
        refuse(k, "the job's process was killed before it ran the program");
    }
    stop_listening(k);
    started(k);
}

/* ---- orders ---- */

static void take_order(struct keeper *k, struct str line)
{
    int64_t grace_us;
    uint64_t weight;
    struct str argument;
    struct str word = str_cut(line, ' ', &argument);
    if (k->phase == GONE) {
        k->committed |= str_equal(word, str("committed"));
        return;
    }
    bool readable = str_equal(word, str("end")) && number_parse_i64(argument, &grace_us);
    if (readable && grace_us >= 0 && grace_us <= LAUNCH_GRACE_MAX_US) end_by_order(k, grace_us, "");
    if (!str_equal(word, str("weight")) || !number_parse_u64(argument, &weight)) return;
    if (weight < LAUNCH_CPU_WEIGHT_MIN || weight > LAUNCH_CPU_WEIGHT_MAX) return;
    k->cpu_weight = (uint32_t)weight;
    weigh(k);
}

static void hear_orders(struct keeper *k)
{
    enum { AT_ONCE = 4096 };
    ssize_t n = read(k->task->dir.control_fd, buf_room(&k->orders, AT_ONCE), AT_ONCE);
    if (n <= 0) return;
    k->orders.length += (size_t)n;
    struct str rest = {k->orders.text, k->orders.length};
    while (rest.length > 0 && memchr(rest.text, '\n', rest.length) != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        take_order(k, line);
    }
    if (rest.length > AT_ONCE) rest.length = 0; /* no order is that long */
    if (rest.length > 0) memmove(k->orders.text, rest.text, rest.length);
    k->orders.length = rest.length;
}

static void hear_signals(struct keeper *k)
{
    struct signalfd_siginfo info;
    while (read(k->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTERM)
            end_by_order(k, k->grace_us, "its keeper was told to end (SIGTERM), as at a shutdown");
    }
}

/* ---- the loop ---- */

/* A timer of CLOCK_BOOTTIME, for poll's own waiting stands still while the machine sleeps. */
static void set_timer(const struct keeper *k)
{
    int64_t now_us = clock_boot_us(), wake_us = k->deadline_us;
    if (k->phase == KILLING) wake_us = earlier(wake_us, now_us + k->kill_wait_us);
    if (k->journal.notice_due) wake_us = earlier(wake_us, now_us + NOTICE_RETRY_US);
    struct itimerspec at = {0}; /* never */
    if (wake_us != NEVER)
        at.it_value = (struct timespec){.tv_sec = wake_us / 1000000, .tv_nsec = wake_us % 1000000 * 1000};
    ensure(timerfd_settime(k->timer_fd, TFD_TIMER_ABSTIME, &at, NULL) == 0);
}

static void wait_for_news(const struct keeper *k, struct pollfd fds[4])
{
    set_timer(k);
    fds[0] = (struct pollfd){.fd = k->signal_fd, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = k->task->dir.control_fd, .events = POLLIN};
    fds[2] = (struct pollfd){.fd = k->job.report_fd, .events = POLLIN};
    fds[3] = (struct pollfd){.fd = k->timer_fd, .events = POLLIN};
    if (poll(fds, 4, -1) < 0) fds[0].revents = fds[1].revents = fds[2].revents = 0;
}

static _Noreturn void watch(struct keeper *k)
{
    for (;;) {
        struct pollfd fds[4];
        wait_for_news(k, fds);
        if (fds[2].revents != 0) hear_report(k);
        if (fds[1].revents != 0) hear_orders(k);
        if (fds[0].revents != 0) hear_signals(k);
        reap(k);
        if (k->main_gone && k->phase == RUNNING) end_leftovers(k);
        if (k->main_gone && k->phase == ENDING)
            k->deadline_us = earlier(k->deadline_us, clock_boot_us() + LEFTOVER_GRACE_US);
        if (clock_boot_us() >= k->deadline_us) deadline_passed(k);
        if (k->phase == KILLING) kill_round(k);
        if (k->journal.notice_due) record_log_notify(&k->journal);
    }
}

/* ---- before the fork of the job ---- */

static void keep_only(const int *kept, int count)
{
    int next = 3;
    for (;;) { /* the lowest that is kept, again and again; there are four */
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

static int settle_in(struct keeper *k, struct err *e)
{
    struct keeper_task *t = k->task;
    char title[32 + LAUNCH_NAME_MAX];
    sigset_t all, heard;
    keep_only((const int[]){t->spool->fd, t->dir.fd, t->dir.lock_fd, t->dir.control_fd}, 4);
    (void)setsid();
    text_format(title, sizeof title, "fairlead-keeper %s", t->launch->name);
    process_title_set(title);
    sigfillset(&all);
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    sigaddset(&heard, SIGTERM);
    ensure(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
    (void)signal(SIGCHLD, SIG_DFL);
    k->signal_fd = signalfd(-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
    k->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (k->signal_fd < 0 || k->timer_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) {
        return err_set(e, ERR_UNAVAILABLE, "cannot set up a keeper: %s", strerror(errno));
    }
    return 0;
}

static int make_key(char out[LAUNCH_KEY_SIZE], struct err *e)
{
    unsigned char bytes[(LAUNCH_KEY_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return err_set(e, ERR_UNAVAILABLE, "cannot get random bytes: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof bytes; i++) text_format(out + 2 * i, 3, "%02x", bytes[i]);
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

static int prepare(struct keeper *k, struct err *e)
{
    struct keeper_task *t = k->task;
    char script_path[LAUNCH_PATH_MAX + 64];
    if (settle_in(k, e) || make_key(k->traces.key, e)) return -1;
    cgroup_set_path(t->cgroups, t->launch->id, k->traces.key, &k->traces.cgroup);
    if (launch_dir_write_keeper(&t->dir, &k->traces.cgroup, e) || write_script(k, e)) return -1;
    process_identity_read_boot_id(k->traces.boot_id);
    text_format(script_path, sizeof script_path, "%s/launches/%" PRIu64 "/script", t->spool->path, t->launch->id);
    launch_command_build(t->launch, script_path, k->traces.key, t->memory, &k->command);
    cgroup_create(&k->traces.cgroup); /* noted before, so that it is not left behind whenever we are killed */
    return job_process_fork(t->launch, &k->command, t->inherited, &k->job, e);
}

_Noreturn void keeper_main(struct keeper_task *task)
{
    struct err e;
    struct keeper k = {
        .task = task,
        .journal = {.dir = &task->dir, .spool_fd = task->spool->fd},
        .job = {.report_fd = -1, .go_fd = -1},
        .time_limit_us = task->launch->time_limit_us,
        .grace_us = task->launch->grace_us,
        .deadline_us = NEVER,
        .outcome = {.id = task->launch->id},
        .signal_fd = -1,
        .timer_fd = -1,
    };
    if (prepare(&k, &e)) {
        decide(&k, LAUNCH_REFUSED, ERR_SENTENCE(&e));
        finish(&k);
    }
    watch(&k);
}
