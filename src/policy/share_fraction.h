/* A node's fraction of the shares that compete under its account: private to the algorithms of this folder. */
#ifndef FAIRLEAD_POLICY_SHARE_FRACTION_H
#define FAIRLEAD_POLICY_SHARE_FRACTION_H

#include "policy/tree.h"

/* shares / level_shares, 0 to 1; 0 if all of them are 0. Not for the root and not for SHARES_PARENT. Sums of shares
 * stay below 2^61, so they are converted as signed numbers, which is one instruction. */
static inline double share_fraction(const struct tree *t, uint32_t node)
{
    double shares = (double)(int32_t)t->shares[node];
    return shares > 0 ? shares / (double)(int64_t)t->level_shares[t->fs_parent[node]] : 0;
}

#endif
