/* Classic fair share: a user's factor falls with what was used of what was promised, both as parts of the whole tree.
 *
 *     factor = 2^-((U / S) / d)     S: normalised shares, U: effective usage, d: the dampening
 *
 * Used exactly what was promised (U = S): 2^-(1/d). Never used anything in a tree that was: not 1, because the effective
 * usage is pulled towards the parent's; zero shares: 0. What depth-oblivious has in common with it is here, too.
 * Each of these is one loop over the nodes in index order. Source: docs/formulas.md 2.4 (Slurm "Classic Fairshare" page;
 * Slurm 22.05.8 for SHARES_PARENT). */
#ifndef FAIRLEAD_POLICY_CLASSIC_H
#define FAIRLEAD_POLICY_CLASSIC_H

#include "base/arena.h"
#include "policy/tree.h"

/* The part of the whole tree that was promised, 0 to 1: the product of shares / level_shares from the node up to the root;
 * the root: 1; SHARES_PARENT: its fair-share parent's. out: count entries. */
void classic_norm_shares(const struct tree *t, double *out);

/* The part of all usage, 0 to 1; 0 when there is none. usage: count totals; out: count entries, may be the same array. */
void classic_norm_usage(const struct tree *t, const double *usage, double *out);

/* Effective usage, 0 to 1; the root: 1. Those right below the root: norm_usage. Others: norm_usage and the fair-share
 * parent's effective usage, the latter weighted by the part of their level's shares; SHARES_PARENT: the parent's.
 * norm_shares and arena: not needed. out: count entries, may be norm_usage itself. */
void classic_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                             struct arena *arena, double *out);

/* The factor of every node, accounts and root too, 0 to 1. dampening: at least 1. out: count entries, may be
 * effective_usage itself. */
void classic_factors(const struct tree *t, const double *norm_shares, const double *effective_usage, double dampening,
                     double *out);

#endif
