#include "policy/share_values.h"

void share_values_set_numbers(struct share_values *row, const struct share_table *t, uint32_t node)
{
    struct field_value *value = row->value;
    value[SHARE_FIELD_NORM_SHARES] = field_real(t->norm_shares[node]);
    value[SHARE_FIELD_RAW_USAGE] = field_real(t->raw_usage[node]);
    value[SHARE_FIELD_NORM_USAGE] = field_real(t->norm_usage[node]);
    value[SHARE_FIELD_EFFECTIVE_USAGE] = field_real(t->effective_usage[node]);
    value[SHARE_FIELD_FAIR_SHARE] = field_real(t->fair_share[node]);
    value[SHARE_FIELD_LEVEL_FS] = field_real(t->level_fs[node]);
}

struct field_value share_values_shares(uint32_t shares)
{
    return field_number(shares == SHARES_PARENT ? FIELD_SPECIAL : (int64_t)shares);
}
