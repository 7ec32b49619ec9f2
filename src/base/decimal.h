/* Converts doubles to decimal digits and back: the arithmetic below base/number.h. It is fast and exact in all but a
 * few cases in 10^18. In those it returns false, and the caller falls back to libc, which is slower and always
 * right. */
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

/* Rounds value (finite, above 0) to digit_count significant digits (1 to 17), to nearest, ties to even. out_decimal's
 * digits then has exactly digit_count digits. False where the arithmetic cannot tell a tie from a value next to one. */
bool decimal_from_double(double value, int digit_count, struct decimal *out_decimal);

/* The double nearest to digits · 10^exponent, ties to even. False where the arithmetic cannot tell, and for results
 * that are subnormal or too large. */
bool decimal_to_double(struct decimal d, double *out_value);

/* value · 10^places, rounded to a whole number, to nearest, ties to even; exact. value >= 0, places 0 to 19; the result
 * must fit into 64 bits. */
uint64_t decimal_scaled(double value, int places);

#endif
