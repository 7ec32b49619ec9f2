/* Two loops: the first sums the usage of each account's fair-share children, the second goes down the tree in index
 * order. The exponent k depends on the parent only, so each account computes it before its children need it. With f,
 * n's fraction of the shares, R S(n) = U(p) f and S(n) / S(p) = f, so no quotient of tiny normalised shares is formed:
 *
 *     U(n) = U(p) f r^k     r = (N(n) / sum) / f     k = 1: U(n) = U(p) N(n) / sum
 *
 * Where the formula branches it is continuous: r^k is 1 when r is 1, and k is 1 when R is 1. So rounding there decides
 * nothing. */
#include "policy/depth_oblivious.h"

#include <math.h>

#include "base/ensure.h"
#include "policy/share_fraction.h"

/* An account's numbers for its fair-share children. */
struct level {
    double usage; /* the sum of theirs, without SHARES_PARENT */
    double k;     /* the exponent for children on the other side of 1 */
};

static const double STEEPNESS = 5;

/* Sums usage by account. The sum stays in a register until the account changes. */
static void sum_levels(const struct tree *t, const double *norm_usage, struct level *levels)
{
    uint32_t account = 0;
    double sum = 0;
    for (uint32_t i = 1; i < t->count; i++) {
        if (t->fs_parent[i] != account) {
            levels[account].usage = sum;
            account = t->fs_parent[i];
            sum = levels[account].usage;
        }
        if (t->shares[i] != SHARES_PARENT) sum += norm_usage[i];
    }
    levels[account].usage = sum;
}

static double damping(double effective_usage, double norm_shares)
{
    double steep = STEEPNESS * log(effective_usage / norm_shares);
    return 1 / (1 + steep * steep);
}

size_t depth_oblivious_memory(uint32_t count)
{
    return arena_size(count, sizeof(struct level));
}

void depth_oblivious_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                                     struct arena *arena, double *out)
{
    ensure(t->is_finished);
    struct level *levels = arena_alloc(arena, t->count * sizeof *levels);
    sum_levels(t, norm_usage, levels);
    out[0] = 1;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t account = t->fs_parent[i];
        double own = norm_usage[i], above = out[account];
        if (account == 0 || (t->shares[i] != SHARES_PARENT && !(own > 0 && above > 0 && norm_shares[i] > 0))) {
            out[i] = own;
        } else if (t->shares[i] == SHARES_PARENT) {
            out[i] = above;
        } else {
            double of_level = own / levels[account].usage, fraction = share_fraction(t, i);
            bool is_opposite = above > norm_shares[account] ? of_level < fraction : of_level > fraction;
            out[i] =
                is_opposite ? above * fraction * exp(levels[account].k * log(of_level / fraction)) : above * of_level;
        }
        if (!t->is_user[i] && out[i] > 0 && norm_shares[i] > 0) levels[i].k = damping(out[i], norm_shares[i]);
    }
}
