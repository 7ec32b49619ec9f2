/* Accepts clients, within limits: of connections in all, and of those of one user.
 *
 *     a user has too many      its longest idle connection is closed for the new one; if none is idle, the new one gets
 *                              the status 503
 *     there are too many       the longest idle one is closed, of the user who has most; if none is idle, clients wait
 *     no descriptor is free    in the backlog of the socket for FULL_US, and afterwards get the status 503
 *
 * The spare descriptor is closed to accept a client when no other is free. The server accepts itself because
 * libmicrohttpd stops accepting for ever if descriptors run out while it has no connection. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/quantity.h"

enum {
    CONNECTIONS_MAX = 4096,
    DESCRIPTORS_RESERVED = 256, /* for the store, with its snapshots, and the rest of the daemon */
    ACCEPTED_MAX = 64,          /* in one run */
    FULL_US = 1000000,
    RETRY_MS = 100,
    REQUEST_S = 60,
};

static uint32_t connection_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return DESCRIPTORS_RESERVED;
    rlim_t usable =
        limit.rlim_cur > 2 * DESCRIPTORS_RESERVED ? limit.rlim_cur - DESCRIPTORS_RESERVED : limit.rlim_cur / 2;
    return usable < CONNECTIONS_MAX ? (uint32_t)usable : CONNECTIONS_MAX;
}

void accept_init(struct server *s)
{
    s->connections_max = connection_limit();
    s->user_connections_max = s->connections_max / 2;
    s->user_waiting_max = s->user_connections_max / 4 * 3;
    s->request_us = REQUEST_S * US_PER_S;
    s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void watch_socket(struct server *s, bool is_watched)
{
    struct epoll_event event = {.events = is_watched ? EPOLLIN : 0, .data.ptr = &s->listen_fd};
    if (s->is_accepting == is_watched) return;
    if (epoll_ctl(s->poll_fd, EPOLL_CTL_MOD, s->listen_fd, &event) == 0) s->is_accepting = is_watched;
}

/* Neither room nor an idle connection. Returns whether clients have waited long enough to be refused. */
static bool is_full(struct server *s)
{
    int64_t now_us = server_monotonic_us();
    if (s->full_since_us == 0) s->full_since_us = now_us;
    return now_us - s->full_since_us >= FULL_US;
}

static void refuse(int fd, const struct err *e)
{
    connection_refuse(fd, MHD_HTTP_SERVICE_UNAVAILABLE, e);
    close(fd);
}

static int accept_client(struct server *s)
{
    int fd;
    do {
        fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    return fd;
}

/* Refuses one client. Returns false if there is none, or no descriptor for it. */
static bool refuse_one(struct server *s)
{
    struct err e;
    if (s->spare_fd >= 0) close(s->spare_fd);
    int fd = accept_client(s);
    err_set(&e, ERR_UNAVAILABLE, "the instance has no connection left: %u are open; try again later",
            s->connection_count);
    if (fd >= 0) refuse(fd, &e);
    s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return fd >= 0;
}

static void add_client(struct server *s, int fd)
{
    struct err e;
    struct ucred peer = {.uid = NONE};
    socklen_t length = sizeof peer;
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length); /* peer_identify refuses a client without it */
    uint32_t count = connection_user(s, peer.uid)->connection_count;
    if (count >= s->user_connections_max && !connections_evict_of(s, peer.uid)) {
        err_set(&e, ERR_UNAVAILABLE, "user %u has %u connections, which is the maximum; try again later", peer.uid,
                count);
        refuse(fd, &e);
        return;
    }
    s->accepted_uid = peer.uid;
    MHD_add_connection(s->http, fd, NULL, 0); /* which closes fd if it fails */
}

static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

/* Returns false if there is no client, or none can be added now. */
static bool accept_one(struct server *s)
{
    bool has_room = s->connection_count < s->connections_max;
    int fd = has_room ? accept_client(s) : -1;
    if (fd >= 0) {
        s->full_since_us = 0;
        add_client(s, fd);
        return true;
    }
    if (has_room && !is_shortage(errno)) return false;
    if (!connections_evict(s) && is_full(s)) return refuse_one(s);
    watch_socket(s, false);
    return false;
}

void accept_clients(struct server *s)
{
    watch_socket(s, true);
    for (int i = 0; i < ACCEPTED_MAX && accept_one(s); i++) continue;
}

int64_t accept_timeout_ms(const struct server *s)
{
    return s->is_accepting ? -1 : RETRY_MS;
}
