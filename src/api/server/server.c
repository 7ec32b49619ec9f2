/* Connections and requests. libmicrohttpd parses HTTP and calls back; it runs within server_ready only. The life of a
 * request:
 *
 *     on_request, first call     identify the client (peer.c), find the route; a refused request gets its reply here,
 *                                and its body is dropped
 *     on_request, further calls  receive the body
 *     on_request, last call      call the handler, which replies or parks the request (suspends its connection)
 *     request_unpark             resume the connection; libmicrohttpd calls on_request once more, which sends the reply
 *     on_completed               free the request
 *
 * Invariants
 *   1. A request lives until on_completed, which is not called while the request is parked. So a pointer to a parked
 *      request stays valid, even if the client disconnects.
 *   2. server->parked has exactly the requests with a suspended connection. It is empty when libmicrohttpd stops.
 *   3. The user of a request comes from the kernel (SO_PEERCRED), which is asked for every request.
 *
 * poll_fd is an epoll instance with libmicrohttpd's own epoll instance, an eventfd that is written when a connection is
 * resumed, the listening socket, and all connections, for the ends of what their clients send: libmicrohttpd does not
 * watch suspended connections, and requests in STAGE_WAITING wait so long that their clients may disconnect. */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/number.h"
#include "engine/visibility.h"

enum {
    CONNECTION_MEMORY = 131072, /* bytes for head and buffers */
    SENDING_TIMEOUT_S = 60,     /* while the client does not read its reply */
    CLOSING_ROUNDS = 20,
    RENDERING_DELAY_US = 30000, /* the longest time for which changes keep rendering from going on */
};

/* --- the life of a request ---------------------------------------------------------------------------------------- */

/* The time of the instance, with which clients compare the times in the reply. */
static void add_time(struct request *r)
{
    const struct server_host *host = &r->server->host;
    char text[NUMBER_TEXT_SIZE];
    text[number_format_u64(text, (uint64_t)host->now_us(host->context))] = '\0';
    MHD_add_response_header(r->reply, API_TIME_HEADER, text);
}

static enum MHD_Result send_reply(struct request *r)
{
    connection_enter(r->server, connection_of(r->connection), CONNECTION_BUSY);
    if (r->is_gone) return MHD_NO;
    ensure(r->reply != NULL);
    add_time(r);
    enum MHD_Result result = MHD_queue_response(r->connection, r->status, r->reply);
    MHD_destroy_response(r->reply);
    r->reply = NULL;
    return result;
}

/* Finds the route and decodes the path's segment. Without a route, and for OPTIONS, sets the reply. */
static void find_route(struct request *r, const char *method, const char *path)
{
    struct err e;
    struct str segment;
    const char *allow = NULL;
    bool is_options = strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0;
    r->route = route_find(method, path, &r->arena, &segment, &allow, &e);
    if (r->route == NULL && is_options && allow != NULL) {
        r->reply = MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
        r->status = MHD_HTTP_NO_CONTENT;
    } else if (r->route == NULL) {
        reply_error_status(r, allow ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND, &e);
    } else if (segment.text != NULL && request_percent_decode(segment, "path", &r->arena, &r->segment, &e) != 0) {
        reply_error(r, &e);
    }
    if (allow) MHD_add_response_header(r->reply, MHD_HTTP_HEADER_ALLOW, allow);
}

static size_t body_max(const struct request *r)
{
    return r->route && r->route->body_max > 0 ? r->route->body_max : SMALL_BODY_MAX;
}

static void reply_too_large(struct request *r)
{
    struct err e;
    err_set(&e, ERR_TOO_LARGE, "the request body is longer than %zu bytes", body_max(r));
    reply_error_status(r, MHD_HTTP_CONTENT_TOO_LARGE, &e);
}

/* 0: of a body whose length the head does not say, too. */
static uint64_t declared_length(struct request *r)
{
    uint64_t length;
    const char *text = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return text != NULL && number_parse_u64(str(text), &length) ? length : 0;
}

/* Takes the room for a body before any of it is read, so that of several long ones the first is received whole. */
static bool has_room(struct request *r, uint64_t length)
{
    struct err e;
    if (r->reply != NULL || connection_take_bytes(r->server, r, (size_t)length, &e) == 0) return true;
    reply_error(r, &e);
    return false;
}

/* Called when the head has arrived. A refusal for which the body need not be read is sent at once, and libmicrohttpd
 * then closes the connection. */
static enum MHD_Result begin_request(struct server *s, struct MHD_Connection *connection, const char *path,
                                     const char *method, void **out_request)
{
    struct err e;
    struct request *r = mem_resize(NULL, 0, sizeof *r);
    r->server = s;
    r->connection = connection;
    r->is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    *out_request = r;
    struct connection *c = connection_of(connection);
    c->request = r;
    connection_enter(s, c, CONNECTION_READING);
    int identified = peer_identify(r, &e);
    if (identified < 0) {
        reply_error(r, &e);
        return send_reply(r);
    }
    r->is_anonymous = identified > 0;
    find_route(r, method, path);
    uint64_t length = declared_length(r);
    bool is_too_large = length > body_max(r);
    if (is_too_large && r->reply == NULL) reply_too_large(r);
    return !is_too_large && has_room(r, length) ? MHD_YES : send_reply(r);
}

