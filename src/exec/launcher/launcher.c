/* The launcher's loop. It waits in one place, handles what is ready, and sends the results:
 *
 *     listening socket   a daemon connects: the newest connection counts, the older one is closed
 *     arrival            to a system launcher: a daemon that has not yet said which instance it is of
 *     connection         START, END, ACK, WEIGHT, LIMIT, SUSPEND, SIGNAL, MEASURE, SAMPLE, LOW, WARN come in; RECORD,
 *                        SYNCED, USAGE, PROCESS, SAMPLED go out
 *     launcher.events    launch ids of keepers that have written a record
 *     pidfds             keepers of an earlier launcher that have exited
 *     signals            SIGTERM, SIGINT: the launcher ends; its keepers go on. SIGCHLD: a keeper was stopped, or ended
 *
 *  I1  Only a process of the launcher's own user is listened to (SO_PEERCRED), and only after its HELLO. A system
 *      launcher listens to its daemon's account instead, and only to the instance that it belongs to
 *      (launcher_owner.h); another one is told so, and disturbs neither the connection nor a launch.
 *  I2  The fifo of events is open before the directories are read, so that no notice is missed in between. The socket
 *      listens before that, too: reading may take longer than a daemon waits for a socket, but it waits for a HELLO.
 *  I3  The launcher ends by itself only if, for IDLE_US, no daemon has been connected and no launch known; or the state
 *      directory has been removed and no keeper runs, because then no daemon can connect. A daemon that
 *      connects at that time finds its connection closed, and starts another launcher. A system launcher, which no
 *      daemon can start again, does not end because it is idle.
 *
 * Everything that the launcher knows is on disk, so it may be killed at any time. */
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
#include "exec/launcher/idle_keepers.h"
#include "exec/launcher/launch_orders.h"
#include "exec/launcher/process_report.h"
#include "exec/launcher/process_signals.h"
#include "exec/launcher/system_directory.h"
#include "exec/launcher/terminal_warning.h"
#include "exec/protocol.h"
#include "exec/service_manager.h"

#define IDLE_US (10 * US_PER_S)

/* The data of epoll events. Any other value is a launch id, which is at most INT64_MAX (launch_check). */
#define TAG_LISTEN (UINT64_MAX - 0)
#define TAG_CONNECTION (UINT64_MAX - 1)
#define TAG_EVENTS (UINT64_MAX - 2)
#define TAG_SIGNAL (UINT64_MAX - 3)
#define TAG_ARRIVAL (UINT64_MAX - 4)

enum {
    SOCKET_CHECK_MS = 1000,          /* without a daemon: how often to check that directory and socket still exist */
    ACCEPT_RETRY_US = 10000,         /* after an accept for which descriptors were missing */
    RECEIVE_SIZE = 64 * 1024,        /* bytes of one recv */
    KEPT_CAPACITY_MAX = 1024 * 1024, /* bytes of an empty input buffer that are not given back */
    NOTICES_PER_READ = 512,
    EVENTS_PER_WAIT = 64
};

struct daemon_connection {
    int fd;                                 /* -1: none */
    bool is_greeted;                        /* its HELLO has arrived */
    bool is_synced;                         /* it was told that every launch has been reported */
    bool is_waiting_to_send;                /* for room in the socket */
    bool wants_measurement;                 /* among the messages that are being taken */
    bool wants_sample;                      /* likewise */
    bool wants_low;                         /* likewise */
    ARRAY(uint32_t) low_uids;               /* if wants_low: the users that get a low weight */
    ARRAY(struct outside_warning) warnings; /* likewise: to send */
    struct buf in, out;
    size_t sent; /* bytes of out that the socket has taken */
};

struct launcher {
    struct spool spool;
    const struct launcher_options *options;
    struct cgroup_parent cgroups;
    struct launches launches;
    struct low_weights low;
    struct enforcement enforcement; /* that the daemon was told of last */
    struct daemon_connection connection;
    struct daemon_connection arrival; /* of a system launcher: it becomes the connection once it is admitted */
    struct launcher_owner owner;      /* of a system launcher: the instance that is, or was last, connected */
    struct arena owner_memory, scratch;
    int epoll_fd, listen_fd, events_fd, signal_fd;
    bool is_ending;
    int64_t idle_since_us;   /* CLOCK_BOOTTIME; 0: not idle */
    int64_t socket_check_us; /* CLOCK_BOOTTIME: when to look for the socket's file next */
};

