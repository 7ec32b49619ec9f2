/* Arithmetic of counts and times: sums that stop at the largest number instead of overflowing, and the larger of
 * two. */
#ifndef FAIRLEAD_BASE_SATURATE_H
#define FAIRLEAD_BASE_SATURATE_H

#include <stdint.h>

/* The sum and the product of numbers that are not negative; INT64_MAX if they do not fit. */
static inline int64_t saturate_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
static inline int64_t saturate_multiply(uint64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static inline int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
