/* The connections of the server: what each does, how many a user has, and which one is closed for another.
 *
 * libmicrohttpd reads and writes; this file keeps a list for each phase of a connection, in the order in which they
 * entered it. So the connection that has been idle longest is the first of its list.
 *
 * A connection is closed by shutting its socket down, which libmicrohttpd notices in its next run. The answer at that
 * point is written to the socket directly, since libmicrohttpd has sent nothing for a request that is not complete. */
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/quantity.h"

enum { EVICTION_AGE_US = 1000000 }; /* a connection that has been idle for less is not closed for another */

/* --- lists -------------------------------------------------------------------------------------------------------- */

static void unlink_connection(struct server *s, struct connection *c)
{
    struct connection_list *list = &s->connections[c->phase];
    *(c->previous ? &c->previous->next : &list->first) = c->next;
    *(c->next ? &c->next->previous : &list->last) = c->previous;
}

static void append_connection(struct server *s, struct connection *c, enum connection_phase phase)
{
    struct connection_list *list = &s->connections[phase];
    c->phase = phase;
    c->since_us = server_monotonic_us();
    c->next = NULL;
    c->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = c;
    list->last = c;
}

void connection_enter(struct server *s, struct connection *c, enum connection_phase phase)
{
    if (c->phase == phase || c->phase == CONNECTION_CLOSING) return;
    unlink_connection(s, c);
    append_connection(s, c, phase);
}

struct connection_user *connection_user(struct server *s, uint32_t uid)
{
    for (uint32_t i = 0; i < s->users.count; i++) {
        if (s->users.items[i].uid == uid) return &s->users.items[i];
    }
    struct connection_user *added = array_add(&s->users);
    *added = (struct connection_user){.uid = uid};
    return added;
}

static void forget_user(struct server *s, struct connection_user *user)
{
    if (user->connection_count == 0 && user->stream_count == 0) *user = s->users.items[--s->users.count];
}

