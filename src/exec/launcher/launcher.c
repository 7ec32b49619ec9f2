/* The launcher's loop. It waits in one place, does what is there, and sends what came of it:
 *
 *     listening socket   a daemon: the newest one counts, an older connection is closed
 *     connection         START, END, ACK, WEIGHT; RECORD and SYNCED back
 *     launcher.events    launch ids of keepers that have written something
 *     pidfds             keepers that are gone
 *     signals            SIGTERM, SIGINT: end; keepers go on
 *
 *  I1  Only a process of our own user is listened to (SO_PEERCRED), and only after its HELLO.
 *  I2  The fifo of events is open before directories are read: no news can fall between.
 *  I3  It ends by itself only when no daemon is connected and no launch is known, for IDLE_US; or when its directory was
 *      removed and no keeper lives, for then nobody can connect any more. A client that connects at that moment finds its
 *      connection closed, and starts a launcher.
 *
 * It keeps nothing that is not on disk, so it may be killed at any moment. */
#include "exec/launcher/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/protocol.h"

#define IDLE_US INT64_C(10000000)
#define LOOK_MS 60000 /* without a daemon: whether the directory is still there */

/* What epoll tells; launch ids are below (launch_check). */
#define TAG_LISTEN (UINT64_MAX - 0)
#define TAG_CONNECTION (UINT64_MAX - 1)
#define TAG_EVENTS (UINT64_MAX - 2)
#define TAG_SIGNAL (UINT64_MAX - 3)

enum { RECEIVE_AT_ONCE = 64 * 1024, KEEP_CAPACITY = 1024 * 1024, EVENTS_AT_ONCE = 512 };

struct connection {
    int fd;              /* -1: none */
    bool greeted, waits; /* waits: for room in the socket */
    struct buf in, out;
    size_t sent; /* of out */
};

struct launcher {
    struct spool spool;
    struct cgroup_parent cgroups;
    struct launches launches;
    struct connection connection;
    struct arena scratch;
    int epoll_fd, listen_fd, events_fd, signal_fd;
    bool over;
    int64_t idle_since_us; /* 0: not idle */
};

static int system_error(struct err *e, const char *doing)
{
    return err_set(e, ERR_IO, "cannot %s: %s", doing, strerror(errno));
}

static int watch(struct launcher *s, int fd, uint64_t tag, uint32_t events, int operation)
{
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(s->epoll_fd, operation, fd, &event);
}

/* ---- the connection ---- */

static void disconnect(struct launcher *s)
{
    struct connection *c = &s->connection;
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    c->greeted = c->waits = false;
    buf_release(&c->in);
    buf_release(&c->out);
    c->sent = 0;
    s->launches.out = NULL;
}

static bool peer_allowed(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid(); /* I1 */
}

static void accept_daemon(struct launcher *s)
{
    int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE) usleep(10000); /* the socket stays readable */
        return;
    }
    if (!peer_allowed(fd)) {
        close(fd);
        return;
    }
    disconnect(s);
    if (watch(s, fd, TAG_CONNECTION, EPOLLIN, EPOLL_CTL_ADD) < 0)
        close(fd);
    else
        s->connection.fd = fd;
}

static void flush(struct launcher *s)
{
    struct connection *c = &s->connection;
    while (c->fd >= 0 && c->sent < c->out.length) {
        ssize_t n = send(c->fd, c->out.text + c->sent, c->out.length - c->sent, MSG_NOSIGNAL);
        if (n >= 0)
            c->sent += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno != EINTR)
            disconnect(s);
    }
    if (c->fd < 0) return;
    if (c->sent == c->out.length) {
        buf_clear(&c->out);
        c->sent = 0;
    }
    bool waits = c->out.length > 0;
    if (waits != c->waits) (void)watch(s, c->fd, TAG_CONNECTION, waits ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    c->waits = waits;
}

static void hello(struct launcher *s, uint32_t version)
{
    protocol_hello(&s->connection.out, PROTOCOL_VERSION);
    if (version != PROTOCOL_VERSION) {
        s->over = true; /* for a launcher of the daemon's version */
        return;
    }
    s->connection.greeted = true;
    s->launches.out = &s->connection.out;
    launches_report_all(&s->launches);
    protocol_synced(&s->connection.out);
}

