/* A parser of one reply of an HTTP/1.1 server, which is fed with bytes as they arrive. It does no I/O.
 *
 *     struct http_reply reply = {0};
 *     while (!http_reply_is_done(&reply)) http_reply_feed(&reply, received_bytes, &body, e);
 *     ... reply.status, body ...
 *     http_reply_release(&reply);
 *
 * Invariants
 *   1. Status, body, end and error do not depend on how the bytes are divided into feeds.
 *   2. A line of the head has at most HTTP_LINE_MAX bytes and the head at most HTTP_HEAD_MAX. That bounds the memory of
 *      the parser; the body goes to the caller as it arrives.
 *   3. Each byte is parsed once.
 *
 * Reads bodies with a length, bodies in chunks, and bodies that end with the connection. Skips interim replies (100
 * Continue) and trailers. Does not do compression, obsolete folded headers, or HTTP/2. Source: RFC 9112. */
#ifndef FAIRLEAD_API_CLIENT_HTTP_REPLY_H
#define FAIRLEAD_API_CLIENT_HTTP_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

enum { HTTP_LINE_MAX = 8192, HTTP_HEAD_MAX = 65536 };

enum http_reply_state {
    HTTP_STATUS_LINE,
    HTTP_HEADER_LINE,
    HTTP_BODY_LENGTH, /* left bytes of body follow */
    HTTP_BODY_CLOSE,  /* the body ends with the connection */
    HTTP_CHUNK_LINE,
    HTTP_CHUNK_BODY, /* left bytes of this chunk follow */
    HTTP_CHUNK_END,  /* the empty line after a chunk */
    HTTP_TRAILER_LINE,
    HTTP_DONE,
    HTTP_BROKEN /* after an error */
};

/* All zero is ready for the first byte. */
struct http_reply {
    enum http_reply_state state;
    int status;  /* such as 200; valid once http_reply_has_head */
    bool closes; /* the server closes the connection after this reply */
    bool has_length, is_chunked;
    bool is_http10;
    int64_t time_us;      /* of the header Fairlead-Time: the instance's own time; 0: it has none */
    uint64_t commit;      /* of the header Fairlead-Commit; 0: it has none */
    uint64_t left;        /* bytes of the body or chunk that are still to be fed */
    uint32_t head_length; /* bytes of head lines so far */
    struct buf line;      /* an unfinished line of the head */
};

/* Parses all of bytes and appends the parts of the body to body. ERR_INTERNAL: this is not an HTTP/1.x reply, or bytes
 * follow its end; later feeds fail, too. O(bytes) */
int http_reply_feed(struct http_reply *r, struct str bytes, struct buf *body, struct err *e);

/* To be called when the connection has ended. ERR_UNAVAILABLE: the reply is incomplete. */
int http_reply_close(struct http_reply *r, struct err *e);

/* Whether status is known; whether the reply is complete. */
bool http_reply_has_head(const struct http_reply *r);
bool http_reply_is_done(const struct http_reply *r);

/* Frees the memory; r is then ready for the next reply. */
void http_reply_release(struct http_reply *r);

#endif