struct connection *connection_of(struct MHD_Connection *http)
{
    return MHD_get_connection_info(http, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void open_connection(struct server *s, struct MHD_Connection *http, void **out)
{
    struct connection *c = mem_resize(NULL, 0, sizeof *c);
    c->fd = MHD_get_connection_info(http, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    c->uid = s->accepted_uid;
    struct epoll_event closed = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = c};
    c->is_watched = epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, c->fd, &closed) == 0;
    append_connection(s, c, CONNECTION_IDLE);
    connection_user(s, c->uid)->connection_count++;
    s->connection_count++;
    *out = c;
}

static void forget_half_closed(struct server *s, const struct connection *c)
{
    for (uint32_t i = 0; i < s->half_closed.count; i++) {
        if (s->half_closed.items[i] != c) continue;
        s->half_closed.items[i] = s->half_closed.items[--s->half_closed.count];
        return;
    }
}

static void close_connection(struct server *s, struct connection *c)
{
    struct connection_user *user = connection_user(s, c->uid);
    if (c->is_watched) epoll_ctl(s->poll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    if (c->is_half_closed) forget_half_closed(s, c);
    unlink_connection(s, c);
    user->connection_count--;
    forget_user(s, user);
    s->connection_count--;
    mem_free(c);
}

void connection_notify(void *server, struct MHD_Connection *http, void **socket_context,
                       enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        open_connection(server, http, socket_context);
    else if (*socket_context != NULL)
        close_connection(server, *socket_context);
}

/* --- what users share --------------------------------------------------------------------------------------------- */

static bool has_share(const struct server *s, size_t used_by_user, size_t used, size_t more, size_t max)
{
    size_t left = used + more <= max ? max - used - more : 0;
    if (used + more > max) return false;
    return !s->host.serves_all || used_by_user + more <= left || used_by_user == 0;
}

int connection_take_stream(struct server *s, uint32_t uid, struct err *e)
{
    struct connection_user *user = connection_user(s, uid);
    if (!has_share(s, user->stream_count, s->stream_count, 1, STREAMS_MAX)) {
        bool is_full = s->stream_count >= STREAMS_MAX;
        return err_set(e, ERR_UNAVAILABLE, "%u long listings are already being sent%s; try again later",
                       is_full ? s->stream_count : user->stream_count, is_full ? "" : " to this user");
    }
    user->stream_count++;
    s->stream_count++;
    return 0;
}

void connection_end_stream(struct server *s, uint32_t uid)
{
    struct connection_user *user = connection_user(s, uid);
    s->stream_count--;
    user->stream_count--;
    forget_user(s, user);
}

int connection_take_bytes(struct server *s, struct request *r, size_t body_bytes, struct err *e)
{
    struct connection_user *user = connection_user(s, connection_of(r->connection)->uid);
    if (body_bytes < LONG_BODY_MIN || body_bytes <= r->counted_bytes) return 0;
    size_t more = body_bytes - r->counted_bytes;
    if (!has_share(s, user->body_bytes, s->body_bytes, more, BODIES_MAX))
        return err_set(e, ERR_UNAVAILABLE,
                       "requests of %zu bytes are already being received, %zu of them of this user; try again later",
                       s->body_bytes, user->body_bytes);
    user->body_bytes += more;
    s->body_bytes += more;
    r->counted_bytes = body_bytes;
    return 0;
}

void connection_end_bytes(struct server *s, struct request *r)
{
    if (r->counted_bytes == 0) return;
    connection_user(s, connection_of(r->connection)->uid)->body_bytes -= r->counted_bytes;
    s->body_bytes -= r->counted_bytes;
    r->counted_bytes = 0;
}

/* --- closing ------------------------------------------------------------------------------------------------------ */

void connection_refuse(int fd, unsigned status, const struct err *e)
{
    struct arena arena = {0};
    struct buf body = {0}, reply = {0};
    char unread[4096];
    const struct api_error error = api_error_of(e, &arena);
    wire_write(&api_error_shape, &error, &body);
    buf_format(&reply,
               "HTTP/1.1 %u %s\r\nContent-Type: " TYPE_JSON "\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
               status, MHD_get_reason_phrase_for(status), body.length + 1);
    buf_add_str(&reply, (struct str){body.text, body.length});
    buf_add_char(&reply, '\n');
    while (recv(fd, unread, sizeof unread, MSG_DONTWAIT) == sizeof unread) continue;
    /* A client that does not read it does without. */
    (void)!send(fd, reply.text, reply.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(fd, SHUT_RDWR);
    buf_release(&body);
    buf_release(&reply);
    arena_release(&arena);
}

/* status 0: without a reply. */
static void end_connection(struct server *s, struct connection *c, unsigned status, const struct err *e)
{
    connection_enter(s, c, CONNECTION_CLOSING);
    if (status != 0)
        connection_refuse(c->fd, status, e);
    else
        shutdown(c->fd, SHUT_RDWR);
}

/* A connection that has had a reply, and on which no request has begun, gets no further one. */
static bool is_between_requests(const struct connection *c)
{
    return c->phase == CONNECTION_IDLE && c->has_replied;
}

/* Closes the connection that has been in the phase longest, of one user. */
static bool evict(struct server *s, enum connection_phase phase, bool any_user, uint32_t uid)
{
    struct err e;
    int64_t last_us = server_monotonic_us() - EVICTION_AGE_US;
    for (struct connection *c = s->connections[phase].first; c && c->since_us <= last_us; c = c->next) {
        if (!any_user && c->uid != uid) continue;
        err_set(&e, ERR_UNAVAILABLE, "the connection was idle, and others need it");
        end_connection(s, c, is_between_requests(c) ? 0 : MHD_HTTP_SERVICE_UNAVAILABLE, &e);
        return true;
    }
    return false;
}

bool connections_evict_of(struct server *s, uint32_t uid)
{
    return evict(s, CONNECTION_IDLE, false, uid) || evict(s, CONNECTION_READING, false, uid);
}

bool connections_evict(struct server *s)
{
    const struct connection_user *most = NULL;
    for (uint32_t i = 0; i < s->users.count; i++) {
        if (most == NULL || s->users.items[i].connection_count > most->connection_count) most = &s->users.items[i];
    }
    if (most != NULL && connections_evict_of(s, most->uid)) return true;
    return evict(s, CONNECTION_IDLE, true, 0) || evict(s, CONNECTION_READING, true, 0);
}

/* Of the first connection of a phase; INT64_MAX without one. */
static int64_t deadline_us(const struct server *s, enum connection_phase phase)
{
    const struct connection *first = s->connections[phase].first;
    return first != NULL ? first->since_us + s->request_us : INT64_MAX;
}

static void expire(struct server *s, enum connection_phase phase)
{
    struct err e;
    int64_t now_us = server_monotonic_us();
    err_set(&e, ERR_UNAVAILABLE, "the request was not complete after %lld s", (long long)(s->request_us / US_PER_S));
    while (deadline_us(s, phase) <= now_us) {
        struct connection *c = s->connections[phase].first;
        end_connection(s, c, is_between_requests(c) ? 0 : MHD_HTTP_REQUEST_TIMEOUT, &e);
    }
}

void connections_expire(struct server *s)
{
    expire(s, CONNECTION_IDLE);
    expire(s, CONNECTION_READING);
}

int64_t connections_timeout_ms(const struct server *s)
{
    int64_t idle_us = deadline_us(s, CONNECTION_IDLE), reading_us = deadline_us(s, CONNECTION_READING);
    int64_t first_us = idle_us < reading_us ? idle_us : reading_us, now_us = server_monotonic_us();
    if (first_us == INT64_MAX) return -1;
    return first_us <= now_us ? 0 : (first_us - now_us + US_PER_MS - 1) / US_PER_MS;
}

/* --- clients that send no more ------------------------------------------------------------------------------------ */

void connection_half_closed(struct server *s, struct connection *c)
{
    if (c->is_half_closed) return;
    c->is_half_closed = true;
    *array_add(&s->half_closed) = c;
}

/* Whether the client's last bytes have been read, and make no complete request. libmicrohttpd itself closes a
 * connection that ends between two requests. */
static bool ends_incomplete(const struct connection *c)
{
    char byte;
    if (c->phase != CONNECTION_READING && (c->phase != CONNECTION_IDLE || c->has_replied)) return false;
    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

void connections_end_incomplete(struct server *s)
{
    struct err e;
    err_set(&e, ERR_INPUT, "the request ends before it is complete");
    for (uint32_t i = 0; i < s->half_closed.count;) {
        struct connection *c = s->half_closed.items[i];
        if (!ends_incomplete(c)) {
            i++;
            continue;
        }
        end_connection(s, c, MHD_HTTP_BAD_REQUEST, &e);
        forget_half_closed(s, c);
        c->is_half_closed = false;
    }
}
