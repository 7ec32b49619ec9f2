/* A node's part of the shares that compete under its account: private to the algorithms of this folder. */
#ifndef FAIRLEAD_POLICY_LEVEL_PART_H
#define FAIRLEAD_POLICY_LEVEL_PART_H

#include "policy/tree.h"

/* shares / level_shares, 0 to 1; 0 where all of them are 0. Not of the root and not of SHARES_PARENT. Sums of shares stay
 * below 2^61, so they convert as signed numbers, which is one instruction. */
static inline double level_part(const struct tree *t, uint32_t node)
{
    double shares = (double)(int32_t)t->shares[node];
    return shares > 0 ? shares / (double)(int64_t)t->level_shares[t->fs_parent[node]] : 0;
}

#endif
