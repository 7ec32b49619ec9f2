/* The fair-share algorithms, as a table: each turns a tree and its usage into a factor per user, and into the columns of a
 * listing. A new algorithm is one file and one row.
 *
 *     fair-tree        rank by level, see fair_tree.h
 *     classic          2^-((effective usage / normalised shares) / dampening), usage pulled towards the parent's
 *     depth-oblivious  the same of another effective usage, which an account's depth does not punish
 */
#ifndef FAIRLEAD_POLICY_FAIR_SHARE_H
#define FAIRLEAD_POLICY_FAIR_SHARE_H

#include "policy/fair_tree.h"
#include "policy/share_table.h"

enum share_algorithm { ALGORITHM_FAIR_TREE, ALGORITHM_CLASSIC, ALGORITHM_DEPTH_OBLIVIOUS, ALGORITHM_COUNT };

struct share_options {
    enum share_algorithm algorithm;
    enum tie_rule ties;       /* of fair-tree */
    double dampening;         /* of the others: FairShareDampeningFactor, at least 1 */
    struct rank_order *order; /* of fair-tree: kept from pass to pass; may be NULL */
    const bool *wanted;       /* of a table: by node, whose columns somebody reads; NULL: all */
};

extern const char *const share_algorithm_names[ALGORITHM_COUNT]; /* "fair-tree" ... */

/* Factor of every user association by index, in [0, 1]; accounts get 0. own: count usages, an account's own without its
 * children's. arena: for what is needed on the way. */
void fair_share_factors(const struct tree *t, const double *own, const struct share_options *options,
                        struct arena *arena, double *out_factor);

/* All columns of a listing (share_table.h) by that algorithm; own or totals, the other NULL. level_fs is fair-tree's only,
 * NAN in the others; there accounts have a factor too. */
void fair_share_table(const struct tree *t, const double *own, const double *totals,
                      const struct share_options *options, struct arena *arena, struct share_table *out_table);

#endif