static int system_error(struct err *e, const char *action)
{
    return err_set(e, ERR_IO, "cannot %s: %s", action, strerror(errno));
}

static int watch(struct launcher *l, int fd, uint64_t tag, uint32_t events, int operation)
{
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(l->epoll_fd, operation, fd, &event);
}

/* --- the connection ----------------------------------------------------------------------------------------------- */

static void drop_arrival(struct launcher *l)
{
    struct daemon_connection *c = &l->arrival;
    if (c->fd >= 0) close(c->fd);
    buf_release(&c->in);
    buf_release(&c->out);
    *c = (struct daemon_connection){.fd = -1};
}

static void disconnect(struct launcher *l)
{
    struct daemon_connection *c = &l->connection;
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    c->is_greeted = c->is_synced = c->is_waiting_to_send = c->wants_measurement = c->wants_sample = c->wants_low =
        false;
    array_release(&c->low_uids);
    array_release(&c->warnings);
    buf_release(&c->in);
    buf_release(&c->out);
    c->sent = 0;
    l->launches.out = NULL;
}

/* I1 */
static bool is_peer_allowed(const struct identity_rules *rules, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return false;
    if (!rules->is_system) return peer.uid == geteuid();
    return peer.uid == rules->daemon_uid || (peer.uid == 0 && rules->allows_root);
}

static void accept_daemon(struct launcher *l)
{
    int fd = accept4(l->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE) usleep(ACCEPT_RETRY_US); /* the socket stays readable */
        return;
    }
    if (!is_peer_allowed(l->launches.rules, fd)) {
        close(fd);
        return;
    }
    const bool is_system = l->launches.rules->is_system;
    if (is_system)
        drop_arrival(l);
    else
        disconnect(l);
    if (watch(l, fd, is_system ? TAG_ARRIVAL : TAG_CONNECTION, EPOLLIN, EPOLL_CTL_ADD) < 0)
        close(fd);
    else if (is_system)
        l->arrival.fd = fd;
    else
        l->connection.fd = fd;
}

static void send_queued(struct launcher *l)
{
    struct daemon_connection *c = &l->connection;
    while (c->fd >= 0 && c->sent < c->out.length) {
        ssize_t n = send(c->fd, c->out.text + c->sent, c->out.length - c->sent, MSG_NOSIGNAL);
        if (n >= 0)
            c->sent += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno != EINTR)
            disconnect(l);
    }
    if (c->fd < 0) return;
    if (c->sent == c->out.length) {
        buf_clear(&c->out);
        c->sent = 0;
    }
    bool is_waiting = c->out.length > 0;
    if (is_waiting != c->is_waiting_to_send)
        (void)watch(l, c->fd, TAG_CONNECTION, is_waiting ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
    c->is_waiting_to_send = is_waiting;
}

static void find_groups(struct launcher *l)
{
    const struct launcher_options *options = l->options;
    if (!options->no_cgroup) cgroup_probe(options->cgroup, options->rules.is_system, &l->cgroups);
}

static void send_enforcement(struct launcher *l)
{
    l->enforcement = cgroup_enforcement(&l->cgroups);
    l->enforcement.outside = low_weights_enforcement(&l->low, &l->launches);
    protocol_enforces(&l->connection.out, l->enforcement);
}

/* Groups whose parent was removed are created elsewhere from now on. */
static void replace_lost_groups(struct launcher *l)
{
    if (!l->connection.is_greeted || !cgroup_parent_is_gone(&l->cgroups)) return;
    find_groups(l);
    idle_keepers_retire(&l->launches); /* they know the old ones */
    send_enforcement(l);
}

static void serve_daemon(struct launcher *l)
{
    l->connection.is_greeted = true;
    send_enforcement(l);
    l->launches.out = &l->connection.out;
    launches_report_all(&l->launches);
}

static void take_hello(struct launcher *l, uint32_t version)
{
    protocol_hello(&l->connection.out, PROTOCOL_VERSION);
    if (version != PROTOCOL_VERSION) {
        l->is_ending = true; /* so that the daemon can start a launcher of its own version */
        return;
    }
    serve_daemon(l);
}

/* A launch whose directory cannot be read now may run, so the daemon waits until it can be. */
static void sync_daemon(struct launcher *l)
{
    struct daemon_connection *c = &l->connection;
    if (!c->is_greeted || c->is_synced || !launches_are_read(&l->launches)) return;
    protocol_synced(&c->out);
    c->is_synced = true;
}

