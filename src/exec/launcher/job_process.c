/* The job's process between fork and exec.
 *
 *     keeper                         job's process
 *     fork ------------------------> session, signals, identity, directory, output, CPUs
 *          <------------- JOB_STEP_READY
 *     start record, synced
 *     a byte ----------------------> exec
 *          <-- end of the pipe (the program runs), or JOB_STEP_EXEC with errno
 *
 *  I1  Between fork and exec only async-signal-safe functions are called: memory, lists and masks are prepared before
 *      the fork.
 *  I2  The program gets the descriptors 0, 1 and 2 and no other, default signals (process_signals.h), and the limits
 *      and the umask that the launcher was started with.
 *  I3  The process dies with its keeper (PR_SET_PDEATHSIG), even if the keeper dies before that is set.
 *  I4  The output is opened, and the directory entered, with the identity of the user. */
#include "exec/launcher/job_process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/text.h"
#include "exec/launcher/process_signals.h"
#include "exec/launcher/shortage.h"

/* All that the child needs, prepared before the fork (I1). */
struct job_setup {
    const struct launch *launch;
    const struct launch_command *command;
    const struct inherited_attributes *inherited;
    cpu_set_t *cpus; /* NULL: all CPUs */
    size_t cpus_size;
    bool changes_identity;
    gid_t *groups;
    int group_count;
    pid_t keeper_pid;
    int report_fd, go_fd;
};

/* --- in the child ------------------------------------------------------------------------------------------------- */

static _Noreturn void fail(const struct job_setup *s, enum job_step step)
{
    struct job_report report = {.step = (int)step, .error_number = errno};
    (void)!write(s->report_fd, &report, sizeof report);
    _exit(127);
}

static void check(const struct job_setup *s, enum job_step step, int result)
{
    if (result < 0) fail(s, step);
}

static void take_identity(const struct job_setup *s)
{
    const struct launch *l = s->launch;
    if (!s->changes_identity) return;
    check(s, JOB_STEP_IDENTITY, setgroups((size_t)s->group_count, s->groups));
    check(s, JOB_STEP_IDENTITY, setresgid(l->gid, l->gid, l->gid));
    check(s, JOB_STEP_IDENTITY, setresuid(l->uid, l->uid, l->uid));
    uid_t real, effective, saved;
    gid_t real_g, effective_g, saved_g;
    check(s, JOB_STEP_IDENTITY, getresuid(&real, &effective, &saved));
    check(s, JOB_STEP_IDENTITY, getresgid(&real_g, &effective_g, &saved_g));
    errno = EPERM;
    if (real != l->uid || effective != l->uid || saved != l->uid) fail(s, JOB_STEP_IDENTITY);
    if (real_g != l->gid || effective_g != l->gid || saved_g != l->gid) fail(s, JOB_STEP_IDENTITY);
    if (l->uid != 0 && setuid(0) == 0) fail(s, JOB_STEP_IDENTITY);
}

/* exec resets what is handled, and process_signals_init has reset what the launcher was started with. So only what the
 * launcher itself ignores is left. */
