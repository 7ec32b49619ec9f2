/* Numbers from text: whole ones with every overflow noticed, and doubles rounded as strtod rounds them.
 *
 * strtod itself obeys the locale (in German, it ends at the point of "2.5"), wants a closing zero byte, and takes
 * hexadecimal and NaN. So text is scanned here, into up to 19 digits and a power of ten, and base/decimal.c makes the
 * double. Only where that is not sure, or where there are more digits, is strtod asked, with the number written as a
 * whole number with an exponent ("12345e-3"), which is the same in every locale.
 *
 * How many digits count: the middle between two doubles has at most 767 significant digits (2^-1075 times an odd
 * 54-bit number). So of longer text 800 are kept, and a 1 behind them stands for whatever was not 0.
 *
 * Numbers to text: base/number_format.c, which asks this file whether a text reads back. */
#include "base/number.h"

#include <math.h>
#include <stdlib.h>

#include "base/decimal.h"

enum { EASY_DIGITS_MAX = 19, DIGITS_MAX = 800, EXPONENT_MAX = 99999, EXPONENT_DIGITS = 5 };

bool number_parse_u64(struct str s, uint64_t *out_value)
{
    if (s.length == 0) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.length; i++) {
        unsigned digit = (unsigned)(unsigned char)s.text[i] - '0';
        if (digit > 9) return false;
        if (__builtin_mul_overflow(value, 10u, &value)) return false;
        if (__builtin_add_overflow(value, digit, &value)) return false;
    }
    *out_value = value;
    return true;
}

/* Takes a sign off the front; true for a minus. */
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
    bool negative = cut_sign(&s);
    if (!number_parse_u64(s, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative) return false;
    *out_value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

/* A number as it was scanned: digits · 10^exponent, and where its digits stand for the case that they are too many. */
struct scanned {
    struct str whole, fraction; /* the runs of digits */
    int64_t written_exponent;
    uint64_t digits;
    int64_t exponent;
    unsigned count; /* of digits, the zeros in front apart */
    bool lost;      /* one other than 0 was left out of digits */
};

/* The run of digits at the front of s, added to d. */
static struct str scan_digits(struct str s, struct scanned *d, bool fraction)
{
    size_t i = 0;
    for (; i < s.length; i++) {
        unsigned digit = (unsigned)(unsigned char)s.text[i] - '0';
        if (digit > 9) break;
        if (d->count < EASY_DIGITS_MAX) {
            d->digits = d->digits * 10 + digit;
            d->count += d->digits > 0;
            d->exponent -= fraction;
        } else {
            d->lost |= digit > 0;
            d->exponent += !fraction;
        }
    }
    return (struct str){s.text, i};
}

static bool scan_exponent(struct str s, int64_t *out_exponent)
{
    bool negative = cut_sign(&s);
    if (s.length == 0) return false;
    int64_t value = 0;
    for (size_t i = 0; i < s.length; i++) {
        unsigned digit = (unsigned)(unsigned char)s.text[i] - '0';
        if (digit > 9) return false;
        if (value < INT64_C(1) << 55) value = value * 10 + digit;
    }
    *out_exponent = negative ? -value : value;
    return true;
}

/* digits [. digits] [e [sign] digits], at least one digit before the exponent; all of s. */
static bool scan(struct str s, struct scanned *d)
{
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

/* The number in strtod's hands: at most 800 digits, without zeros in front, and an exponent. */
struct digit_text {
    char text[DIGITS_MAX + 32];
    size_t count;
    int64_t exponent;
    bool lost;
};

static void copy_digits(struct str run, struct digit_text *to, bool fraction)
{
    for (size_t i = 0; i < run.length; i++) {
        if (to->count == DIGITS_MAX) {
            to->lost |= run.text[i] != '0';
            to->exponent += !fraction;
        } else {
            if (to->count > 0 || run.text[i] != '0') to->text[to->count++] = run.text[i];
            to->exponent -= fraction;
        }
    }
}

/* "e-00003": exponents beyond MOST_EXPONENT are as good as that, since 800 digits then make 0 or an infinity anyway. */
static void put_exponent(struct digit_text *t)
{
    bool negative = t->exponent < 0;
    uint64_t rest = negative ? 0 - (uint64_t)t->exponent : (uint64_t)t->exponent;
    if (rest > EXPONENT_MAX) rest = EXPONENT_MAX;
    t->text[t->count++] = 'e';
    t->text[t->count++] = negative ? '-' : '+';
    for (int i = EXPONENT_DIGITS - 1; i >= 0; i--, rest /= 10) t->text[t->count + (size_t)i] = (char)('0' + rest % 10);
    t->text[t->count + EXPONENT_DIGITS] = '\0';
}

static double ask_strtod(const struct scanned *d)
{
    struct digit_text t;
    t.count = 0;
    t.exponent = d->written_exponent;
    t.lost = false;
    copy_digits(d->whole, &t, false);
    copy_digits(d->fraction, &t, true);
    if (t.lost) {
        t.text[t.count++] = '1';
        t.exponent--;
    }
    put_exponent(&t);
    return strtod(t.text, NULL);
}

static bool parse_finite(struct str s, double *out_value)
{
    struct scanned d = {0};
    if (!scan(s, &d)) return false;
    if (!d.lost && d.exponent > -EXPONENT_MAX && d.exponent < EXPONENT_MAX) {
        if (decimal_to_double((struct decimal){d.digits, (int)d.exponent}, out_value)) return true;
    }
    double value = d.digits == 0 ? 0 : ask_strtod(&d);
    if (isinf(value)) return false;
    *out_value = value;
    return true;
}

bool number_parse_double(struct str s, double *out_value)
{
    bool negative = cut_sign(&s);
    double value;
    bool may_be_infinite = s.length > 0 && (s.text[0] | 0x20) == 'i';
    if (may_be_infinite && (str_equal_nocase(s, str("inf")) || str_equal_nocase(s, str("infinity")))) {
        value = INFINITY;
    } else if (!parse_finite(s, &value)) {
        return false;
    }
    *out_value = negative ? -value : value;
    return true;
}
