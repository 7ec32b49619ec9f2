/* Writes JSON (RFC 8259) into a buffer, for listings of any length.
 *
 * The writer builds no tree. Its state is a depth, one bit per level that says whether the level is an array, whether a
 * comma is due, and whether a key waits for its value. That is enough for ensure to refuse everything that would not be
 * JSON: a value in an object without a key, a key in an array, one end too many.
 *
 * Text is copied in runs of plain ASCII, which make up nearly all of it. RFC 8259 section 7 requires escapes for the
 * quotation mark, the backslash and U+0000 to U+001F. Everything else that str_is_printable refuses is escaped too,
 * such as U+007F to U+009F and the direction controls, so that a listing cannot control the terminal it is printed on.
 * Every byte that is not part of valid UTF-8 becomes U+FFFD: job names come from users, and one of them must not make a
 * whole listing unreadable. */
#include "base/json.h"

#include <math.h>

#include "base/ensure.h"
#include "base/number.h"

enum { DEPTH_MAX = 32 };

static bool is_in_array(const struct json *j)
{
    return j->array_levels >> j->depth & 1;
}

/* Writes the comma that separates values. */
static void begin_value(struct json *j)
{
    ensure(j->depth == 0 || is_in_array(j) || j->is_after_key);
    if (j->needs_comma) buf_add_char(j->out, ',');
    j->is_after_key = false;
}

/* Values at depth 0 are separate documents, with no comma between them. */
static void end_value(struct json *j)
{
    j->needs_comma = j->depth > 0;
}

static void open_level(struct json *j, char opener, bool is_new_array)
{
    begin_value(j);
    ensure(j->depth < DEPTH_MAX);
    buf_add_char(j->out, opener);
    j->depth++;
    uint64_t bit = UINT64_C(1) << j->depth;
    j->array_levels = is_new_array ? j->array_levels | bit : j->array_levels & ~bit;
    j->needs_comma = false;
}

void json_begin_object(struct json *j)
{
    open_level(j, '{', false);
}

void json_begin_array(struct json *j)
{
    open_level(j, '[', true);
}

void json_end(struct json *j)
{
    ensure(j->depth > 0 && !j->is_after_key);
    buf_add_char(j->out, is_in_array(j) ? ']' : '}');
    j->depth--;
    end_value(j);
}

static void add_escape(struct buf *out, unsigned point)
{
    static const char letters[32] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    static const char hex[] = "0123456789abcdef";
    ensure(point <= 0xffff);
    char letter = point < 0x20 ? letters[point] : point < 0x7f ? (char)point : 0;
    if (letter != 0) {
        buf_add(out, (char[]){'\\', letter}, 2);
    } else {
        char escape[] = {'\\', 'u', hex[point >> 12], hex[point >> 8 & 15], hex[point >> 4 & 15], hex[point & 15]};
        buf_add(out, escape, sizeof escape);
    }
}

/* The code point of a valid UTF-8 sequence of one to three bytes. */
static unsigned code_point(const char *sequence, size_t length)
{
    const unsigned char *t = (const unsigned char *)sequence;
    if (length == 1) return t[0];
    if (length == 2) return (t[0] & 0x1fu) << 6 | (t[1] & 0x3fu);
    ensure(length == 3); /* no character above U+FFFF is escaped */
    return (t[0] & 0x0fu) << 12 | (t[1] & 0x3fu) << 6 | (t[2] & 0x3fu);
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

/* Writes the first character of s, which is not plain, and returns its length in bytes. */
static size_t add_special(struct buf *out, struct str s)
{
    size_t sequence = str_utf8(s);
    if (sequence == 0)
        buf_add_text(out, "\xef\xbf\xbd");
    else if (sequence > 1 && str_is_printable((struct str){s.text, sequence}))
        buf_add(out, s.text, sequence);
    else
        add_escape(out, code_point(s.text, sequence));
    return sequence > 0 ? sequence : 1;
}

static void add_quoted(struct buf *out, struct str s)
{
    buf_add_char(out, '"');
    while (s.length > 0) {
        size_t run = 0;
        while (run < s.length && is_plain(s.text[run])) run++;
        if (run > 0) {
            buf_add(out, s.text, run);
        } else {
            run = add_special(out, s);
        }
        s.text += run;
        s.length -= run;
    }
    buf_add_char(out, '"');
}

void json_key(struct json *j, const char *key)
{
    ensure(j->depth > 0 && !is_in_array(j) && !j->is_after_key);
    if (j->needs_comma) buf_add_char(j->out, ',');
    add_quoted(j->out, str(key));
    buf_add_char(j->out, ':');
    j->needs_comma = false;
    j->is_after_key = true;
}

void json_str(struct json *j, struct str value)
{
    begin_value(j);
    add_quoted(j->out, value);
    end_value(j);
}

void json_text(struct json *j, const char *value)
{
    if (value == NULL)
        json_write_null(j);
    else
        json_str(j, str(value));
}

void json_u64(struct json *j, uint64_t value)
{
    begin_value(j);
    buf_add_u64(j->out, value);
    end_value(j);
}

void json_i64(struct json *j, int64_t value)
{
    begin_value(j);
    if (value < 0) buf_add_char(j->out, '-');
    buf_add_u64(j->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    end_value(j);
}

void json_double(struct json *j, double value)
{
    ensure(!isnan(value));
    begin_value(j);
    char *to = buf_room(j->out, NUMBER_TEXT_SIZE + 2);
    size_t quote = isinf(value) ? 1 : 0;
    to[0] = '"';
    size_t length = number_format_shortest(to + quote, value);
    if (quote) to[length + 1] = '"';
    to[length + 2 * quote] = '\0';
    j->out->length += length + 2 * quote;
    end_value(j);
}

static void add_word(struct json *j, const char *word)
{
    begin_value(j);
    buf_add_text(j->out, word);
    end_value(j);
}

void json_bool(struct json *j, bool value)
{
    add_word(j, value ? "true" : "false");
}

void json_write_null(struct json *j)
{
    add_word(j, "null");
}
