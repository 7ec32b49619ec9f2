/* Numbers from text and to text: strict, exact, independent of locale. */
#ifndef FAIRLEAD_BASE_NUMBER_H
#define FAIRLEAD_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The whole view as a number in base ten, or false (out untouched): no blanks, no sign for u64, no overflow. */
bool number_parse_u64(struct str s, uint64_t *out_value);
bool number_parse_i64(struct str s, int64_t *out_value);

/* The nearest double to decimal text with optional sign, fraction and exponent ("1", "-2.5e-3", ".5"), or false. "inf"
 * and "infinity" (any case, optional sign) are read as such; a finite text too large for a double is refused, and so
 * is NaN. */
bool number_parse_double(struct str s, double *out_value);

enum { NUMBER_TEXT_SIZE = 400 }; /* enough for any of the below with precision up to 40 */

/* Writes the text and a closing zero byte to out (NUMBER_TEXT_SIZE bytes); returns its length. inf and -inf; nan.
 * style 'f', 'e' or 'g' as printf's. */
size_t number_format_double(char *out, double value, int precision, char style);

/* The shortest text that reads back as the same double: what JSON gets. */
size_t number_format_shortest(char *out, double value);

/* As printf's %.17g: what -P columns get. */
size_t number_format_g17(char *out, double value);

/* In base ten. */
size_t number_format_u64(char *out, uint64_t value);

#endif
