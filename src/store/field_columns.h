/* Columns that hold fields (fields/field.h): of objects, jobs and tasks.
 *
 *     no value, a special word     NULL                 choices     their word
 *     text                         TEXT                 reals       REAL
 *     all others                   INTEGER, in the field's own unit
 *
 * A listing reads 46 of them a row, so all that depends only on the field is computed once, in struct field_column, and
 * most values take one call of SQLite: it reads NULL as 0 and as no text, which is what most fields have for it. */
#ifndef FAIRLEAD_STORE_FIELD_COLUMNS_H
#define FAIRLEAD_STORE_FIELD_COLUMNS_H

#include "fields/field.h"
#include "store/sql.h"

enum field_storage { STORED_INTEGER, STORED_REAL, STORED_TEXT, STORED_CHOICE };

struct field_column {
    const struct field *field;
    enum field_storage storage;
    bool empty_is_null;            /* 0 and the empty text are stored as NULL, too */
    struct field_value null_value; /* what NULL is read as */
    bool null_is_default;          /* null_value is what SQLite reads NULL as: 0 or no text */
    int64_t min, max;              /* of integers */
};

/* NULL of a field that is never null is read as its special word, or, without one, as 0 and the empty text. */
struct field_column field_column_of(const struct field *f, bool empty_is_null);

/* Binds a value. Its text has to live until the statement's next reset. */
void field_column_bind(const struct field_column *c, sqlite3_stmt *statement, int parameter,
                       const struct field_value *value);

/* The part of field_column_read for choices, reals, and integers whose NULL is not 0. */
bool field_column_read_rare(const struct field_column *c, sqlite3_stmt *row, int column, struct field_value *out_value);

/* Reads a value. Text is valid until the statement's next step, and is not checked. Returns false for a number out of
 * the field's range and for a word that is none of its choices. */
static inline bool field_column_read(const struct field_column *c, sqlite3_stmt *row, int column,
                                     struct field_value *out_value)
{
    if (c->storage == STORED_TEXT) {
        const char *text = (const char *)sqlite3_column_text(row, column);
        *out_value = text != NULL ? field_text(text) : c->null_value;
        return true;
    }
    if (!c->null_is_default || c->storage != STORED_INTEGER) return field_column_read_rare(c, row, column, out_value);
    *out_value = field_number(sqlite3_column_int64(row, column));
    return out_value->number >= c->min && out_value->number <= c->max;
}

/* The error about a column that field_column_read refused. Returns -1, ERR_INTERNAL. */
int field_column_fail(const struct field_column *c, sqlite3_stmt *row, int column, struct err *e);

#endif
