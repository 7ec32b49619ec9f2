/* Connections of the server: clients that stop in the middle, that are slow, or that are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "api/server/internal.h"
#include "base/quantity.h"
#include "server_fixture.h"

enum { DESCRIPTORS = 64, CONNECTIONS = 32, USER_CONNECTIONS = 16 }; /* of a server with so many descriptors */

static const char status_request[] = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";

/* Sends the bytes, and no more; the whole answer, until the server closes. */
static struct answer ask_half(struct fixture *f, const char *bytes)
{
    struct answer a = {.fd = fixture_connect(f)};
    assert_int_equal(send(a.fd, bytes, strlen(bytes), 0), strlen(bytes));
    shutdown(a.fd, SHUT_WR);
    struct err e = {0};
    for (int i = 0; i < 100 && answer_receive(&a, &e); i++) fixture_turn(f);
    close(a.fd);
    return a;
}

static void half_closed_requests_are_answered_at_once(void **unused)
{
    static const struct {
        const char *bytes;
        unsigned status;
    } rows[] = {
        {"GET /v1/sta", 400},
        {"GET /v1/status HTTP/1.1\r\nHost: x\r\n", 400},
        {"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"name\"", 400},
        {"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", 400},
        {"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"name\":\"a\"}", 200},
        {"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n", 200},
        {"", 0},
    };
    struct fixture f;
    (void)unused;
    fixture_open(&f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = ask_half(&f, rows[i].bytes);
        assert_int_equal(a.reply.status, rows[i].status);
        if (rows[i].status == 400) assert_non_null(strstr(a.body.text, "the request ends before it is complete"));
        answer_release(&a);
        for (int turns = 0; f.server->connection_count > 0 && turns < 100; turns++) fixture_turn(&f);
        assert_int_equal(f.server->connection_count, 0);
        assert_int_equal(f.server->half_closed.count, 0);
        assert_int_equal(f.server->users.count, 0);
    }
    fixture_close(&f);
}

/* Two requests in one write, and then the end: both are answered, and nothing else is sent. */
static void pipelined_requests_before_the_end(void **unused)
{
    struct fixture f;
    struct buf text = {0}, received = {0};
    char bytes[65536];
    int reply_count = 0;
    (void)unused;
    fixture_open(&f);
    int fd = fixture_connect(&f);
    buf_format(&text, "%s%s", "GET /v1/accounts HTTP/1.1\r\nHost: x\r\n\r\n", status_request);
    assert_int_equal(send(fd, text.text, text.length, 0), text.length);
    shutdown(fd, SHUT_WR);
    for (ssize_t count = 1; count != 0;) {
        fixture_turn(&f);
        count = recv(fd, bytes, sizeof bytes, 0);
        if (count > 0) buf_add(&received, bytes, (size_t)count);
    }
    for (char *p = received.text; (p = strstr(p, "HTTP/1.1 ")) != NULL; p++) reply_count++;
    assert_int_equal(reply_count, 2);
    assert_null(strstr(received.text, "HTTP/1.1 400"));
    close(fd);
    buf_release(&text);
    buf_release(&received);
    fixture_close(&f);
}

static void limit_descriptors(struct rlimit *limit, rlim_t count)
{
    limit->rlim_cur = count;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, limit), 0);
}

static void open_small(struct fixture *f)
{
    struct rlimit limit, all;
    getrlimit(RLIMIT_NOFILE, &all);
    limit = all;
    limit_descriptors(&limit, DESCRIPTORS);
    fixture_open(f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    assert_int_equal(f->server->connections_max, CONNECTIONS);
    assert_int_equal(f->server->user_connections_max, USER_CONNECTIONS);
}

static void turn_for(struct fixture *f, int64_t duration_us)
{
    int64_t end_us = server_monotonic_us() + duration_us;
    while (server_monotonic_us() < end_us) fixture_turn(f);
}

static void connect_all(struct fixture *f, int *fds, int count, const char *bytes)
{
    for (int i = 0; i < count; i++) {
        fds[i] = fixture_connect(f);
        assert_int_equal(send(fds[i], bytes, strlen(bytes), 0), strlen(bytes));
        fixture_turn(f);
    }
    assert_int_equal(f->server->connection_count, count);
}

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++) close(fds[i]);
}

static bool is_closed(int fd)
{
    char byte;
    ssize_t count;
    while ((count = recv(fd, &byte, 1, 0)) > 0) continue;
    return count == 0 || errno != EAGAIN;
}

