/* Columns that hold fields (fields/field.h): of objects, jobs and tasks.
 *
 *     no value, a special word     NULL                 choices     their word
 *     text                         TEXT                 reals       REAL
 *     all others                   INTEGER, in the field's own unit */
#ifndef FAIRLEAD_STORE_FIELD_COLUMNS_H
#define FAIRLEAD_STORE_FIELD_COLUMNS_H

#include "fields/field.h"
#include "store/sql.h"

/* empty_is_null: 0 and the empty text are NULL, too. Text has to live until the next reset. */
void field_column_bind(sqlite3_stmt *statement, int parameter, const struct field *f, const struct field_value *value,
                       bool empty_is_null);

/* NULL of a field that is never null is its special word, or where it has none 0 and the empty text. Text is good until the
 * next step, and not checked. False: a number out of the field's range, a word that is none of its choices. */
bool field_column_read(sqlite3_stmt *row, int column, const struct field *f, struct field_value *out_value);

/* What is wrong with a column that field_column_read refused; ERR_INTERNAL. */
int field_column_fail(sqlite3_stmt *row, int column, const struct field *f, struct err *e);

#endif
