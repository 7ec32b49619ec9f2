/* Numbers from text and to text. */
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"

bool number_parse_u64(struct str s, uint64_t *out_value)
{
    if (s.length == 0) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.length; i++) {
        if (s.text[i] < '0' || s.text[i] > '9') return false;
        if (__builtin_mul_overflow(value, 10u, &value)) return false;
        if (__builtin_add_overflow(value, (uint64_t)(s.text[i] - '0'), &value)) return false;
    }
    *out_value = value;
    return true;
}

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

enum { MOST_DIGITS = 800 };

/* Decimal text as it was scanned: digits · 10^exponent. */
struct scanned {
    char text[MOST_DIGITS + 32];
    size_t count;
    int64_t exponent;
    bool any, lost; /* a digit was seen; one other than 0 was left out */
};

static size_t scan_digits(struct str s, struct scanned *d, bool fraction)
{
    size_t i = 0;
    for (; i < s.length && s.text[i] >= '0' && s.text[i] <= '9'; i++) {
        d->any = true;
        if (d->count == MOST_DIGITS) {
            d->lost |= s.text[i] != '0';
            d->exponent += !fraction;
        } else {
            if (d->count > 0 || s.text[i] != '0') d->text[d->count++] = s.text[i];
            d->exponent -= fraction;
        }
    }
    return i;
}

static bool scan_exponent(struct str s, int64_t *exponent)
{
    bool negative = cut_sign(&s);
    if (s.length == 0) return false;
    int64_t value = 0;
    for (size_t i = 0; i < s.length; i++) {
        if (s.text[i] < '0' || s.text[i] > '9') return false;
        if (value < INT64_C(1) << 50) value = value * 10 + (s.text[i] - '0');
    }
    *exponent += negative ? -value : value;
    return true;
}

static bool parse_finite(struct str s, double *out_value)
{
    struct scanned d;
    d.count = 0;
    d.exponent = 0;
    d.any = d.lost = false;
    size_t i = scan_digits(s, &d, false);
    if (i < s.length && s.text[i] == '.') {
        i++;
        i += scan_digits((struct str){s.text + i, s.length - i}, &d, true);
    }
    if (!d.any) return false;
    if (i < s.length && (s.text[i] | 0x20) != 'e') return false;
    if (i < s.length && !scan_exponent((struct str){s.text + i + 1, s.length - i - 1}, &d.exponent)) return false;
    if (d.count == 0) {
        *out_value = 0;
        return true;
    }
    if (d.lost) {
        d.text[d.count++] = '1';
        d.exponent--;
    }
    int64_t exponent = d.exponent < -99999 ? -99999 : d.exponent > 99999 ? 99999 : d.exponent;
    d.text[d.count++] = 'e';
    if (exponent < 0) d.text[d.count++] = '-';
    number_format_u64(d.text + d.count, (uint64_t)(exponent < 0 ? -exponent : exponent));
    double value = strtod(d.text, NULL);
    if (isinf(value)) return false;
    *out_value = value;
    return true;
}

bool number_parse_double(struct str s, double *out_value)
{
    bool negative = cut_sign(&s);
    double value;
    if (str_equal_nocase(s, str("inf")) || str_equal_nocase(s, str("infinity"))) {
        value = INFINITY;
    } else if (!parse_finite(s, &value)) {
        return false;
    }
    *out_value = negative ? -value : value;
    return true;
}

static size_t format_special(char *out, double value)
{
    const char *word = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    strcpy(out, word);
    return strlen(word);
}

size_t number_format_double(char *out, double value, int precision, char style)
{
    ensure(precision >= 0 && precision <= 40);
    ensure(style == 'f' || style == 'e' || style == 'g');
    if (!isfinite(value)) return format_special(out, value);
    char format[] = {'%', '.', (char)('0' + precision / 10), (char)('0' + precision % 10), style, '\0'};
    char text[NUMBER_TEXT_SIZE];
    strfromd(text, sizeof text, format, value);
    char *to = out;
    for (const char *from = text; *from != '\0'; from++) {
        bool known = (*from >= '0' && *from <= '9') || *from == 'e' || *from == '-' || *from == '+';
        if (known) *to++ = *from;
        else if (to[-1] != '.') *to++ = '.';
    }
    *to = '\0';
    return (size_t)(to - out);
}

size_t number_format_shortest(char *out, double value)
{
    size_t length = 0;
    double back = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = number_format_double(out, value, digits, 'g');
        if (!isfinite(value) || (number_parse_double((struct str){out, length}, &back) && back == value)) break;
    }
    return length;
}

size_t number_format_g17(char *out, double value)
{
    return number_format_double(out, value, 17, 'g');
}

size_t number_format_u64(char *out, uint64_t value)
{
    size_t length = 1;
    for (uint64_t rest = value / 10; rest > 0; rest /= 10) length++;
    out[length] = '\0';
    for (size_t i = length; i-- > 0; value /= 10) out[i] = (char)('0' + value % 10);
    return length;
}