static void drop_body(struct request *r)
{
    buf_release(&r->body);
    connection_end_bytes(r->server, r);
}

/* Receives a part of the body. A body that turns out to be too large is read on up to twice the maximum, so that the
 * client reads the reply instead of failing to write. */
static enum MHD_Result add_to_body(struct request *r, const char *bytes, size_t *length)
{
    size_t max = body_max(r);
    bool is_too_large = r->body.length + *length > max;
    if (is_too_large && r->reply == NULL) reply_too_large(r);
    if (has_room(r, r->body.length + *length) && r->reply == NULL) {
        /* All of the room that begin_request has taken, so that a long body is not copied again and again. */
        if (r->body.length == 0 && *length < r->counted_bytes) (void)buf_room(&r->body, r->counted_bytes);
        buf_add(&r->body, bytes, *length);
    } else {
        drop_body(r);
        r->dropped_bytes += *length;
        if (r->dropped_bytes > max) return MHD_NO;
    }
    *length = 0;
    return MHD_YES;
}

static void reply_closing(struct request *r)
{
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, "the instance is stopping");
    reply_error(r, &e);
}

/* A submission that is only tried makes a plan. */
static bool is_long(const struct request *r)
{
    return r->route->is_long || MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "test_only") != NULL;
}

/* Returns whether the client of a complete request is known. If not, the request is parked or has its reply. */
static bool identify_again(struct request *r)
{
    struct err e;
    int identified = peer_identify(r, &e);
    r->is_anonymous = identified != 0;
    if (identified < 0) reply_error(r, &e);
    if (identified > 0) request_park(r, STAGE_IDENTIFYING);
    return identified == 0;
}

/* The engine checks changes again, when it decides them. */
static int check_permission(const struct request *r, struct err *e)
{
    const struct actor *actor = &r->actor;
    bool is_hidden = r->route->is_whole && visibility_hidden_from(r->server->host.state, actor) != 0;
    return permission_require(is_hidden ? PERMISSION_HIDDEN : r->route->permission, actor->role, actor->user, NULL, e);
}

static enum MHD_Result dispatch(struct request *r)
{
    struct server *s = r->server;
    struct err e;
    connection_enter(s, connection_of(r->connection), CONNECTION_BUSY);
    if (is_long(r) && s->spent_us >= BUDGET_US && !s->is_closing) return MHD_YES; /* the next run calls again */
    int64_t start_us = server_monotonic_us(), spent_us = s->spent_us;
    if (s->is_closing) {
        reply_closing(r);
    } else if (r->is_anonymous && !identify_again(r)) {
        /* it waits, or is refused */
    } else if (check_permission(r, &e) != 0) {
        reply_error(r, &e);
    } else if (request_wants_thread(r)) {
        request_read_in_thread(r);
    } else if (r->route->handle(r, &e) != 0) {
        reply_error(r, &e);
    }
    s->spent_us = spent_us + server_monotonic_us() - start_us;
    ensure(r->is_parked || r->reply != NULL);
    return r->is_parked ? MHD_YES : send_reply(r);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes, size_t *length,
                                  void **request)
{
    struct request *r = *request;
    (void)version;
    if (r == NULL) return begin_request(context, connection, path, method, request);
    if (*length > 0) return add_to_body(r, bytes, length);
    if (r->reply != NULL || r->is_gone) return send_reply(r);
    return dispatch(r);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code)
{
    struct request *r = *request;
    struct connection *c = connection_of(connection);
    (void)code;
    if (r == NULL) return;
    ensure(!r->is_parked);
    connection_end_bytes(context, r);
    c->request = NULL;
    c->has_replied = true;
    connection_enter(context, c, CONNECTION_IDLE);
    if (r->reply != NULL) MHD_destroy_response(r->reply);
    buf_release(&r->body);
    arena_release(&r->arena);
    mem_free(r);
    *request = NULL;
}

/* Paths and queries are decoded in reply.c. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

/* --- opening and running ------------------------------------------------------------------------------------------ */

static bool watch(const struct server *s, int fd, void *pointer)
{
    struct epoll_event readable = {.events = EPOLLIN, .data.ptr = pointer};
    return epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, fd, &readable) == 0;
}

static int start_http(struct server *s, struct err *e)
{
    accept_init(s);
    s->http = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, s,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, connection_notify, s,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT, 2 * s->connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SENDING_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (s->http == NULL) return err_set(e, ERR_IO, "cannot serve %s: %s", s->socket_path, strerror(errno));
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->http, MHD_DAEMON_INFO_EPOLL_FD);
    s->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->is_accepting = true;
    if (info == NULL || s->poll_fd < 0 || s->wake_fd < 0 || !watch(s, info->epoll_fd, NULL) ||
        !watch(s, s->wake_fd, NULL) || !watch(s, s->listen_fd, &s->listen_fd))
        return err_set(e, ERR_IO, "cannot watch %s: %s", s->socket_path, strerror(errno));
    return 0;
}

