/* Rows of the listing of shares: what each association is due. */
#ifndef FAIRLEAD_FIELDS_SHARE_FIELDS_H
#define FAIRLEAD_FIELDS_SHARE_FIELDS_H

#include "fields/account_fields.h"
#include "fields/column.h"

enum share_field {
    SHARE_FIELD_ACCOUNT,
    SHARE_FIELD_USER, /* none: the account's own row */
    SHARE_FIELD_PARTITION,
    SHARE_FIELD_PARENT_ACCOUNT,
    SHARE_FIELD_DEPTH,
    SHARE_FIELD_RAW_SHARES, /* none: the root's */
    SHARE_FIELD_NORM_SHARES,
    SHARE_FIELD_RAW_USAGE,
    SHARE_FIELD_NORM_USAGE,
    SHARE_FIELD_EFFECTIVE_USAGE,
    SHARE_FIELD_FAIR_SHARE,
    SHARE_FIELD_LEVEL_FS,
    SHARE_FIELD_PENDING, /* tasks; of an account with all below it, as the next two */
    SHARE_FIELD_RUNNING,
    SHARE_FIELD_RUNNING_CPUS,
    SHARE_FIELD_TRES_RAW, /* "cpu=2.5,mem=640"; none: not asked for */
    SHARE_FIELD_COUNT
};

extern const struct field_table share_fields;

/* sshare's columns, with the partition of an association (sshare -m) and with usage by TRES (GrpTRESRaw) behind them,
 * or without. Accounts are indented by their depth. share_fields_all_columns has both. */
const struct column_table *share_fields_columns(bool has_partition, bool has_tres);
extern const struct column_table share_fields_all_columns;

struct share_values {
    struct field_value value[SHARE_FIELD_COUNT];
};

#endif
