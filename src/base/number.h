/* Numbers from text and to text: strict, exact and independent of the locale. */
#ifndef FAIRLEAD_BASE_NUMBER_H
#define FAIRLEAD_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The whole view as a number in base ten. False, with out_value untouched, for anything else: no blanks, no sign for
 * u64, no overflow. */
bool number_parse_u64(struct str s, uint64_t *out_value);
bool number_parse_i64(struct str s, int64_t *out_value);

/* The double nearest to a decimal text with an optional sign, fraction and exponent ("1", "-2.5e-3", ".5"). "inf" and
 * "infinity" (any case, optional sign) are infinite. False for a finite text that is too large for a double, for NaN,
 * and for anything else. */
bool number_parse_double(struct str s, double *out_value);

/* Whether a whole number is from min to max, which are whole: exact, also beyond 2^53. */
bool number_is_between(int64_t value, double min, double max);

/* Whether a double holds the number that the text writes. False only for a whole number without an exponent, beyond
 * 2^53, that lies between two doubles and is not the shortest text of one. The text is one that number_parse_double
 * reads. */
bool number_is_held(struct str s);
#define NUMBER_NOT_HELD "is beyond 2^53 and cannot be kept exactly"

/* The formatters write the text and a closing zero byte to out, which has NUMBER_TEXT_SIZE bytes, and return the length
 * of the text. That is enough for every double with a precision of up to 40. */
enum { NUMBER_TEXT_SIZE = 400 };

/* style is 'f', 'e' or 'g', as in printf; also "inf", "-inf" and "nan". */
size_t number_format_double(char *out, double value, int precision, char style);

/* The shortest text that reads back as the same double: for JSON. */
size_t number_format_shortest(char *out, double value);

/* The same as printf's %.17g: for the columns of -P. */
size_t number_format_g17(char *out, double value);

/* In decimal digits. */
size_t number_format_u64(char *out, uint64_t value);

#endif
