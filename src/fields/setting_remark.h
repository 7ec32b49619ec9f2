/* Remarks about values of settings that are accepted and unlikely to be meant: units that another program has
 * otherwise, and values that switch off what a site relies on. Each appends a sentence without a full stop, or nothing
 * (struct field, remark). */
#ifndef FAIRLEAD_FIELDS_SETTING_REMARK_H
#define FAIRLEAD_FIELDS_SETTING_REMARK_H

#include "fields/field.h"

/* Of what is computed. */
void setting_remark_compensation_factor(const struct field_value *value, struct buf *out);
void setting_remark_usage_weight_list(const struct field_value *value, struct buf *out);

/* Of an instance: documents have small numbers on purpose (field.remark_is_of_instance). */
void setting_remark_halflife(const struct field_value *value, struct buf *out);
void setting_remark_default_time(const struct field_value *value, struct buf *out);
void setting_remark_grace(const struct field_value *value, struct buf *out);
void setting_remark_keep(const struct field_value *value, struct buf *out);
void setting_remark_memory(const struct field_value *value, struct buf *out);
void setting_remark_weight(const struct field_value *value, struct buf *out);
void setting_remark_enforce(const struct field_value *value, struct buf *out);

#endif
