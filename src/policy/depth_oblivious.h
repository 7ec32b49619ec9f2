/* Depth-oblivious fair share: classic's factor of another effective usage, one that an account's depth does not punish.
 * For a node n below p, its fair-share parent, with shares S, usage N, effective usage U, all as parts of the whole tree:
 *
 *     R = U(p) / S(p)                                       how far above its promise p is
 *     r = (N(n) / S(n)) / (sum of N of p's children / S(p)) the same of n among its siblings
 *     U(n) = R r^k S(n)
 *
 * k = 1 when both are above 1 or both below; else what the siblings make of n may not quite undo what p is:
 * k = 1 / (1 + (5 ln R)^2). Source: docs/formulas.md 2.5 (Slurm "Depth-Oblivious Fair-share Factor" page). */
#ifndef FAIRLEAD_POLICY_DEPTH_OBLIVIOUS_H
#define FAIRLEAD_POLICY_DEPTH_OBLIVIOUS_H

#include "base/arena.h"
#include "policy/tree.h"

/* Effective usage; the root: 1. norm_shares, norm_usage: classic.h. arena: for two numbers a node. out: count entries, may
 * be norm_usage itself. */
void depth_oblivious_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                                     struct arena *arena, double *out);

#endif
