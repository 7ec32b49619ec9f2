/* The reply parser on arbitrary bytes: it must come to the same status, body and end whether the bytes arrive at once,
 * one by one, or cut in two where the last byte says, and must not hold more than a head's worth beside the body. */
#include <string.h>

#include "api/client/http_reply.h"
#include "base/ensure.h"

struct outcome {
    struct http_reply reply;
    struct buf body;
    bool failed, closed;
};

static void feed(struct outcome *o, struct str bytes)
{
    if (o->failed) return;
    struct err e = {0};
    o->failed = http_reply_feed(&o->reply, bytes, &o->body, &e) != 0;
    ensure(o->failed == (e.code == ERR_INTERNAL));
    ensure(o->reply.line.length <= HTTP_LINE_MAX);
}

static void finish(struct outcome *o)
{
    if (!o->failed) o->closed = http_reply_close(&o->reply, NULL) == 0;
    ensure(o->closed == http_reply_is_done(&o->reply));
}

static void same(const struct outcome *a, const struct outcome *b)
{
    ensure(a->failed == b->failed && a->closed == b->closed);
    ensure(a->reply.state == b->reply.state && a->reply.status == b->reply.status &&
           a->reply.closes == b->reply.closes);
    if (a->failed) return;
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
    same(&whole, &bytes);
    same(&whole, &halves);
    outcome_release(&whole);
    outcome_release(&bytes);
    outcome_release(&halves);
    return 0;
}
