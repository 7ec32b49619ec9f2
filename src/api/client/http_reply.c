/* A state machine that consumes either a line or a number of bytes. A line is copied to r->line only if a feed ends
 * inside it, which does not happen if the server writes its head at once. Cost: one pass, and one copy of the body. */
#include "api/client/http_reply.h"

#include <string.h>

#include "api/bodies.h"
#include "base/number.h"

static int broken(struct http_reply *r, struct err *e, const char *what, struct str where)
{
    r->state = HTTP_BROKEN;
    char shown[41];
    size_t length = where.length < sizeof shown ? where.length : sizeof shown - 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)where.text[i];
        shown[i] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    return err_set(e, ERR_INTERNAL, "the reply is not HTTP/1.1: %s: '%.*s'", what, (int)length, shown);
}

/* "HTTP/1.1 200 OK"; the reason may be empty or absent. */
static int status_line(struct http_reply *r, struct str line, struct err *e)
{
    const char *t = line.text;
    bool is_http = line.length >= 12 && memcmp(t, "HTTP/1.", 7) == 0 && (t[7] == '0' || t[7] == '1') && t[8] == ' ';
    if (!is_http || (line.length > 12 && t[12] != ' ')) return broken(r, e, "status line", line);
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (t[i] < '0' || t[i] > '9') return broken(r, e, "status line", line);
        status = status * 10 + (t[i] - '0');
    }
    if (status < 100) return broken(r, e, "status", line);
    r->status = status;
    r->is_http10 = t[7] == '0';
    r->closes = r->is_http10;
    r->state = HTTP_HEADER_LINE;
    return 0;
}

/* Whether a comma-separated list has the word. */
static bool list_has(struct str list, const char *word)
{
    while (list.text != NULL) {
        if (str_equal_nocase(str_trim(str_cut(list, ',', &list)), str(word))) return true;
    }
    return false;
}

static int header_line(struct http_reply *r, struct str line, struct err *e)
{
    struct str value, name = str_cut(line, ':', &value);
    if (value.text == NULL || name.length == 0 || memchr(" \t", name.text[name.length - 1], 2) ||
        memchr(" \t", name.text[0], 2))
        return broken(r, e, "header", line);
    value = str_trim(value);

    if (str_equal_nocase(name, str("Content-Length"))) {
        uint64_t length;
        if (!number_parse_u64(value, &length) || (r->has_length && length != r->left))
            return broken(r, e, "length", line);
        r->has_length = true;
        r->left = length;
    } else if (str_equal_nocase(name, str("Transfer-Encoding"))) {
        if (!str_equal_nocase(value, str("chunked")) || r->is_http10) return broken(r, e, "encoding", line);
        r->is_chunked = true;
    } else if (str_equal_nocase(name, str("Connection"))) {
        if (list_has(value, "close")) r->closes = true;
        if (r->is_http10 && list_has(value, "keep-alive")) r->closes = false;
    } else if (str_equal_nocase(name, str(API_COMMIT_HEADER))) {
        (void)number_parse_u64(value, &r->commit);
    } else if (str_equal_nocase(name, str(API_TIME_HEADER))) {
        uint64_t time_us;
        if (number_parse_u64(value, &time_us) && time_us <= (uint64_t)INT64_MAX) r->time_us = (int64_t)time_us;
    }
    return 0;
}

/* The empty line after the head decides what kind of body follows: RFC 9112 section 6.3. */
static int head_ends(struct http_reply *r, struct err *e)
{
    if (r->is_chunked && r->has_length) return broken(r, e, "both a length and chunks", str(""));
    if (r->status < 200) { /* interim: another head follows */
        if (r->status == 101 || r->is_chunked || r->has_length) return broken(r, e, "interim reply", str(""));
        r->state = HTTP_STATUS_LINE;
        return 0;
    }
    if (r->status == 204 || r->status == 304) {
        r->left = 0;
        r->state = HTTP_DONE;
    } else if (r->is_chunked) {
        r->state = HTTP_CHUNK_LINE;
    } else if (r->has_length) {
        r->state = r->left > 0 ? HTTP_BODY_LENGTH : HTTP_DONE;
    } else {
        r->closes = true;
        r->state = HTTP_BODY_CLOSE;
    }
    return 0;
}

