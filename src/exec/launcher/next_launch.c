#include "exec/launcher/next_launch.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FD_COUNT = 2 };

/* Room for the descriptors of a message, aligned as the kernel wants it. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(FD_COUNT * sizeof(int))];
};

bool next_launch_open(int *out_launcher_fd, int *out_keeper_fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) return false;
    *out_launcher_fd = ends[0];
    *out_keeper_fd = ends[1];
    return true;
}

bool next_launch_send(int fd, const struct next_launch *next)
{
    const int fds[FD_COUNT] = {next->lock_fd, next->log_fd};
    struct iovec parts[] = {{(void *)next->key, sizeof next->key}, {(void *)next->frame.text, next->frame.length}};
    union control control;
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = sizeof parts / sizeof *parts,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (next->frame.length > NEXT_LAUNCH_SIZE_MAX) return false;
    memset(&control, 0, sizeof control);
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    return sendmsg(fd, &message, MSG_NOSIGNAL) > 0; /* a message is sent whole or not at all */
}

/* False: the kernel could not give this process both descriptors. */
static bool take_descriptors(struct msghdr *message, int out[FD_COUNT])
{
    struct cmsghdr *c = CMSG_FIRSTHDR(message);
    if (c == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) return false;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(out, CMSG_DATA(c), (count < FD_COUNT ? count : FD_COUNT) * sizeof(int));
    if (count == FD_COUNT) return true;
    for (size_t i = 0; i < count && i < FD_COUNT; i++) close(out[i]);
    return false;
}

enum next_launch_state next_launch_receive(int fd, struct buf *bytes, struct next_launch *out)
{
    int fds[FD_COUNT];
    buf_clear(bytes);
    struct iovec parts[] = {{out->key, sizeof out->key}, {buf_room(bytes, NEXT_LAUNCH_SIZE_MAX), NEXT_LAUNCH_SIZE_MAX}};
    union control control;
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = sizeof parts / sizeof *parts,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return NEXT_LAUNCH_NONE;
    if (length <= (ssize_t)sizeof out->key || !take_descriptors(&message, fds)) return NEXT_LAUNCH_NEVER;
    bytes->length = (size_t)length - sizeof out->key;
    out->frame = (struct str){bytes->text, bytes->length};
    out->lock_fd = fds[0];
    out->log_fd = fds[1];
    return NEXT_LAUNCH_ARRIVED;
}
