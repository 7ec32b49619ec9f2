/* The executor that is the launcher: a connection to DIR/launcher.sock. Opening it waits; after that it never blocks.
 *
 * Opening connects, sends HELLO and waits for the launcher's HELLO. If no launcher answers, it starts one and tries
 * again, until OPEN_WAIT_US have passed. A launcher of another version exits when it gets this HELLO, and the next
 * attempt starts one of this version. The socket file of a launcher that was killed refuses connections; that counts as
 * no launcher. A client that must not start a launcher waits only for SYSTEM_WAIT_US, because another program does.
 *
 *  I1  A lost connection stays lost: EXECUTOR_GONE is reported once, and nothing is sent or received after that.
 *  I2  Nothing is sent to a process that is neither this user's nor root's (SO_PEERCRED). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/ensure.h"
#include "exec/clock.h"
#include "exec/executor_kind.h"
#include "exec/launcher_spawn.h"
#include "exec/protocol.h"

#define OPEN_WAIT_US (5 * US_PER_S)
#define SYSTEM_WAIT_US US_PER_S
#define CONNECT_RETRY_US INT64_C(10000)
#define RESPAWN_US US_PER_S

enum {
    RECEIVE_SIZE = 64 * 1024,           /* bytes of one recv */
    RECEIVE_MAX_PER_TURN = 1024 * 1024, /* bytes in one turn of the loop */
    SEND_MAX_PER_TURN = 1024 * 1024,    /* likewise */
};

struct launcher_client {
    struct executor base;
    int fd;
    bool is_gone, is_gone_reported;
    ARRAY(struct buf) long_orders; /* to be sent before out */
    struct buf out;
    size_t sent; /* of the first of long_orders, else of out: bytes that are with the socket */
    struct buf in;
    struct arena scratch;
    struct executor_reports early; /* created here, or received while opening; the next client_ready passes them on */
};

static const struct executor_kind client_kind;

static struct launcher_client *client_of(struct executor *x)
{
    return (struct launcher_client *)x;
}

/* --- sending and receiving ---------------------------------------------------------------------------------------- */

/* Returns whether all of it is with the socket. */
static bool send_bytes(struct launcher_client *c, const struct buf *bytes, size_t *io_left)
{
    while (!c->is_gone && *io_left > 0 && c->sent != bytes->length) {
        size_t length = bytes->length - c->sent;
        ssize_t n = send(c->fd, bytes->text + c->sent, length < *io_left ? length : *io_left, MSG_NOSIGNAL);
        if (n >= 0) {
            c->sent += (size_t)n;
            *io_left -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return false;
        } else if (errno != EINTR) {
            c->is_gone = true;
        }
    }
    return c->is_gone || c->sent == bytes->length;
}

/* Sends up to SEND_MAX_PER_TURN, so that a launcher that reads as fast as this writes cannot keep the loop. */
static void send_queued(struct launcher_client *c)
{
    size_t left = SEND_MAX_PER_TURN;
    while (c->long_orders.count > 0) {
        if (!send_bytes(c, &c->long_orders.items[0], &left)) return;
        buf_release(&c->long_orders.items[0]);
        for (uint32_t i = 1; i < c->long_orders.count; i++) c->long_orders.items[i - 1] = c->long_orders.items[i];
        c->long_orders.count--;
        c->sent = 0;
    }
    if (!send_bytes(c, &c->out, &left)) return;
    buf_clear(&c->out);
    c->sent = 0;
}

static void take_message(struct launcher_client *c, const struct message *m, struct executor_reports *out)
{
    if (m->kind == MESSAGE_RECORD) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = m->record};
    } else if (m->kind == MESSAGE_SYNCED) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_SYNCED};
    } else if (m->kind == MESSAGE_ENFORCES) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_ENFORCES, .enforcement = m->enforcement};
    } else if (m->kind == MESSAGE_USAGE) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_USAGE, .usage = m->usage};
    } else if (m->kind == MESSAGE_PROCESS) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_PROCESS, .process = m->process};
    } else if (m->kind == MESSAGE_SAMPLED) {
        *array_add(&out->list) = (struct executor_report){.kind = EXECUTOR_SAMPLED, .sampled = m->sampled};
    } else {
        c->is_gone = true; /* only a daemon sends the other kinds: the peer is not a launcher */
    }
}

