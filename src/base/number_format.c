/* Formats numbers exactly as printf does in the C locale, and several times faster.
 *
 * Listings print 10^5 rows with half a dozen doubles each. printf("%.17g") takes 200 to 400 ns for one, because it
 * computes with numbers of any size. Here nearly every double goes one of these ways, the cheapest first:
 *
 *     a whole number that is short enough       its digits as they are
 *     'f', below 2^64                           whole part and fraction separately, in 128 bits, exact
 *     'e' and 'g', up to 17 digits              decimal_from_double
 *     all others                                strfromd, with '.' in place of the locale's point
 *
 * The shortest text is found by trying 15 digits, then 16, then 17, and reading each back. Every double has a value for
 * 15 digits, and 17 always suffice (C17 5.2.4.2.2, DBL_DIG and DBL_DECIMAL_DIG). Zeros at the end are dropped.
 * Subnormal numbers are less precise, so for them the search starts at one digit. */
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/ensure.h"

enum { PRECISION_MAX = 40, G17 = 17, PLACES_MAX = 19, COPIED = 20 };

/* Digits to lay out. They are always copied COPIED bytes at a time: the compiler makes two moves of a copy of constant
 * length. Such a copy may start anywhere in the first half of text, and out has room for it (NUMBER_TEXT_SIZE). The
 * bytes beyond the digits are overwritten or cut off afterwards. */
struct digits {
    char text[2 * COPIED];
};

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                            "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

static void write_two(char *out, uint64_t value)
{
    memcpy(out, pairs + 2 * value, 2);
}

/* Exactly eight digits. The divisions are independent, so the processor overlaps them. */
static void write_eight(char *out, uint32_t value)
{
    uint32_t high = value / 10000, low = value % 10000;
    write_two(out, high / 100);
    write_two(out + 2, high % 100);
    write_two(out + 4, low / 100);
    write_two(out + 6, low % 100);
}

/* Exactly count digits (1 to 20) of value, padded with zeros in front. */
static void write_digits(char *out, uint64_t value, unsigned count)
{
    for (; count >= 8; count -= 8, value /= 100000000) write_eight(out + count - 8, (uint32_t)(value % 100000000));
    for (; count >= 2; count -= 2, value /= 100) write_two(out + count - 2, value % 100);
    if (count > 0) out[0] = (char)('0' + value % 10);
}

static unsigned count_digits(uint64_t value)
{
    /* 1233 / 2^12 is log10 2. The guess is right or one too low. */
    unsigned guess = (unsigned)(64 - __builtin_clzll(value | 1)) * 1233 >> 12;
    return guess + (guess >= PLACES_MAX + 1 || value >= decimal_power((int)guess) || guess == 0);
}

size_t number_format_u64(char *out, uint64_t value)
{
    unsigned count = count_digits(value);
    write_digits(out, value, count);
    out[count] = '\0';
    return count;
}

static size_t put_word(char *out, const char *word)
{
    size_t length = strlen(word);
    memcpy(out, word, length + 1);
    return length;
}

static char *put_exponent(char *to, int exponent)
{
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    unsigned count = magnitude < 100 ? 2 : 3;
    write_digits(to, magnitude, count);
    return to + count;
}

/* Lays out count digits as d[.ddd]e+XX. exponent belongs to the first digit. */
static size_t lay_out_e(char *out, const struct digits *digits, unsigned count, int exponent)
{
    char *to = out;
    *to++ = digits->text[0];
    if (count > 1) {
        *to++ = '.';
        memcpy(to, digits->text + 1, COPIED);
        to += count - 1;
    }
    to = put_exponent(to, exponent);
    *to = '\0';
    return (size_t)(to - out);
}

/* Lays out count digits without an exponent. exponent belongs to the first digit and is from -4 to 16. */
static size_t lay_out_fixed(char *out, const struct digits *digits, unsigned count, int exponent)
{
    char *to = out;
    if (exponent < 0) {
        memcpy(to, "0.0000", 6);
        to += 1 - exponent;
        memcpy(to, digits->text, COPIED);
        to += count;
    } else if ((unsigned)exponent + 1 < count) {
        unsigned whole = (unsigned)exponent + 1;
        memcpy(to, digits->text, COPIED);
        to[whole] = '.';
        memcpy(to + whole + 1, digits->text + whole, COPIED);
        to += count + 1;
    } else {
        memset(to, '0', COPIED);
        memcpy(to, digits->text, count);
        to += exponent + 1;
    }
    *to = '\0';
    return (size_t)(to - out);
}

/* Lays out the count digits of d as %g does: without zeros at the end, and with an exponent if that is below -4 or at
 * least precision. */
static size_t lay_out_g(char *out, struct decimal d, unsigned count, int precision)
{
    struct digits digits = {{0}};
    write_digits(digits.text, d.digits, count);
    int exponent = d.exponent + (int)count - 1;
    while (count > 1 && digits.text[count - 1] == '0') count--;
    if (exponent < -4 || exponent >= precision) return lay_out_e(out, &digits, count, exponent);
    return lay_out_fixed(out, &digits, count, exponent);
}

