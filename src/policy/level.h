/* Levels as sort keys: private to the Fair Tree of this folder.
 *
 *     level = S / U = (shares / all shares of the account) / (usage / the account's usage)
 *
 * A key is a level's double with a wider exponent: positive doubles sort as their bits do, and 12 bits of exponent
 * instead of 11 mean that nothing between 0 and infinity is cut off. Larger key, larger level; equal keys are ties.
 * Within one account the common factor (account's usage / account's shares) is left out: what remains is one division
 * of two exact numbers, so 1:10, 3:30 and 7:70 give one key. Across accounts the whole fraction is worked out in
 * integers and rounded once (level.c). Keys of the two kinds are never compared with each other. Source:
 * docs/formulas.md 2.1. */
#ifndef FAIRLEAD_POLICY_LEVEL_H
#define FAIRLEAD_POLICY_LEVEL_H

#include <stdint.h>
#include <string.h>

#include "policy/tree.h"

#define LEVEL_KEY_INFINITE UINT64_MAX /* of nodes with shares and no usage, and of SHARES_PARENT users */
#define LEVEL_KEY_ZERO UINT64_C(0)    /* of nodes without shares */

/* The key of shares / usage; usage finite and not negative. Out of line: zeros, SHARES_PARENT, usages beyond 2^+-900.
 * */
uint64_t level_key_corner(uint32_t shares, double usage);

static inline uint64_t level_key(uint32_t shares, double usage)
{
    if (!(usage >= 0x1p-900 && usage <= 0x1p900 && shares - 1 < SHARES_PARENT - 1))
        return level_key_corner(shares, usage);
    double ratio = (double)shares / usage;
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    return bits + (UINT64_C(1024) << 52);
}

/* The key of the level itself, correctly rounded. all_shares: of the account's fair-share children; all_usage: the
 * account's. */
uint64_t level_key_across(uint32_t shares, double usage, uint64_t all_shares, double all_usage);

/* The level as a double, correctly rounded; 0 and infinity as above. */
double level_value(uint32_t shares, double usage, uint64_t all_shares, double all_usage);

#endif
