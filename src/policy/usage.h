/* Usage and its decay, in closed form: there is no calculation period and no drift, and usage is exact at every time.
 *
 *     u(t) = u(t0) 2^(-(t - t0)/H)                                  usage decays with half-life H
 *     charge of rate r from a to b, read at b:  r (H / ln 2) (1 - 2^(-(b - a)/H));   r (b - a) when H = 0 (no decay)
 *
 * Every stored usage is the value that it has at one common time, the reference. So decay costs nothing until usage is
 * read, and then one multiplication by decay_scale for each. A charge after the reference is stored larger than it is.
 * Before it would be 2^512 times larger, the reference moves by whole half-lives, which is exact.
 *
 * Rates are billing units per second, usage is in billing-seconds, and times are microseconds since the epoch.
 * Source: docs/formulas.md 1.2. Slurm multiplies by 1 - 0.693/H per second instead; see there. */
#ifndef FAIRLEAD_POLICY_USAGE_H
#define FAIRLEAD_POLICY_USAGE_H

#include <stdint.h>

/* No usage and no rate is larger, whatever the weights and for a hundred years; a larger one is damage. As it is
 * stored, a usage is up to 2^512 times larger. Sums of as many as there can be are still in the range of a double. */
#define USAGE_AMOUNT_MAX 1e60
#define USAGE_STORED_MAX (USAGE_AMOUNT_MAX * 0x1p512)

struct decay {
    int64_t halflife_us;  /* 0: usage does not decay */
    int64_t reference_us; /* the time at which stored usages need no conversion */
};

/* The factor that turns a stored usage into the usage at at_us: 2^(-(at - reference)/H). */
double decay_scale(const struct decay *d, int64_t at_us);

/* The charge of a rate from from_us to to_us, read at to_us. 0 when to_us <= from_us. */
double usage_charge(int64_t halflife_us, double rate, int64_t from_us, int64_t to_us);

/* The same charge as it is stored: usage_charge / decay_scale(to_us). It does not overflow as long as the reference is
 * moved when decay_steps_due says so. */
double usage_charge_stored(const struct decay *d, double rate, int64_t from_us, int64_t to_us);

/* Many rates at once. The sum of their charges needs two sums, with an anchor near the times at which they began:
 *
 *     sum of r (H / ln 2) (1 - 2^(-(t - b)/H))  =  (H / ln 2) (R - 2^(-(t - anchor)/H) B)
 *     sum of r (t - b)                          =  (t - anchor) R - B      without decay
 *
 *     R: sum of r;  B: sum of r 2^((b - anchor)/H), without decay sum of r (b - anchor)
 *
 * So a rate is added or taken away in constant time, and the sum is read in constant time. Its error is that of R H. */
struct usage_rates {
    double rate;  /* R */
    double begun; /* B */
};

/* The factor of a rate in B. anchor: halflife_us and, as reference_us, the anchor. No time is more than 512 half-lives
 * after the anchor; for those that are long before it the factor is 0. */
double usage_rates_factor(const struct decay *anchor, int64_t from_us);

/* The sum of usage_charge of all rates, each from its begin to to_us. No rate begins after to_us. scale: decay_scale of
 * the anchor at to_us. */
double usage_rates_charge(const struct usage_rates *rates, const struct decay *anchor, double scale, int64_t to_us);

/* The number of whole half-lives by which the reference must move before a charge at at_us; 0 in most cases. To move by
 * k half-lives, add k * H to reference_us and multiply every stored usage by 2^-k (usage_decay_steps). */
int64_t decay_steps_due(const struct decay *d, int64_t at_us);
double usage_decay_steps(double stored, int64_t steps);

#endif
