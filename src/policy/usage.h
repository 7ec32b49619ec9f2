/* Usage and its decay, in closed form: no period, no drift, exact at every moment.
 *
 *     u(t) = u(t0) 2^(-(t - t0)/H)                                  what was used fades with half-life H
 *     charge of rate r from a to b, seen at b:  r (H / ln 2) (1 - 2^(-(b - a)/H));   r (b - a) when H = 0 (no decay)
 *
 * Stored usages are all kept as they would read at one common moment, the reference: decay then costs nothing until
 * somebody reads, and reading is one multiplication by decay_scale for all. A charge made after the reference is stored
 * larger than it is; when it would be 2^512 times larger the reference moves up by whole half-lives, which is exact.
 * Rates are billing units per second; usage is billing-seconds; times are microseconds since the epoch.
 * Source: docs/formulas.md 1.2. Slurm steps 1 - 0.693/H per second instead; see there. */
#ifndef FAIRLEAD_POLICY_USAGE_H
#define FAIRLEAD_POLICY_USAGE_H

#include <stdint.h>

struct decay {
    int64_t halflife_us;  /* 0: usage does not fade */
    int64_t reference_us; /* the moment at which stored usages are right as they stand */
};

/* What a stored usage is multiplied with to read it at at_us: 2^(-(at - reference)/H). */
double decay_scale(const struct decay *d, int64_t at_us);

/* The charge of a rate from from_us to to_us, as it reads at to_us. 0 when to_us <= from_us. */
double usage_charge(int64_t halflife_us, double rate, int64_t from_us, int64_t to_us);

/* The same as it is stored: usage_charge / decay_scale(to_us), never overflowing while the reference is kept up. */
double usage_charge_stored(const struct decay *d, double rate, int64_t from_us, int64_t to_us);

/* How many whole half-lives the reference has to move up before something is charged at at_us; 0 for most. After moving
 * by k, reference_us is k * H later and every stored usage is multiplied by 2^-k (usage_fade). */
int64_t decay_steps_due(const struct decay *d, int64_t at_us);
double usage_fade(double stored, int64_t steps);

#endif
