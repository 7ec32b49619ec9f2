/* From fork to exec.
 *
 *     keeper                         job's process
 *     fork ------------------------> session, identity, output, directory, CPUs, signals
 *          <------------- JOB_STEP_READY
 *     start record, durable
 *     a byte ----------------------> exec
 *          <-- end of the pipe (runs) or JOB_STEP_EXEC with errno
 *
 *  I1  Between fork and exec only async-signal-safe calls are made: memory, lists and masks are ready beforehand.
 *  I2  The program gets descriptors 0, 1 and 2 and no other; default signals; the limits and umask that the launcher was
 *      started with.
 *  I3  It dies with its keeper (PR_SET_PDEATHSIG), even if the keeper died before that was asked for.
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

/* All that the child needs, made before the fork (I1). */
struct plan {
    const struct launch *launch;
    const struct launch_command *command;
    const struct inherited_attributes *inherited;
    cpu_set_t *cpus; /* NULL: all */
    size_t cpus_size;
    bool changes_identity;
    gid_t *groups;
    int group_count;
    pid_t keeper;
    int report_fd, go_fd;
};

/* ---- in the child ---- */

static _Noreturn void give_up(const struct plan *p, enum job_step step)
{
    struct job_report report = {.step = (int)step, .why = errno};
    (void)!write(p->report_fd, &report, sizeof report);
    _exit(127);
}

static void check(const struct plan *p, enum job_step step, int result)
{
    if (result < 0) give_up(p, step);
}

static void take_identity(const struct plan *p)
{
    const struct launch *l = p->launch;
    if (!p->changes_identity) return;
    check(p, JOB_STEP_IDENTITY, setgroups((size_t)p->group_count, p->groups));
    check(p, JOB_STEP_IDENTITY, setresgid(l->gid, l->gid, l->gid));
    check(p, JOB_STEP_IDENTITY, setresuid(l->uid, l->uid, l->uid));
    uid_t real, effective, saved;
    gid_t real_g, effective_g, saved_g;
    check(p, JOB_STEP_IDENTITY, getresuid(&real, &effective, &saved));
    check(p, JOB_STEP_IDENTITY, getresgid(&real_g, &effective_g, &saved_g));
    errno = EPERM;
    if (real != l->uid || effective != l->uid || saved != l->uid) give_up(p, JOB_STEP_IDENTITY);
    if (real_g != l->gid || effective_g != l->gid || saved_g != l->gid) give_up(p, JOB_STEP_IDENTITY);
    if (l->uid != 0 && setuid(0) == 0) give_up(p, JOB_STEP_IDENTITY);
}

static void default_signals(void)
{
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int signal = 1; signal < NSIG; signal++) (void)sigaction(signal, &by_default, NULL); /* not all can be set */
    /* glibc keeps two for itself and refuses them; whoever started the launcher may have ignored them all the same. */
    const char kernel_default[64] = {0};
    for (int signal = 32; signal <= 33; signal++)
        (void)syscall(SYS_rt_sigaction, signal, kernel_default, NULL, _NSIG / 8);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int open_output(const struct plan *p, const char *path, enum job_step step)
{
    /* Not waiting: a fifo that nobody reads is refused rather than holding up the start for ever. */
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    check(p, step, fd);
    int flags = fcntl(fd, F_GETFL);
    check(p, step, flags < 0 ? -1 : fcntl(fd, F_SETFL, flags & ~O_NONBLOCK));
    return fd;
}

/* One file by two names gets one description: else the two would write over each other. */
static bool same_file(int a, int b)
{
    struct stat sa, sb;
    return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static void open_standard(const struct plan *p)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    check(p, JOB_STEP_SETUP, in);
    int out = open_output(p, p->launch->out_path, JOB_STEP_OUTPUT), err = out;
    if (p->launch->err_path != NULL) {
        err = open_output(p, p->launch->err_path, JOB_STEP_ERROR_OUTPUT);
        if (same_file(out, err)) err = out;
    }
    check(p, JOB_STEP_SETUP, dup2(in, 0)); /* 0 to 2 are open in the launcher, so none of ours is one of these */
    check(p, JOB_STEP_SETUP, dup2(out, 1));
    check(p, JOB_STEP_SETUP, dup2(err, 2));
}

static void wait_for_go(const struct plan *p)
{
    char byte;
    ssize_t n;
    do n = read(p->go_fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1) _exit(127); /* the keeper is gone, or has changed its mind */
}

/* As execvp: goes on where there is no such file, remembers where there was one that may not be run. */
static void run_program(const struct plan *p)
{
    const struct launch_command *c = p->command;
    int why = ENOENT;
    for (char **program = c->programs; *program != NULL; program++) {
        execve(*program, c->arguments, c->environment);
        if (errno == ENOEXEC) {
            c->shell_arguments[1] = *program;
            execve("/bin/sh", c->shell_arguments, c->environment);
        }
        if (errno == EACCES)
            why = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR) {
            why = errno;
            break;
        }
    }
    errno = why;
}

