/* The job's process between fork and exec.
 *
 *     keeper                         job's process
 *     fork ------------------------> session, signals, groups, identity, directory, output, limits, CPUs
 *                                    appends the record "started" to the log
 *                                    exec
 *          <-- end of the pipe (the program runs), or the step that failed with errno
 *
 *  I1  Between fork and exec only async-signal-safe functions are called: memory, lists and masks are prepared before
 *      the fork. A job of the keeper's own user shares the keeper's memory until then (process_clone.h), so none of
 *      them is freed before, and a keeper that does not end its job calls nothing that may fail. A process that changes
 *      its identity shares no memory with its keeper, which has one thread: it looks its user up (job_identity.h).
 *  I2  The program gets the descriptors 0, 1 and 2 and no other (a relay also its socket, job_terminal.h), default
 *      signals (process_signals.h), and the limits and the umask that the launcher was started with.
 *  I3  The process dies with its keeper (PR_SET_PDEATHSIG), even if the keeper dies before that is set.
 *  I4  The output is opened, and the directory entered, with the identity of the user.
 *  I5  The record "started" is in the log before the program may be executed, so a launch without it never ran. It is
 *      the process itself that appends it: nothing else has to be waited for.
 *  I6  From the change of identity on, the user can influence the process (prlimit(2), leases, FUSE), so a failure
 *      is the launch's, whatever its errno. Only a record that cannot be written to a full or broken disk, and a disk
 *      of the state directory that is full or read-only by its own account, are the machine's. What can run short is
 *      therefore taken before. */
#include "exec/launcher/job_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/text.h"
#include "exec/clock.h"
#include "exec/launcher/job_output.h"
#include "exec/launcher/job_terminal.h"
#include "exec/launcher/log_text.h"
#include "exec/launcher/process_clone.h"
#include "exec/launcher/shortage.h"

/* All that the child needs, prepared before the fork (I1). */
struct job_setup {
    const struct launch *launch;
    const struct launch_command *command;
    const struct inherited_attributes *inherited;
    cpu_set_t *cpus; /* NULL: all CPUs */
    size_t cpus_size;
    bool changes_identity, has_identity; /* has_identity: of the user; set in the child */
    const struct identity_rules *rules;
    pid_t keeper_pid;
    int report_fd, log_fd, state_fd, terminal_fd; /* terminal_fd: that its relay gets; -1: none */
    struct buf *start_line;
    char memory_procs[PATH_MAX], cpuset_procs[PATH_MAX]; /* cgroup.procs of groups to enter; "": none */
    struct rlimit data;                                  /* RLIMIT_DATA, if limits_data */
    bool limits_data;
};

enum { SHOWN_SIZE = LAUNCH_DETAIL_SIZE - 60 }; /* bytes of a path in a message, with the closing zero */

/* --- in the child ------------------------------------------------------------------------------------------------- */

static _Noreturn void report(const struct job_setup *s, struct job_report report)
{
    report.has_identity = s->has_identity;
    (void)!write(s->report_fd, &report, sizeof report);
    _exit(127);
}

static _Noreturn void fail(const struct job_setup *s, enum job_step step)
{
    report(s, (struct job_report){.step = (int)step, .error_number = errno});
}

static void check(const struct job_setup *s, enum job_step step, int result)
{
    if (result < 0) fail(s, step);
}

/* Whether a path is on the disk that has the state directory. The path itself may not exist. */
static bool is_on_state_disk(const struct job_setup *s, const char *path)
{
    struct stat found, disk;
    char parent[LAUNCH_PATH_MAX + 2];
    if (fstat(s->state_fd, &disk) < 0) return false;
    if (stat(path, &found) == 0) return found.st_dev == disk.st_dev;
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    memcpy(parent, path, length);
    memcpy(parent + length, "/", 2);
    return stat(parent, &found) == 0 && found.st_dev == disk.st_dev;
}

/* As the file system itself says, because a user can make any call fail with any errno (I6). */
static bool is_state_disk_short(const struct job_setup *s)
{
    struct statvfs disk;
    if (fstatvfs(s->state_fd, &disk) < 0) return false;
    bool has_room = disk.f_bavail > 0 && (disk.f_files == 0 || disk.f_favail > 0);
    return !has_room || (disk.f_flag & ST_RDONLY) != 0;
}

/* The quota that a path is beyond is the user's, if the process has another user than the launcher. */
static _Noreturn void fail_at_path(const struct job_setup *s, enum job_step step, int fault, const char *path)
{
    struct job_report r = {.step = (int)step, .fault = fault, .error_number = errno};
    bool is_own_quota = s->changes_identity && r.error_number == EDQUOT;
    r.is_state_disk = shortage_of_disk(r.error_number) && !is_own_quota && is_on_state_disk(s, path) &&
                      (!s->has_identity || is_state_disk_short(s));
    report(s, r);
}