static void reset_signals(void)
{
    sigset_t none;
    process_signals_heed();
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int open_output(const struct job_setup *s, const char *path, enum job_step step)
{
    /* O_NONBLOCK: a fifo without a reader is refused; otherwise the job would wait for a reader without limit. */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    check(s, step, fd);
    int flags = fcntl(fd, F_GETFL);
    check(s, step, flags < 0 ? -1 : fcntl(fd, F_SETFL, flags & ~O_NONBLOCK));
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
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    check(s, JOB_STEP_SETUP, in);
    int out = open_output(s, s->launch->out_path, JOB_STEP_OUTPUT), err = out;
    if (s->launch->err_path != NULL) {
        err = open_output(s, s->launch->err_path, JOB_STEP_ERROR_OUTPUT);
        if (is_same_file(out, err)) err = out;
    }
    /* Descriptors 0 to 2 are open in the launcher, so none of in, out and err is one of these. */
    check(s, JOB_STEP_SETUP, dup2(in, 0));
    check(s, JOB_STEP_SETUP, dup2(out, 1));
    check(s, JOB_STEP_SETUP, dup2(err, 2));
}

static void wait_for_go(const struct job_setup *s)
{
    char byte;
    ssize_t n;
    do n = read(s->go_fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1) _exit(127); /* the keeper is gone, or refuses the start */
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

static _Noreturn void child_main(const struct job_setup *s)
{
    check(s, JOB_STEP_SETUP, setsid() < 0 ? -1 : 0);
    reset_signals();
    take_identity(s);
    /* After the identity, because a change of identity clears it. */
    check(s, JOB_STEP_SETUP, prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
    if (getppid() != s->keeper_pid) _exit(127); /* I3 */
    umask(s->inherited->umask);
    check(s, JOB_STEP_DIRECTORY, chdir(s->launch->directory));
    open_standard(s);
    check(s, JOB_STEP_SETUP, setrlimit(RLIMIT_NOFILE, &s->inherited->open_files));
    if (s->cpus != NULL) check(s, JOB_STEP_CPUS, sched_setaffinity(0, s->cpus_size, s->cpus));
    struct job_report ready = {.step = JOB_STEP_READY};
    if (write(s->report_fd, &ready, sizeof ready) != (ssize_t)sizeof ready) _exit(127);
    wait_for_go(s);
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

/* Finds the user's groups in the user database. A user who is not in it has only the group of the launch. */
static void find_groups(struct job_setup *s)
{
    const struct launch *l = s->launch;
    s->changes_identity = geteuid() != l->uid || getegid() != l->gid || getuid() != l->uid || getgid() != l->gid;
    if (!s->changes_identity) return;
    enum { GROUPS_FIRST_TRY = 64, GROUPS_MAX = 65536 }; /* GROUPS_MAX: NGROUPS_MAX of Linux */
    const struct passwd *user = getpwuid(l->uid);
    for (int room = GROUPS_FIRST_TRY;; room = s->group_count) {
        s->groups = mem_resize(NULL, 0, (size_t)room * sizeof *s->groups);
        s->group_count = user != NULL ? room : 1;
        s->groups[0] = l->gid;
        if (user == NULL || getgrouplist(user->pw_name, l->gid, s->groups, &s->group_count) >= 0) return;
        ensure(s->group_count > room && s->group_count <= GROUPS_MAX);
        mem_free(s->groups);
    }
}

static void close_pair(const int pair[2])
{
    if (pair[0] >= 0) close(pair[0]);
    if (pair[1] >= 0) close(pair[1]);
}

static int fork_with_pipes(struct job_setup *s, int report[2], int go[2], struct job_process *out, struct err *e)
{
    if (pipe2(report, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0) {
        return err_set(e, ERR_UNAVAILABLE, "cannot create a pipe to the job: %s", strerror(errno));
    }
    s->report_fd = report[1];
    s->go_fd = go[0];
    pid_t pid = fork();
    if (pid < 0) return err_set(e, ERR_UNAVAILABLE, "cannot start a process for the job: %s", strerror(errno));
    if (pid == 0) {
        close(go[1]); /* otherwise wait_for_go would never see the end of the pipe */
        child_main(s);
    }
    *out = (struct job_process){.pid = pid, .report_fd = report[0], .go_fd = go[1]};
    report[0] = go[1] = -1;
    return 0;
}

int job_process_fork(const struct launch *launch, const struct launch_command *command,
                     const struct inherited_attributes *inherited, struct job_process *out, struct err *e)
{
    struct job_setup s = {.launch = launch, .command = command, .inherited = inherited, .keeper_pid = getpid()};
    int report[2] = {-1, -1}, go[2] = {-1, -1};
    make_cpu_mask(&s, &launch->cpus);
    find_groups(&s);
    int result = fork_with_pipes(&s, report, go, out, e);
    close_pair(report);
    close_pair(go);
    mem_free(s.cpus);
    mem_free(s.groups);
    return result;
}

/* Whether a path is on the disk of an open directory. The path itself may not exist. */
static bool is_on_disk_of(int fd, const char *path)
{
    struct stat s, disk;
    char parent[LAUNCH_PATH_MAX + 1];
    if (fstat(fd, &disk) < 0) return false;
    if (stat(path, &s) == 0) return s.st_dev == disk.st_dev;
    const char *slash = strrchr(path, '/');
    text_format(parent, sizeof parent, "%.*s/", slash == NULL ? 0 : (int)(slash - path), path);
    return stat(parent, &s) == 0 && s.st_dev == disk.st_dev;
}

bool job_process_failed_for_machine(const struct job_report *report, const struct launch *launch, int state_fd)
{
    bool is_disk = shortage_of_disk(report->error_number);
    if (shortage_of_kernel(report->error_number)) return true;
    switch ((enum job_step)report->step) {
    case JOB_STEP_SETUP: return true;
    case JOB_STEP_OUTPUT: return is_disk && is_on_disk_of(state_fd, launch->out_path);
    case JOB_STEP_ERROR_OUTPUT: return is_disk && is_on_disk_of(state_fd, launch->err_path);
    case JOB_STEP_DIRECTORY: return is_disk && is_on_disk_of(state_fd, launch->directory);
    case JOB_STEP_READY:
    case JOB_STEP_IDENTITY:
    case JOB_STEP_CPUS:
    case JOB_STEP_EXEC: break;
    }
    return false;
}

static void explain_exec(const struct launch *launch, const struct launch_command *command, int error_number, char *out,
                         size_t size)
{
    const char *program = command->arguments[0];
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
    switch ((enum job_step)report->step) {
    case JOB_STEP_READY: ensure(!"a step that failed"); break;
    case JOB_STEP_SETUP: text_format(out, size, "cannot set up the job's process: %s", why); break;
    case JOB_STEP_IDENTITY:
        text_format(out, size, "cannot become user %u, group %u: %s", launch->uid, launch->gid, why);
        break;
    case JOB_STEP_OUTPUT: text_format(out, size, "cannot open output %s: %s", launch->out_path, why); break;
    case JOB_STEP_ERROR_OUTPUT: text_format(out, size, "cannot open error output %s: %s", launch->err_path, why); break;
    case JOB_STEP_DIRECTORY: text_format(out, size, "cannot enter directory %s: %s", launch->directory, why); break;
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