static _Noreturn void child_main(const struct plan *p)
{
    check(p, JOB_STEP_SETUP, setsid() < 0 ? -1 : 0);
    default_signals();
    take_identity(p);
    check(p, JOB_STEP_SETUP,
          prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)); /* behind the identity, whose change clears it */
    if (getppid() != p->keeper) _exit(127);           /* I3 */
    umask(p->inherited->umask);
    check(p, JOB_STEP_DIRECTORY, chdir(p->launch->directory));
    open_standard(p);
    check(p, JOB_STEP_SETUP, setrlimit(RLIMIT_NOFILE, &p->inherited->files));
    if (p->cpus != NULL) check(p, JOB_STEP_CPUS, sched_setaffinity(0, p->cpus_size, p->cpus));
    struct job_report ready = {.step = JOB_STEP_READY};
    if (write(p->report_fd, &ready, sizeof ready) != (ssize_t)sizeof ready) _exit(127);
    wait_for_go(p);
    run_program(p);
    give_up(p, JOB_STEP_EXEC);
}

/* ---- in the keeper ---- */

/* A mask as large as the largest number needs, and at least as the fixed one. */
static void make_mask(struct plan *p, const struct idset *cpus)
{
    uint32_t ranges = cpus->ranges.count;
    if (ranges == 0) return;
    uint32_t count = cpus->ranges.items[ranges - 1].last + 1;
    if (count < CPU_SETSIZE) count = CPU_SETSIZE;
    p->cpus_size = CPU_ALLOC_SIZE(count);
    p->cpus = mem_resize(NULL, 0, p->cpus_size);
    for (uint32_t i = 0; i < ranges; i++) {
        struct idset_range range = cpus->ranges.items[i];
        for (uint32_t cpu = range.first; cpu <= range.last; cpu++) CPU_SET_S(cpu, p->cpus_size, p->cpus);
    }
}

/* The user's groups, from the user database; a user that is not in it has the one group that was given. */
static void find_groups(struct plan *p)
{
    const struct launch *l = p->launch;
    p->changes_identity = geteuid() != l->uid || getegid() != l->gid || getuid() != l->uid || getgid() != l->gid;
    if (!p->changes_identity) return;
    enum { GROUPS = 64, GROUPS_MAX = 65536 }; /* Linux takes no more */
    const struct passwd *user = getpwuid(l->uid);
    for (int room = GROUPS;; room = p->group_count) {
        p->groups = mem_resize(NULL, 0, (size_t)room * sizeof *p->groups);
        p->group_count = user != NULL ? room : 1;
        p->groups[0] = l->gid;
        if (user == NULL || getgrouplist(user->pw_name, l->gid, p->groups, &p->group_count) >= 0) return;
        ensure(p->group_count > room && p->group_count <= GROUPS_MAX);
        mem_free(p->groups);
    }
}

static void close_pair(const int pair[2])
{
    if (pair[0] >= 0) close(pair[0]);
    if (pair[1] >= 0) close(pair[1]);
}

static int fork_with_pipes(struct plan *p, int report[2], int go[2], struct job_process *out, struct err *e)
{
    if (pipe2(report, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0) {
        return err_set(e, ERR_UNAVAILABLE, "cannot make a pipe to the job: %s", strerror(errno));
    }
    p->report_fd = report[1];
    p->go_fd = go[0];
    pid_t pid = fork();
    if (pid < 0) return err_set(e, ERR_UNAVAILABLE, "cannot start a process for the job: %s", strerror(errno));
    if (pid == 0) {
        close(go[1]); /* else it would wait for itself when the keeper is gone */
        child_main(p);
    }
    *out = (struct job_process){.pid = pid, .report_fd = report[0], .go_fd = go[1]};
    report[0] = go[1] = -1;
    return 0;
}

int job_process_fork(const struct launch *launch, const struct launch_command *command,
                     const struct inherited_attributes *inherited, struct job_process *out, struct err *e)
{
    struct plan p = {.launch = launch, .command = command, .inherited = inherited, .keeper = getpid()};
    int report[2] = {-1, -1}, go[2] = {-1, -1};
    make_mask(&p, &launch->cpus);
    find_groups(&p);
    int result = fork_with_pipes(&p, report, go, out, e);
    close_pair(report);
    close_pair(go);
    mem_free(p.cpus);
    mem_free(p.groups);
    return result;
}

static void explain_exec(const struct launch *launch, const struct launch_command *command, const char *why, int code,
                         char *out, size_t size)
{
    const char *program = command->arguments[0];
    bool script = launch->script.length > 0;
    size_t length = strlen(program);
    if (script && code == ENOENT && length > 0 && program[length - 1] == '\r') {
        text_format(out, size, "the script's lines end with CR LF, as on Windows: there is no interpreter \"%.*s\\r\"",
                    (int)length - 1, program);
    } else if (code == E2BIG) {
        text_format(out, size, "cannot run %s: arguments and environment are too large", program);
    } else {
        text_format(out, size, "cannot run %s%s: %s", script ? "the script's interpreter " : "", program, why);
    }
}

void job_process_explain(const struct job_report *report, const struct launch *launch,
                         const struct launch_command *command, char *out, size_t size)
{
    const char *why = strerror(report->why);
    switch ((enum job_step)report->step) {
    case JOB_STEP_READY: ensure(report->step != JOB_STEP_READY); break;
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
    case JOB_STEP_EXEC: explain_exec(launch, command, why, report->why, out, size); break;
    }
}
