/* One fork is enough to detach. The child becomes a session leader, so a closing terminal does not signal it, and init
 * inherits it when this process ends. Until then waitpid reports whether it has ended. */
#include "cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/text.h"

enum { PATH_SIZE = 4096, TAIL_BYTES = 8192, TAIL_LINES = 10 };

/* DIRECTORY/NAME in the arena, if it is an executable file, else NULL. */
static const char *runnable_in(struct str directory, const char *name, struct arena *a)
{
    char path[PATH_SIZE];
    struct stat found;
    if (directory.length == 0) return NULL;
    if (text_format(path, sizeof path, "%.*s/%s", (int)directory.length, directory.text, name) >= sizeof path)
        return NULL;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || access(path, X_OK) != 0) return NULL;
    return arena_copy(a, str(path));
}

const char *spawn_find_program(const char *name, struct arena *a)
{
    char self[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *found = NULL;
    if (length > 0) {
        self[length] = '\0';
        found = runnable_in(str_range(self, strrchr(self, '/')), name, a);
    }
    struct str rest = str(getenv("PATH"));
    while (found == NULL && rest.text != NULL) found = runnable_in(str_cut(rest, ':', &rest), name, a);
    return found;
}

int spawn_make_directory(const char *path, struct err *e)
{
    char part[PATH_SIZE];
    ensure(path[0] == '/');
    if (text_format(part, sizeof part, "%s", path) >= sizeof part)
        return err_set(e, ERR_INPUT, "the path is too long: %.60s...", path);
    for (char *p = part + 1;; p++) {
        if (*p != '/' && *p != '\0') continue;
        bool is_last = *p == '\0';
        *p = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return err_set(e, ERR_IO, "cannot create the directory %s: %s", part, strerror(errno));
        if (is_last) break;
        *p = '/';
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return err_set(e, ERR_INPUT, "%s is not a directory", path);
    return 0;
}

/* In the child: executes the program. */
_Noreturn static void execute(const struct spawn *s, int log)
{
    setsid();
    int empty = open("/dev/null", O_RDONLY);
    if (empty >= 0) dup2(empty, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close_range(3, ~0u, 0);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (chdir("/") == 0) execv(s->program, s->arguments);
    _exit(SPAWN_NOT_RUN);
}

int spawn_run(struct spawn *s, struct err *e)
{
    ensure(s->pid == 0 && s->arguments[0] != NULL);
    struct stat info;
    int log = open(s->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    bool is_special = log >= 0 ? fstat(log, &info) != 0 || !S_ISREG(info.st_mode) : errno == ENXIO;
    if (is_special && log >= 0) close(log);
    if (is_special) return err_set(e, ERR_INPUT, "%s: is no regular file; remove it", s->log_path);
    if (log < 0) return err_set(e, ERR_IO, "%s: %s", s->log_path, strerror(errno));
    s->log_start = (long)lseek(log, 0, SEEK_END);
    s->pid = fork();
    if (s->pid == 0) execute(s, log);
    close(log);
    return s->pid > 0 ? 0 : err_set(e, ERR_IO, "cannot start a process: %s", strerror(errno));
}

int spawn_has_ended(const struct spawn *s, char *out_end, size_t size, int *out_status)
{
    int status;
    if (waitpid(s->pid, &status, WNOHANG) != s->pid) return 0;
    *out_status = WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
        text_format(out_end, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        text_format(out_end, size, "exit status %d", WEXITSTATUS(status));
    }
    return 1;
}

const char *spawn_log_tail(const struct spawn *s, struct arena *a)
{
    char bytes[TAIL_BYTES];
    int log = open(s->log_path, O_RDONLY | O_CLOEXEC);
    if (log < 0) return "";
    off_t end = lseek(log, 0, SEEK_END), start = end - TAIL_BYTES > s->log_start ? end - TAIL_BYTES : s->log_start;
    ssize_t length = pread(log, bytes, sizeof bytes, start);
    close(log);
    if (length <= 0) return "";

    struct str tail = str_trim((struct str){bytes, (size_t)length});
    const char *from = tail.text + tail.length;
    for (int lines = 0; from > tail.text; from--) {
        if (from[-1] == '\n' && ++lines == TAIL_LINES) break;
    }
    return arena_copy(a, str_range(from, tail.text + tail.length));
}

_Noreturn void spawn_become(char *const *arguments, int output, int errors)
{
    sigset_t none;
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close_range(3, ~0u, 0);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(arguments[0], arguments);
    _exit(SPAWN_NOT_RUN);
}