/* The last order counts. */
static void take_low(struct launcher *l, const struct message *m)
{
    struct daemon_connection *c = &l->connection;
    array_clear(&c->low_uids);
    for (uint32_t i = 0; i < m->low.count; i++) *array_add(&c->low_uids) = m->low.uids[i];
    c->wants_low = true;
}

/* False: a daemon does not send this message now. */
static bool take_message(struct launcher *l, const struct message *m, struct str frame)
{
    if (m->kind == MESSAGE_HELLO && !l->connection.is_greeted) {
        take_hello(l, m->version);
        return true;
    }
    if (!l->connection.is_greeted) return false; /* I1 */
    switch (m->kind) {
    case MESSAGE_START: launches_start(&l->launches, &m->launch, frame); return true;
    case MESSAGE_END: launch_orders_end(&l->launches, m->end.id, m->end.grace_us); return true;
    case MESSAGE_ACK: launches_acknowledge(&l->launches, m->id); return true;
    case MESSAGE_WEIGHT: launch_orders_set_cpu_weight(&l->launches, m->weight.id, m->weight.cpu_weight); return true;
    case MESSAGE_LIMIT: launch_orders_set_time_limit(&l->launches, m->limit.id, m->limit.time_limit_us); return true;
    case MESSAGE_SUSPEND:
        launch_orders_suspend(&l->launches, m->suspend.id, m->suspend.is_suspended, m->suspend.suspended_us);
        return true;
    case MESSAGE_SIGNAL:
        launch_orders_signal(&l->launches, m->signal.id, m->signal.number, m->signal.is_to_first);
        return true;
    case MESSAGE_MEASURE: l->connection.wants_measurement = true; return true;
    case MESSAGE_LOW: take_low(l, m); return true;
    case MESSAGE_WARN: *array_add(&l->connection.warnings) = m->warning; return true;
    case MESSAGE_SAMPLE: l->connection.wants_sample = true; return true;
    default: return false;
    }
}

/* Starts are written together: before an order that may be for one of them, and after the last message. */
static void start_all(struct launcher *l)
{
    launches_start_all(&l->launches, &l->scratch, &l->connection.in);
}

static bool may_be_for_start(const struct message *m)
{
    return m->kind == MESSAGE_END || m->kind == MESSAGE_WEIGHT || m->kind == MESSAGE_LIMIT ||
           m->kind == MESSAGE_SUSPEND || m->kind == MESSAGE_SIGNAL;
}

/* Slices get weights, or lose them, when systemd turns the controller on or off. */
static void set_low_weights(struct launcher *l)
{
    struct daemon_connection *c = &l->connection;
    low_weights_set(&l->low, &l->launches, c->low_uids.items, c->low_uids.count);
    if (low_weights_enforcement(&l->low, &l->launches) != l->enforcement.outside) send_enforcement(l);
}

/* Once, after the orders that came with it: a daemon that orders faster than this launcher measures delays no start. */
static void do_later_orders(struct launcher *l)
{
    struct daemon_connection *c = &l->connection;
    if (c->wants_measurement) launches_measure(&l->launches);
    if (c->wants_low) set_low_weights(l);
    if (c->wants_sample) process_report_all(&l->launches, &l->low);
    if (c->warnings.count > 0) terminal_warning_send(&l->launches, c->warnings.items, c->warnings.count);
    c->wants_low = c->wants_measurement = c->wants_sample = false;
    array_clear(&c->warnings);
}

static void take_messages(struct launcher *l)
{
    struct daemon_connection *c = &l->connection;
    size_t offset = 0, used = 1;
    replace_lost_groups(l);
    while (used > 0 && !l->is_ending) {
        struct message m;
        struct str rest = {c->in.text + offset, c->in.length - offset};
        bool is_readable = protocol_decode(rest, &l->scratch, &used, &m, NULL) == 0;
        if (is_readable && used > 0 && may_be_for_start(&m)) start_all(l);
        if (!is_readable || (used > 0 && !take_message(l, &m, (struct str){rest.text, used}))) {
            start_all(l);
            disconnect(l);
            return;
        }
        offset += used;
        if (l->launches.starting.count >= LAUNCHES_STARTING_MAX) start_all(l);
        if (l->launches.starting.count == 0) arena_clear(&l->scratch);
    }
    start_all(l);
    arena_clear(&l->scratch);
    do_later_orders(l);
    c->in.length -= offset;
    if (offset > 0 && c->in.length > 0) memmove(c->in.text, c->in.text + offset, c->in.length);
    if (c->in.length == 0 && c->in.capacity > KEPT_CAPACITY_MAX) buf_release(&c->in);
}

