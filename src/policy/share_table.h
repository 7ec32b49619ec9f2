/* The numbers of a share listing, one row per association: what sshare -l shows, for either tie rule. Whoever prints
 * (command, daemon) has the names. Source of each column: docs/formulas.md 2.3. */
#ifndef FAIRLEAD_POLICY_SHARE_TABLE_H
#define FAIRLEAD_POLICY_SHARE_TABLE_H

#include "base/arena.h"
#include "policy/fair_tree.h"

/* Each column: count entries in index order; NAN: nothing to show there. */
struct share_table {
    uint32_t count;
    double *norm_shares;     /* of its fair-share siblings' shares, 0 to 1 */
    double *raw_usage;       /* total billing-seconds */
    double *norm_usage;      /* of the root's usage; root: NAN */
    double *effective_usage; /* of its fair-share parent's usage; root: 1 */
    double *fair_share;      /* users; accounts and root: NAN */
    double *level_fs;        /* root and SHARES_PARENT: NAN */
};

/* Computes all columns into memory of arena. own: count usages, current, an account's own without its children's; or
 * totals: the same as totals that stand as given; the other is NULL. order: as for fair_tree_rank; may be NULL. */
void share_table_compute(const struct tree *t, const double *own, const double *totals, enum tie_rule ties,
                         struct rank_order *order, struct arena *arena, struct share_table *out_table);

#endif
