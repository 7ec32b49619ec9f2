/* Long replies, which are rendered piece by piece while they are sent, so a listing of any length neither fills the
 * memory nor holds up the loop.
 *
 * libmicrohttpd calls on_read for each stream once per server_ready, if the client's socket has room. A piece takes at
 * most CHUNK_BYTES and CHUNK_US. Once all streams together have taken BUDGET_US, the others return 0 bytes, and
 * libmicrohttpd calls them again in the next server_ready. A client that reads slowly is cut off after STREAM_S.
 *
 * A listing that fits into the first piece is sent as a reply with a length, and its snapshot is freed at once. */
#include <string.h>

#include "api/server/internal.h"
#include "base/ensure.h"
#include "base/quantity.h"

struct stream *stream_new(struct request *r)
{
    struct stream *s = mem_resize(NULL, 0, sizeof *s);
    s->server = r->server;
    s->uid = connection_of(r->connection)->uid;
    s->deadline_us = server_monotonic_us() + STREAM_S * US_PER_S;
    return s;
}

void stream_free(struct stream *s)
{
    if (s->close) s->close(s);
    if (s->is_counted) connection_end_stream(s->server, s->uid);
    buf_release(&s->text);
    arena_release(&s->arena);
    mem_free(s);
}

static size_t unsent_bytes(const struct stream *s)
{
    return s->text.length - s->sent_bytes;
}

/* Renders until text has piece_bytes, CHUNK_US are over, or the listing ends. */
static void render(struct stream *s, size_t piece_bytes)
{
    int64_t start_us = server_monotonic_us(), now_us = start_us;
    if (s->sent_bytes > 0) memmove(s->text.text, s->text.text + s->sent_bytes, unsent_bytes(s));
    s->text.length -= s->sent_bytes;
    s->sent_bytes = 0;
    while (!s->is_done && !s->is_broken && s->text.length < piece_bytes && now_us - start_us < CHUNK_US) {
        int result = s->fill(s);
        s->is_done = result == 0;
        s->is_broken = result < 0;
        now_us = server_monotonic_us();
    }
    if (now_us > s->deadline_us) s->is_broken = true;
    s->server->spent_us += now_us - start_us;
}

static ssize_t on_read(void *context, uint64_t position, char *out, size_t max)
{
    struct stream *s = context;
    (void)position;
    size_t piece_bytes = max < CHUNK_BYTES ? max : CHUNK_BYTES;
    if (unsent_bytes(s) < piece_bytes && !s->is_done) {
        if (s->server->spent_us >= BUDGET_US && !s->server->is_closing) return 0;
        render(s, piece_bytes);
    }
    if (s->is_broken) return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t length = unsent_bytes(s) < piece_bytes ? unsent_bytes(s) : piece_bytes;
    if (length == 0 && s->is_done) return MHD_CONTENT_READER_END_OF_STREAM;
    memcpy(out, s->text.text + s->sent_bytes, length);
    s->sent_bytes += length;
    return (ssize_t)length;
}

static void on_free(void *context)
{
    stream_free(context);
}

int stream_reply(struct stream *s, struct request *r, const char *content_type, struct err *e)
{
    ensure(s->fill != NULL && s->context != NULL);
    render(s, CHUNK_BYTES);
    if (!s->is_done && !s->is_broken) {
        s->is_counted = connection_take_stream(s->server, s->uid, &s->e) == 0;
        s->is_broken = !s->is_counted;
    }
    if (s->is_broken) {
        *e = s->e;
        stream_free(s);
        return -1;
    }
    if (s->is_done) {
        reply_take(r, MHD_HTTP_OK, content_type, &s->text);
        stream_free(s);
        return 0;
    }
    struct MHD_Response *reply = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK_BYTES, on_read, s, on_free);
    ensure(reply != NULL && r->reply == NULL);
    /* libmicrohttpd 0.9.75 ends the body of a chunked reply even where HEAD leaves the body out. */
    if (r->is_head) MHD_set_response_options(reply, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
    MHD_add_response_header(reply, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    MHD_add_response_header(reply, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    r->reply = reply;
    r->status = MHD_HTTP_OK;
    return 1;
}
