#include "policy/classic.h"

#include <math.h>

#include "policy/level_part.h"

void classic_norm_shares(const struct tree *t, double *out)
{
    out[0] = 1;
    for (uint32_t i = 1; i < t->count; i++) {
        double above = out[t->fs_parent[i]];
        out[i] = t->shares[i] == SHARES_PARENT ? above : above * level_part(t, i);
    }
}

void classic_norm_usage(const struct tree *t, const double *usage, double *out)
{
    double all = usage[0];
    for (uint32_t i = 0; i < t->count; i++) {
        double part = all > 0 ? usage[i] / all : 0;
        out[i] = part < 1 ? part : 1;
    }
}

void classic_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                             struct arena *arena, double *out)
{
    (void)norm_shares;
    (void)arena;
    out[0] = 1;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t account = t->fs_parent[i];
        double own = norm_usage[i], above = out[account];
        if (account == 0) {
            out[i] = own;
        } else if (t->shares[i] == SHARES_PARENT || t->level_shares[account] == 0) {
            out[i] = above;
        } else {
            out[i] = own + (above - own) * level_part(t, i);
        }
    }
}

void classic_factors(const struct tree *t, const double *norm_shares, const double *effective_usage, double dampening,
                     double *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        double shares = norm_shares[i];
        out[i] = shares > 0 ? exp2(-(effective_usage[i] / shares) / dampening) : 0;
    }
}