/* "1f40" or "1f40;name=value" */
static int chunk_line(struct http_reply *r, struct str line, struct err *e)
{
    struct str rest, digits = str_trim(str_cut(line, ';', &rest));
    if (digits.length == 0 || digits.length > 15) return broken(r, e, "chunk size", line);
    uint64_t size = 0;
    for (size_t i = 0; i < digits.length; i++) {
        char c = digits.text[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return broken(r, e, "chunk size", line);
        size = size << 4 | (uint64_t)digit;
    }
    r->left = size;
    r->head_length = 0; /* the trailer has the same limit as the head */
    r->state = size > 0 ? HTTP_CHUNK_BODY : HTTP_TRAILER_LINE;
    return 0;
}

/* Parses a line without its end. */
static int take_line(struct http_reply *r, struct str line, struct err *e)
{
    if (line.length > 0 && line.text[line.length - 1] == '\r') line.length--;
    switch (r->state) {
    case HTTP_STATUS_LINE: return status_line(r, line, e);
    case HTTP_HEADER_LINE: return line.length > 0 ? header_line(r, line, e) : head_ends(r, e);
    case HTTP_CHUNK_LINE: return chunk_line(r, line, e);
    case HTTP_CHUNK_END:
        if (line.length > 0) return broken(r, e, "chunk is longer than its size", line);
        r->state = HTTP_CHUNK_LINE;
        return 0;
    default: /* HTTP_TRAILER_LINE */
        if (line.length == 0) r->state = HTTP_DONE;
        return 0;
    }
}

/* Consumes up to one line; returns the number of bytes, 0 on failure. */
static size_t feed_line(struct http_reply *r, struct str bytes, struct err *e)
{
    const char *end = memchr(bytes.text, '\n', bytes.length);
    size_t used = end ? (size_t)(end - bytes.text) + 1 : bytes.length;
    size_t length = r->line.length + used;
    if (length > HTTP_LINE_MAX || r->head_length + length > HTTP_HEAD_MAX) {
        broken(r, e, "its head is too long", str_range(bytes.text, bytes.text + used));
        return 0;
    }
    if (end && r->line.length == 0) { /* the feed has the whole line */
        r->head_length += (uint32_t)used;
        return take_line(r, str_range(bytes.text, end), e) == 0 ? used : 0;
    }
    buf_add(&r->line, bytes.text, used);
    if (!end) return used;
    r->head_length += (uint32_t)length;
    int status = take_line(r, (struct str){r->line.text, r->line.length - 1}, e);
    buf_clear(&r->line);
    return status == 0 ? used : 0;
}

/* Consumes bytes of the body; returns their number. */
static size_t feed_body(struct http_reply *r, struct str bytes, struct buf *body)
{
    if (r->state == HTTP_BODY_CLOSE) {
        buf_add(body, bytes.text, bytes.length);
        return bytes.length;
    }
    size_t used = r->left < bytes.length ? (size_t)r->left : bytes.length;
    buf_add(body, bytes.text, used);
    r->left -= used;
    if (r->left == 0) r->state = r->state == HTTP_CHUNK_BODY ? HTTP_CHUNK_END : HTTP_DONE;
    return used;
}

int http_reply_feed(struct http_reply *r, struct str bytes, struct buf *body, struct err *e)
{
    if (r->state == HTTP_BROKEN) return err_set(e, ERR_INTERNAL, "the reply is not HTTP/1.1");
    while (bytes.length > 0) {
        size_t used;
        if (r->state == HTTP_DONE) {
            broken(r, e, "more than one reply", bytes);
            return -1;
        } else if (r->state == HTTP_BODY_LENGTH || r->state == HTTP_CHUNK_BODY || r->state == HTTP_BODY_CLOSE) {
            used = feed_body(r, bytes, body);
        } else {
            used = feed_line(r, bytes, e);
            if (used == 0) return -1;
        }
        bytes.text += used;
        bytes.length -= used;
    }
    return 0;
}

int http_reply_close(struct http_reply *r, struct err *e)
{
    if (r->state == HTTP_BODY_CLOSE) r->state = HTTP_DONE;
    if (r->state == HTTP_DONE) return 0;
    r->state = HTTP_BROKEN;
    return err_set(e, ERR_UNAVAILABLE, "the reply was cut off");
}

bool http_reply_has_head(const struct http_reply *r)
{
    return r->state > HTTP_HEADER_LINE && r->state != HTTP_BROKEN;
}

bool http_reply_is_done(const struct http_reply *r)
{
    return r->state == HTTP_DONE;
}

void http_reply_release(struct http_reply *r)
{
    buf_release(&r->line);
    *r = (struct http_reply){0};
}
