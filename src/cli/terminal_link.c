/* The socket's path goes through the descriptor of its directory, because it may be longer than a socket's path may
 * be. */
#include "cli/terminal_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { RECEIVE_SIZE = 65536 };

/* The keeper, which listens, is root's or the user's own. */
static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid() || geteuid() == 0);
}

static int explain(const char *id, int error_number, struct err *e)
{
    if (error_number == EACCES || error_number == EPERM)
        return err_subject(e, ERR_DENIED, "job", str(id),
                           "belongs to another user: only they and root reach its terminal");
    return err_set(e, ERR_UNAVAILABLE, "cannot connect to the terminal of job %s: %s", id, strerror(error_number));
}

int terminal_link_open(struct terminal_link *l, const char *directory, const char *id, struct err *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *l = (struct terminal_link){.fd = -1};
    int directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0) return errno == ENOENT ? 0 : explain(id, errno, e);
    text_format(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s.tty", directory_fd, id);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address), error_number = errno;
    close(directory_fd);
    if (result == 0 && is_trusted(fd) && fcntl(fd, F_SETFL, O_NONBLOCK) == 0) {
        l->fd = fd;
        return 1;
    }
    if (result == 0) error_number = EPERM;
    if (fd >= 0) close(fd);
    return error_number == ENOENT || error_number == ECONNREFUSED ? 0 : explain(id, error_number, e);
}

void terminal_link_close(struct terminal_link *l)
{
    if (l->fd >= 0) close(l->fd);
    l->fd = -1;
    buf_release(&l->in);
    buf_release(&l->out);
}

/* --- frames to the relay ------------------------------------------------------------------------------------------ */

bool terminal_link_is_behind(const struct terminal_link *l)
{
    return l->out_sent < l->out.length;
}

void terminal_link_add(struct terminal_link *l, const struct frame *frame)
{
    if (!terminal_link_is_behind(l)) l->out.length = l->out_sent = 0;
    frame_write(&l->out, frame);
}

bool terminal_link_send(struct terminal_link *l)
{
    while (terminal_link_is_behind(l)) {
        ssize_t n = send(l->fd, l->out.text + l->out_sent, l->out.length - l->out_sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return true;
        if (n < 0) {
            l->out.length = l->out_sent = 0;
            return false;
        }
        l->out_sent += (size_t)n;
    }
    return true;
}

void terminal_link_flush(struct terminal_link *l, int timeout_ms)
{
    struct pollfd p = {.fd = l->fd, .events = POLLOUT};
    while (terminal_link_send(l) && terminal_link_is_behind(l) && poll(&p, 1, timeout_ms) > 0) continue;
}

/* --- frames of the relay ------------------------------------------------------------------------------------------ */

bool terminal_link_receive(struct terminal_link *l)
{
    size_t rest = l->in.length - l->in_used;
    if (rest > 0 && l->in_used > 0) memmove(l->in.text, l->in.text + l->in_used, rest);
    l->in.length = rest;
    l->in_used = 0;
    ssize_t n = recv(l->fd, buf_room(&l->in, RECEIVE_SIZE), RECEIVE_SIZE, 0);
    if (n > 0) l->in.length += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

int terminal_link_next(struct terminal_link *l, struct frame *out)
{
    if (l->in.length == l->in_used) return 0;
    int64_t size = frame_read((struct str){l->in.text + l->in_used, l->in.length - l->in_used}, false, out);
    if (size <= 0) return (int)size;
    l->in_used += (size_t)size;
    return 1;
}
