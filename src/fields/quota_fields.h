/* Rows of the listing of quotas in use: a limit of a rule, with what running tasks have of one of its pools. */
#ifndef FAIRLEAD_FIELDS_QUOTA_FIELDS_H
#define FAIRLEAD_FIELDS_QUOTA_FIELDS_H

#include "fields/column.h"
#include "fields/field.h"

enum quota_usage_field {
    QUOTA_USAGE_RULE, /* "SET/RULE" */
    QUOTA_USAGE_RESOURCE,
    QUOTA_USAGE_USED,
    QUOTA_USAGE_LIMIT,
    QUOTA_USAGE_FILTER, /* "users ann hosts @fast" */
    QUOTA_USAGE_POOL,   /* "ann/////" */
    QUOTA_USAGE_FIELD_COUNT
};

extern const struct column_table quota_fields_columns;

struct quota_usage_values {
    struct field_value value[QUOTA_USAGE_FIELD_COUNT];
};

#endif
