/* Two loops: what the children of each account used together, then down the tree in index order. The power's exponent
 * depends on the parent only, so each account has it ready when its children come; and since R S(n) = U(p) times n's part
 * of the shares, and S(p) / S(n) is that part's inverse, no quotient of tiny normalised shares is formed:
 *
 *     U(n) = U(p) part r^k     r = (N(n) / sum) / part     k = 1: U(n) = U(p) N(n) / sum
 *
 * Continuous where it branches: r^k is 1 when r is, and k is when R is; so rounding there decides nothing. */
#include "policy/depth_oblivious.h"

#include <math.h>

#include "policy/level_part.h"

/* Of an account, for its fair-share children. */
struct level {
    double usage; /* the sum of theirs, SHARES_PARENT ones left out */
    double k;     /* for those on the other side of 1 */
};

static const double STEEPNESS = 5;

/* Sums per account, in a register until the account changes. */
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

void depth_oblivious_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                                     struct arena *arena, double *out)
{
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
            double of_level = own / levels[account].usage, part = level_part(t, i);
            bool is_apart = above > norm_shares[account] ? of_level < part : of_level > part;
            out[i] = is_apart ? above * part * exp(levels[account].k * log(of_level / part)) : above * of_level;
        }
        if (!t->is_user[i] && out[i] > 0 && norm_shares[i] > 0) levels[i].k = damping(out[i], norm_shares[i]);
    }
}