/* As the keeper's user, because its groups are not the job's. -1: it cannot. */
static int enter_group(const char *procs)
{
    if (procs[0] == '\0') return 0;
    int fd = open(procs, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    bool is_written = write(fd, "0\n", 2) == 2;
    close(fd);
    return is_written ? 0 : -1;
}

static void take_identity(struct job_setup *s)
{
    if (!s->changes_identity) return;
    enum job_identity_fault fault = job_identity_take(s->rules, s->launch->uid, s->launch->gid);
    s->has_identity = fault == JOB_IDENTITY_OK;
    if (fault == JOB_IDENTITY_OK) return;
    report(s, (struct job_report){.step = JOB_STEP_IDENTITY, .fault = (int)fault, .error_number = errno});
}

/* All actions are the default ones (process_signals.h), and all signals are blocked. */
static void unblock_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int open_output(const struct job_setup *s, const char *path, enum job_step step)
{
    enum job_output_fault fault;
    int fd = job_output_open(path, s->rules->is_system, &fault);
    if (fd < 0) fail_at_path(s, step, (int)fault, path);
    return fd;
}

/* Two names of one file get one open file description: with two, out and err would overwrite each other. */
static bool is_same_file(int a, int b)
{
    struct stat sa, sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static void open_standard(const struct job_setup *s)
{
    int out = open_output(s, s->launch->out_path, JOB_STEP_OUTPUT), err = out;
    if (s->launch->err_path != NULL) {
        err = open_output(s, s->launch->err_path, JOB_STEP_ERROR_OUTPUT);
        if (is_same_file(out, err)) err = out;
    }
    /* Descriptors 0 to 2 are open in the launcher, so neither out nor err is one of these. */
    check(s, JOB_STEP_SETUP, dup2(out, 1));
    check(s, JOB_STEP_SETUP, dup2(err, 2));
}

/* A record is cut off by a full disk, and by a limit of the size of files. */
static void append_start_record(const struct job_setup *s)
{
    log_text_set_start(s->start_line, getpid(), clock_boot_us());
    ssize_t n = write(s->log_fd, s->start_line->text, s->start_line->length);
    if (n == (ssize_t)s->start_line->length) return;
    struct job_report r = {.step = JOB_STEP_RECORD, .error_number = n < 0 ? errno : ENOSPC};
    r.is_state_disk = shortage_of_disk(r.error_number) && (n < 0 || is_state_disk_short(s));
    report(s, r);
}

static void set_up_input(const struct job_setup *s)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    check(s, JOB_STEP_SETUP, in);
    check(s, JOB_STEP_SETUP, dup2(in, 0));
}

/* Tries each path, as execvp does: continues after one that does not exist, and remembers one that may not be executed.
 * Returns, with errno, only if none can be executed. */
static void exec_program(const struct job_setup *s)
{
    const struct launch_command *c = s->command;
    int error_number = ENOENT;
    for (char **program = c->programs; *program != NULL; program++) {
        execve(*program, c->arguments, c->environment);
        if (errno == ENOEXEC) {
            c->shell_arguments[1] = *program;
            execve("/bin/sh", c->shell_arguments, c->environment);
        }
        if (errno == EACCES)
            error_number = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR) {
            error_number = errno;
            break;
        }
    }
    errno = error_number;
}

static void child_main(void *setup)
{
    struct job_setup *s = setup;
    check(s, JOB_STEP_SETUP, setsid() < 0 ? -1 : 0);
    unblock_signals();
    check(s, JOB_STEP_SETUP, enter_group(s->memory_procs)); /* nothing else would keep it to its memory */
    (void)enter_group(s->cpuset_procs);                     /* there is affinity, too */
    if (s->changes_identity)
        check(s, JOB_STEP_SETUP, prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)); /* a lookup may block */
    set_up_input(s);
    check(s, JOB_STEP_SETUP, setrlimit(RLIMIT_NOFILE, &s->inherited->open_files));
    take_identity(s); /* I6 */
    /* After the identity, because a change of identity clears it. */
    check(s, JOB_STEP_SETUP, prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
    if (getppid() != s->keeper_pid) _exit(127); /* I3 */
    umask(s->inherited->umask);
    if (chdir(s->launch->directory) < 0) fail_at_path(s, JOB_STEP_DIRECTORY, 0, s->launch->directory);
    open_standard(s);
    if (s->limits_data) check(s, JOB_STEP_SETUP, setrlimit(RLIMIT_DATA, &s->data));
    if (s->cpus != NULL) check(s, JOB_STEP_CPUS, sched_setaffinity(0, s->cpus_size, s->cpus));
    if (s->terminal_fd >= 0) check(s, JOB_STEP_SETUP, fcntl(s->terminal_fd, F_SETFD, 0)); /* I2 */
    append_start_record(s);                                                               /* I5 */
    exec_program(s);
    fail(s, JOB_STEP_EXEC);
}

