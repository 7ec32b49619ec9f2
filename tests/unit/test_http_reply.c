/* The parser of HTTP replies: results and errors, with replies fed at once and in small pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/client/http_reply.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

enum end { DONE, CUT_OFF, REFUSED };

struct row {
    const char *bytes;
    enum end end;
    int status;
    const char *body;
    bool closes;
};

static const struct row rows[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", DONE, 200, "hello", false},
    {"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", DONE, 200, "hello", false},
    {"HTTP/1.1 201 Created\ncontent-length:5\n\nhello", DONE, 201, "hello", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", DONE, 200, "", false},
    {"HTTP/1.1 204 No Content\r\n\r\n", DONE, 204, "", false},
    {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", DONE, 404, "{}", true},
    {"HTTP/1.1 200 OK\r\nConnection: Keep-Alive, CLOSE\r\nContent-Length: 1\r\n\r\nx", DONE, 200, "x", true},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;a=b\r\n, world\r\n0\r\n\r\n", DONE, 200,
     "hello, world", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n000\r\nA: b\r\nC: d\r\n\r\n", DONE, 200,
     "0123456789", false},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", DONE, 200, "x", false},
    {"HTTP/1.1 200 OK\r\n\r\nup to the end\r\n", DONE, 200, "up to the end\r\n", true},
    {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", DONE, 200, "x", true},
    {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", DONE, 200, "x", false},

    {"", CUT_OFF, 0, "", false},
    {"HTTP/1.1 200 OK\r\nContent-Len", CUT_OFF, 200, "", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", CUT_OFF, 200, "hello", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", CUT_OFF, 200, "hel", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", CUT_OFF, 200, "hello", false},

    {"SSH-2.0-OpenSSH_9.2\r\n", REFUSED, 0, "", false},
    {"HTTP/2 200 OK\r\n\r\n", REFUSED, 0, "", false},
    {"HTTP/1.1 2x0 OK\r\n\r\n", REFUSED, 0, "", false},
    {"HTTP/1.1 099 OK\r\n\r\n", REFUSED, 0, "", false},
    {"HTTP/1.1 2000 OK\r\n\r\n", REFUSED, 0, "", false},
    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", REFUSED, 101, "", false},
    {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nName : x\r\n\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000\r\n", REFUSED, 200, "", false},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", REFUSED, 200, "ab", false},
    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", REFUSED, 200, "x", false},
};

/* Feeds the reply in pieces of piece_bytes and compares the result with the row. */
static void check(const struct row *row, size_t piece_bytes)
{
    struct http_reply reply = {0};
    struct buf body = {0};
    struct err e = {0};
    size_t length = strlen(row->bytes);
    enum end end = DONE;
    for (size_t fed = 0; fed < length && end != REFUSED; fed += piece_bytes) {
        struct str bytes = {row->bytes + fed, length - fed < piece_bytes ? length - fed : piece_bytes};
        if (http_reply_feed(&reply, bytes, &body, &e) != 0) end = REFUSED;
    }
    if (end != REFUSED && http_reply_close(&reply, &e) != 0) end = CUT_OFF;

    if (end != row->end || (reply.status != row->status))
        fail_msg("end %d, status %d of: %s", end, reply.status, row->bytes);
    assert_int_equal(e.code, end == REFUSED ? ERR_INTERNAL : end == CUT_OFF ? ERR_UNAVAILABLE : ERR_NONE);
    assert_int_equal(http_reply_is_done(&reply), end == DONE);
    assert_string_equal(body.length > 0 ? body.text : "", row->body);
    if (end == DONE) assert_int_equal(reply.closes, row->closes);
    if (end == REFUSED) assert_int_equal(http_reply_feed(&reply, str("x"), &body, &e), -1);
    buf_release(&body);
    http_reply_release(&reply);
}

static void test_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) check(&rows[i], SIZE_MAX / 2);
}

static void test_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t piece_bytes = 1; piece_bytes <= 7; piece_bytes++) check(&rows[i], piece_bytes);
    }
}

/* A head that is too long is refused before all of it is received. */
static void test_head_is_bounded(void **state)
{
    (void)state;
    const char *const lines[] = {"aaaaaaaa", "A: b\r\n"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct http_reply reply = {0};
        struct buf body = {0};
        struct err e = {0};
        size_t fed = 0;
        int status = http_reply_feed(&reply, str("HTTP/1.1 200 OK\r\n"), &body, &e);
        while (status == 0 && fed <= HTTP_HEAD_MAX) {
            status = http_reply_feed(&reply, str(lines[i]), &body, &e);
            fed += strlen(lines[i]);
        }
        assert_int_equal(status, -1);
        assert_int_equal(e.code, ERR_INTERNAL);
        assert_true(reply.line.capacity <= 2 * HTTP_LINE_MAX);
        buf_release(&body);
        http_reply_release(&reply);
    }
}

/* The message quotes the bytes, without control characters. */
static void test_message(void **state)
{
    (void)state;
    struct http_reply reply = {0};
    struct buf body = {0};
    struct err e = {0};
    assert_int_equal(http_reply_feed(&reply, str("\033[31mred\n"), &body, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "the reply is not HTTP/1.1: status line: '?[31mred'");
    http_reply_release(&reply);
}

static void test_the_time_of_a_pretend_instance(void **state)
{
    static const struct {
        const char *head;
        int64_t time_us;
    } times[] = {
        {"HTTP/1.1 200 OK\r\nfairlead-time: 1795243000123456\r\n\r\n", 1795243000123456},
        {"HTTP/1.1 200 OK\r\nFairlead-Time: -1\r\n\r\n", 0},
        {"HTTP/1.1 200 OK\r\nFairlead-Time: 18446744073709551615\r\n\r\n", 0},
        {"HTTP/1.1 200 OK\r\n\r\n", 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(times); i++) {
        struct http_reply r = {0};
        struct buf body = {0};
        assert_int_equal(http_reply_feed(&r, str(times[i].head), &body, NULL), 0);
        assert_int_equal(r.time_us, times[i].time_us);
        http_reply_release(&r);
        buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_time_of_a_pretend_instance),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_in_pieces),
        cmocka_unit_test(test_head_is_bounded),
        cmocka_unit_test(test_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