static void receive(struct launcher *l)
{
    struct daemon_connection *c = &l->connection;
    if (c->fd < 0) return; /* closed earlier in this turn */
    ssize_t n = recv(c->fd, buf_room(&c->in, RECEIVE_SIZE), RECEIVE_SIZE, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (n <= 0) {
        disconnect(l);
        service_manager_status("Waiting for the daemon");
        return;
    }
    c->in.length += (size_t)n;
    take_messages(l);
}

/* --- arrivals at a system launcher -------------------------------------------------------------------------------- */

/* The few bytes that an arrival gets always fit into its socket. */
static void send_to_arrival(struct launcher *l)
{
    struct daemon_connection *c = &l->arrival;
    (void)send(c->fd, c->out.text, c->out.length, MSG_NOSIGNAL);
    buf_clear(&c->out);
}

/* The owner, once it is on disk. What is there may have been removed while no daemon was connected. */
static int take_owner(struct launcher *l, const struct launcher_owner *instance, struct err *e)
{
    const bool is_connected = l->connection.fd >= 0;
    const bool is_busy = is_connected || l->launches.list.count > 0 || !launches_are_read(&l->launches);
    struct launcher_owner owner = is_connected ? l->owner : launcher_owner_read(l->spool.path, &l->scratch);
    if (launcher_owner_admit(l->spool.path, &owner, instance, is_busy, e)) return -1;
    bool is_written =
        owner.state != NULL && strcmp(owner.id, instance->id) == 0 && strcmp(owner.state, instance->state) == 0;
    if (!is_written && system_directory_write_owner(l->spool.fd, instance, e)) return -1;
    arena_clear(&l->owner_memory);
    l->owner = (struct launcher_owner){.id = arena_copy(&l->owner_memory, str(instance->id)),
                                       .state = arena_copy(&l->owner_memory, str(instance->state))};
    return 0;
}

static void take_instance(struct launcher *l, const struct launcher_owner *instance)
{
    struct err e;
    if (take_owner(l, instance, &e)) {
        protocol_refused(&l->arrival.out, ERR_SENTENCE(&e));
        send_to_arrival(l);
        drop_arrival(l);
        return;
    }
    disconnect(l);
    l->connection = l->arrival;
    l->arrival = (struct daemon_connection){.fd = -1};
    if (watch(l, l->connection.fd, TAG_CONNECTION, EPOLLIN, EPOLL_CTL_MOD) < 0) {
        disconnect(l);
        return;
    }
    service_manager_status("A daemon is connected");
    serve_daemon(l);
    take_messages(l);
}

static void greet_arrival(struct launcher *l, uint32_t version)
{
    protocol_hello(&l->arrival.out, PROTOCOL_VERSION);
    send_to_arrival(l);
    l->arrival.is_greeted = true;
    if (version != PROTOCOL_VERSION) l->is_ending = true; /* so that a launcher of that version can be started */
}

static void receive_arrival(struct launcher *l)
{
    struct daemon_connection *c = &l->arrival;
    if (c->fd < 0) return; /* replaced earlier in this turn */
    ssize_t n = recv(c->fd, buf_room(&c->in, RECEIVE_SIZE), RECEIVE_SIZE, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (n > 0) c->in.length += (size_t)n;
    for (bool is_good = n > 0; c->fd >= 0 && !l->is_ending;) {
        size_t used = 0;
        struct message m;
        is_good = is_good && protocol_decode((struct str){c->in.text, c->in.length}, &l->scratch, &used, &m, NULL) == 0;
        if (is_good && used == 0) break;
        bool is_hello = is_good && m.kind == MESSAGE_HELLO && !c->is_greeted;
        bool is_instance = is_good && m.kind == MESSAGE_INSTANCE && c->is_greeted;
        if (!is_hello && !is_instance) {
            drop_arrival(l);
            break;
        }
        c->in.length -= used;
        memmove(c->in.text, c->in.text + used, c->in.length);
        if (is_hello)
            greet_arrival(l, m.version);
        else
            take_instance(l, &m.instance);
    }
    arena_clear(&l->scratch);
}

/* Binds the socket under another name and renames it once it listens. So a launcher listens at every launcher.sock,
 * unless it was killed. The other name is the shorter one, so it fits, too. The umask gives the socket mode 0600. */
static int open_socket(struct launcher *l, struct err *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(l->spool.path) + strlen("/launcher.sock");
    if (length >= sizeof address.sun_path) {
        return err_set(e, ERR_INPUT,
                       "the socket path %s/launcher.sock has %zu bytes; Linux accepts at most %zu: "
                       "choose a state directory with a shorter path",
                       l->spool.path, length, sizeof address.sun_path - 1);
    }
    text_format(address.sun_path, sizeof address.sun_path, "%s/launcher.new", l->spool.path);
    if (unlink(address.sun_path) < 0 && errno != ENOENT) return system_error(e, "remove the old launcher.new");
    l->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->listen_fd < 0) return system_error(e, "create a socket");
    mode_t old_umask = umask(0177);
    int bind_result = bind(l->listen_fd, (struct sockaddr *)&address, sizeof address);
    umask(old_umask);
    if (bind_result < 0 || listen(l->listen_fd, 16) < 0) return system_error(e, "listen at launcher.new");
    const struct identity_rules *rules = l->launches.rules;
    if (rules->is_system &&
        fchownat(l->spool.fd, "launcher.new", rules->daemon_uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0)
        return system_error(e, "give launcher.new to the daemon's account");
    if (renameat(l->spool.fd, "launcher.new", l->spool.fd, "launcher.sock") < 0) {
        return system_error(e, "rename launcher.new to launcher.sock");
    }
    return 0;
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static void read_notices(struct launcher *l)
{
    uint64_t ids[NOTICES_PER_READ];
    ssize_t n = read(l->events_fd, ids, sizeof ids); /* keepers write 8 bytes at a time, so none is torn */
    if (n > 0) launches_on_notices(&l->launches, ids, (size_t)n / sizeof *ids);
}

static void read_signals(struct launcher *l)
{
    struct signalfd_siginfo info;
    while (read(l->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) launches_on_child(&l->launches);
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) l->is_ending = true;
    }
}

static void handle(struct launcher *l, uint64_t tag)
{
    if (tag == TAG_LISTEN)
        accept_daemon(l);
    else if (tag == TAG_CONNECTION)
        receive(l);
    else if (tag == TAG_ARRIVAL)
        receive_arrival(l);
    else if (tag == TAG_EVENTS)
        read_notices(l);
    else if (tag == TAG_SIGNAL)
        read_signals(l);
    else
        launches_on_keeper_exit(&l->launches, tag);
}

/* Whether the launcher may end if this lasts (I3). */
static bool is_idle(const struct launcher *l)
{
    struct stat directory;
    if (l->connection.fd >= 0) return false;
    if (l->launches.list.count == 0 && !l->spool.is_system) return true;
    bool is_removed = fstat(l->spool.fd, &directory) == 0 && directory.st_nlink == 0;
    return is_removed && !launches_have_keeper(&l->launches);
}

/* How long the loop may wait, -1 without limit. Ends the launcher if it has been idle for IDLE_US. */
static int next_wait_ms(struct launcher *l)
{
    if (launches_wait_ms(&l->launches) >= 0) return launches_wait_ms(&l->launches);
    if (!is_idle(l)) {
        l->idle_since_us = 0;
        return l->connection.fd < 0 ? SOCKET_CHECK_MS : -1;
    }
    int64_t now_us = clock_boot_us();
    if (l->idle_since_us == 0) l->idle_since_us = now_us;
    int64_t left_us = l->idle_since_us + IDLE_US - now_us;
    if (left_us <= 0) l->is_ending = true; /* I3 */
    return left_us <= 0 ? 0 : left_us < US_PER_S ? (int)(left_us / US_PER_MS) + 1 : SOCKET_CHECK_MS;
}

/* Listens anew if another program has removed the socket: no daemon could connect to this launcher, and no other
 * launcher can start as long as it runs. Not if the path leads to another directory now. */
static void check_socket(struct launcher *l)
{
    struct stat at_path, own, file;
    int64_t now_us = clock_boot_us();
    if (l->connection.fd >= 0 || now_us < l->socket_check_us) return;
    l->socket_check_us = now_us + (int64_t)SOCKET_CHECK_MS * US_PER_MS;
    bool is_missing = fstatat(l->spool.fd, "launcher.sock", &file, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
    if (!is_missing || stat(l->spool.path, &at_path) < 0 || fstat(l->spool.fd, &own) < 0) return;
    if (at_path.st_dev != own.st_dev || at_path.st_ino != own.st_ino) return;
    if (l->listen_fd >= 0) close(l->listen_fd); /* epoll forgets it */
    l->listen_fd = -1;
    if (open_socket(l, NULL) == 0) (void)watch(l, l->listen_fd, TAG_LISTEN, EPOLLIN, EPOLL_CTL_ADD);
}

static void run_loop(struct launcher *l)
{
    while (!l->is_ending) {
        struct epoll_event events[EVENTS_PER_WAIT];
        int wait_ms = next_wait_ms(l);
        if (l->is_ending) break;
        int count = epoll_wait(l->epoll_fd, events, EVENTS_PER_WAIT, wait_ms);
        for (int i = 0; i < count; i++) handle(l, events[i].data.u64);
        launches_report_due(&l->launches);
        send_queued(l); /* before syncs: the daemon commits meanwhile */
        check_socket(l);
        launches_tick(&l->launches);
        sync_daemon(l);
        send_queued(l);
    }
}

/* --- setting up --------------------------------------------------------------------------------------------------- */

static int open_signals(struct launcher *l, struct err *e)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGCHLD);
    for (int i = 0; i < KEEPER_ORDER_COUNT; i++) sigaddset(&wanted, KEEPER_ORDER_SIGNAL + i); /* of the keepers */
    process_signals_init();
    l->signal_fd = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    return l->signal_fd < 0 ? system_error(e, "receive signals") : 0;
}

static int set_up(struct launcher *l, const struct launcher_options *options, struct err *e)
{
    if (spool_open(&l->spool, options->directory, options->rules.is_system, e) || open_signals(l, e)) return -1;
    if (options->rules.is_system && system_directory_make_id(l->spool.fd, e)) return -1;
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll_fd < 0) return system_error(e, "create an epoll set");
    find_groups(l);
    l->launches = (struct launches){.spool = &l->spool,
                                    .cgroups = &l->cgroups,
                                    .inherited = &options->inherited,
                                    .rules = &options->rules,
                                    .epoll_fd = l->epoll_fd,
                                    .segments.keepers_fd = -1};
    if (spool_open_events(&l->spool, &l->events_fd, e)) return -1; /* I2 */
    l->launches.events_fd = l->events_fd;
    l->launches.signal_fd = l->signal_fd;
    if (open_socket(l, e) || launches_scan(&l->launches, e)) return -1;
    low_weights_open(&l->low, &l->launches, options->no_cgroup ? "" : options->user_slice);
    bool is_watching = watch(l, l->listen_fd, TAG_LISTEN, EPOLLIN, EPOLL_CTL_ADD) == 0 &&
                       watch(l, l->events_fd, TAG_EVENTS, EPOLLIN, EPOLL_CTL_ADD) == 0 &&
                       watch(l, l->signal_fd, TAG_SIGNAL, EPOLLIN, EPOLL_CTL_ADD) == 0;
    return is_watching ? 0 : system_error(e, "watch descriptors");
}

