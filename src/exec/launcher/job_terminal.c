/* A socket's path has at most 107 bytes, and DIR may be longer; so the path goes through the descriptor of the
 * directory, /proc/self/fd/N/NAME. */
#include "exec/launcher/job_terminal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

#define SUFFIX ".tty"

enum { QUEUE_LENGTH = 16, NAME_SIZE = 96, NEW_S = 60 };

static char made[NAME_SIZE]; /* relative to DIR; "": none. A keeper has one launch at a time */

static struct sockaddr_un address_of(int directory_fd, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    text_format(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory_fd, name);
    return address;
}

/* Binds under the keeper's umask, so that the socket is open to its maker only until it has its owner. */
static int make_socket(int state_fd, const struct launch *launch, int fd)
{
    struct sockaddr_un address = address_of(state_fd, made);
    if (unlinkat(state_fd, made, 0) < 0 && errno != ENOENT) return -1;
    mode_t old_umask = umask(0177);
    int result = bind(fd, (struct sockaddr *)&address, sizeof address);
    umask(old_umask);
    if (result < 0) return -1;
    if (launch->uid != geteuid() && fchownat(state_fd, made, launch->uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    return listen(fd, QUEUE_LENGTH);
}

int job_terminal_open(int state_fd, const struct launch *launch, int *out_fd, struct err *e)
{
    text_format(made, sizeof made, "launches/%s" SUFFIX, launch->name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && make_socket(state_fd, launch, fd) == 0) {
        *out_fd = fd;
        return 0;
    }
    int error_number = errno;
    if (fd >= 0) close(fd);
    job_terminal_remove(state_fd);
    return err_set(e, ERR_UNAVAILABLE, "cannot make the socket of the job's terminal: %s", strerror(error_number));
}

void job_terminal_remove(int state_fd)
{
    if (made[0] != '\0') (void)unlinkat(state_fd, made, 0);
    made[0] = '\0';
}

/* --- what killed keepers leave ------------------------------------------------------------------------------------ */

static bool is_left(int launches_fd, const char *name)
{
    struct stat s;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (fstatat(launches_fd, name, &s, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISSOCK(s.st_mode)) return false;
    if (s.st_ctim.tv_sec <= now.tv_sec && now.tv_sec - s.st_ctim.tv_sec < NEW_S) return false;
    struct sockaddr_un address = address_of(launches_fd, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool is_refused = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno == ECONNREFUSED;
    if (fd >= 0) close(fd);
    return is_refused;
}

void job_terminal_sweep(int launches_fd)
{
    const size_t suffix_length = strlen(SUFFIX);
    int fd = openat(launches_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL && fd >= 0) close(fd);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length <= suffix_length || strcmp(entry->d_name + length - suffix_length, SUFFIX) != 0) continue;
        if (is_left(launches_fd, entry->d_name)) (void)unlinkat(launches_fd, entry->d_name, 0);
    }
    if (directory != NULL) closedir(directory);
}