/* A user with all connections that one user may have. */
static void idle_connections_give_way(void **unused)
{
    struct fixture f;
    int fds[USER_CONNECTIONS];
    (void)unused;
    open_small(&f);
    connect_all(&f, fds, USER_CONNECTIONS, "GET /v1/sta");
    struct answer a = {.fd = fixture_connect(&f)};
    assert_true(fixture_exchange(&f, &a, str(status_request)));
    assert_int_equal(a.reply.status, 503); /* none has been idle for a second */
    assert_non_null(strstr(a.body.text, "has 16 connections, which is the maximum"));
    close(a.fd);
    answer_release(&a);
    turn_for(&f, 1100000);
    a.fd = fixture_connect(&f);
    assert_true(fixture_exchange(&f, &a, str(status_request)));
    assert_int_equal(a.reply.status, 200);
    assert_true(is_closed(fds[0])); /* the oldest, and no other */
    assert_false(is_closed(fds[1]));
    close(a.fd);
    answer_release(&a);
    close_all(fds, USER_CONNECTIONS);
    fixture_close(&f);
}

/* Requests that are being decided are not closed for others. */
static void busy_connections_stay(void **unused)
{
    struct fixture f;
    int fds[USER_CONNECTIONS];
    (void)unused;
    open_small(&f);
    f.keeps_requests = true;
    connect_all(&f, fds, USER_CONNECTIONS,
                "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"name\":\"a\"}");
    turn_for(&f, 1100000);
    struct answer a = {.fd = fixture_connect(&f)};
    assert_true(fixture_exchange(&f, &a, str(status_request)));
    assert_int_equal(a.reply.status, 503);
    for (int i = 0; i < USER_CONNECTIONS; i++) assert_false(is_closed(fds[i]));
    close(a.fd);
    answer_release(&a);
    close_all(fds, USER_CONNECTIONS);
    fixture_close(&f);
}

/* All connections of the server are taken: clients wait for a moment, and are then refused, until there is room. */
static void a_full_server_refuses_after_a_while(void **unused)
{
    struct fixture f;
    int fds[CONNECTIONS];
    (void)unused;
    open_small(&f);
    f.server->user_connections_max = 2 * CONNECTIONS;
    f.keeps_requests = true;
    connect_all(&f, fds, CONNECTIONS,
                "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"name\":\"a\"}");
    struct answer a = {.fd = fixture_connect(&f)};
    turn_for(&f, 500000);
    assert_false(is_closed(a.fd));
    turn_for(&f, 600000);
    assert_true(fixture_exchange(&f, &a, str(status_request)));
    assert_int_equal(a.reply.status, 503);
    assert_non_null(strstr(a.body.text, "no connection left: 32 are open"));
    close(a.fd);
    answer_release(&a);
    close(fds[0]);
    f.keeps_requests = false;
    for (int turns = 0; f.server->connection_count == CONNECTIONS && turns < 100; turns++) fixture_turn(&f);
    a.fd = fixture_connect(&f);
    assert_true(fixture_exchange(&f, &a, str(status_request)));
    assert_int_equal(a.reply.status, 200);
    close(a.fd);
    answer_release(&a);
    close_all(fds + 1, CONNECTIONS - 1);
    fixture_close(&f);
}

/* The server has no connection, and no descriptor is free. */
static void descriptors_run_out(void **unused)
{
    struct fixture f;
    struct rlimit limit, all;
    (void)unused;
    fixture_open(&f);
    getrlimit(RLIMIT_NOFILE, &all);
    limit = all;
    struct answer a = {.fd = fixture_connect(&f)}, b = {.fd = fixture_connect(&f)};
    limit_descriptors(&limit, 0);
    turn_for(&f, 200000);
    assert_int_equal(f.server->connection_count, 0);
    limit_descriptors(&limit, all.rlim_cur);
    assert_true(fixture_exchange(&f, &a, str(status_request))); /* it goes on by itself */
    assert_int_equal(a.reply.status, 200);
    assert_true(fixture_exchange(&f, &b, str(status_request)));
    close(a.fd);
    close(b.fd);
    for (int turns = 0; f.server->connection_count > 0 && turns < 100; turns++) fixture_turn(&f);

    struct answer c = {.fd = fixture_connect(&f)};
    limit_descriptors(&limit, (rlim_t)f.server->spare_fd + 1); /* the spare one only, from now on */
    answer_release(&a);
    answer_release(&b);
    assert_true(fixture_exchange(&f, &c, str(status_request)));
    assert_int_equal(c.reply.status, 503);
    limit_descriptors(&limit, all.rlim_cur);
    close(c.fd);
    answer_release(&c);
    fixture_close(&f);
}

