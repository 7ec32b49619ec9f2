#include "store/field_columns.h"

#include <math.h>

#include "base/ensure.h"

static enum field_storage storage_of(enum field_type type)
{
    switch (type) {
    case FIELD_TEXT:
    case FIELD_BYTES: return STORED_TEXT;
    case FIELD_CHOICE: return STORED_CHOICE;
    case FIELD_REAL: return STORED_REAL;
    default: return STORED_INTEGER;
    }
}

static int64_t to_integer(double bound)
{
    if (bound >= (double)INT64_MAX) return INT64_MAX;
    return bound <= (double)INT64_MIN ? INT64_MIN : (int64_t)bound;
}

struct field_column field_column_of(const struct field *f, bool empty_is_null)
{
    struct field_column c = {.field = f,
                             .storage = storage_of(f->type),
                             .empty_is_null = empty_is_null,
                             .null_value = field_nothing(f),
                             .min = to_integer(f->min),
                             .max = to_integer(f->max)};
    if (!f->is_nullable && f->special != NULL) c.null_value.number = FIELD_SPECIAL;
    if (f->type == FIELD_BOOL) {
        c.min = 0;
        c.max = 1;
    }
    c.null_is_default =
        !f->is_nullable && f->special == NULL && c.storage != STORED_CHOICE && f->min <= 0 && f->max >= 0;
    return c;
}

static bool is_null(const struct field_column *c, const struct field_value *value)
{
    const struct field *f = c->field;
    if (field_is_absent(f, value)) return true;
    if (c->storage == STORED_TEXT) return c->empty_is_null && value->text[0] == '\0';
    if (c->storage == STORED_REAL) return false;
    return (f->special != NULL && value->number == FIELD_SPECIAL) || (c->empty_is_null && value->number == 0);
}

void field_column_bind(const struct field_column *c, sqlite3_stmt *statement, int parameter,
                       const struct field_value *value)
{
    if (is_null(c, value)) {
        sql_bind_text(statement, parameter, NULL);
        return;
    }
    switch (c->storage) {
    case STORED_TEXT: sql_bind_text(statement, parameter, value->text); return;
    case STORED_REAL: sql_bind_double(statement, parameter, value->real); return;
    case STORED_CHOICE: sql_bind_str(statement, parameter, field_choice(c->field->choices, value->number)); return;
    case STORED_INTEGER: sql_bind_int(statement, parameter, value->number); return;
    }
}

/* Whether the column is NULL, whose value is then in place. */
static bool read_null(const struct field_column *c, sqlite3_stmt *row, int column, struct field_value *out_value)
{
    if (c->null_is_default || sqlite3_column_type(row, column) != SQLITE_NULL) return false;
    *out_value = c->null_value;
    return true;
}

bool field_column_read_rare(const struct field_column *c, sqlite3_stmt *row, int column, struct field_value *out_value)
{
    if (read_null(c, row, column, out_value)) return true;
    if (c->storage == STORED_CHOICE) {
        *out_value = field_number(field_choice_index(c->field->choices, str(sql_column_text(row, column))));
        return out_value->number >= 0;
    }
    if (c->storage == STORED_REAL) {
        *out_value = field_real(sqlite3_column_double(row, column));
        return isfinite(out_value->real) && out_value->real >= c->field->min && out_value->real <= c->field->max;
    }
    *out_value = field_number(sqlite3_column_int64(row, column));
    return out_value->number >= c->min && out_value->number <= c->max;
}

int field_column_fail(const struct field_column *c, sqlite3_stmt *row, int column, struct err *e)
{
    struct buf accepted = {0};
    field_accepted(c->field, &accepted);
    int status = err_value(e, c->field->name, str(sql_column_text(row, column)), "%s", accepted.text);
    buf_release(&accepted);
    if (e != NULL) e->code = ERR_INTERNAL;
    return status;
}