/* False: not something a daemon says now. */
static bool take_message(struct launcher *s, const struct message *m)
{
    if (m->kind == MESSAGE_HELLO && !s->connection.greeted) {
        hello(s, m->version);
        return true;
    }
    if (!s->connection.greeted) return false; /* I1 */
    switch (m->kind) {
    case MESSAGE_START: launches_start(&s->launches, &m->launch, &s->scratch, &s->connection.in); return true;
    case MESSAGE_END: launches_end(&s->launches, m->end.id, m->end.grace_us); return true;
    case MESSAGE_ACK: launches_acknowledge(&s->launches, m->id); return true;
    case MESSAGE_WEIGHT: launches_set_cpu_weight(&s->launches, m->weight.id, m->weight.cpu_weight); return true;
    default: return false;
    }
}

static void take_messages(struct launcher *s)
{
    struct connection *c = &s->connection;
    size_t at = 0, used = 1;
    while (used > 0 && !s->over) {
        struct message m;
        bool understood =
            protocol_decode((struct str){c->in.text + at, c->in.length - at}, &s->scratch, &used, &m, NULL) == 0;
        if (!understood || (used > 0 && !take_message(s, &m))) {
            disconnect(s);
            return;
        }
        at += used;
        arena_clear(&s->scratch);
    }
    c->in.length -= at;
    if (at > 0 && c->in.length > 0) memmove(c->in.text, c->in.text + at, c->in.length);
    if (c->in.length == 0 && c->in.capacity > KEEP_CAPACITY) buf_release(&c->in);
}

static void hear_daemon(struct launcher *s)
{
    struct connection *c = &s->connection;
    if (c->fd < 0) return; /* replaced in this very turn */
    ssize_t n = recv(c->fd, buf_room(&c->in, RECEIVE_AT_ONCE), RECEIVE_AT_ONCE, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (n <= 0) {
        disconnect(s);
        return;
    }
    c->in.length += (size_t)n;
    take_messages(s);
}

/* ---- everything else ---- */

static void hear_events(struct launcher *s)
{
    uint64_t ids[EVENTS_AT_ONCE];
    ssize_t n = read(s->events_fd, ids, sizeof ids); /* written 8 bytes at a time: never torn */
    for (ssize_t i = 0; i < n / (ssize_t)sizeof *ids; i++) launches_on_record(&s->launches, ids[i]);
}

static void handle(struct launcher *s, uint64_t tag)
{
    if (tag == TAG_LISTEN)
        accept_daemon(s);
    else if (tag == TAG_CONNECTION)
        hear_daemon(s);
    else if (tag == TAG_EVENTS)
        hear_events(s);
    else if (tag == TAG_SIGNAL)
        s->over = true;
    else
        launches_on_keeper_exit(&s->launches, tag);
}

/* I3 */
static bool is_idle(const struct launcher *s)
{
    struct stat directory;
    if (s->connection.fd >= 0) return false;
    if (s->launches.list.count == 0) return true;
    bool is_removed = fstat(s->spool.fd, &directory) == 0 && directory.st_nlink == 0;
    return is_removed && !launches_have_keeper(&s->launches);
}

/* How long to wait, by what is to be done without being asked. */
static int wait_ms(struct launcher *s)
{
    if (s->launches.restless > 0) return LAUNCHES_TICK_MS;
    if (!is_idle(s)) {
        s->idle_since_us = 0;
        return s->connection.fd < 0 ? LOOK_MS : -1;
    }
    int64_t now_us = clock_boot_us();
    if (s->idle_since_us == 0) s->idle_since_us = now_us;
    int64_t left_us = s->idle_since_us + IDLE_US - now_us;
    if (left_us <= 0) s->over = true; /* I3 */
    return left_us <= 0 ? 0 : (int)(left_us / 1000) + 1;
}

static void loop(struct launcher *s)
{
    while (!s->over) {
        struct epoll_event events[64];
        int wait = wait_ms(s);
        if (s->over) break;
        int n = epoll_wait(s->epoll_fd, events, 64, wait);
        for (int i = 0; i < n; i++) handle(s, events[i].data.u64);
        if (s->launches.restless > 0) launches_tick(&s->launches);
        flush(s);
    }
}

/* ---- setting up ---- */

/* Bound under another name and put in place when it listens: who finds launcher.sock finds somebody there, unless the
 * launcher was killed. The other name is the shorter one. */
static int listen_at(struct launcher *s, struct err *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(s->spool.path) + strlen("/launcher.sock");
    if (length >= sizeof address.sun_path) {
        return err_set(e, ERR_INPUT, "the socket %s/launcher.sock has a path of %zu bytes; Linux takes at most %zu",
                       s->spool.path, length, sizeof address.sun_path - 1);
    }
    text_format(address.sun_path, sizeof address.sun_path, "%s/launcher.new", s->spool.path);
    if (unlink(address.sun_path) < 0 && errno != ENOENT) return system_error(e, "remove the old launcher.new");
    s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listen_fd < 0) return system_error(e, "make a socket");
    mode_t before = umask(0177);
    int bound = bind(s->listen_fd, (struct sockaddr *)&address, sizeof address);
    umask(before);
    if (bound < 0 || listen(s->listen_fd, 16) < 0) return system_error(e, "listen at launcher.new");
    if (renameat(s->spool.fd, "launcher.new", s->spool.fd, "launcher.sock") < 0) {
        return system_error(e, "put launcher.sock in place");
    }
    return 0;
}

