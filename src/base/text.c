/* Text: a growing buffer, and the formatter below buf_format and all messages.
 *
 * Fairlead has its own formatter for three reasons. printf uses the locale of the host program, which a library cannot
 * select. The pure rooms may not call stdio. And a conversion that Fairlead does not use is better refused than half
 * supported.
 *
 *     %[flags][width][.precision][length]conversion      flags: - 0      length: hh h l ll z j t
 *
 * The format is read once. Every conversion yields up to three pieces: padding, a sign and a body. put_field lays them
 * out, so width and flags are handled in one place. Text that does not fit is counted and dropped, so that the returned
 * length is that of the whole text, as with snprintf (C17 7.21.6.5).
 *
 * The buffer doubles, so adding is O(1) amortised. It keeps a zero byte after its text, which can therefore be used as
 * a C string. base/arena.c handles running out of memory. */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/ensure.h"
#include "base/number.h"

enum { DOUBLE_PRECISION_MAX = 40 }; /* NUMBER_TEXT_SIZE has room for it */

/* The output. length counts the whole text; the part beyond size is dropped. */
struct sink {
    char *out;
    size_t size, length;
};

struct spec {
    bool is_left_aligned, is_zero_padded;
    size_t width;
    int precision; /* -1: none given */
    char length;   /* 'h' 'l' 'z' 'j' 't', 'H' for hh, 'L' for ll, 0 for int */
    char conversion;
};

/* A va_list that can be passed by address. Where va_list is an array type, a parameter of that type is a pointer, and
 * its address has another type. */
struct format_arguments {
    va_list list;
};

static void put(struct sink *s, const char *bytes, size_t count)
{
    if (s->length < s->size) {
        size_t room = s->size - s->length;
        memcpy(s->out + s->length, bytes, count < room ? count : room);
    }
    s->length += count;
}

static void put_many(struct sink *s, char c, size_t count)
{
    if (s->length < s->size) {
        size_t room = s->size - s->length;
        memset(s->out + s->length, c, count < room ? count : room);
    }
    s->length += count;
}

/* Zeros go between sign and body: as many as the precision needs, or as many as fill the width. */
static void put_field(struct sink *s, const struct spec *spec, struct str sign, size_t zeros, struct str body)
{
    size_t length = sign.length + zeros + body.length;
    size_t fill = spec->width > length ? spec->width - length : 0;
    if (spec->is_zero_padded && !spec->is_left_aligned) {
        zeros += fill;
        fill = 0;
    }
    if (!spec->is_left_aligned) put_many(s, ' ', fill);
    if (sign.length > 0) put(s, sign.text, sign.length);
    put_many(s, '0', zeros);
    if (body.length > 0) put(s, body.text, body.length);
    if (spec->is_left_aligned) put_many(s, ' ', fill);
}

static int read_number(const char **format)
{
    int value = 0;
    for (; **format >= '0' && **format <= '9'; (*format)++) {
        ensure(value < 1000000);
        value = value * 10 + (**format - '0');
    }
    return value;
}

static char read_length(const char **format)
{
    char length = **format;
    if (length == '\0' || strchr("hlzjt", length) == NULL) return 0;
    (*format)++;
    if ((length != 'h' && length != 'l') || **format != length) return length;
    (*format)++;
    return length == 'h' ? 'H' : 'L';
}

/* *format points after the percent sign, and is moved after the conversion. */
static struct spec read_spec(const char **format, struct format_arguments *a)
{
    struct spec spec = {.precision = -1};
    for (; **format == '-' || **format == '0'; (*format)++) {
        if (**format == '-') spec.is_left_aligned = true;
        if (**format == '0') spec.is_zero_padded = true;
    }
    int width = **format == '*' ? ((*format)++, va_arg(a->list, int)) : read_number(format);
    if (width < 0) spec.is_left_aligned = true;
    spec.width = width < 0 ? (size_t) - (int64_t)width : (size_t)width;
    if (**format == '.') {
        (*format)++;
        spec.precision = **format == '*' ? ((*format)++, va_arg(a->list, int)) : read_number(format);
        if (spec.precision < 0) spec.precision = -1;
    }
    spec.length = read_length(format);
    spec.conversion = **format;
    ensure(spec.conversion != '\0' && strchr("sciduxfeg%", spec.conversion) != NULL);
    (*format)++;
    return spec;
}

