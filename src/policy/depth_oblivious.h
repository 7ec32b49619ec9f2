/* Depth-oblivious fair share: classic's factor with another effective usage, which does not depend on an account's
 * depth. For a node n with the fair-share parent p, shares S, usage N and effective usage U, all as fractions of the
 * whole tree:
 *
 *     R = U(p) / S(p)                                       p's usage against its promise
 *     r = (N(n) / S(n)) / (sum of N of p's children / S(p)) n's usage against its promise, relative to its siblings
 *     U(n) = R r^k S(n)
 *
 * k = 1 when R and r are both above 1 or both below. Otherwise n differs from its siblings in the opposite direction to
 * p, and k = 1 / (1 + (5 ln R)^2) weakens that difference. Source: docs/formulas.md 2.5 (Slurm "Depth-Oblivious
 * Fair-share Factor" page). */
#ifndef FAIRLEAD_POLICY_DEPTH_OBLIVIOUS_H
#define FAIRLEAD_POLICY_DEPTH_OBLIVIOUS_H

#include "base/arena.h"
#include "policy/tree.h"

/* Effective usage; the root's is 1. norm_shares, norm_usage: see classic.h. arena: memory for two numbers a node. out:
 * count entries, may be norm_usage itself. */
void depth_oblivious_effective_usage(const struct tree *t, const double *norm_shares, const double *norm_usage,
                                     struct arena *arena, double *out);

size_t depth_oblivious_memory(uint32_t count); /* of the arena */

#endif