/* --- in the keeper ------------------------------------------------------------------------------------------------ */

/* The mask has room for the highest CPU number, and is no smaller than the fixed cpu_set_t. */
static void make_cpu_mask(struct job_setup *s, const struct idset *cpus)
{
    uint32_t range_count = cpus->ranges.count;
    if (range_count == 0) return;
    uint32_t cpu_count = cpus->ranges.items[range_count - 1].last + 1;
    if (cpu_count < CPU_SETSIZE) cpu_count = CPU_SETSIZE;
    s->cpus_size = CPU_ALLOC_SIZE(cpu_count);
    s->cpus = mem_resize(NULL, 0, s->cpus_size);
    for (uint32_t i = 0; i < range_count; i++) {
        struct idset_range range = cpus->ranges.items[i];
        for (uint32_t cpu = range.first; cpu <= range.last; cpu++) CPU_SET_S(cpu, s->cpus_size, s->cpus);
    }
}

static void set_procs_path(const struct cgroup *group, char out[PATH_MAX])
{
    out[0] = '\0';
    if (group->path[0] != '\0' && text_format(out, PATH_MAX, "%s/cgroup.procs", group->path) >= PATH_MAX) out[0] = '\0';
}

/* Without a group that has the memory limit, each process has one of its data, unless it has a lower one already. */
static void limit_data(struct job_setup *s)
{
    const rlim_t limit = s->launch->mem_limit_kib > 0 ? launch_data_limit(s->launch->mem_limit_kib) : RLIM_INFINITY;
    if (getrlimit(RLIMIT_DATA, &s->data) != 0 || limit >= s->data.rlim_max) return;
    s->data.rlim_max = limit;
    if (s->data.rlim_cur > limit) s->data.rlim_cur = limit;
    s->limits_data = true;
}

/* In the control group, if that is possible; else it is removed, and its path becomes empty. A process that changes its
 * identity does not share the keeper's memory, so that no user can reach into it. */
static pid_t fork_job(struct cgroup *group, struct job_setup *s)
{
    pid_t pid = -1;
    int fd = group->path[0] == '\0' ? -1 : open(group->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!s->changes_identity && (fd >= 0 || group->path[0] == '\0')) pid = process_clone(fd, child_main, s);
    if (fd >= 0 && pid < 0) pid = process_clone_fork(fd);
    if (fd >= 0 && pid != 0) close(fd);
    if (pid >= 0) return pid;
    (void)cgroup_remove(group);
    group->path[0] = '\0';
    if (s->memory_procs[0] == '\0') limit_data(s); /* the group was to have the limit */
    return fork();
}

int job_process_fork(const struct launch *launch, const struct launch_command *command,
                     const struct job_surroundings *surroundings, struct cgroup *group, int log_fd,
                     struct buf *start_line, struct job_process *out, struct err *e)
{
    static struct job_setup s; /* the job's process may use it after this function has returned (I1) */
    int report[2];
    mem_free(s.cpus); /* of the launch before */
    s = (struct job_setup){.launch = launch,
                           .command = command,
                           .inherited = surroundings->inherited,
                           .changes_identity = surroundings->rules->is_system,
                           .rules = surroundings->rules,
                           .keeper_pid = getpid(),
                           .log_fd = log_fd,
                           .state_fd = surroundings->state_fd,
                           .terminal_fd = -1,
                           .start_line = start_line};
    if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot create a pipe to the job: %s", strerror(errno));
    s.report_fd = report[1];
    if (launch->terminal != LAUNCH_NO_TERMINAL &&
        job_terminal_open(surroundings->state_fd, launch, &s.terminal_fd, e)) {
        close(report[0]), close(report[1]);
        return -1;
    }
    if (s.terminal_fd >= 0) text_format(command->relay_socket, LAUNCH_RELAY_SOCKET_SIZE, "%d", s.terminal_fd);
    set_procs_path(&surroundings->groups->memory, s.memory_procs);
    set_procs_path(&surroundings->groups->cpuset, s.cpuset_procs);
    if (!surroundings->groups->enforces_memory) limit_data(&s);
    make_cpu_mask(&s, &launch->cpus);
    pid_t pid = fork_job(group, &s);
    if (pid == 0) child_main(&s);
    int error_number = errno;
    close(report[1]);
    if (s.terminal_fd >= 0) close(s.terminal_fd);
    *out = (struct job_process){.pid = pid, .report_fd = report[0]};
    if (pid > 0) return 0;
    close(report[0]);
    out->report_fd = -1;
    return err_set(e, ERR_UNAVAILABLE, "cannot start a process for the job: %s", strerror(error_number));
}