static void take_messages(struct launcher_client *c, struct executor_reports *out)
{
    size_t offset = 0;
    while (!c->is_gone) {
        size_t used;
        struct message m;
        struct str rest = {c->in.text + offset, c->in.length - offset};
        if (protocol_decode(rest, &c->scratch, &used, &m, NULL)) {
            c->is_gone = true;
            break;
        }
        if (used == 0) break;
        take_message(c, &m, out);
        offset += used;
    }
    arena_clear(&c->scratch);
    if (offset > 0) memmove(c->in.text, c->in.text + offset, c->in.length - offset);
    c->in.length -= offset;
}

/* Reads what has arrived, up to RECEIVE_MAX_PER_TURN, so that a launcher that keeps sending cannot block the loop. */
static void receive(struct launcher_client *c, struct executor_reports *out)
{
    for (size_t received = 0; received < RECEIVE_MAX_PER_TURN && !c->is_gone;) {
        ssize_t n = recv(c->fd, buf_room(&c->in, RECEIVE_SIZE), RECEIVE_SIZE, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n <= 0) {
            c->is_gone = true;
            return;
        }
        c->in.length += (size_t)n;
        received += (size_t)n;
        take_messages(c, out);
    }
}

/* --- the functions of an executor --------------------------------------------------------------------------------- */

static void report_refused(struct launcher_client *c, uint64_t launch_id, const struct err *e)
{
    struct launch_record record = launch_record_never_ran(launch_id, LAUNCH_REFUSED, ERR_SENTENCE(e));
    *array_add(&c->early.list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = record};
}

static void client_start(struct executor *x, const struct launch *launch)
{
    struct launcher_client *c = client_of(x);
    struct err e;
    if (c->is_gone) return; /* I1 */
    if (protocol_start(&c->out, launch, &e)) report_refused(c, launch->id, &e);
}

void executor_order_make(const struct launch *launch, struct executor_order *out)
{
    *out = (struct executor_order){.launch_id = launch->id};
    out->is_refused = protocol_start(&out->bytes, launch, &out->err) != 0;
}

void executor_order_release(struct executor_order *order)
{
    buf_release(&order->bytes);
}

void executor_order_send(struct executor *x, struct executor_order *order)
{
    ensure(x->kind == &client_kind);
    struct launcher_client *c = client_of(x);
    if (order->is_refused) {
        report_refused(c, order->launch_id, &order->err);
    } else if (!c->is_gone) {
        if (c->out.length > 0) *array_add(&c->long_orders) = c->out;
        if (c->out.length > 0) c->out = (struct buf){0};
        *array_add(&c->long_orders) = order->bytes;
        order->bytes = (struct buf){0};
    }
    executor_order_release(order);
}

static void client_end(struct executor *x, uint64_t launch_id, int64_t grace_us)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_end(&c->out, launch_id, grace_us);
}

static void client_acknowledge(struct executor *x, uint64_t launch_id)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_ack(&c->out, launch_id);
}

static void client_set_cpu_weight(struct executor *x, uint64_t launch_id, uint32_t cpu_weight)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_weight(&c->out, launch_id, cpu_weight);
}

static void client_set_time_limit(struct executor *x, uint64_t launch_id, int64_t time_limit_us)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_limit(&c->out, launch_id, time_limit_us);
}

static void client_suspend(struct executor *x, uint64_t launch_id, bool is_suspended, int64_t suspended_us)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_suspend(&c->out, launch_id, is_suspended, suspended_us);
}

static void client_signal(struct executor *x, uint64_t launch_id, uint32_t number, bool is_to_first)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_signal(&c->out, launch_id, number, is_to_first);
}

static void client_measure(struct executor *x)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_measure(&c->out);
}

static void client_sample(struct executor *x)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_sample(&c->out);
}

static void client_set_low_weight(struct executor *x, const uint32_t *uids, uint32_t count)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_low(&c->out, uids, count);
}

static void client_warn(struct executor *x, const struct outside_warning *warning)
{
    struct launcher_client *c = client_of(x);
    if (c->is_gone) return;
    protocol_warn(&c->out, warning);
}

static void client_flush(struct executor *x)
{
    send_queued(client_of(x));
}

static int client_descriptor(const struct executor *x)
{
    const struct launcher_client *c = (const struct launcher_client *)x;
    return c->is_gone_reported ? -1 : c->fd;
}

/* True also if there are reports that need nothing received: a socket is writable at once, so that client_ready is
 * called. */
static bool client_wants_write(const struct executor *x)
{
    const struct launcher_client *c = (const struct launcher_client *)x;
    return !c->is_gone_reported &&
           (c->is_gone || c->long_orders.count > 0 || c->sent < c->out.length || c->early.list.count > 0);
}

