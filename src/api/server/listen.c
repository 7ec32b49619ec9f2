/* The listening socket.
 *
 * The lock of the state directory allows one daemon there, but --socket can name the socket of another instance. So a
 * socket on which a process listens stays, and so does a file that is not a socket. Only a socket without a listener is
 * replaced. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/server/internal.h"

enum { BACKLOG = 1024 };

static int open_socket(struct err *e)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) err_set(e, ERR_IO, "cannot create a socket: %s", strerror(errno));
    return fd;
}

/* Removes a socket on which no process listens. */
static int clear_path(const struct sockaddr_un *address, struct err *e)
{
    struct stat old;
    const char *path = address->sun_path;
    if (lstat(path, &old) != 0) {
        if (errno == ENOENT) return 0;
        return err_set(e, ERR_IO, "cannot listen on %s: %s", path, strerror(errno));
    }
    if (!S_ISSOCK(old.st_mode)) return err_set(e, ERR_CONFLICT, "cannot listen on %s: the file is not a socket", path);

    int fd = open_socket(e);
    if (fd < 0) return -1;
    int status = connect(fd, (const struct sockaddr *)address, sizeof *address);
    int error = status == 0 ? 0 : errno;
    close(fd);
    if (error == 0 || error == EAGAIN) return err_set(e, ERR_CONFLICT, "another instance listens on %s", path);
    if (error != ECONNREFUSED) return err_set(e, ERR_IO, "cannot listen on %s: %s", path, strerror(error));
    if (unlink(path) != 0 && errno != ENOENT)
        return err_set(e, ERR_IO, "cannot remove the old socket %s: %s", path, strerror(errno));
    return 0;
}

int listen_open(const char *path, mode_t mode, uint64_t *out_device, uint64_t *out_inode, struct err *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat created;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path)
        return err_field(e, ERR_INPUT, "socket", "the path has %zu bytes; 1 to %zu are accepted: %s", length,
                         sizeof address.sun_path - 1, path);
    memcpy(address.sun_path, path, length);
    if (clear_path(&address, e) != 0) return -1;

    int fd = open_socket(e);
    if (fd < 0) return -1;
    /* On Linux, bind creates the file with the mode of the socket (unix(7)): at no time can other users connect to one
     * with mode 0600. */
    if (fchmod(fd, mode) != 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, mode) != 0 || lstat(path, &created) != 0 || listen(fd, BACKLOG) != 0) {
        err_set(e, errno == EADDRINUSE ? ERR_CONFLICT : ERR_IO, "cannot listen on %s: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    *out_device = created.st_dev;
    *out_inode = created.st_ino;
    return fd;
}

bool listen_is_there(const char *path, uint64_t device, uint64_t inode)
{
    struct stat found;
    return lstat(path, &found) == 0 && found.st_dev == device && found.st_ino == inode;
}

void listen_remove(const char *path, uint64_t device, uint64_t inode)
{
    if (listen_is_there(path, device, inode)) unlink(path);
}
