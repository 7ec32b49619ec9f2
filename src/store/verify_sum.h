/* A compensated sum (Neumaier), in 80 bits where the machine has them: more exact than the stored double it is compared
 * with. */
#ifndef FAIRLEAD_STORE_VERIFY_SUM_H
#define FAIRLEAD_STORE_VERIFY_SUM_H

#include <math.h>
#include <stdbool.h>

struct sum {
    double stored;
    long double total, lost;
};

static inline void sum_add(struct sum *s, long double value)
{
    long double total = s->total + value;
    s->lost += fabsl(s->total) >= fabsl(value) ? (s->total - total) + value : (value - total) + s->total;
    s->total = total;
}

static inline long double sum_total(const struct sum *s)
{
    return s->total + s->lost;
}

/* Beyond 1e-9 of the greater value, and beyond 1e-6. */
static inline bool sum_differs(const struct sum *s)
{
    long double stored = s->stored, recomputed = sum_total(s);
    long double tolerance = 1e-9L * fmaxl(fabsl(stored), fabsl(recomputed));
    if (tolerance < 1e-6L) tolerance = 1e-6L;
    return !isfinite(stored) || !(fabsl(stored - recomputed) <= tolerance);
}

#endif
