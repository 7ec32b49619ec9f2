/* Usage and its decay, in closed form. usage.h has the formulas; this file keeps them exact.
 *
 * An exponent (t - t0)/H is never formed as one number: with 500 half-lives in it, its rounding alone would cost nine
 * bits. It is split into whole half-lives, which are exponents of two and exact (ldexp), and a rest within one
 * half-life:
 *
 *     2^(-(t - t0)/H)  =  2^-k * 2^(-r/H)      k = (t - t0) / H,  r = (t - t0) mod H,  both whole numbers
 *
 * A charge over a short time is the difference of two nearly equal powers. expm1 computes it without that difference,
 * so it is right to the last bits from a microsecond to thousands of half-lives.
 *
 * Invariant: a stored usage is at most 2^512 times the value that it has at the time of its last charge. With usages up
 * to USAGE_AMOUNT_MAX and shares up to 2^31 nothing comes near the ends of a double's range. Moving the reference by
 * whole half-lives is exact until a usage decays below 1e-308 billing-seconds.
 *
 * Cost: one exp2 or expm1 a call, about 20 ns.
 * Source: docs/formulas.md 1.2. */
#include "policy/usage.h"

#include <math.h>

#include "base/ensure.h"
#include "base/quantity.h"

static const double LN2 = 0x1.62e42fefa39efp-1;

enum { HALFLIVES_MAX = 512, EXPONENT_MAX = 4096 }; /* 2^4096 is larger than the quotient of any two doubles */

/* ldexp with an exponent of any size. */
static double scaled(double value, int64_t exponent)
{
    if (exponent > EXPONENT_MAX) exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX) exponent = -EXPONENT_MAX;
    return ldexp(value, (int)exponent);
}

double decay_scale(const struct decay *d, int64_t at_us)
{
    ensure(d->halflife_us >= 0);
    if (d->halflife_us == 0) return 1;
    int64_t passed = at_us - d->reference_us;
    int64_t whole = passed / d->halflife_us, rest = passed % d->halflife_us;
    return scaled(exp2(-(double)rest / (double)d->halflife_us), -whole);
}

double usage_charge(int64_t halflife_us, double rate, int64_t from_us, int64_t to_us)
{
    ensure(halflife_us >= 0);
    if (to_us <= from_us) return 0;
    double passed = (double)(to_us - from_us);
    if (halflife_us == 0) return rate * (passed / US_PER_S);
    double halflife = (double)halflife_us;
    return rate * (halflife / US_PER_S / LN2) * -expm1(-LN2 * (passed / halflife));
}

double usage_charge_stored(const struct decay *d, double rate, int64_t from_us, int64_t to_us)
{
    double charge = usage_charge(d->halflife_us, rate, from_us, to_us);
    return charge == 0 ? 0 : charge / decay_scale(d, to_us);
}

double usage_rates_factor(const struct decay *anchor, int64_t from_us)
{
    if (anchor->halflife_us == 0) return (double)(from_us - anchor->reference_us);
    const struct decay from = {anchor->halflife_us, from_us};
    return decay_scale(&from, anchor->reference_us);
}

double usage_rates_charge(const struct usage_rates *rates, const struct decay *anchor, double scale, int64_t to_us)
{
    double halflife = (double)anchor->halflife_us, passed = (double)(to_us - anchor->reference_us);
    double charge = anchor->halflife_us == 0 ? (passed * rates->rate - rates->begun) / US_PER_S
                                             : halflife / US_PER_S / LN2 * (rates->rate - scale * rates->begun);
    return charge > 0.0 ? charge : 0.0;
}

int64_t decay_steps_due(const struct decay *d, int64_t at_us)
{
    ensure(d->halflife_us >= 0);
    if (d->halflife_us == 0) return 0;
    int64_t whole = (at_us - d->reference_us) / d->halflife_us;
    return whole >= HALFLIVES_MAX ? whole : 0;
}

double usage_decay_steps(double stored, int64_t steps)
{
    ensure(steps >= 0);
    return scaled(stored, -steps);
}
