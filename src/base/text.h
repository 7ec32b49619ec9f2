/* Text: a formatter and a growing buffer. The formatter supports the conversions that Fairlead uses, and ignores the
 * locale: a library must not print "0,5" because its host program called setlocale. base/number.h formats the
 * numbers. */
#ifndef FAIRLEAD_BASE_TEXT_H
#define FAIRLEAD_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Like snprintf, for %s %.*s %c %d %i %u %x %f %e %g %%, with the flags - and 0, a width, a precision, * for either of
 * them, and the lengths hh h l ll z j t. The precision of %f, %e and %g is at most 40. Any other conversion is a
 * programming error. Returns the length of the whole text. The stored text is truncated to size and ends with a zero
 * byte. */
size_t text_format(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t text_vformat(char *out, size_t size, const char *format, va_list arguments);

/* Replaces control characters and bytes that are not UTF-8 by '?', in place, because text from a file or another person
 * must not control a terminal. */
void text_make_plain(char *text, size_t length);

/* All zero is an empty buffer. text ends with a zero byte after the first addition. */
struct buf {
    char *text;
    size_t length, capacity;
};

/* Makes room for that many more bytes and a zero byte after them, and returns the address at which to write them. The
 * caller then adds to length, and writes the zero byte itself if it wrote fewer. */
char *buf_room(struct buf *b, size_t bytes);

/* Append bytes, a view, a C string, a character, a number, or the result of text_format. */
void buf_add(struct buf *b, const void *bytes, size_t length);
void buf_add_str(struct buf *b, struct str s);
void buf_add_text(struct buf *b, const char *text);
void buf_add_char(struct buf *b, char c);
void buf_add_u64(struct buf *b, uint64_t value);
void buf_add_blanks(struct buf *b, size_t count);
void buf_format(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Empty the buffer. buf_clear keeps its memory, buf_release gives it back. */
void buf_clear(struct buf *b);
void buf_release(struct buf *b);

#endif