static int64_t signed_argument(char length, struct format_arguments *a)
{
    switch (length) {
    case 'H': return (signed char)va_arg(a->list, int);
    case 'h': return (short)va_arg(a->list, int);
    case 'l': return va_arg(a->list, long);
    case 'L': return va_arg(a->list, long long);
    case 'z': return (int64_t)va_arg(a->list, size_t);
    case 'j': return va_arg(a->list, intmax_t);
    case 't': return va_arg(a->list, ptrdiff_t);
    default: return va_arg(a->list, int);
    }
}

static uint64_t unsigned_argument(char length, struct format_arguments *a)
{
    switch (length) {
    case 'H': return (unsigned char)va_arg(a->list, unsigned);
    case 'h': return (unsigned short)va_arg(a->list, unsigned);
    case 'l': return va_arg(a->list, unsigned long);
    case 'L': return va_arg(a->list, unsigned long long);
    case 'z': return va_arg(a->list, size_t);
    case 'j': return va_arg(a->list, uintmax_t);
    case 't': return (uint64_t)va_arg(a->list, ptrdiff_t);
    default: return va_arg(a->list, unsigned);
    }
}

static size_t format_hex(char *out, uint64_t value)
{
    size_t length = 1;
    for (uint64_t rest = value >> 4; rest > 0; rest >>= 4) length++;
    for (size_t i = length; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 15];
    return length;
}

static void put_integer(struct sink *s, struct spec spec, struct format_arguments *a)
{
    char digits[NUMBER_TEXT_SIZE];
    bool is_negative = false;
    uint64_t magnitude;
    if (spec.conversion == 'd' || spec.conversion == 'i') {
        int64_t value = signed_argument(spec.length, a);
        is_negative = value < 0;
        magnitude = is_negative ? 0 - (uint64_t)value : (uint64_t)value;
    } else {
        magnitude = unsigned_argument(spec.length, a);
    }
    size_t length = spec.conversion == 'x' ? format_hex(digits, magnitude) : number_format_u64(digits, magnitude);
    size_t zeros = 0;
    if (spec.precision >= 0) {
        /* C17 7.21.6.1: with a precision the 0 flag is ignored, and the value 0 with precision 0 has no digits. */
        spec.is_zero_padded = false;
        if (spec.precision == 0 && magnitude == 0) length = 0;
        if ((size_t)spec.precision > length) zeros = (size_t)spec.precision - length;
    }
    put_field(s, &spec, (struct str){"-", is_negative}, zeros, (struct str){digits, length});
}

static void put_double(struct sink *s, struct spec spec, struct format_arguments *a)
{
    ensure(spec.length == 0 || spec.length == 'l');
    ensure(spec.precision <= DOUBLE_PRECISION_MAX);
    char text[NUMBER_TEXT_SIZE];
    size_t length =
        number_format_double(text, va_arg(a->list, double), spec.precision < 0 ? 6 : spec.precision, spec.conversion);
    size_t sign = text[0] == '-';
    if (text[sign] == 'i' || text[sign] == 'n') spec.is_zero_padded = false;
    put_field(s, &spec, (struct str){text, sign}, 0, (struct str){text + sign, length - sign});
}

static void put_string(struct sink *s, struct spec spec, struct format_arguments *a)
{
    ensure(spec.length == 0);
    const char *text = va_arg(a->list, const char *);
    ensure(text != NULL || spec.precision == 0); /* an empty view may have no address */
    size_t length = 0;
    if (text != NULL) length = spec.precision < 0 ? strlen(text) : strnlen(text, (size_t)spec.precision);
    spec.is_zero_padded = false;
    put_field(s, &spec, (struct str){0}, 0, (struct str){text, length});
}

