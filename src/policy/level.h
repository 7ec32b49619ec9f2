/* Levels as sort keys: private to the Fair Tree of this folder.
 *
 *     level = S / U = (shares / all shares of the account) / (usage / the account's usage)
 *
 * A key is a level's double with a wider exponent. Positive doubles sort as their bits do, and with 12 bits of exponent
 * instead of 11 every level between 0 and infinity has a key. A larger key is a larger level; equal keys are ties.
 *
 * There are two kinds of keys, which are never compared with each other. Within one account the common factor
 * (account's usage / account's shares) is left out. What remains is one division of two exact numbers, so 1:10, 3:30
 * and 7:70 have one key. Across accounts the whole fraction is computed in integers and rounded once (level.c). Source:
 * docs/formulas.md 2.1. */
#ifndef FAIRLEAD_POLICY_LEVEL_H
#define FAIRLEAD_POLICY_LEVEL_H

#include <stdint.h>
#include <string.h>

#include "policy/tree.h"

#define LEVEL_KEY_INFINITE UINT64_MAX /* nodes with shares and without usage, and SHARES_PARENT users */
#define LEVEL_KEY_ZERO UINT64_C(0)    /* nodes without shares */

/* level_key for the rare cases: zeros, SHARES_PARENT, and usages beyond 2^+-900. */
uint64_t level_key_corner(uint32_t shares, double usage);

/* The key of shares / usage, within one account. usage is finite and not negative. */
static inline uint64_t level_key(uint32_t shares, double usage)
{
    if (!(usage >= 0x1p-900 && usage <= 0x1p900 && shares - 1 < SHARES_PARENT - 1))
        return level_key_corner(shares, usage);
    double ratio = (double)shares / usage;
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    return bits + (UINT64_C(1024) << 52);
}

/* The key of the whole level, correctly rounded, for comparison across accounts. all_shares: the sum of the account's
 * fair-share children; all_usage: the account's. */
uint64_t level_key_across(uint32_t shares, double usage, uint64_t all_shares, double all_usage);

/* The level as a double, correctly rounded; 0 without shares, infinite without usage. */
double level_value(uint32_t shares, double usage, uint64_t all_shares, double all_usage);

#endif
