/* Questions about numbers; apart from number.c, because the formatters read what they have written. */
#include "base/number.h"

bool number_is_between(int64_t value, double min, double max)
{
    static const double limit = 9223372036854775808.0; /* 2^63 */
    return (min < -limit || value >= (int64_t)min) && (max >= limit || value <= (int64_t)max);
}

bool number_is_held(struct str s)
{
    static const double limit = 18446744073709551616.0; /* 2^64 */
    char shortest[NUMBER_TEXT_SIZE];
    uint64_t whole;
    double value;
    if (s.length > 0 && (s.text[0] == '-' || s.text[0] == '+')) s = (struct str){s.text + 1, s.length - 1};
    if (!number_parse_u64(s, &whole) || !number_parse_double(s, &value)) return true;
    if (value < limit && (uint64_t)value == whole) return true;
    return str_equal(s, (struct str){shortest, number_format_shortest(shortest, value)});
}
