/* Rows for programs: the values of columns (fields/column.h) between |, numbers in full and in their unit, yes and no as 1 and 0 (but as yes and no in records that are as people write them), times as ISO 8601
 * in UTC, nothing where there is no value. A | in a text, a control character and what is not UTF-8 become '?'. */
#ifndef FAIRLEAD_WIRE_PSV_H
#define FAIRLEAD_WIRE_PSV_H

#include "fields/column.h"

/* One line each, with its end. arena: for values that columns make; may be NULL where none does. */
void psv_write_heading(const struct column_table *t, struct buf *out);
void psv_write_row(const struct column_table *t, const struct field_value *row, struct arena *arena, struct buf *out);

#endif
