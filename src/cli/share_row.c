#include "cli/share_row.h"

void share_row_values(const struct share_row *row, const struct share_table *table, struct share_values *out_values)
{
    struct field_value *value = out_values->value;
    for (uint32_t i = 0; i < SHARE_FIELD_COUNT; i++) value[i] = field_absent();
    value[SHARE_FIELD_ACCOUNT] = field_text(row->account);
    value[SHARE_FIELD_USER] = field_text(row->user);
    value[SHARE_FIELD_PARTITION] = field_text(row->partition);
    value[SHARE_FIELD_PARENT_ACCOUNT] = field_text(row->parent_account);
    value[SHARE_FIELD_DEPTH] = field_number(row->depth);
    value[SHARE_FIELD_RAW_SHARES] = row->shares;
    share_values_set_numbers(out_values, table, row->node);
}
