/* Doubles to decimal digits and back: the arithmetic under base/number.h. Quick in all but a few cases in 10^18, and
 * it says when it is not sure; the caller then asks libc, which is slower and always right. */
#ifndef FAIRLEAD_BASE_DECIMAL_H
#define FAIRLEAD_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* digits · 10^exponent. */
struct decimal {
    uint64_t digits;
    int exponent;
};

enum { DECIMAL_DIGITS_MAX = 17 };

/* 10^power, power 0 to 19. */
uint64_t decimal_power(int power);

/* value (finite, above 0) to count significant digits (1 to 17), to nearest, ties to even: digits has exactly count.
 * False where the arithmetic cannot tell a tie from what is next to it. */
bool decimal_from_double(double value, int count, struct decimal *out_decimal);

/* The double nearest to digits · 10^exponent, ties to even. False where it cannot tell, and for results that are
 * subnormal or too large. */
bool decimal_to_double(struct decimal d, double *out_value);

/* value · 10^places as a whole number, to nearest, ties to even: exact. value >= 0, places 0 to 19; the result must
 * fit. */
uint64_t decimal_scaled(double value, int places);

#endif