static int hear_signals(struct launcher *s, struct err *e)
{
    sigset_t heard;
    sigemptyset(&heard);
    sigaddset(&heard, SIGTERM);
    sigaddset(&heard, SIGINT);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL);
    if (sigprocmask(SIG_SETMASK, &heard, NULL) < 0) return system_error(e, "block signals");
    s->signal_fd = signalfd(-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
    return s->signal_fd < 0 ? system_error(e, "receive signals") : 0;
}

static int set_up(struct launcher *s, const struct launcher_options *options, struct err *e)
{
    if (spool_open(&s->spool, options->directory, e) || hear_signals(s, e)) return -1;
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll_fd < 0) return system_error(e, "make an epoll set");
    if (!options->no_cgroup) cgroup_probe(&s->cgroups);
    s->launches = (struct launches){
        .spool = &s->spool, .cgroups = &s->cgroups, .inherited = &options->inherited, .epoll_fd = s->epoll_fd};
    if (spool_open_events(&s->spool, &s->events_fd, e)) return -1; /* I2 */
    if (launches_scan(&s->launches, e) || listen_at(s, e)) return -1;
    bool watched = watch(s, s->listen_fd, TAG_LISTEN, EPOLLIN, EPOLL_CTL_ADD) == 0 &&
                   watch(s, s->events_fd, TAG_EVENTS, EPOLLIN, EPOLL_CTL_ADD) == 0 &&
                   watch(s, s->signal_fd, TAG_SIGNAL, EPOLLIN, EPOLL_CTL_ADD) == 0;
    return watched ? 0 : system_error(e, "watch descriptors");
}

/* The socket goes before the lock does, so that it is never another launcher's. */
static void tear_down(struct launcher *s)
{
    if (s->listen_fd >= 0) (void)unlinkat(s->spool.fd, "launcher.sock", 0);
    flush(s);
    disconnect(s);
    launches_release(&s->launches);
    arena_release(&s->scratch);
    const int fds[] = {s->listen_fd, s->events_fd, s->signal_fd, s->epoll_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0) close(fds[i]);
    }
    spool_release(&s->spool);
}

int launcher_run(const struct launcher_options *options, struct err *e)
{
    struct launcher s = {.connection.fd = -1, .epoll_fd = -1, .listen_fd = -1, .events_fd = -1, .signal_fd = -1};
    s.spool = (struct spool){.fd = -1, .launches_fd = -1, .lock_fd = -1};
    int result = set_up(&s, options, e);
    if (result == 0) loop(&s);
    tear_down(&s);
    return result;
}
