/* One reply of an HTTP/1.1 server, read from bytes as they come. Pure: whoever has the socket feeds it.
 *
 *     struct http_reply reply = {0};
 *     while (!http_reply_is_done(&reply)) http_reply_feed(&reply, bytes_that_came, &body, e);
 *     ... reply.status, body ...
 *     http_reply_release(&reply);
 *
 * Invariants
 *   1. How the bytes are cut into feeds makes no difference to status, body, end or error.
 *   2. A line of the head is at most HTTP_LINE_MAX bytes and the head at most HTTP_HEAD_MAX: a reply cannot make us
 *      hold more than that beside its body, and the body goes to the caller as it comes.
 *   3. Fed bytes are looked at once.
 *
 * Reads bodies with a length, in chunks, and up to the end of the connection; interim replies (100 Continue) are
 * skipped. Does not do: trailers' meaning, compression, obsolete folded headers, HTTP/2. Source: RFC 9112. */
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
    HTTP_BODY_LENGTH, /* left bytes of body, and done */
    HTTP_BODY_CLOSE,  /* body up to the end of the connection */
    HTTP_CHUNK_LINE,
    HTTP_CHUNK_BODY, /* left bytes of this chunk */
    HTTP_CHUNK_END,  /* the empty line behind a chunk */
    HTTP_TRAILER_LINE,
    HTTP_DONE,
    HTTP_BROKEN /* an error was reported */
};

/* All zero is ready for the first byte. */
struct http_reply {
    enum http_reply_state state;
    int status;  /* 200; good once http_reply_has_head */
    bool closes; /* the server closes the connection after this reply */
    bool has_length, is_chunked;
    bool is_old;          /* HTTP/1.0 */
    uint64_t left;        /* bytes of body or chunk still to come */
    uint32_t head_length; /* bytes of head lines so far */
    struct buf line;      /* an unfinished line of the head */
};

/* Takes all of bytes; what is body is appended to body. ERR_INTERNAL: this is no HTTP/1.x reply, or more came than the
 * reply has; nothing more can be read from it. */
int http_reply_feed(struct http_reply *r, struct str bytes, struct buf *body, struct err *e);

/* The connection has ended. ERR_UNAVAILABLE when the reply is not complete without more. */
int http_reply_close(struct http_reply *r, struct err *e);

/* Whether status is known; whether everything has come. */
bool http_reply_has_head(const struct http_reply *r);
bool http_reply_is_done(const struct http_reply *r);

/* Gives the memory back; ready for the next reply. */
void http_reply_release(struct http_reply *r);

#endif
