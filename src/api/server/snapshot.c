/* Replies that take long to compute from the whole state: by the host, from a copy of it (host->run_in_snapshot), while
 * the loop goes on. The text ends with a byte that says whether it is a reply or a struct err. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"

enum { IS_REPLY = 'r', IS_ERROR = 'e' };

struct snapshot_reply {
    struct request *request;
    const struct request_snapshot *what;
    struct buf text;
};

static void prepare_request(struct request *r, const struct request_snapshot *what)
{
    const struct server_host *host = &r->server->host;
    r->now_us = host->now_us(host->context);
    if (what->prepare != NULL) what->prepare(r);
}

static void prepare(void *reply)
{
    struct snapshot_reply *s = reply;
    prepare_request(s->request, s->what);
}

static void compute(void *reply, struct buf *out)
{
    const struct snapshot_reply *s = reply;
    struct err e;
    memset(&e, 0, sizeof e);
    bool is_reply = s->what->render(s->request, out, &e) == 0;
    if (!is_reply) {
        buf_clear(out);
        buf_add(out, &e, sizeof e);
    }
    buf_add_char(out, is_reply ? IS_REPLY : IS_ERROR);
}

static void keep_text(void *reply, struct buf *text)
{
    struct snapshot_reply *s = reply;
    s->text = *text;
    *text = (struct buf){0};
}

static void answer(struct snapshot_reply *s)
{
    struct request *r = s->request;
    struct err e;
    ensure(s->text.length > 0);
    if (s->text.text[--s->text.length] == IS_ERROR) {
        ensure(s->text.length == sizeof e);
        memcpy(&e, s->text.text, sizeof e);
        buf_release(&s->text);
        reply_error(r, &e);
    } else {
        reply_take(r, MHD_HTTP_OK, s->what->content_type, &s->text);
    }
}

static void done(void *reply, const struct err *e)
{
    struct snapshot_reply *s = reply;
    struct request *r = s->request;
    ensure(r->stage == STAGE_RENDERING);
    if (s->what->finish != NULL) s->what->finish(r);
    if (e != NULL)
        reply_error(r, e);
    else
        answer(s);
    request_unpark(r);
}

int request_reply_snapshot(struct request *r, const struct request_snapshot *what, bool is_long, struct err *e)
{
    static const struct snapshot_work work = {prepare, compute, keep_text, done};
    const struct server_host *host = &r->server->host;
    struct buf text = {0};
    if (is_long && host->run_in_snapshot != NULL) {
        struct snapshot_reply *s = arena_alloc(&r->arena, sizeof *s);
        *s = (struct snapshot_reply){.request = r, .what = what};
        request_park(r, STAGE_RENDERING);
        host->run_in_snapshot(host->context, &work, s);
        return 0;
    }
    prepare_request(r, what);
    int status = what->render(r, &text, e);
    if (what->finish != NULL) what->finish(r);
    if (status == 0)
        reply_take(r, MHD_HTTP_OK, what->content_type, &text);
    else
        buf_release(&text);
    return status;
}
