/* Making text. A growing buffer, and a formatter that knows the conversions we use and no locale: a library must not
 * print "0,5" because its host program called setlocale. Numbers themselves are made in base/number.h. */
#ifndef FAIRLEAD_BASE_TEXT_H
#define FAIRLEAD_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Like snprintf for: %s %.*s %c %d %i %u %x %f %e %g %%, with flags - and 0, width, precision, * for either, and the
 * lengths hh h l ll z j t; a precision of %f %e %g is at most 40. Another conversion is our own mistake. Returns the
 * length the whole text has; what is stored is cut to size and closed with a zero byte. */
size_t text_format(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t text_vformat(char *out, size_t size, const char *format, va_list arguments);

/* All zero is an empty buffer. text is closed with a zero byte once something was added. */
struct buf {
    char *text;
    size_t length, capacity;
};

/* Room for that many more bytes, and a zero byte behind them; where they go. Raise length after writing them, and close
 * the text yourself if they were fewer. */
char *buf_room(struct buf *b, size_t bytes);

/* Append: bytes, a view, a C string, a character, a number, or what text_format makes. */
void buf_add(struct buf *b, const void *bytes, size_t length);
void buf_add_str(struct buf *b, struct str s);
void buf_add_text(struct buf *b, const char *text);
void buf_add_char(struct buf *b, char c);
void buf_add_u64(struct buf *b, uint64_t value);
void buf_format(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Two ways to be empty again. */
void buf_clear(struct buf *b);   /* empty, memory kept */
void buf_release(struct buf *b); /* empty, memory given back */

#endif