static void client_ready(struct executor *x, struct executor_reports *out_reports)
{
    struct launcher_client *c = client_of(x);
    for (uint32_t i = 0; i < c->early.list.count; i++) *array_add(&out_reports->list) = c->early.list.items[i];
    array_clear(&c->early.list);
    if (c->is_gone_reported) return;
    send_queued(c);
    receive(c, out_reports);
    if (!c->is_gone) return;
    *array_add(&out_reports->list) = (struct executor_report){.kind = EXECUTOR_GONE};
    c->is_gone_reported = true;
}

static void client_close(struct executor *x)
{
    struct launcher_client *c = client_of(x);
    if (c->fd >= 0) close(c->fd);
    for (uint32_t i = 0; i < c->long_orders.count; i++) buf_release(&c->long_orders.items[i]);
    array_release(&c->long_orders);
    buf_release(&c->out);
    buf_release(&c->in);
    arena_release(&c->scratch);
    array_release(&c->early.list);
    mem_free(c);
}

static const struct executor_kind client_kind = {
    .close = client_close,
    .start = client_start,
    .end = client_end,
    .acknowledge = client_acknowledge,
    .set_cpu_weight = client_set_cpu_weight,
    .set_time_limit = client_set_time_limit,
    .suspend = client_suspend,
    .signal = client_signal,
    .measure = client_measure,
    .sample = client_sample,
    .set_low_weight = client_set_low_weight,
    .warn = client_warn,
    .flush = client_flush,
    .descriptor = client_descriptor,
    .wants_write = client_wants_write,
    .ready = client_ready,
};

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* A directory that this user starts launchers in is closed to others. One that root starts a launcher in must be
 * root's, so that the socket in it is the launcher's. */
static int check_owner_and_mode(const char *directory, const struct stat *s, bool is_system, struct err *e)
{
    const uid_t owner = is_system ? 0 : geteuid();
    if (s->st_uid != owner) {
        return err_set(e, ERR_DENIED, "state directory %s belongs to user %u; it must belong to user %u", directory,
                       s->st_uid, owner);
    }
    if (is_system && (s->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return err_set(e, ERR_DENIED, "state directory %s can be written by others: run 'chmod 711 %s'", directory,
                       directory);
    }
    if (!is_system && (s->st_mode & 077) != 0)
        return err_set(e, ERR_DENIED, "state directory %s is open to others: run 'chmod 700 %s'", directory, directory);
    return 0;
}

static int check_directory(const char *directory, bool is_system, struct sockaddr_un *out_address, struct err *e)
{
    struct stat s;
    if (directory[0] != '/') return err_value(e, "state directory", str(directory), "an absolute path");
    if (launcher_spawn_address(directory, out_address, e)) return -1;
    if (stat(directory, &s) < 0) {
        if (is_system && errno == ENOENT) return 0; /* no launcher has been started yet */
        return err_set(e, ERR_IO, "cannot open state directory %s: %s", directory, strerror(errno));
    }
    if (!S_ISDIR(s.st_mode)) return err_set(e, ERR_DENIED, "state directory %s is not a directory", directory);
    return check_owner_and_mode(directory, &s, is_system, e);
}

/* Waits until the descriptor can be read, at most until until_us (CLOCK_MONOTONIC). Returns whether it can. */
static bool wait_readable(int fd, int64_t until_us)
{
    for (;;) {
        int64_t left_us = until_us - clock_read_us(CLOCK_MONOTONIC);
        if (left_us <= 0) return false;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, (int)(left_us / US_PER_MS) + 1);
        if (n > 0) return true;
        if (n < 0 && errno != EINTR) return false;
    }
}

enum hello_step { HELLO_WAITS, HELLO_DONE, HELLO_FAILED };

static enum hello_step take_first_message(struct launcher_client *c, bool has_instance, bool *is_greeted, struct err *e)
{
    size_t used;
    struct message m;
    if (protocol_decode((struct str){c->in.text, c->in.length}, &c->scratch, &used, &m, NULL)) return HELLO_FAILED;
    if (used == 0) return HELLO_WAITS;
    if (!*is_greeted) {
        if (m.kind != MESSAGE_HELLO || m.version != PROTOCOL_VERSION) return HELLO_FAILED;
        memmove(c->in.text, c->in.text + used, c->in.length - used);
        c->in.length -= used;
        *is_greeted = true;
        if (has_instance) return take_first_message(c, has_instance, is_greeted, e);
    } else if (m.kind == MESSAGE_REFUSED) {
        err_set(e, ERR_CONFLICT, "%s", m.refusal);
        return HELLO_FAILED;
    }
    take_messages(c, &c->early);
    return HELLO_DONE;
}

