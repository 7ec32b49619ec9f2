#include "terminal/relay_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"

enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

/* --- in the program's process ------------------------------------------------------------------------------------- */

static void unblock_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void fail(const char *program)
{
    char line[512];
    int error_number = errno;
    size_t length = text_format(line, sizeof line, "fairlead: cannot run %s: %s\n", program, strerror(error_number));
    if (length >= sizeof line) length = sizeof line - 1;
    (void)!write(STDERR_FILENO, line, length);
    _exit(error_number == ENOENT || error_number == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* With pipes the program stays in the relay's session, which keeps its group from being an orphaned one: SIGTSTP would
 * not stop that. */
static _Noreturn void run_program(const int fds[3], bool has_pty, pid_t relay_pid, char **arguments)
{
    if (has_pty ? setsid() < 0 : setpgid(0, 0) < 0) fail(arguments[0]);
    for (int i = 0; i < 3; i++) {
        if (dup2(fds[i], i) < 0) fail(arguments[0]);
    }
    if (has_pty && ioctl(0, TIOCSCTTY, 0) < 0) fail(arguments[0]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) fail(arguments[0]);
    if (getppid() != relay_pid) _exit(EXIT_NOT_FOUND);
    unblock_signals();
    execvp(arguments[0], arguments);
    fail(arguments[0]);
}

/* --- in the relay ------------------------------------------------------------------------------------------------- */

void relay_child_set_size(const struct relay_child *c, uint16_t rows, uint16_t columns)
{
    const struct winsize size = {.ws_row = rows, .ws_col = columns};
    if (c->has_pty && c->out_fd >= 0) (void)ioctl(c->out_fd, TIOCSWINSZ, &size);
}

static int open_pty(struct relay_child *c, int out_fds[3])
{
    struct termios modes;
    c->out_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (c->out_fd < 0 || grantpt(c->out_fd) < 0 || unlockpt(c->out_fd) < 0) return -1;
    c->slave_fd = ioctl(c->out_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (c->slave_fd < 0 || fcntl(c->out_fd, F_SETFL, O_NONBLOCK) < 0) return -1;
    if (tcgetattr(c->slave_fd, &modes) == 0) {
        modes.c_iflag |= IUTF8;
        (void)tcsetattr(c->slave_fd, TCSANOW, &modes);
    }
    c->in_fd = c->out_fd;
    out_fds[0] = out_fds[1] = out_fds[2] = c->slave_fd;
    return 0;
}

/* The relay's ends do not block. */
static int open_pipes(struct relay_child *c, int out_fds[3])
{
    int in[2], out[2], err[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) return -1;
    c->in_fd = in[1], c->out_fd = out[0], c->err_fd = err[0];
    out_fds[0] = in[0], out_fds[1] = out[1], out_fds[2] = err[1];
    if (fcntl(c->in_fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(c->out_fd, F_SETFL, O_NONBLOCK) < 0) return -1;
    return fcntl(c->err_fd, F_SETFL, O_NONBLOCK);
}

int relay_child_start(struct relay_child *c, bool has_pty, uint16_t rows, uint16_t columns, char **arguments)
{
    const pid_t relay_pid = getpid();
    int fds[3];
    *c = (struct relay_child){.has_pty = has_pty, .in_fd = -1, .out_fd = -1, .err_fd = -1, .slave_fd = -1};
    if ((has_pty ? open_pty(c, fds) : open_pipes(c, fds)) < 0) return -1;
    relay_child_set_size(c, rows, columns);
    c->pid = fork();
    if (c->pid == 0) run_program(fds, has_pty, relay_pid, arguments);
    if (c->pid < 0) return -1;
    if (has_pty) return 0;
    (void)setpgid(c->pid, c->pid); /* as the program does: a signal may be sent before it has */
    for (int i = 0; i < 3; i++) close(fds[i]);
    return 0;
}

static void signal_group(pid_t group, int number)
{
    if (group > 1) (void)kill(-group, number);
}

void relay_child_signal(const struct relay_child *c, int number)
{
    pid_t group = c->pid;
    if (c->pid == 0 || c->has_ended) return;
    if (c->has_pty && ioctl(c->out_fd, TIOCGPGRP, &group) < 0) group = c->pid;
    signal_group(group, number);
}

void relay_child_hang_up(const struct relay_child *c)
{
    if (c->pid == 0 || c->has_ended) return;
    relay_child_signal(c, SIGHUP);
    relay_child_signal(c, SIGCONT);
    if (!c->has_pty) return;
    (void)kill(c->pid, SIGHUP);
    (void)kill(c->pid, SIGCONT);
}

void relay_child_reap(struct relay_child *c)
{
    if (c->pid == 0 || c->has_ended || waitpid(c->pid, &c->status, WNOHANG) != c->pid) return;
    c->has_ended = true;
    if (c->slave_fd >= 0) close(c->slave_fd);
    c->slave_fd = -1;
}

void relay_child_die(int number)
{
    const struct rlimit none = {0, 0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    (void)setrlimit(RLIMIT_CORE, &none); /* the program has written its own */
    (void)signal(number, SIG_DFL);
    (void)kill(getpid(), number);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(EXIT_SIGNAL + number);
}

void relay_child_imitate(const struct relay_child *c)
{
    if (WIFSIGNALED(c->status)) relay_child_die(WTERMSIG(c->status));
    _exit(WEXITSTATUS(c->status));
}
