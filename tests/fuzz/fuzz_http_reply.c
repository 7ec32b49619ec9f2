/* HTTP replies of arbitrary bytes. Status, body and end are the same whether the bytes are fed at once, one by one, or
 * in two pieces, with the last byte choosing where to divide them. The parser never holds more than one line of a
 * head. */
#include <string.h>

#include "api/client/http_reply.h"
#include "base/ensure.h"

struct outcome {
    struct http_reply reply;
    struct buf body;
    bool is_failed, is_closed;
};

static void feed(struct outcome *o, struct str bytes)
{
    if (o->is_failed) return;
    struct err e = {0};
    o->is_failed = http_reply_feed(&o->reply, bytes, &o->body, &e) != 0;
    ensure(o->is_failed == (e.code == ERR_INTERNAL));
    ensure(o->reply.line.length <= HTTP_LINE_MAX);
}

static void finish(struct outcome *o)
{
    if (!o->is_failed) o->is_closed = http_reply_close(&o->reply, NULL) == 0;
    ensure(o->is_closed == http_reply_is_done(&o->reply));
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
    ensure(a->is_failed == b->is_failed && a->is_closed == b->is_closed);
    ensure(a->reply.state == b->reply.state && a->reply.status == b->reply.status &&
           a->reply.closes == b->reply.closes && a->reply.time_us == b->reply.time_us);
    if (a->is_failed) return;
    ensure(a->body.length == b->body.length);
    ensure(a->body.length == 0 || memcmp(a->body.text, b->body.text, a->body.length) == 0);
}

static void outcome_release(struct outcome *o)
{
    http_reply_release(&o->reply);
    buf_release(&o->body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t cut = size > 0 ? (size_t)data[size - 1] * size / 256 : 0;
    struct outcome whole = {0}, bytes = {0}, halves = {0};

    feed(&whole, (struct str){text, size});
    for (size_t i = 0; i < size; i++) feed(&bytes, (struct str){text + i, 1});
    feed(&halves, (struct str){text, cut});
    feed(&halves, (struct str){text + cut, size - cut});

    finish(&whole);
    finish(&bytes);
    finish(&halves);
    check_same(&whole, &bytes);
    check_same(&whole, &halves);
    outcome_release(&whole);
    outcome_release(&bytes);
    outcome_release(&halves);
    return 0;
}