bool job_process_failed_for_machine(const struct job_report *report)
{
    if (report->has_identity) return report->is_state_disk; /* I6 */
    switch ((enum job_step)report->step) {
    case JOB_STEP_IDENTITY:
        return job_identity_failed_for_machine((enum job_identity_fault)report->fault, report->error_number);
    case JOB_STEP_SETUP:
    case JOB_STEP_RECORD: return true;
    case JOB_STEP_EXEC:
        if (report->error_number == EAGAIN) return false; /* execve(2): the user is beyond RLIMIT_NPROC */
        break;
    case JOB_STEP_OUTPUT:
    case JOB_STEP_ERROR_OUTPUT:
    case JOB_STEP_DIRECTORY:
    case JOB_STEP_CPUS: break;
    }
    return report->is_state_disk || shortage_of_kernel(report->error_number);
}

/* A path, or the name of a program, without the middle of a long one: what failed comes behind it. */
static const char *shown(const char *path, char out[SHOWN_SIZE])
{
    static const char gap[] = " ... ";
    enum { HALF = (SHOWN_SIZE - sizeof gap) / 2 };
    size_t length = strlen(path), head = HALF, tail = length - HALF;
    if (length < SHOWN_SIZE) return path;
    while (head > 0 && ((unsigned char)path[head] & 0xc0) == 0x80) head--; /* within a character of UTF-8 */
    while (tail < length && ((unsigned char)path[tail] & 0xc0) == 0x80) tail++;
    text_format(out, SHOWN_SIZE, "%.*s%s%s", (int)head, path, gap, path + tail);
    return out;
}

static void explain_output(const struct job_report *report, const char *kind, const char *path, char *out, size_t size)
{
    char short_path[SHOWN_SIZE];
    text_format(out, size, "cannot open %s %s: %s", kind, shown(path, short_path),
                job_output_explain((enum job_output_fault)report->fault, report->error_number));
}

static void explain_exec(const struct launch *launch, const struct launch_command *command, int error_number, char *out,
                         size_t size)
{
    char short_name[SHOWN_SIZE];
    const char *program = shown(command->arguments[0], short_name);
    bool is_script = launch->script.length > 0;
    size_t length = strlen(program);
    if (is_script && error_number == ENOENT && length > 0 && program[length - 1] == '\r') {
        text_format(out, size, "no interpreter '%.*s\\r': the script's lines end with CR LF; convert them to LF",
                    (int)length - 1, program);
    } else if (error_number == E2BIG) {
        text_format(out, size, "cannot run %s: arguments and environment together are too large for Linux", program);
    } else {
        text_format(out, size, "cannot run %s%s: %s", is_script ? "the script's interpreter " : "", program,
                    strerror(error_number));
    }
}

void job_process_explain(const struct job_report *report, const struct launch *launch,
                         const struct launch_command *command, char *out, size_t size)
{
    const char *why = strerror(report->error_number);
    char short_path[SHOWN_SIZE];
    switch ((enum job_step)report->step) {
    case JOB_STEP_SETUP: text_format(out, size, "cannot set up the job's process: %s", why); break;
    case JOB_STEP_RECORD: text_format(out, size, "cannot write to the record log: %s", why); break;
    case JOB_STEP_IDENTITY:
        job_identity_explain((enum job_identity_fault)report->fault, report->error_number, launch->uid, launch->gid,
                             out, size);
        break;
    case JOB_STEP_OUTPUT: explain_output(report, "output", launch->out_path, out, size); break;
    case JOB_STEP_ERROR_OUTPUT: explain_output(report, "error output", launch->err_path, out, size); break;
    case JOB_STEP_DIRECTORY:
        text_format(out, size, "cannot enter directory %s: %s", shown(launch->directory, short_path), why);
        break;
    case JOB_STEP_CPUS: {
        struct buf cpus = {0};
        idset_format(&launch->cpus, &cpus);
        text_format(out, size, "cannot bind to CPUs %s: %s", cpus.text ? cpus.text : "", why);
        buf_release(&cpus);
        break;
    }
    case JOB_STEP_EXEC: explain_exec(launch, command, report->error_number, out, size); break;
    }
}
