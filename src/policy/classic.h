/* Classic fair share: a user's factor falls as usage rises against shares, both as fractions of the whole tree.
 *
 *     factor = 2^-((U / S) / d)     S: normalised shares, U: effective usage, d: the dampening factor
 *
 * A user who used exactly the promised share (U = S) has the factor 2^-(1/d). A user who used nothing, in a tree that
 * was used, has less than 1, because the effective usage moves towards the parent's. Without shares the factor is 0.
 * The functions that depth-oblivious fair share uses, too, are declared here.
 *
 * Each function is one loop over the nodes in index order. Source: docs/formulas.md 2.4 (Slurm "Classic Fairshare"
 * page; Slurm 22.05.8 for SHARES_PARENT). */
#ifndef FAIRLEAD_POLICY_CLASSIC_H
#define FAIRLEAD_POLICY_CLASSIC_H

#include "base/arena.h"
#include "policy/tree.h"

/* Normalised shares: the fraction of the whole tree that a node was promised, 0 to 1. It is the product of shares /
 * level_shares from the node up to the root. The root has 1, a SHARES_PARENT node that of its fair-share parent. out:
 * count entries. */
void classic_norm_shares(const struct tree *t, double *out);

/* Normalised usage: the fraction of all usage, 0 to 1; 0 if there is none. usage: count totals. out: count entries, may
 * be the same array. */
void classic_norm_usage(const struct tree *t, const double *usage, double *out);

/* Effective usage, 0 to 1. The root has 1, and its fair-share children have their norm_usage. Any other node has a mean
 * of its norm_usage and its fair-share parent's effective usage, in which the latter weighs shares / level_shares. A
 * SHARES_PARENT node has its fair-share parent's. norm_shares and arena are not used: depth_oblivious_effective_usage
 * has the same parameters. out: count entries, may be norm_usage itself. */
void classic_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                             struct arena *arena, double *out);

/* The factor of every node, 0 to 1; accounts and the root have one too. dampening: at least 1. out: count entries, may
 * be effective_usage itself. */
void classic_factors(const struct tree *t, const double *norm_shares, const double *effective_usage, double dampening,
                     double *out);

#endif
