/* The numbers of a share listing, one row per association: what sshare -l shows. Whoever prints (command, daemon) has the
 * names. The struct is every algorithm's (fair_share.h); computed here is Fair Tree's table, for either tie rule.
 * Source of each column: docs/formulas.md 2.3 to 2.5. */
#ifndef FAIRLEAD_POLICY_SHARE_TABLE_H
#define FAIRLEAD_POLICY_SHARE_TABLE_H

#include "base/arena.h"
#include "policy/fair_tree.h"

/* Each column: count entries in index order; NAN: nothing to show there. */
struct share_table {
    uint32_t count;
    double *norm_shares;     /* of its fair-share siblings' shares, 0 to 1; where there is no level: of everybody's */
    double *raw_usage;       /* total billing-seconds */
    double *norm_usage;      /* of the root's usage; root: NAN */
    double *effective_usage; /* of its fair-share parent's usage, or what the algorithm calls so; root: 1 */
    double *fair_share;      /* the factor; Fair Tree: accounts and root NAN */
    double *level_fs;        /* root and SHARES_PARENT: NAN; all NAN but in Fair Tree */
};

/* Columns of zeros, in memory of arena. (Where some rows are wanted, share_table_compute leaves the others' as they come.) */
void share_table_init(struct share_table *s, uint32_t count, struct arena *arena);

/* Fair Tree: computes all columns into memory of arena. own: count usages, current, an account's own without its children's; or
 * totals: the same as totals that stand as given; the other is NULL. order: as for fair_tree_rank; may be NULL. wanted: by node, whose
 * columns somebody reads, or NULL: all. Of the others ranks and levels, which cost most, are left out; with TIES_SLURM all is computed. */
void share_table_compute(const struct tree *t, const double *own, const double *totals, enum tie_rule ties,
                         struct rank_order *order, const bool *wanted, struct arena *arena,
                         struct share_table *out_table);

#endif