/* Exchanges HELLOs, and tells a system launcher which instance this is. True: the launcher has the same version and
 * serves the instance, and the messages that followed its HELLO wait in c->early. */
static bool exchange_hello(struct launcher_client *c, const struct launcher_owner *instance, int64_t until_us,
                           struct err *e)
{
    bool is_greeted = false;
    protocol_hello(&c->out, PROTOCOL_VERSION);
    if (instance != NULL) protocol_instance(&c->out, instance);
    send_queued(c);
    err_set(e, ERR_IO, "it serves another user, or is of another version");
    while (!c->is_gone && wait_readable(c->fd, until_us)) {
        ssize_t n = recv(c->fd, buf_room(&c->in, RECEIVE_SIZE), RECEIVE_SIZE, 0);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n <= 0) return false;
        c->in.length += (size_t)n;
        enum hello_step step = take_first_message(c, instance != NULL, &is_greeted, e);
        if (step != HELLO_WAITS) return step == HELLO_DONE;
    }
    return false;
}

static struct launcher_client *make_client(int fd)
{
    struct launcher_client *c = mem_resize(NULL, 0, sizeof *c);
    c->base.kind = &client_kind;
    c->fd = fd;
    return c;
}

/* I2. */
static int check_peer(int fd, struct err *e)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0))
        return 0;
    return err_set(e, ERR_DENIED, "the process that listens there is another user's");
}

/* A connection to a launcher of the same version, or NULL with the reason. */
static struct launcher_client *try_connect(const struct sockaddr_un *address, const struct launcher_owner *instance,
                                           int64_t until_us, struct err *e)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
        err_set(e, ERR_IO, "%s", strerror(errno));
        if (fd >= 0) close(fd);
        return NULL;
    }
    struct launcher_client *c = make_client(fd);
    if (check_peer(fd, e) == 0 && exchange_hello(c, instance, until_us, e)) return c;
    client_close(&c->base);
    return NULL;
}

/* Of the wait for a launcher that this client may start; reason: of the last attempt. */
static struct executor *give_up(const char *directory, const struct sockaddr_un *address, bool is_system,
                                const struct err *reason, struct err *e)
{
    if (reason->code == ERR_CONFLICT) {
        *e = *reason;
    } else if (is_system) {
        err_set(e, ERR_UNAVAILABLE,
                "no launcher answers at %s (%s): root starts it with 'systemctl start fairlead-launcher' or "
                "'fairlead-launcher --system'",
                address->sun_path, ERR_SENTENCE(reason));
    } else {
        err_set(e, ERR_UNAVAILABLE, "no launcher answers at %s within %d s: look into %s/launcher.log",
                address->sun_path, (int)(OPEN_WAIT_US / US_PER_S), directory);
    }
    return NULL;
}

struct executor *executor_open_launcher(const char *directory, const char *launcher_path,
                                        const struct launcher_owner *instance, struct err *e)
{
    struct sockaddr_un address;
    struct err reason;
    const bool is_system = launcher_path == NULL;
    if (check_directory(directory, is_system, &address, e)) return NULL;
    const int64_t begin_us = clock_read_us(CLOCK_MONOTONIC), until_us = begin_us + OPEN_WAIT_US;
    const int64_t retry_until_us = is_system ? begin_us + SYSTEM_WAIT_US : until_us;
    for (int64_t now_us = begin_us, spawn_us = begin_us; now_us < retry_until_us;) {
        struct launcher_client *c = try_connect(&address, instance, until_us, &reason);
        if (c != NULL) return &c->base;
        if (is_system && (reason.code == ERR_DENIED || reason.code == ERR_CONFLICT)) break; /* they stay as they are */
        if (!is_system && now_us >= spawn_us) {
            if (launcher_spawn_private(directory, launcher_path, e)) return NULL;
            spawn_us = now_us + RESPAWN_US;
        }
        nanosleep(&(struct timespec){.tv_nsec = CONNECT_RETRY_US * NS_PER_US}, NULL);
        now_us = clock_read_us(CLOCK_MONOTONIC);
    }
    return give_up(directory, &address, is_system, &reason, e);
}