/* Removes the socket before it releases the lock, so that the socket cannot be another launcher's. */
static void tear_down(struct launcher *l)
{
    if (l->listen_fd >= 0) (void)unlinkat(l->spool.fd, "launcher.sock", 0);
    send_queued(l);
    disconnect(l);
    drop_arrival(l);
    l->launches.segments.current = NULL;
    segments_flush(&l->launches.segments);
    if (l->launches.rules != NULL) low_weights_set(&l->low, &l->launches, NULL, 0);
    low_weights_release(&l->low);
    idle_keepers_retire(&l->launches);
    launches_release(&l->launches);
    arena_release(&l->owner_memory);
    arena_release(&l->scratch);
    const int fds[] = {l->listen_fd, l->events_fd, l->signal_fd, l->epoll_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0) close(fds[i]);
    }
    spool_release(&l->spool);
}

int launcher_run(const struct launcher_options *options, struct err *e)
{
    ensure(options->directory[0] == '/');
    struct launcher l = {.options = options,
                         .connection.fd = -1,
                         .arrival.fd = -1,
                         .epoll_fd = -1,
                         .listen_fd = -1,
                         .events_fd = -1,
                         .signal_fd = -1};
    l.spool = (struct spool){.fd = -1, .launches_fd = -1, .lock_fd = -1};
    l.launches.segments.keepers_fd = -1;
    int result = set_up(&l, options, e);
    if (result == 0) {
        service_manager_ready("Waiting for the daemon at %s/launcher.sock", options->directory);
        run_loop(&l);
        service_manager_stopping();
    }
    tear_down(&l);
    return result;
}
