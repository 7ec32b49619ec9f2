/* Short replies, and errors. */
#include "api/server/internal.h"
#include "base/ensure.h"

static void set_reply(struct request *r, unsigned status, struct MHD_Response *reply)
{
    ensure(reply != NULL && r->reply == NULL);
    MHD_add_response_header(reply, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    r->reply = reply;
    r->status = status;
}

void reply_take(struct request *r, unsigned status, const char *content_type, struct buf *body)
{
    struct MHD_Response *reply = MHD_create_response_from_buffer_with_free_callback(body->length, body->text, mem_free);
    ensure(reply != NULL);
    *body = (struct buf){0};
    MHD_add_response_header(reply, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    set_reply(r, status, reply);
}

void reply_write(struct request *r, unsigned status, const struct wire_shape *shape, const void *value)
{
    struct buf body = {0};
    wire_write(shape, value, &body);
    buf_add_char(&body, '\n');
    reply_take(r, status, TYPE_JSON, &body);
}

void reply_error_status(struct request *r, unsigned status, const struct err *e)
{
    const struct api_error body = api_error_of(e, &r->arena);
    reply_write(r, status, &api_error_shape, &body);
}

void reply_error(struct request *r, const struct err *e)
{
    reply_error_status(r, (unsigned)err_http_status(e->code), e);
}
