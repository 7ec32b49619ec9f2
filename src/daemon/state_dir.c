#include "daemon/state_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static const char *join(struct arena *arena, const char *a, const char *b)
{
    struct buf path = {0};
    buf_format(&path, "%s/%s", a, b);
    const char *joined = arena_copy(arena, str(path.text));
    buf_release(&path);
    return joined;
}

static int default_path(struct arena *arena, const char **out_path, struct err *e)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (base != NULL && base[0] == '/') {
        *out_path = join(arena, base, "fairlead");
    } else if (home != NULL && home[0] == '/') {
        *out_path = join(arena, home, ".local/state/fairlead");
    } else {
        return err_set(e, ERR_USAGE, "neither XDG_STATE_HOME nor HOME is an absolute path: give --state DIR");
    }
    return 0;
}

/* As mkdir -p; the last directory has mode 0700. */
static int create_directories(const char *path, struct err *e)
{
    char parent[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof parent)
        return err_set(e, ERR_INPUT, "state directory: the path has %zu bytes; 1 to %d are accepted", length,
                       PATH_MAX - 1);
    memcpy(parent, path, length + 1);
    for (char *slash = strchr(parent + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(parent, 0755) != 0 && errno != EEXIST)
            return err_set(e, ERR_IO, "cannot create directory %s: %s", parent, strerror(errno));
        *slash = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "cannot create directory %s: %s", path, strerror(errno));
    return 0;
}

/* Whether the directory is empty, apart from the log that 'fairlead start' opens before it starts the daemon. */
static bool is_new(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL) return false;
    bool has_others = false;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const char *name = entry->d_name;
        has_others |= strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "fairleadd.log") != 0;
    }
    closedir(directory);
    return !has_others;
}

/* Checks owner and mode. A new directory that is open to other users is closed. */
static int check_directory(const char *path, mode_t mode, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0) return err_set(e, ERR_IO, "state directory %s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return err_set(e, ERR_INPUT, "state directory %s is not a directory", path);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_DENIED, "state directory %s belongs to user %u; it must belong to user %u", path,
                       st.st_uid, geteuid());
    if ((st.st_mode & 0777 & ~mode) == 0) return 0;
    if (!is_new(path) || chmod(path, 0700) != 0)
        return err_set(e, ERR_DENIED,
                       "state directory %s is open to others: run 'chmod %o %s', or choose another with --state", path,
                       mode, path);
    return 0;
}

/* Tries again for a second: a daemon that is killed while it forks its launcher leaves the lock to that child until the
 * child calls exec. */
static bool lock_file(int fd)
{
    enum { TRIES = 100, PAUSE_US = 10000 };
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
        usleep(PAUSE_US);
    }
    return false;
}

/* The pid that the other daemon has written into the lock file; 0: none. */
static long long read_pid(int fd)
{
    char text[24] = "";
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    long long pid = length > 0 ? strtoll(text, NULL, 10) : 0;
    return pid > 0 ? pid : 0;
}

static void write_pid(int fd)
{
    char text[24];
    size_t length = text_format(text, sizeof text, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, length, 0) < 0) return; /* a full disk: it is only for a message */
}

static int refuse_locked(int fd, const char *path, const char *socket_path, struct err *e)
{
    long long pid = read_pid(fd);
    if (pid == 0) return err_set(e, ERR_UNAVAILABLE, "another fairleadd uses %s", path);
    return err_set(
        e, ERR_UNAVAILABLE,
        "process %lld, another fairleadd, uses %s, but none answers at %s: try again, in case it is starting or "
        "stopping; else run 'kill %lld'",
        pid, path, socket_path, pid);
}

void state_dir_note_end(const struct state_dir *dir)
{
    if (dir->lock_fd > 0 && ftruncate(dir->lock_fd, 0) != 0) return; /* it is only for a line in the log */
}

static int lock_directory(struct state_dir *dir, struct arena *arena, struct err *e)
{
    const char *path = dir->path, *lock_path = join(arena, path, "fairleadd.lock");
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return err_set(e, ERR_IO, "cannot open %s: %s", lock_path, strerror(errno));
    if (!lock_file(fd)) {
        int result = refuse_locked(fd, path, dir->socket_path, e);
        close(fd);
        return result;
    }
    dir->former_pid = read_pid(fd);
    write_pid(fd);
    dir->lock_fd = fd;
    return 0;
}

int state_dir_open(const char *path, const char *socket_path, mode_t mode, struct arena *arena,
                   struct state_dir *out_dir, struct err *e)
{
    struct state_dir dir = {0};
    char real[PATH_MAX], current[PATH_MAX];
    if (path == NULL && default_path(arena, &path, e) != 0) return -1;
    if (create_directories(path, e) != 0 || check_directory(path, mode, e) != 0) return -1;
    if (realpath(path, real) == NULL) return err_set(e, ERR_IO, "state directory %s: %s", path, strerror(errno));
    dir.path = arena_copy(arena, str(real));
    dir.socket_path = join(arena, dir.path, "fairlead.sock");
    if (socket_path != NULL) {
        if (getcwd(current, sizeof current) == NULL)
            return err_set(e, ERR_IO, "current directory: %s", strerror(errno));
        dir.socket_path = socket_path[0] == '/' ? socket_path : join(arena, current, socket_path);
    }
    if (lock_directory(&dir, arena, e) != 0) return -1;
    *out_dir = dir;
    return 0;
}
