/* Fair Tree: level by level, the sibling that has had the smallest part of its promise comes first. A user's factor is
 * the user's rank in that walk.
 *
 *     level = S / U    S: the node's fraction of its siblings' shares; U: its fraction of its fair-share parent's usage
 *     factor = rank / N, ranks counted from N down, N the number of user associations
 *
 * There are two rules for equal levels:
 *   merge  as published. Tied siblings share a rank. A user tied with an account has the rank of that account's best
 *          user, however deep. Tied accounts have their children merged, each child with the level it has in its own.
 *   slurm  the results of Slurm 22.05.8 on x86-64, bit for bit: 80-bit levels, and tied accounts one after the other in
 *          the order of the input, where the first association of the later one gets the last rank again.
 * The level of zero shares is 0, that of shares without usage infinite. A SHARES_PARENT user has an infinite level, a
 * SHARES_PARENT account none.
 *
 * Source: docs/formulas.md 2.1; the published "Fair Tree Fairshare Algorithm" page; Slurm's behaviour as recorded in
 * tests/conformance. */
#ifndef FAIRLEAD_POLICY_FAIR_TREE_H
#define FAIRLEAD_POLICY_FAIR_TREE_H

#include "policy/tree.h"

enum tie_rule { TIES_MERGE, TIES_SLURM };

/* The order of the last pass. It makes the next one cheap if little changed. It belongs to one tree, and is rebuilt
 * when that tree's lists changed (tree.lists_version). */
struct rank_order;
struct rank_order *rank_order_new(void);
void rank_order_free(struct rank_order *order); /* NULL is allowed */

/* Takes the memory that a pass over a tree of count nodes may need, so that fair_tree_rank takes none. *io_order may be
 * NULL and is made then. False: there is no memory; *io_order is still usable. */
bool rank_order_reserve(struct rank_order **io_order, uint32_t count);

/* The Fair Tree factor of every user association, in index order, ties merged.
 * usage: count totals (from tree_sum_usage, or as another program gave them), finite and not negative. A common factor
 * changes nothing, so stored usages serve as well as current ones.
 * order: kept from pass to pass; may be NULL. The factors do not depend on it, to the last bit.
 * out_factor: count entries in (0, 1]; accounts get 0.
 * O(n) when little changed, else O(n) with radix passes over the lists. Source: docs/formulas.md 2.1. */
void fair_tree_rank(const struct tree *t, const double *usage, struct rank_order *order, double *out_factor);

/* The same for the nodes that are wanted; the entries of the others are undefined. Only the lists that contain wanted
 * nodes, and the lists above them, are ranked. wanted: by node; NULL: all. */
void fair_tree_rank_wanted(const struct tree *t, const double *usage, const bool *wanted, struct rank_order *order,
                           double *out_factor);

/* The level of every node, S / U, computed exactly and rounded once to double; 0 and infinite as above; NAN if there is
 * none (the root, and nodes with SHARES_PARENT). out_level: count entries. O(n). Source: docs/formulas.md 2.1. */
void fair_tree_levels(const struct tree *t, const double *usage, double *out_level);
double fair_tree_level(const struct tree *t, const double *usage, uint32_t node); /* of one node */

/* Factors and levels as Slurm computes them. usage: count totals, in 80 bits as Slurm sums them (fair_tree_slurm_sum,
 * or as given). out_level may be NULL; its entries are the 80-bit levels rounded to double, NAN where sshare shows
 * none. arena: memory for intermediate results. Requires the long double of x87 (fair_tree_slurm_available); elsewhere
 * the caller refuses ties = slurm. Source: docs/formulas.md 2.2. */
void fair_tree_slurm(const struct tree *t, const long double *usage, struct arena *arena, double *out_factor,
                     double *out_level);

/* The arena memory of that for count nodes. */
size_t fair_tree_slurm_memory(uint32_t count);
bool fair_tree_slurm_available(void);

/* Totals from own usages, each rounded to six decimals, as in Slurm's state file. O(n) additions a level of the
 * tree. */
void fair_tree_slurm_sum(const struct tree *t, const double *own, long double *out_total);

#endif
