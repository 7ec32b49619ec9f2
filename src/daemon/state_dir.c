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
static int check_directory(const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) != 0) return err_set(e, ERR_IO, "state directory %s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return err_set(e, ERR_INPUT, "state directory %s is not a directory", path);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_DENIED, "state directory %s belongs to user %u; it must belong to user %u", path,
                       st.st_uid, geteuid());
    if ((st.st_mode & 0077) == 0) return 0;
    if (!is_new(path) || chmod(path, 0700) != 0)
        return err_set(e, ERR_DENIED,
                       "state directory %s is open to others: run 'chmod 700 %s', or choose another with --state", path,
                       path);
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

static int lock_directory(const char *path, struct arena *arena, int *out_fd, struct err *e)
{
    const char *lock_path = join(arena, path, "fairleadd.lock");
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return err_set(e, ERR_IO, "cannot open %s: %s", lock_path, strerror(errno));
    if (!lock_file(fd)) {
        close(fd);
        return err_set(e, ERR_CONFLICT, "another fairleadd uses %s", path);
    }
    *out_fd = fd;
    return 0;
}

int state_dir_open(const char *path, const char *socket_path, struct arena *arena, struct state_dir *out_dir,
                   struct err *e)
{
    struct state_dir dir = {0};
    char real[PATH_MAX], current[PATH_MAX];
    if (path == NULL && default_path(arena, &path, e) != 0) return -1;
    if (create_directories(path, e) != 0 || check_directory(path, e) != 0) return -1;
    if (realpath(path, real) == NULL) return err_set(e, ERR_IO, "state directory %s: %s", path, strerror(errno));
    dir.path = arena_copy(arena, str(real));
    dir.socket_path = join(arena, dir.path, "fairlead.sock");
    if (socket_path != NULL) {
        if (getcwd(current, sizeof current) == NULL)
            return err_set(e, ERR_IO, "current directory: %s", strerror(errno));
        dir.socket_path = socket_path[0] == '/' ? socket_path : join(arena, current, socket_path);
    }
    if (lock_directory(dir.path, arena, &dir.lock_fd, e) != 0) return -1;
    *out_dir = dir;
    return 0;
}
