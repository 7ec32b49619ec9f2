/* Numbers from text: whole numbers with every overflow detected, and doubles rounded as strtod rounds them.
 *
 * strtod itself is not strict enough. It depends on the locale (in German it stops at the point of "2.5"), needs a
 * closing zero byte, and accepts hexadecimal and NaN. So text is scanned here into up to 19 digits and a power of ten,
 * from which base/decimal.c computes the double. strtod is called only if that is not sure or if there are more digits.
 * It gets the number as a whole number with an exponent ("12345e-3"), which is the same in every locale.
 *
 * The point halfway between two doubles has at most 767 significant digits (2^-1075 times an odd 54-bit number). So 800
 * digits of a longer text are kept, and a 1 after them stands for any rest that is not 0.
 *
 * base/number_format.c formats numbers. It calls this file to check that a text reads back. */
#include "base/number.h"

#include <math.h>
#include <stdlib.h>

#include "base/decimal.h"

enum { EASY_DIGITS_MAX = 19, DIGITS_MAX = 800, EXPONENT_MAX = 99999, EXPONENT_DIGITS = 5 };

/* The value of a digit; more than 9 for any other character. */
static unsigned digit_value(char c)
{
    return (unsigned)(unsigned char)c - '0';
}

bool number_parse_u64(struct str s, uint64_t *out_value)
{
    if (s.length == 0) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.length; i++) {
        unsigned digit = digit_value(s.text[i]);
        if (digit > 9) return false;
        if (__builtin_mul_overflow(value, 10u, &value)) return false;
        if (__builtin_add_overflow(value, digit, &value)) return false;
    }
    *out_value = value;
    return true;
}

/* Removes a sign from the front; true for a minus. */
static bool cut_sign(struct str *s)
{
    if (s->length == 0 || (s->text[0] != '-' && s->text[0] != '+')) return false;
    s->text++;
    s->length--;
    return s->text[-1] == '-';
}

bool number_parse_i64(struct str s, int64_t *out_value)
{
    uint64_t magnitude;
    bool is_negative = cut_sign(&s);
    if (!number_parse_u64(s, &magnitude) || magnitude > (uint64_t)INT64_MAX + is_negative) return false;
    *out_value = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    return true;
}

/* A number as it was scanned: digits · 10^exponent. The runs of digits are kept in case they are too many. */
struct scanned {
    struct str whole, fraction; /* the runs of digits */
    int64_t written_exponent;
    uint64_t digits;
    int64_t exponent;
    unsigned digit_count; /* without zeros in front */
    bool has_rest;        /* a digit other than 0 is not in digits */
};

/* Adds the run of digits at the front of s to d, and returns the run. */
static struct str scan_digits(struct str s, struct scanned *d, bool is_fraction)
{
    size_t i = 0;
    for (; i < s.length; i++) {
        unsigned digit = digit_value(s.text[i]);
        if (digit > 9) break;
        if (d->digit_count < EASY_DIGITS_MAX) {
            d->digits = d->digits * 10 + digit;
            d->digit_count += d->digits > 0;
            d->exponent -= is_fraction;
        } else {
            d->has_rest |= digit > 0;
            d->exponent += !is_fraction;
        }
    }
    return (struct str){s.text, i};
}

/* Exponents beyond 2^55 are not distinguished: the result is 0 or too large in any case. */
static bool scan_exponent(struct str s, int64_t *out_exponent)
{
    bool is_negative = cut_sign(&s);
    if (s.length == 0) return false;
    int64_t value = 0;
    for (size_t i = 0; i < s.length; i++) {
        unsigned digit = digit_value(s.text[i]);
        if (digit > 9) return false;
        if (value < INT64_C(1) << 55) value = value * 10 + digit;
    }
    *out_exponent = is_negative ? -value : value;
    return true;
}

/* All of s: digits [. digits] [e [sign] digits], with at least one digit before the exponent. */
static bool scan(struct str s, struct scanned *d)
{
    if (s.length == 0) return false;
    const char *end = s.text + s.length;
    d->whole = scan_digits(s, d, false);
    const char *at = d->whole.text + d->whole.length;
    if (at < end && *at == '.') {
        d->fraction = scan_digits(str_range(at + 1, end), d, true);
        at = d->fraction.text + d->fraction.length;
    }
    if (d->whole.length + d->fraction.length == 0) return false;
    if (at == end) return true;
    if (*at != 'e' && *at != 'E') return false;
    if (!scan_exponent(str_range(at + 1, end), &d->written_exponent)) return false;
    d->exponent += d->written_exponent;
    return true;
}

/* The text that strtod reads: at most 800 digits, without zeros in front, and an exponent. */
struct digit_text {
    char text[DIGITS_MAX + 32];
    size_t length;
    int64_t exponent;
    bool has_rest;
};

static void copy_digits(struct str run, struct digit_text *to, bool is_fraction)
{
    for (size_t i = 0; i < run.length; i++) {
        if (to->length == DIGITS_MAX) {
            to->has_rest |= run.text[i] != '0';
            to->exponent += !is_fraction;
        } else {
            if (to->length > 0 || run.text[i] != '0') to->text[to->length++] = run.text[i];
            to->exponent -= is_fraction;
        }
    }
}

/* "e-00003". A larger exponent than EXPONENT_MAX makes no difference: 800 digits with it are 0 or infinite already. */
static void put_exponent(struct digit_text *t)
{
    bool is_negative = t->exponent < 0;
    uint64_t rest = is_negative ? 0 - (uint64_t)t->exponent : (uint64_t)t->exponent;
    if (rest > EXPONENT_MAX) rest = EXPONENT_MAX;
    t->text[t->length++] = 'e';
    t->text[t->length++] = is_negative ? '-' : '+';
    for (int i = EXPONENT_DIGITS - 1; i >= 0; i--, rest /= 10) t->text[t->length + (size_t)i] = (char)('0' + rest % 10);
    t->text[t->length + EXPONENT_DIGITS] = '\0';
}

static double ask_strtod(const struct scanned *d)
{
    struct digit_text t; /* without an initialiser, which would zero 800 bytes */
    t.length = 0;
    t.exponent = d->written_exponent;
    t.has_rest = false;
    copy_digits(d->whole, &t, false);
    copy_digits(d->fraction, &t, true);
    if (t.has_rest) {
        t.text[t.length++] = '1';
        t.exponent--;
    }
    put_exponent(&t);
    return strtod(t.text, NULL);
}

static bool parse_finite(struct str s, double *out_value)
{
    struct scanned d = {0};
    if (!scan(s, &d)) return false;
    if (!d.has_rest && d.exponent > -EXPONENT_MAX && d.exponent < EXPONENT_MAX) {
        if (decimal_to_double((struct decimal){d.digits, (int)d.exponent}, out_value)) return true;
    }
    double value = d.digits == 0 ? 0 : ask_strtod(&d);
    if (isinf(value)) return false;
    *out_value = value;
    return true;
}

bool number_parse_double(struct str s, double *out_value)
{
    bool is_negative = cut_sign(&s);
    double value;
    bool may_be_infinite = s.length > 0 && (s.text[0] | 0x20) == 'i';
    if (may_be_infinite && (str_equal_nocase(s, str("inf")) || str_equal_nocase(s, str("infinity")))) {
        value = INFINITY;
    } else if (!parse_finite(s, &value)) {
        return false;
    }
    *out_value = is_negative ? -value : value;
    return true;
}
