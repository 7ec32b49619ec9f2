#include "fields/quota_fields.h"

static const struct field rows[QUOTA_USAGE_FIELD_COUNT] = {
    [QUOTA_USAGE_RULE] = {.name = "rule", .help = "the set and the rule: its name, or its number", .type = FIELD_TEXT},
    [QUOTA_USAGE_RESOURCE] = {.name = "resource", .help = "what is limited", .type = FIELD_TEXT},
    [QUOTA_USAGE_USED] = {.name = "used", .help = "what running tasks have of it", .type = FIELD_REAL},
    [QUOTA_USAGE_LIMIT] = {.name = "limit", .help = "how much they may have together", .type = FIELD_REAL},
    [QUOTA_USAGE_FILTER] = {.name = "filter", .help = "whose: users ann hosts @fast", .type = FIELD_TEXT},
    [QUOTA_USAGE_POOL] = {.name = "pool",
                          .help = "user/project/pe/queue/host/, as far as each has a pool",
                          .type = FIELD_TEXT},
};

static const struct field_table fields = {.name = "QuotaUsage",
                                          .help = "What running tasks have of a limit of a resource quota set.",
                                          .rows = rows,
                                          .row_size = sizeof rows[0],
                                          .count = QUOTA_USAGE_FIELD_COUNT};

static const struct column columns[] = {
    {.field = QUOTA_USAGE_RULE, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = QUOTA_USAGE_RESOURCE, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = QUOTA_USAGE_USED},
    {.field = QUOTA_USAGE_LIMIT},
    {.field = QUOTA_USAGE_FILTER, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = QUOTA_USAGE_POOL, .is_for_programs = true},
};

const struct column_table quota_fields_columns = {
    .fields = &fields, .columns = columns, .count = sizeof columns / sizeof *columns};
