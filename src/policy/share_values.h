/* The numbers of a share table as values of the record that listings have (fields/share_fields.h). */
#ifndef FAIRLEAD_POLICY_SHARE_VALUES_H
#define FAIRLEAD_POLICY_SHARE_VALUES_H

#include "fields/share_fields.h"
#include "policy/share_table.h"

/* Sets the columns from NormShares to LevelFS; the others stay unchanged. */
void share_values_set_numbers(struct share_values *row, const struct share_table *t, uint32_t node);

/* Shares as a value: a number, or FIELD_SPECIAL for SHARES_PARENT. */
struct field_value share_values_shares(uint32_t shares);

#endif
