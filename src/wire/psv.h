/* Rows for programs: the values of columns (fields/column.h), separated by |.
 *
 *     numbers     in full, in the unit of their field
 *     booleans    1 and 0; yes and no in a table of records that are as people write them (field_table.is_written)
 *     times       ISO 8601 in UTC
 *     text        with '?' for each |, each control character and each byte that is not UTF-8
 *
 * A column without a value is empty. */
#ifndef FAIRLEAD_WIRE_PSV_H
#define FAIRLEAD_WIRE_PSV_H

#include "fields/column.h"

/* Each appends one line, with its end. arena: for values that columns compute; may be NULL if no column does. */
void psv_write_heading(const struct column_table *t, struct buf *out);
void psv_write_row(const struct column_table *t, const struct field_value *row, struct arena *arena, struct buf *out);

#endif
