/* Fair Tree: level by level, who has had least of what is his comes first; a user's factor is the rank in that walk.
 *
 *     level = S / U    S: the node's part of its siblings' shares; U: its part of its fair-share parent's usage
 *     factor = rank / N, ranks counted from N down, N the number of user associations
 *
 * Two rules for equal levels:
 *   merge  as published. Tied siblings share a rank. A user tied with an account has the rank of that account's best
 *          user, however deep. Tied accounts have their children merged, each child with the level it has in its own.
 *   slurm  what Slurm 22.05.8 on x86-64 gives, bit for bit: 80-bit levels, tied accounts one after the other in input
 *          order, the later one's first association taking over the rank last given out.
 * Zero shares: level 0. Shares but no usage: infinite. SHARES_PARENT users: infinite; such accounts have no level.
 * Source: docs/formulas.md 2.1; the published "Fair Tree Fairshare Algorithm" page; Slurm's behaviour as recorded in
 * tests/conformance. */
#ifndef FAIRLEAD_POLICY_FAIR_TREE_H
#define FAIRLEAD_POLICY_FAIR_TREE_H

#include "policy/tree.h"

enum tie_rule { TIES_MERGE, TIES_SLURM };

/* The order of the last pass, kept so that the next one, with little changed, costs little. Belongs to one tree; when
 * that tree's lists change (tree.shapes) it starts over by itself. */
struct rank_order;
struct rank_order *rank_order_new(void);
void rank_order_free(struct rank_order *order); /* NULL is allowed */

/* Fair Tree factor of every user association, in index order, ties merged.
 * usage: count totals (tree_sum_usage, or totals as another program gave them); finite, not negative. A common factor
 * changes nothing, so stored usages serve as well as current ones.
 * order: kept from pass to pass; may be NULL. out_factor: count entries in (0, 1]; accounts get 0. No bit of it depends
 * on order. O(n) when little changed, else O(n) radix passes on the lists. Source: docs/formulas.md 2.1. */
void fair_tree_rank(const struct tree *t, const double *usage, struct rank_order *order, double *out_factor);

/* The same, of the nodes that are wanted; what is given of the others means nothing. Only the lists that they are in, and
 * those above them, are looked at. wanted: by node, or NULL: all. */
void fair_tree_rank_wanted(const struct tree *t, const double *usage, const bool *wanted, struct rank_order *order,
                           double *out_factor);

/* Level fair-share of every node, S / U, exact but for one rounding to double; 0 and infinity as above; NAN where there
 * is none (root, and nodes with SHARES_PARENT). out_level: count entries. Source: docs/formulas.md 2.1. */
void fair_tree_levels(const struct tree *t, const double *usage, double *out_level);
double fair_tree_level(const struct tree *t, const double *usage, uint32_t node); /* of one node */

/* Both as Slurm computes them. usage: count totals, in 80 bits as Slurm sums them (fair_tree_slurm_sum, or as given).
 * out_level may be NULL; its entries are the 80-bit levels rounded to double, NAN where sshare shows nothing.
 * Only where long double is x87's (fair_tree_slurm_available); elsewhere the caller refuses ties = slurm.
 * Source: docs/formulas.md 2.2. */
void fair_tree_slurm(const struct tree *t, const long double *usage, double *out_factor, double *out_level);
bool fair_tree_slurm_available(void);

/* Totals from own usages, each taken as Slurm takes it from its state file: rounded to six decimals. */
void fair_tree_slurm_sum(const struct tree *t, const double *own, long double *out_total);

#endif
