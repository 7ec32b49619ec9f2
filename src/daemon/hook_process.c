#include "daemon/hook_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/text.h"
#include "exec/clock.h"

enum {
    EXEC_FAILED = 127,
    ERR_BYTES_MAX = 4096, /* that are kept of standard error; the rest is read and dropped */
    READ_BYTES = 4096,
    WRITE_BYTES = 1 << 16, /* a pipe has no more room */
    KILL_WAIT_S = 1
};

struct hook_process {
    pid_t pid;           /* also the group's */
    int pidfd;           /* readable once it has ended */
    int to, from, start; /* pipes: standard input, standard error, the error of execve; -1: closed */
    struct str rest;     /* of the input */
    size_t length;
    char text[ERR_BYTES_MAX]; /* of standard error */
};

enum hook_wait { WAIT_ENDED, WAIT_LATE, WAIT_STOPPED };

/* --- the process -------------------------------------------------------------------------------------------------- */

struct hook_pipes {
    int to[2], from[2], start[2];
};

static void close_one(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_pipes(struct hook_pipes *p)
{
    for (int end = 0; end < 2; end++) {
        close_one(&p->to[end]);
        close_one(&p->from[end]);
        close_one(&p->start[end]);
    }
}

static bool open_pipes(struct hook_pipes *p)
{
    *p = (struct hook_pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe2(p->to, O_CLOEXEC) == 0 && pipe2(p->from, O_CLOEXEC) == 0 && pipe2(p->start, O_CLOEXEC) == 0 &&
        fcntl(p->to[1], F_SETFL, O_NONBLOCK) == 0 && fcntl(p->from[0], F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(p->start[0], F_SETFL, O_NONBLOCK) == 0)
        return true;
    close_pipes(p);
    return false;
}

/* In the child, which shares the memory of the daemon: only system calls. Signals stay blocked until they have their
 * default actions, because a handler would run in that memory. */
static _Noreturn void run_program(const struct hook_order *order, const struct hook_pipes *pipes, pid_t parent)
{
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                language[] = "LANG=C.UTF-8";
    char *const environment[] = {path, language, NULL}, *const arguments[] = {(char *)order->path, NULL};
    sigset_t none;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) (void)signal(number, SIG_DFL);
    bool is_ready = null >= 0 && setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
                    dup2(pipes->to[0], STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
                    dup2(pipes->from[1], STDERR_FILENO) >= 0 && chdir("/") == 0 &&
                    setrlimit(RLIMIT_NOFILE, &order->file_limit) == 0 && sigprocmask(SIG_SETMASK, &none, NULL) == 0;
    if (is_ready) execve(order->path, arguments, environment);
    int error = errno;
    (void)!write(pipes->start[1], &error, sizeof error);
    _exit(EXEC_FAILED);
}

/* vfork, because a fork copies the tables of the daemon's memory, during which its loop may not get a page. It holds
 * this thread alone until execve. All descriptors of the daemon are closed by that (O_CLOEXEC). */
static __attribute__((noinline)) pid_t spawn(const struct hook_order *order, const struct hook_pipes *pipes)
{
    const pid_t parent = getpid(), pid = vfork();
    if (pid == 0) run_program(order, pipes, parent);
    return pid;
}

static bool start(struct hook_process *p, const struct hook_order *order)
{
    struct hook_pipes pipes;
    sigset_t all, before;
    if (!open_pipes(&pipes)) return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->pid = spawn(order, &pipes);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (p->pid < 0) {
        close_pipes(&pipes);
        errno = error;
        return false;
    }
    p->to = pipes.to[1];
    p->from = pipes.from[0];
    p->start = pipes.start[0];
    pipes.to[1] = pipes.from[0] = pipes.start[0] = -1;
    close_pipes(&pipes);
    p->rest = order->input;
    p->pidfd = pidfd_open(p->pid, 0);
    return p->pidfd >= 0;
}

/* --- the conversation --------------------------------------------------------------------------------------------- */

/* A program that does not read its input decides without it. */
static void write_input(struct hook_process *p)
{
    size_t length = p->rest.length < WRITE_BYTES ? p->rest.length : WRITE_BYTES;
    ssize_t written = write(p->to, p->rest.text, length);
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (written > 0) p->rest = (struct str){p->rest.text + written, p->rest.length - (size_t)written};
    if (written <= 0 || p->rest.length == 0) close_one(&p->to);
}

/* Returns whether there may be more now. */
static bool read_error(struct hook_process *p)
{
    char bytes[READ_BYTES];
    ssize_t got = read(p->from, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
        close_one(&p->from);
        return false;
    }
    size_t room = sizeof p->text - p->length, length = (size_t)got < room ? (size_t)got : room;
    memcpy(p->text + p->length, bytes, length);
    p->length += length;
    return true;
}

/* What its descendants have open still is no reason to wait, once the program itself has ended. */
static enum hook_wait converse(struct hook_process *p, int stop_fd, int64_t until_us)
{
    for (;;) {
        struct pollfd fds[] = {{.fd = p->pidfd, .events = POLLIN},
                               {.fd = stop_fd, .events = POLLIN},
                               {.fd = p->from, .events = POLLIN},
                               {.fd = p->to, .events = POLLOUT}};
        if (clock_boot_us() >= until_us) return WAIT_LATE;
        if (poll(fds, sizeof fds / sizeof *fds, clock_poll_timeout_ms(until_us)) < 0) continue;
        if (fds[1].revents != 0) return WAIT_STOPPED;
        if (fds[0].revents != 0) return WAIT_ENDED;
        if (p->from >= 0 && fds[2].revents != 0) (void)read_error(p);
        if (p->to >= 0 && fds[3].revents != 0) write_input(p);
    }
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* Kills what is left of the group, of which the program keeps the number until it is waited for. -1: the program does
 * not end (a disk or a file system that does not answer). */
static int end_group(const struct hook_process *p)
{
    struct pollfd end = {.fd = p->pidfd, .events = POLLIN};
    const int64_t until_us = clock_boot_us() + KILL_WAIT_S * US_PER_S;
    int status = 0;
    if (p->pid <= 0) return -1;
    (void)kill(-p->pid, SIGKILL);
    while (p->pidfd >= 0 && poll(&end, 1, clock_poll_timeout_ms(until_us)) <= 0) {
        if (clock_boot_us() >= until_us) return -1;
    }
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

/* The first line of standard error, with '?' for what is not printable. */
static void copy_line(const struct hook_process *p, char out[HOOK_LINE_SIZE])
{
    struct str text = str_trim((struct str){p->text, p->length}), unused, rest = str_trim(str_cut(text, '\n', &unused));
    size_t length = 0;
    while (rest.length > 0) {
        size_t bytes = str_utf8(rest);
        bool is_shown = bytes > 0 && str_is_printable((struct str){rest.text, bytes});
        if (bytes == 0) bytes = 1;
        if (length + bytes >= HOOK_LINE_SIZE) break;
        if (is_shown)
            memcpy(out + length, rest.text, bytes);
        else
            out[length] = '?';
        length += is_shown ? bytes : 1;
        rest = (struct str){rest.text + bytes, rest.length - bytes};
    }
    out[length] = '\0';
}

static void judge(const struct hook_process *p, int status, struct hook_result *out)
{
    int error = 0;
    if (read(p->start, &error, sizeof error) == sizeof error) {
        text_format(out->line, sizeof out->line, "cannot be started: %s", strerror(error));
        return;
    }
    if (!WIFEXITED(status)) {
        text_format(out->line, sizeof out->line, "was ended by signal %d", WTERMSIG(status));
        return;
    }
    out->end = WEXITSTATUS(status) == 0 ? HOOK_ACCEPTED : HOOK_REFUSED;
    copy_line(p, out->line);
    if (out->line[0] == '\0')
        text_format(out->line, sizeof out->line, "it gives no reason (exit status %d)", WEXITSTATUS(status));
}

/* What its descendants write after its end is not read for ever: only as much as is kept. */
static void read_rest(struct hook_process *p)
{
    while (p->from >= 0 && p->length < sizeof p->text && read_error(p)) continue;
}

static void converse_and_judge(struct hook_process *p, const struct hook_order *order, struct hook_result *out)
{
    const int64_t until_us = clock_boot_us() + order->time_limit_s * US_PER_S;
    enum hook_wait wait = converse(p, order->stop_fd, until_us);
    int status = end_group(p);
    if (wait == WAIT_ENDED) {
        read_rest(p);
        judge(p, status, out);
    } else if (wait == WAIT_STOPPED) {
        out->end = HOOK_STOPPED;
    } else {
        text_format(out->line, sizeof out->line, "was killed, because it had not ended after %lld s",
                    (long long)order->time_limit_s);
    }
}

void hook_process_run(const struct hook_order *order, struct hook_result *out)
{
    struct hook_process p = {.pidfd = -1, .to = -1, .from = -1, .start = -1};
    *out = (struct hook_result){.end = HOOK_FAILED};
    if (start(&p, order)) {
        converse_and_judge(&p, order, out);
    } else {
        text_format(out->line, sizeof out->line, "cannot be started: %s", strerror(errno));
        (void)end_group(&p);
    }
    close_one(&p.to);
    close_one(&p.from);
    close_one(&p.start);
    close_one(&p.pidfd);
}
