/* The columns of prio, which depend on the model of priorities:
 *
 *     multifactor  JOBID PARTITION USER ACCOUNT PRIORITY SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES
 *                  (as sprio -l)
 *     normalized   the factors of most of them, before weighting (as sprio -n)
 *     tickets      JOBID USER PROJECT STATE PRIOR ... TICKETS OVERRIDE FUNCTIONAL SHARE (as qstat -pri -urg -ext)
 *     basic        JOBID PRIORITY
 *
 * If jobs have a row for each partition, PARTITION is the last column of the last two. In --parsable and --json the
 * term of the partition is PARTITIONFACTOR, BILLING follows the weighted terms, and ELIGIBLE is the last column: 0 for
 * a job that is held or cannot begin yet, which sprio does not list. In a table such a job's id has a mark. */
#ifndef FAIRLEAD_CLI_PRIO_COLUMNS_H
#define FAIRLEAD_CLI_PRIO_COLUMNS_H

#include "fields/column.h"
#include "policy/policy.h"

/* The kind of rows. */
struct prio_kind {
    enum priority_model model;
    bool is_normalized; /* only for multifactor */
    bool
        has_partitions; /* every job has a row for each of its partitions, in every model: true for an instance and its documents */
};

/* The columns of a kind of rows, in memory of the program. */
struct column_table prio_columns(const struct prio_kind *kind);

/* Behind the id of a job that is not eligible, in a table; listing.marked_count counts them. */
#define PRIO_NOT_ELIGIBLE_MARK "*"

/* No columns, but the fields of all models. */
extern const struct column_table prio_columns_all;

#endif