/* libc's text, which is right for every double and every precision. The locale's point (one byte or several) becomes
 * '.'.
 */
static size_t ask_strfromd(char *out, double value, int precision, char style)
{
    char format[] = {'%', '.', (char)('0' + precision / 10), (char)('0' + precision % 10), style, '\0'};
    char text[NUMBER_TEXT_SIZE + 8];
    strfromd(text, sizeof text, format, value);
    char *to = out;
    for (const char *from = text; *from != '\0'; from++) {
        bool is_plain = (*from >= '0' && *from <= '9') || *from == 'e' || *from == '-' || *from == '+';
        if (is_plain)
            *to++ = *from;
        else if (to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
    return (size_t)(to - out);
}

/* In the next functions value >= 0. Below 2^64 whole part and fraction are both exact, and so is the rounding. */
static size_t format_f(char *out, double value, int precision)
{
    if (value >= 0x1p64 || precision > PLACES_MAX) return ask_strfromd(out, value, precision, 'f');
    if (precision == 0) return number_format_u64(out, decimal_scaled(value, 0));
    uint64_t whole = (uint64_t)value;
    uint64_t fraction = decimal_scaled(value - (double)whole, precision);
    if (fraction == decimal_power(precision)) {
        fraction = 0;
        whole++;
    }
    size_t length = number_format_u64(out, whole);
    out[length++] = '.';
    write_digits(out + length, fraction, (unsigned)precision);
    length += (size_t)precision;
    out[length] = '\0';
    return length;
}

static size_t format_e(char *out, double value, int precision)
{
    struct decimal d;
    int count = precision + 1;
    if (value == 0 || count > DECIMAL_DIGITS_MAX || !decimal_from_double(value, count, &d))
        return ask_strfromd(out, value, precision, 'e');
    struct digits digits = {{0}};
    write_digits(digits.text, d.digits, (unsigned)count);
    return lay_out_e(out, &digits, (unsigned)count, d.exponent + count - 1);
}

/* Whether value is a whole number below 2^53. Most printed values are. */
static bool is_whole(double value)
{
    return value < 0x1p53 && value == (double)(int64_t)value;
}

static size_t format_g(char *out, double value, int precision)
{
    struct decimal d;
    if (precision == 0) precision = 1;
    if (precision <= PLACES_MAX && is_whole(value) && (uint64_t)value < decimal_power(precision))
        return number_format_u64(out, (uint64_t)value);
    if (precision > DECIMAL_DIGITS_MAX || !decimal_from_double(value, precision, &d))
        return ask_strfromd(out, value, precision, 'g');
    return lay_out_g(out, d, (unsigned)precision, precision);
}

/* Writes the sign, or the whole text if value is not finite. Returns the length; *value becomes its magnitude. */
static size_t put_sign(char *out, double *value)
{
    if (isnan(*value)) return put_word(out, "nan");
    bool is_negative = signbit(*value);
    *value = fabs(*value);
    if (isinf(*value)) return put_word(out, is_negative ? "-inf" : "inf");
    out[0] = '-';
    return is_negative;
}

size_t number_format_double(char *out, double value, int precision, char style)
{
    ensure(precision >= 0 && precision <= PRECISION_MAX);
    size_t length = put_sign(out, &value);
    if (!isfinite(value)) return length;
    switch (style) {
    case 'f': return length + format_f(out + length, value, precision);
    case 'e': return length + format_e(out + length, value, precision);
    default: ensure(style == 'g'); return length + format_g(out + length, value, precision);
    }
}

size_t number_format_g17(char *out, double value)
{
    size_t length = put_sign(out, &value);
    return isfinite(value) ? length + format_g(out + length, value, G17) : length;
}

static bool reads_back(double value, struct decimal d, int count)
{
    double back;
    if (decimal_to_double(d, &back)) return back == value;
    char text[NUMBER_TEXT_SIZE];
    size_t length = lay_out_g(text, d, (unsigned)count, 0);
    return number_parse_double((struct str){text, length}, &back) && back == value;
}

/* Whether count digits can read back as value. If any can, those nearest to value do, with one exception. Below a power
 * of two, doubles lie closer together than above it. So if the nearest digits are below the power of two and do not
 * read back, the next ones above it may (2^-44). */
static bool suffices(double value, int count, struct decimal *out_decimal)
{
    struct decimal d;
    if (!decimal_from_double(value, count, &d)) return false;
    if (!reads_back(value, d, count)) {
        d.digits++;
        int exponent;
        if (frexp(value, &exponent) != 0.5 || !reads_back(value, d, count)) return false;
    }
    *out_decimal = d;
    return true;
}

size_t number_format_shortest(char *out, double value)
{
    size_t length = put_sign(out, &value);
    if (!isfinite(value)) return length;
    out += length;
    if (is_whole(value)) return length + number_format_u64(out, (uint64_t)value);
    struct decimal d;
    for (int count = value < DBL_MIN ? 1 : DBL_DIG; count < DECIMAL_DIGITS_MAX; count++) {
        if (suffices(value, count, &d)) return length + lay_out_g(out, d, (unsigned)count, G17);
    }
    return length + format_g(out, value, G17);
}
