/* The fair-share algorithms, as a table. Each turns a tree and its usage into a factor for each user, and into the
 * columns of a listing. A new algorithm is one file and one row.
 *
 *     fair-tree        a rank by levels, see fair_tree.h
 *     classic          2^-((effective usage / normalised shares) / dampening), usage moved towards the parent's
 *     depth-oblivious  the same with another effective usage, which does not depend on the depth of an account
 */
#ifndef FAIRLEAD_POLICY_FAIR_SHARE_H
#define FAIRLEAD_POLICY_FAIR_SHARE_H

#include "policy/fair_tree.h"
#include "policy/share_table.h"

enum share_algorithm { ALGORITHM_FAIR_TREE, ALGORITHM_CLASSIC, ALGORITHM_DEPTH_OBLIVIOUS, ALGORITHM_COUNT };

struct share_options {
    enum share_algorithm algorithm;
    enum tie_rule ties;       /* fair-tree */
    double dampening;         /* the others: FairShareDampeningFactor, at least 1 */
    struct rank_order *order; /* fair-tree: kept from pass to pass; may be NULL */
    const bool *wanted;       /* fair_share_table: by node, whether its columns are needed; NULL: all are */
};

extern const char *const share_algorithm_names[ALGORITHM_COUNT]; /* "fair-tree" ... */

/* The factor of every user association by index, in [0, 1]; accounts get 0. own: count usages, each without that of the
 * nodes below. arena: memory for intermediate results. */
void fair_share_factors(const struct tree *t, const double *own, const struct share_options *options,
                        struct arena *arena, double *out_factor);

/* All columns of a listing (share_table.h). Either own or totals is given, the other is NULL. Only fair-tree has
 * level_fs; with the others it is NAN, and accounts have a factor, too. */
void fair_share_table(const struct tree *t, const double *own, const double *totals,
                      const struct share_options *options, struct arena *arena, struct share_table *out_table);

/* The most memory that these take of the arena for count nodes. With TIES_MERGE that of the order comes on top
 * (rank_order_reserve). */
size_t fair_share_factors_memory(uint32_t count, const struct share_options *options);
size_t fair_share_table_memory(uint32_t count, const struct share_options *options);

#endif
