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

static int standard_directory(struct arena *arena, const char **out_directory, struct err *e)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (base != NULL && base[0] == '/') {
        *out_directory = join(arena, base, "fairlead");
    } else if (home != NULL && home[0] == '/') {
        *out_directory = join(arena, home, ".local/state/fairlead");
    } else {
        return err_set(e, ERR_USAGE, "neither XDG_STATE_HOME nor HOME says where state goes; give --state DIR");
    }
    return 0;
}

/* mkdir -p, the last part 0700. */
static int make_directories(const char *directory, struct err *e)
{
    char path[PATH_MAX];
    size_t length = strlen(directory);
    if (length == 0 || length >= sizeof path)
        return err_set(e, ERR_INPUT, "--state: a path has 1 to %d bytes", PATH_MAX - 1);
    memcpy(path, directory, length + 1);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return err_set(e, ERR_IO, "cannot make directory %s: %s", path, strerror(errno));
        *slash = '/';
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "cannot make directory %s: %s", path, strerror(errno));
    return 0;
}

/* Nothing is in it but, perhaps, the log that 'fairlead start' has just opened for us. */
static bool is_new(const char *directory)
{
    DIR *d = opendir(directory);
    if (d == NULL) return false;
    bool others = false;
    for (struct dirent *entry = readdir(d); entry != NULL; entry = readdir(d)) {
        const char *name = entry->d_name;
        others |= strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "fairleadd.log") != 0;
    }
    closedir(d);
    return !others;
}

/* Ours and closed to others; one that is new is closed for its owner. */
static int check_directory(const char *directory, struct err *e)
{
    struct stat st;
    if (stat(directory, &st) != 0) return err_set(e, ERR_IO, "state directory %s: %s", directory, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return err_set(e, ERR_INPUT, "state directory %s: it is not a directory", directory);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_DENIED, "state directory %s belongs to uid %u; it has to be yours (uid %u)", directory,
                       st.st_uid, geteuid());
    if ((st.st_mode & 0077) == 0) return 0;
    if (!is_new(directory) || chmod(directory, 0700) != 0)
        return err_set(e, ERR_DENIED, "state directory %s is open to others; 'chmod 700 %s' first, or choose another",
                       directory, directory);
    return 0;
}

/* A daemon that was killed while it forked its launcher leaves the lock to that child until it execs: not for long. */
static bool take_lock(int lock)
{
    enum { TRIES = 100, PAUSE_US = 10000 };
    for (int i = 0; i < TRIES; i++) {
        if (flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
        usleep(PAUSE_US);
    }
    return false;
}

static int lock_directory(const char *directory, struct arena *arena, int *out_lock, struct err *e)
{
    const char *path = join(arena, directory, "fairleadd.lock");
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return err_set(e, ERR_IO, "cannot open %s: %s", path, strerror(errno));
    if (!take_lock(lock)) {
        close(lock);
        return err_set(e, ERR_CONFLICT, "another fairleadd uses %s", directory);
    }
    *out_lock = lock;
    return 0;
}

int place_open(const char *directory, const char *socket_path, struct arena *arena, struct place *out_place,
               struct err *e)
{
    struct place place = {0};
    char real[PATH_MAX];
    if (directory == NULL && standard_directory(arena, &directory, e) != 0) return -1;
    if (make_directories(directory, e) != 0 || check_directory(directory, e) != 0) return -1;
    if (realpath(directory, real) == NULL)
        return err_set(e, ERR_IO, "state directory %s: %s", directory, strerror(errno));
    place.directory = arena_copy(arena, str(real));
    place.socket_path = join(arena, place.directory, "fairlead.sock");
    if (socket_path != NULL) {
        char here[PATH_MAX];
        if (getcwd(here, sizeof here) == NULL) return err_set(e, ERR_IO, "current directory: %s", strerror(errno));
        place.socket_path = socket_path[0] == '/' ? socket_path : join(arena, here, socket_path);
    }
    if (lock_directory(place.directory, arena, &place.lock, e) != 0) return -1;
    *out_place = place;
    return 0;
}
