/* A listing of priorities in its three forms, row by row: for whoever has rows, from a scenario or from the service. A row is
 * the service's (api/wire.h), so --json says the same of both.
 *
 *     multifactor  JOBID PARTITION USER ACCOUNT PRIORITY SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES (as sprio -l)
 *     normalized   the same before weighing (as sprio -n)
 *     tickets      JOBID USER PROJECT STATE PRIOR ... TICKETS OVERRIDE FUNCTIONAL SHARE (as qstat -pri -urg -ext)
 *     basic        JOBID PRIORITY
 *
 * With a row for each partition of a job, PARTITION stands last in the last two.
 * people: an aligned table, weighted terms in whole numbers. -P: '|' between, a heading, %.17g, nothing where there is
 * nothing; BILLING too, and PARTITIONFACTOR for the term of the partition. --json: an array, an object a line. */
#ifndef FAIRLEAD_CLI_PRIO_PRINT_H
#define FAIRLEAD_CLI_PRIO_PRINT_H

#include "api/wire.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "policy/policy.h"

struct prio_column;

struct prio_printer {
    const struct listing_values *form;
    struct output *out;
    const struct prio_column *columns;
    uint32_t column_count;
    struct table_column headings[TABLE_COLUMNS_MAX];
    struct table table;
    struct buf cell;
    uint64_t row_count;
};

/* What the rows are. */
struct prio_kind {
    enum priority_model model;
    bool is_normalized;  /* of multifactor only, and not of --json, which has all */
    bool has_partitions; /* a job has a row for each partition, by every model: as an instance's jobs have */
};

/* Begins a listing: heading or opening bracket. */
void prio_printer_init(struct prio_printer *p, const struct prio_kind *kind, const struct listing_values *form,
                       struct output *out);
void prio_printer_add(struct prio_printer *p, const struct wire_priority_row *row);

/* Ends it, and gives back what it needed. */
void prio_printer_end(struct prio_printer *p);

#endif
