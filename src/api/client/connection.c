/* The socket of a client: finds an instance and connects, sends requests, feeds the reply with the bytes that
 * arrive. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/client/address.h"
#include "api/client/internal.h"
#include "base/ensure.h"
#include "base/text.h"

static int connect_error(const char *path, int error, struct err *e)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
        (void)err_set(e, ERR_UNAVAILABLE, "no instance answers at %s", path);
        return err_about(e, strcmp(path, SYSTEM_ADDRESS) == 0 ? "system instance" : "instance");
    case EACCES:
    case EPERM: return err_set(e, ERR_DENIED, "no access to the instance at %s: %s", path, strerror(error));
    case EAGAIN:
        return err_set(e, ERR_UNAVAILABLE, "the instance at %s has too many waiting clients; try again later", path);
    default: return err_set(e, ERR_IO, "cannot connect to %s: %s", path, strerror(error));
    }
}

/* Whether a socket /run/NAME/... is in a directory of the server's: in /run only root makes directories, so root has
 * given this one to the server. */
static bool is_of_system(uid_t server, const char *path)
{
    char directory[ADDRESS_BYTES_MAX + 1];
    struct stat run, own;
    if (!address_is_below_run(path)) return false;
    text_format(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (lstat("/run", &run) != 0 || run.st_uid != 0 || (run.st_mode & 0022) != 0) return false;
    return lstat(directory, &own) == 0 && S_ISDIR(own.st_mode) && own.st_uid == server && (own.st_mode & 0022) == 0;
}

/* A request has the environment and the script of a job, and its reply is trusted. So a server of another user, who can
 * make files in the directory of the socket, gets none. */
static int check_server(int fd, const char *path, struct err *e)
{
    struct ucred server;
    socklen_t length = sizeof server;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &length) != 0)
        return err_set(e, ERR_IO, "cannot find out who serves %s: %s", path, strerror(errno));
    if (server.uid == geteuid() || server.uid == 0 || is_of_system(server.uid, path)) return 0;
    return err_set(e, ERR_DENIED, "the instance at %s is of user %u; only those of user %u and of root are trusted",
                   path, server.uid, geteuid());
}

int client_connect(struct client *c, const char *socket_path, struct err *e)
{
    *c = (struct client){.socket = socket_path, .fd = -1};
    if (address_check(socket_path, e) != 0) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, socket_path, strlen(socket_path));

    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return err_set(e, ERR_IO, "cannot create a socket: %s", strerror(errno));
    struct timeval timeout = {.tv_sec = CLIENT_TIMEOUT_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(fd);
        return connect_error(socket_path, error, e);
    }
    if (check_server(fd, socket_path, e) != 0) {
        close(fd);
        return -1;
    }
    c->fd = fd;
    return 0;
}

void client_wait_long(struct client *c)
{
    const struct timeval none = {0};
    c->expected_s = CLIENT_EXPECTED_ANY_S;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
}

/* Whether it is the instance for all users that should answer: this machine has one, and the user has no other. */
static bool expects_system(const struct addresses *addresses)
{
    char database[PATH_MAX];
    const char *socket = addresses->path[0], *slash = strrchr(socket, '/');
    if (addresses->count < 2 || slash == NULL) return false;
    text_format(database, sizeof database, "%.*s/fairlead.db", (int)(slash - socket), socket);
    return access(database, F_OK) != 0 && (access(SYSTEM_LAUNCHER_STATE, F_OK) == 0 || access(SYSTEM_RUN, F_OK) == 0);
}

int client_open(struct client *c, const char *socket_given, struct arena *a, struct err *e)
{
    *c = (struct client){.fd = -1};
    struct addresses addresses;
    if (addresses_find(socket_given, a, &addresses, e) != 0) return -1;
    if (client_connect(c, addresses.path[0], e) == 0) return 0;
    for (uint32_t i = 1; i < addresses.count; i++) { /* a user without a private instance uses the system's */
        struct err other = {0};
        if (client_connect(c, addresses.path[i], &other) == 0) return 0;
        if (other.code == ERR_DENIED || expects_system(&addresses)) *e = other;
    }
    return -1;
}

void client_close(struct client *c)
{
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    http_reply_release(&c->reply);
    buf_release(&c->body);
    c->read_bytes = 0;
}

pid_t client_peer(const struct client *c)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : -1;
}

uid_t client_peer_uid(const struct client *c)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.uid : (uid_t)-1;
}

/* Disconnects and sets *e; error: an errno, or 0 at the end of the connection. Returns -1. */
static int lose_connection(struct client *c, int error, struct err *e)
{
    close(c->fd);
    c->fd = -1;
    if (error == EAGAIN)
        return err_set(e, ERR_UNAVAILABLE, "the instance at %s has sent nothing for %d s", c->socket, CLIENT_TIMEOUT_S);
    if (error == 0 || error == EPIPE || error == ECONNRESET)
        return err_subject(e, ERR_UNAVAILABLE, "instance", str(c->socket), "disconnected before it answered");
    return err_set(e, ERR_IO, "the connection to %s: %s", c->socket, strerror(error));
}

int connection_send(struct client *c, struct str head, struct str body, struct err *e)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)head.text, head.length}, {(void *)(uintptr_t)body.text, body.length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t sent = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EPIPE) return 0; /* it stopped reading, but may have replied why */
        if (sent < 0) return lose_connection(c, errno, e);
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            sent -= (ssize_t)part;
        }
    }
    return 0;
}

void (*client_on_slow)(const struct client *c, int seconds);

/* Tells that the instance is silent, before a person gives up without a word. */
static void watch_silence(const struct client *c)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    int seconds = c->expected_s != 0 ? c->expected_s : CLIENT_SLOW_S;
    if (client_on_slow == NULL || seconds == CLIENT_EXPECTED_ANY_S) return;
    if (poll(&p, 1, seconds * 1000) == 0) client_on_slow(c, seconds);
}

int connection_receive(struct client *c, struct err *e)
{
    static char bytes[65536];
    ensure(!http_reply_is_done(&c->reply));
    if (c->fd < 0) return err_set(e, ERR_UNAVAILABLE, "the instance at %s disconnected", c->socket);

    if (c->read_bytes > 0) {
        memmove(c->body.text, c->body.text + c->read_bytes, c->body.length - c->read_bytes);
        c->body.length -= c->read_bytes;
        c->read_bytes = 0;
    }
    if (c->body.length > CLIENT_REPLY_MAX) return err_set(e, ERR_INTERNAL, "the reply of %s is too long", c->socket);

    ssize_t count;
    watch_silence(c);
    do {
        count = recv(c->fd, bytes, sizeof bytes, 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return lose_connection(c, errno, e);
    if (count > 0) return http_reply_feed(&c->reply, (struct str){bytes, (size_t)count}, &c->body, e);
    if (http_reply_close(&c->reply, NULL) != 0) return lose_connection(c, 0, e);
    return 0;
}
