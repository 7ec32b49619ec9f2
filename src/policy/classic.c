/* A node's fair-share parent has a smaller index, so its results are there when the loop reaches the node. */
#include "policy/classic.h"

#include <math.h>

#include "base/ensure.h"
#include "policy/share_fraction.h"

void classic_norm_shares(const struct tree *t, double *out)
{
    ensure(t->is_finished);
    out[0] = 1;
    for (uint32_t i = 1; i < t->count; i++) {
        double above = out[t->fs_parent[i]];
        out[i] = t->shares[i] == SHARES_PARENT ? above : above * share_fraction(t, i);
    }
}

void classic_norm_usage(const struct tree *t, const double *usage, double *out)
{
    double all = usage[0];
    for (uint32_t i = 0; i < t->count; i++) {
        double fraction = all > 0 ? usage[i] / all : 0;
        out[i] = fraction < 1 ? fraction : 1;
    }
}

void classic_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                             struct arena *arena, double *out)
{
    (void)norm_shares;
    (void)arena;
    ensure(t->is_finished);
    out[0] = 1;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t account = t->fs_parent[i];
        double own = norm_usage[i], above = out[account];
        if (account == 0) {
            out[i] = own;
        } else if (t->shares[i] == SHARES_PARENT || t->level_shares[account] == 0) {
            out[i] = above;
        } else {
            out[i] = own + (above - own) * share_fraction(t, i);
        }
    }
}

void classic_factors(const struct tree *t, const double *norm_shares, const double *effective_usage, double dampening,
                     double *out)
{
    ensure(dampening >= 1);
    for (uint32_t i = 0; i < t->count; i++) {
        double shares = norm_shares[i];
        out[i] = shares > 0 ? exp2(-(effective_usage[i] / shares) / dampening) : 0;
    }
}