static void put_char(struct sink *s, struct spec spec, struct format_arguments *a)
{
    char c = (char)va_arg(a->list, int);
    spec.is_zero_padded = false;
    put_field(s, &spec, (struct str){0}, 0, (struct str){&c, 1});
}

static void put_conversion(struct sink *s, const char **format, struct format_arguments *a)
{
    struct spec spec = read_spec(format, a);
    switch (spec.conversion) {
    case 's': put_string(s, spec, a); break;
    case 'c': put_char(s, spec, a); break;
    case '%': put(s, "%", 1); break;
    case 'f':
    case 'e':
    case 'g': put_double(s, spec, a); break;
    default: put_integer(s, spec, a); break;
    }
}

size_t text_vformat(char *out, size_t size, const char *format, va_list arguments)
{
    struct sink s = {out, size, 0};
    struct format_arguments a;
    va_copy(a.list, arguments);
    while (*format != '\0') {
        const char *percent = strchrnul(format, '%');
        if (percent > format) put(&s, format, (size_t)(percent - format));
        format = percent;
        if (*format == '\0') break;
        format++;
        put_conversion(&s, &format, &a);
    }
    va_end(a.list);
    if (size > 0) out[s.length < size ? s.length : size - 1] = '\0';
    return s.length;
}

size_t text_format(char *out, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_vformat(out, size, format, arguments);
    va_end(arguments);
    return length;
}

static void grow(struct buf *b, size_t wanted)
{
    ensure(wanted > b->length && wanted < SIZE_MAX / 2);
    size_t capacity = b->capacity < 64 ? 64 : b->capacity * 2;
    if (capacity < wanted) capacity = wanted;
    /* Equal old and new sizes keep mem_resize from zeroing memory that is about to be written. */
    b->text = mem_resize(b->text, capacity, capacity);
    b->capacity = capacity;
}

char *buf_room(struct buf *b, size_t bytes)
{
    if (b->capacity - b->length <= bytes) grow(b, b->length + bytes + 1);
    b->text[b->length + bytes] = '\0';
    return b->text + b->length;
}

void buf_add(struct buf *b, const void *bytes, size_t length)
{
    char *to = buf_room(b, length);
    if (length > 0) memcpy(to, bytes, length);
    b->length += length;
}

void buf_add_str(struct buf *b, struct str s)
{
    buf_add(b, s.text, s.length);
}

void buf_add_text(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_add_char(struct buf *b, char c)
{
    *buf_room(b, 1) = c;
    b->length++;
}

void buf_add_u64(struct buf *b, uint64_t value)
{
    b->length += number_format_u64(buf_room(b, NUMBER_TEXT_SIZE), value);
}

void buf_add_blanks(struct buf *b, size_t count)
{
    memset(buf_room(b, count), ' ', count);
    b->length += count;
    b->text[b->length] = '\0';
}

void buf_format(struct buf *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = 128;
    size_t length = text_vformat(buf_room(b, room), room + 1, format, arguments);
    va_end(arguments);
    if (length > room) {
        va_start(arguments, format);
        text_vformat(buf_room(b, length), length + 1, format, arguments);
        va_end(arguments);
    }
    b->length += length;
}

void buf_clear(struct buf *b)
{
    b->length = 0;
    if (b->text != NULL) b->text[0] = '\0';
}

void buf_release(struct buf *b)
{
    mem_free(b->text);
    *b = (struct buf){0};
}

void text_make_plain(char *text, size_t length)
{
    struct str rest = {text, length};
    while (rest.length > 0) {
        size_t step = str_utf8(rest);
        bool is_good = step > 0 && str_is_printable((struct str){rest.text, step});
        if (step == 0) step = 1;
        if (!is_good) memset(text + (length - rest.length), '?', step);
        rest.text += step;
        rest.length -= step;
    }
}