/* A byte now and then does not make a request live for ever. */
static void slow_requests_time_out(void **unused)
{
    static const char slow[] = "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n          ";
    struct fixture f;
    struct err e = {0};
    (void)unused;
    fixture_open(&f);
    f.server->request_us = 300000;
    struct answer a = {.fd = fixture_connect(&f)};
    int64_t start_us = server_monotonic_us();
    size_t sent = 0;
    while (answer_receive(&a, &e)) {
        if (sent < sizeof slow - 1 && send(a.fd, slow + sent, 1, MSG_NOSIGNAL) == 1) sent++;
        fixture_turn(&f);
        assert_true(server_monotonic_us() - start_us < 20 * US_PER_S);
    }
    assert_int_equal(a.reply.status, 408);
    assert_non_null(strstr(a.body.text, "was not complete after"));
    close(a.fd);
    answer_release(&a);

    a.fd = fixture_connect(&f); /* a connection between two requests ends without an answer */
    assert_true(fixture_exchange(&f, &a, str(status_request)));
    turn_for(&f, 400000);
    assert_true(is_closed(a.fd));
    close(a.fd);
    answer_release(&a);
    fixture_close(&f);
}

static const char long_request[] = "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 67108864\r\n\r\n{";
static const char chunked_head[] = "POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char small_request[] =
    "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n{\"name\":\"a\"}";

static void assert_status(struct fixture *f, struct str request, unsigned status, const char *text)
{
    struct answer a = {.fd = fixture_connect(f)};
    assert_true(fixture_exchange(f, &a, request));
    assert_int_equal(a.reply.status, status);
    assert_non_null(strstr(a.body.text, text));
    close(a.fd);
    answer_release(&a);
}

/* A body in chunks, which says nothing of its length: 128 KiB. */
static struct buf chunked_request(bool is_complete)
{
    enum { CHUNK = 4096, CHUNKS = 32 };
    struct buf text = {0};
    buf_add_str(&text, str(chunked_head));
    for (int i = 0; i < CHUNKS; i++) buf_format(&text, "%x\r\n%*s\r\n", CHUNK, CHUNK, "");
    if (is_complete) buf_add_str(&text, str("0\r\n\r\n"));
    return text;
}

static void assert_bodies_are_shared(bool serves_all, int count, const char *refusal)
{
    struct fixture f;
    int fds[BODIES_MAX / API_BODY_MAX];
    struct buf chunked = chunked_request(true), half = chunked_request(false);
    fixture_open(&f);
    f.server->host.serves_all = serves_all;
    connect_all(&f, fds, count, long_request);
    for (int turns = 0; f.server->body_bytes < (size_t)count * API_BODY_MAX && turns < 1000; turns++) fixture_turn(&f);
    assert_int_equal(f.server->body_bytes, (size_t)count * API_BODY_MAX);
    assert_status(&f, str(long_request), 503, refusal);
    assert_status(&f, (struct str){chunked.text, chunked.length}, 503, refusal);
    assert_status(&f, str(small_request), 200, "");
    close_all(fds, count);
    for (int turns = 0; f.server->connection_count > 0 && turns < 1000; turns++) fixture_turn(&f);
    assert_int_equal(f.server->body_bytes, 0);

    int fd = fixture_connect(&f);
    assert_int_equal(send(fd, half.text, half.length, 0), half.length);
    for (int turns = 0; f.server->body_bytes < 131072 && turns < 1000; turns++) fixture_turn(&f);
    assert_int_equal(f.server->body_bytes, 131072);
    close(fd);
    buf_release(&chunked);
    buf_release(&half);
    fixture_close(&f);
}

/* Long bodies share a number of bytes; the room for one is taken before any of it is read, and given back with it. */
static void long_bodies_share_memory(void **unused)
{
    enum { LONG = BODIES_MAX / API_BODY_MAX };
    (void)unused;
    assert_bodies_are_shared(false, LONG, "requests of 536870912 bytes are already being received");
    assert_bodies_are_shared(true, LONG / 2,
                             "requests of 268435456 bytes are already being received, 268435456 of them of this user; "
                             "try again later");
}

/* The description of the API is the largest reply that is rendered at once. Where the budget of a run is spent, it
 * waits for the next run, as all long replies do, so that it keeps no other client waiting. */
static void the_description_of_the_api_yields(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct err e = {0};
    struct str segment;
    const char *allow = NULL;
    const struct route *route = route_find("GET", "/v1/openapi.json", &arena, &segment, &allow, &e);
    assert_non_null(route);
    assert_true(route->is_long);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_closed_requests_are_answered_at_once),
        cmocka_unit_test(pipelined_requests_before_the_end),
        cmocka_unit_test(idle_connections_give_way),
        cmocka_unit_test(busy_connections_stay),
        cmocka_unit_test(a_full_server_refuses_after_a_while),
        cmocka_unit_test(descriptors_run_out),
        cmocka_unit_test(slow_requests_time_out),
        cmocka_unit_test(long_bodies_share_memory),
        cmocka_unit_test(the_description_of_the_api_yields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
