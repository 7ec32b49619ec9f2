#include "fields/quota_fields.h"

#include <string.h>

#include "base/number.h"
#include "base/quantity.h"

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

/* Memory has a unit. */
static void show_amount(const struct field_value *row, double amount, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    if (strcmp(row[QUOTA_USAGE_RESOURCE].text, "mem") == 0 && amount >= 1.0)
        buf_add(out, text, memory_format(text, (uint64_t)amount));
    else
        buf_add(out, text, number_format_double(text, amount, 6, 'g'));
}

static void show_used(const struct field_value *row, struct buf *out)
{
    show_amount(row, row[QUOTA_USAGE_USED].real, out);
}

static void show_limit(const struct field_value *row, struct buf *out)
{
    show_amount(row, row[QUOTA_USAGE_LIMIT].real, out);
}

static const struct column columns[] = {
    {.field = QUOTA_USAGE_RULE, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = QUOTA_USAGE_RESOURCE, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = QUOTA_USAGE_USED, .show = show_used, .is_right_aligned = true},
    {.field = QUOTA_USAGE_LIMIT, .show = show_limit, .is_right_aligned = true},
    {.field = QUOTA_USAGE_FILTER, .width_min = COLUMN_NAME_WIDTH_MIN},
    {.field = QUOTA_USAGE_POOL, .is_for_programs = true},
};

const struct column_table quota_fields_columns = {
    .fields = &fields, .columns = columns, .count = sizeof columns / sizeof *columns};
