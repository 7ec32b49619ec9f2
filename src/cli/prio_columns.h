/* The columns of prio, by model:
 *
 *     multifactor  JOBID PARTITION USER ACCOUNT PRIORITY SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES (as sprio -l)
 *     normalized   the same before weighing (as sprio -n)
 *     tickets      JOBID USER PROJECT STATE PRIOR ... TICKETS OVERRIDE FUNCTIONAL SHARE (as qstat -pri -urg -ext)
 *     basic        JOBID PRIORITY
 *
 * With a row for each partition of a job, PARTITION stands last in the last two. For programs the term of the partition is
 * PARTITIONFACTOR, and the weighted terms have BILLING behind them. */
#ifndef FAIRLEAD_CLI_PRIO_COLUMNS_H
#define FAIRLEAD_CLI_PRIO_COLUMNS_H

#include "fields/column.h"
#include "policy/policy.h"

/* What the rows are. */
struct prio_kind {
    enum priority_model model;
    bool is_normalized;  /* of multifactor only */
    bool has_partitions; /* a job has a row for each partition, by every model: as an instance's jobs have */
};

struct column_table prio_columns(const struct prio_kind *kind);

/* Every field of a row, whatever the model. */
extern const struct column_table prio_columns_all;

#endif