static mode_t socket_mode(const struct server_host *host)
{
    return host->serves_all ? 0666 : 0600;
}

struct server *server_open(const char *socket_path, const struct server_host *host, struct err *e)
{
    struct server *s = mem_resize(NULL, 0, sizeof *s);
    s->host = *host;
    s->poll_fd = s->wake_fd = s->spare_fd = -1;
    s->socket_path = arena_copy(&s->arena, str(socket_path));
    const struct passwd *user = getpwuid(geteuid()); /* once, because it may use the network */
    if (user != NULL) s->user = arena_copy(&s->arena, str(user->pw_name));
    s->listen_fd = listen_open(socket_path, socket_mode(host), &s->socket_device, &s->socket_inode, e);
    if (s->listen_fd >= 0 && start_http(s, e) == 0) return s;
    server_close(s);
    return NULL;
}

int server_listen_again(struct server *s, struct err *e)
{
    uint64_t device, inode;
    if (listen_is_there(s->socket_path, s->socket_device, s->socket_inode)) return 0;
    int fd = listen_open(s->socket_path, socket_mode(&s->host), &device, &inode, e);
    if (fd < 0) return -1;
    close(s->listen_fd); /* epoll forgets it; clients that wait there connect again */
    s->listen_fd = fd;
    s->socket_device = device;
    s->socket_inode = inode;
    s->is_accepting = true;
    if (!watch(s, fd, &s->listen_fd)) return err_set(e, ERR_IO, "cannot watch %s: %s", s->socket_path, strerror(errno));
    return 1;
}

void server_close(struct server *s)
{
    s->is_closing = true;
    if (s->socket_inode != 0) listen_remove(s->socket_path, s->socket_device, s->socket_inode);
    while (s->parked) {
        struct request *r = s->parked;
        if (r->stage == STAGE_WAITING) wait_forget(r);
        reply_closing(r);
        request_unpark(r);
    }
    for (int i = 0; s->http && i < CLOSING_ROUNDS; i++) MHD_run(s->http);
    if (s->http) MHD_stop_daemon(s->http);
    if (s->listen_fd >= 0) close(s->listen_fd);
    if (s->spare_fd >= 0) close(s->spare_fd);
    if (s->poll_fd >= 0) close(s->poll_fd);
    if (s->wake_fd >= 0) close(s->wake_fd);
    mem_free(s->factors);
    expected_starts_release(s->expected);
    array_release(&s->queue);
    array_release(&s->users);
    array_release(&s->half_closed);
    arena_release(&s->arena);
    mem_free(s);
}

int server_descriptor(const struct server *s)
{
    return s->poll_fd;
}

static int64_t earlier_ms(int64_t a_ms, int64_t b_ms)
{
    return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

int64_t server_timeout_ms(const struct server *s)
{
    MHD_UNSIGNED_LONG_LONG http_ms;
    if (s->queue_first < s->queue.count) return 0;
    int64_t wait_ms = earlier_ms(wait_timeout_ms(s), earlier_ms(connections_timeout_ms(s), accept_timeout_ms(s)));
    return MHD_get_timeout(s->http, &http_ms) == MHD_YES ? earlier_ms(wait_ms, (int64_t)http_ms) : wait_ms;
}

/* A waiting request of a client that has disconnected is unparked. */
static void on_closed(struct server *s, struct connection *c, bool is_hang_up)
{
    struct request *r = c->request;
    if (!is_hang_up) {
        connection_half_closed(s, c);
    } else if (r != NULL && r->stage == STAGE_WAITING) {
        wait_forget(r);
        r->is_gone = true;
        request_unpark(r);
    }
}

static void read_events(struct server *s)
{
    struct epoll_event events[64];
    int count = epoll_wait(s->poll_fd, events, sizeof events / sizeof *events, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == NULL || events[i].data.ptr == &s->listen_fd) continue;
        on_closed(s, events[i].data.ptr, events[i].events & (EPOLLHUP | EPOLLERR));
    }
}

/* Without rendering, long requests and streams wait for a later run. */
static void run_http(struct server *s, bool renders)
{
    s->spent_us = renders ? 0 : BUDGET_US;
    ensure(MHD_run(s->http) == MHD_YES);
}

/* Whether the changes that were requested are to be decided, and the replies sent, before anything is rendered. */
static bool changes_come_first(const struct server *s)
{
    return s->queue_first < s->queue.count && server_monotonic_us() - s->rendered_us < RENDERING_DELAY_US;
}

void server_ready(struct server *s)
{
    eventfd_t unused;
    if (s->is_woken) eventfd_read(s->wake_fd, &unused);
    s->is_woken = false;
    read_events(s);
    wait_expire(s);
    connections_expire(s);
    accept_clients(s);
    connections_end_incomplete(s); /* libmicrohttpd would close these without an answer */
    run_http(s, false);
    if (!changes_come_first(s)) {
        run_http(s, true);
        s->rendered_us = server_monotonic_us();
    }
    connections_end_incomplete(s);
}
