/* The launcher is started with two forks, in a session of its own, so that it is not this process's child. It
 * inherits no descriptor but its standard error.
 *
 *  I1  Between fork and exec only async-signal-safe functions are called. */
#include "exec/launcher_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "exec/launch.h"

struct launcher_spawn {
    char *const *arguments;
    int log_fd;
    int status_fd; /* gets errno if the program cannot be executed; exec closes it */
};

static _Noreturn void spawn_fail(const struct launcher_spawn *s)
{
    int error_number = errno;
    (void)!write(s->status_fd, &error_number, sizeof error_number);
    _exit(127);
}

/* Leaves open: 0 and 1 on /dev/null, 2 on the log, 3 as status_fd. The sources are first moved above 3, because a
 * daemon that was started with some of 0 to 3 closed may have opened them there. */
static int spawn_arrange_descriptors(struct launcher_spawn *s)
{
    int opened_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int null_fd = fcntl(opened_fd, F_DUPFD_CLOEXEC, 4), log_fd = fcntl(s->log_fd, F_DUPFD_CLOEXEC, 4);
    if (null_fd < 0 || log_fd < 0) return -1;
    int status_fd = fcntl(s->status_fd, F_DUPFD_CLOEXEC, 4);
    if (status_fd < 0) return -1;
    s->status_fd = status_fd;
    if (dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(log_fd, 2) < 0) return -1;
    if (dup3(status_fd, 3, O_CLOEXEC) < 0) return -1;
    s->status_fd = 3;
    return close_range(4, ~0u, 0);
}

/* In the grandchild (I1). */
static _Noreturn void spawn_exec(const struct launcher_spawn *given)
{
    struct launcher_spawn s = *given;
    if (spawn_arrange_descriptors(&s) < 0) spawn_fail(&s);
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || chdir("/") < 0) spawn_fail(&s);
    execv(s.arguments[0], s.arguments);
    spawn_fail(&s);
}

/* In the child (I1): begins a session and forks again, so that init adopts the launcher. */
static _Noreturn void spawn_detach(const struct launcher_spawn *s)
{
    if (setsid() < 0) spawn_fail(s);
    pid_t pid = fork();
    if (pid < 0) spawn_fail(s);
    if (pid == 0) spawn_exec(s);
    _exit(0);
}

/* Closes s->status_fd. status_read_fd: the other end of its pipe. */
static int spawn_fork(const struct launcher_spawn *s, int status_read_fd, struct err *e)
{
    pid_t pid = fork();
    int fork_error = errno;
    if (pid == 0) spawn_detach(s);
    close(s->status_fd);
    if (pid < 0) return err_set(e, ERR_UNAVAILABLE, "cannot start %s: %s", s->arguments[0], strerror(fork_error));
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    int error_number;
    ssize_t n;
    do n = read(status_read_fd, &error_number, sizeof error_number); /* ends when exec closes the other end */
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof error_number)
        return err_set(e, ERR_UNAVAILABLE, "cannot run %s: %s", s->arguments[0], strerror(error_number));
    return 0;
}

int launcher_spawn(char *const arguments[], int log_fd, struct err *e)
{
    int status[2];
    if (pipe2(status, O_CLOEXEC) < 0) return err_set(e, ERR_IO, "cannot create a pipe: %s", strerror(errno));
    struct launcher_spawn s = {.arguments = arguments, .log_fd = log_fd, .status_fd = status[1]};
    int result = spawn_fork(&s, status[0], e);
    close(status[0]);
    return result;
}

int launcher_spawn_private(const char *directory, const char *program, struct err *e)
{
    char log_path[LAUNCH_PATH_MAX + 1];
    char *const arguments[] = {(char *)program, "--private", "--state", (char *)directory, NULL};
    text_format(log_path, sizeof log_path, "%s/launcher.log", directory);
    struct stat log;
    int log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    bool is_special = log_fd >= 0 ? fstat(log_fd, &log) < 0 || !S_ISREG(log.st_mode) : errno == ENXIO; /* a fifo */
    if (log_fd < 0 && !is_special) return err_set(e, ERR_IO, "cannot open %s: %s", log_path, strerror(errno));
    if (is_special) {
        if (log_fd >= 0) close(log_fd);
        return err_set(e, ERR_IO, "%s is not a regular file: move it away", log_path);
    }
    int result = launcher_spawn(arguments, log_fd, e);
    close(log_fd);
    return result;
}

int launcher_spawn_address(const char *directory, struct sockaddr_un *out, struct err *e)
{
    size_t length = strlen(directory) + strlen("/launcher.sock");
    if (length >= sizeof out->sun_path) {
        return err_set(e, ERR_INPUT,
                       "the socket path %s/launcher.sock has %zu bytes; Linux accepts at most %zu: "
                       "choose a state directory with a shorter path",
                       directory, length, sizeof out->sun_path - 1);
    }
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    text_format(out->sun_path, sizeof out->sun_path, "%s/launcher.sock", directory);
    return 0;
}
