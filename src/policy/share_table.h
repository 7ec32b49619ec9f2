/* The numbers of a share listing, one row per association: the columns of sshare -l. The caller that prints them has
 * the names. All algorithms fill the same struct (fair_share.h); this file computes Fair Tree's table for both tie
 * rules. Source of each column: docs/formulas.md 2.3 to 2.5. */
#ifndef FAIRLEAD_POLICY_SHARE_TABLE_H
#define FAIRLEAD_POLICY_SHARE_TABLE_H

#include "base/arena.h"
#include "policy/fair_tree.h"

/* Each column has count entries in index order. NAN: an empty cell. */
struct share_table {
    uint32_t count;
    double *norm_shares; /* fraction of the fair-share siblings' shares, 0 to 1; in algorithms without levels, of all */
    double *raw_usage;   /* total billing-seconds */
    double *norm_usage;  /* fraction of the root's usage; root: NAN */
    double *effective_usage; /* fraction of the fair-share parent's usage, or the algorithm's own number; root: 1 */
    double *fair_share;      /* the factor; in Fair Tree accounts and the root have NAN */
    double *level_fs;        /* Fair Tree only; root and SHARES_PARENT: NAN */
};

/* Columns of zeros, in memory of arena. */
void share_table_init(struct share_table *s, uint32_t count, struct arena *arena);
size_t share_table_memory(uint32_t count);

/* A number as sshare receives it from slurmctld, and as the table has it with TIES_SLURM: times 10^6, divided by
 * 10^6. */
double share_table_as_sent(double value);

/* Computes all columns by Fair Tree, in memory of arena. own: count current usages, each without that of the nodes
 * below; or totals: count totals that are taken as given. The other one is NULL. order: as for fair_tree_rank; may be
 * NULL. wanted: by node, whether its columns are needed; NULL: all are. The rows of the other nodes are undefined, and
 * their ranks and levels, which cost most, are not computed. With TIES_SLURM all rows are computed. */
void share_table_compute(const struct tree *t, const double *own, const double *totals, enum tie_rule ties,
                         struct rank_order *order, const bool *wanted, struct arena *arena,
                         struct share_table *out_table);

#endif
