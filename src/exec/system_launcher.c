/* Starts a system launcher, for a daemon that was started by root outside of systemd.
 *
 * Whether a launcher serves the directory is asked of its lock: to connect would take the place of its daemon's
 * connection. A launcher that fails says why in one line of its log, which is the error here. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "exec/clock.h"
#include "exec/executor.h"
#include "exec/launcher_spawn.h"

#define START_WAIT_US (5 * US_PER_S)
#define LOOK_US INT64_C(10000)

static int io_error(const char *action, const char *directory, const char *name, struct err *e)
{
    return err_set(e, ERR_IO, "cannot %s %s%s: %s", action, directory, name, strerror(errno));
}

/* The launcher checks more. This is enough to write a log there. */
static int open_directory(const char *path, int *out_fd, struct err *e)
{
    struct stat s;
    if (mkdir(path, 0700) == 0) {
        if (chmod(path, 0711) < 0) return io_error("create", path, "", e);
    } else if (errno != EEXIST) {
        return io_error("create", path, "", e);
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return io_error("open", path, "", e);
    bool is_closed = fstat(fd, &s) == 0 && s.st_uid == 0 && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (is_closed) {
        *out_fd = fd;
        return 0;
    }
    close(fd);
    return err_set(e, ERR_DENIED,
                   "state directory %s can be written by others than root: run 'chown root %s' and 'chmod "
                   "711 %s'",
                   path, path, path);
}

/* Whether a launcher has the directory's lock; false if that is not known. */
static bool is_served(int directory_fd)
{
    int fd = openat(directory_fd, "launcher.lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    bool is_locked = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_locked;
}

static bool is_listening(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_connected = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    if (fd >= 0) close(fd);
    return is_connected;
}

/* The first line that the log has from the offset on; false: there is none yet. */
static bool read_message(int log_fd, off_t offset, char *out, size_t size)
{
    ssize_t n = pread(log_fd, out, size - 1, offset);
    char *end = n > 0 ? memchr(out, '\n', (size_t)n) : NULL;
    if (end != NULL) *end = '\0';
    return end != NULL;
}

static int wait_for_launcher(const char *directory, int log_fd, off_t log_offset, struct err *e)
{
    struct sockaddr_un address;
    char message[800];
    if (launcher_spawn_address(directory, &address, e)) return -1;
    int64_t until_us = clock_read_us(CLOCK_MONOTONIC) + START_WAIT_US;
    while (!is_listening(&address)) {
        if (read_message(log_fd, log_offset, message, sizeof message))
            return err_set(e, ERR_UNAVAILABLE, "%s", message);
        if (clock_read_us(CLOCK_MONOTONIC) >= until_us) {
            return err_set(e, ERR_UNAVAILABLE,
                           "the launcher does not listen at %s within %d s: look into %s/launcher.log",
                           address.sun_path, (int)(START_WAIT_US / US_PER_S), directory);
        }
        nanosleep(&(struct timespec){.tv_nsec = LOOK_US * NS_PER_US}, NULL);
    }
    return 0;
}

static int start(const struct system_launcher *l, int directory_fd, struct err *e)
{
    char *arguments[10] = {(char *)l->path,        "--system", "--state", (char *)l->directory, "--daemon-user",
                           (char *)l->daemon_user, NULL};
    size_t count = 6;
    if (l->allow_root) arguments[count++] = "--allow-root";
    if (l->cgroup != NULL) {
        arguments[count++] = "--cgroup";
        arguments[count++] = (char *)l->cgroup;
    }
    int log_fd = openat(directory_fd, "launcher.log", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0) return io_error("open", l->directory, "/launcher.log", e);
    off_t log_offset = lseek(log_fd, 0, SEEK_END);
    int result = launcher_spawn(arguments, log_fd, e);
    if (result == 0) result = wait_for_launcher(l->directory, log_fd, log_offset, e);
    close(log_fd);
    return result;
}

int executor_start_system_launcher(const struct system_launcher *launcher, struct err *e)
{
    int fd;
    const char *directory = launcher->directory;
    if (geteuid() != 0) return err_set(e, ERR_DENIED, "only root can start a launcher that serves all users");
    if (directory[0] != '/') return err_value(e, "state directory", str(directory), "an absolute path");
    if (open_directory(directory, &fd, e)) return -1;
    int result = is_served(fd) ? 0 : start(launcher, fd, e);
    close(fd);
    return result;
}
