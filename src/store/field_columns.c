#include "store/field_columns.h"

#include <math.h>

#include "base/ensure.h"

static bool is_empty(const struct field *f, const struct field_value *value)
{
    if (field_is_text(f)) return value->text[0] == '\0';
    return field_is_whole(f) && value->number == 0;
}

void field_column_bind(sqlite3_stmt *statement, int parameter, const struct field *f, const struct field_value *value,
                       bool empty_is_null)
{
    bool is_special = f->special != NULL && field_is_whole(f) && value->number == FIELD_SPECIAL;
    if (field_is_absent(f, value) || is_special || (empty_is_null && is_empty(f, value)))
        sql_bind_text(statement, parameter, NULL);
    else if (field_is_text(f))
        sql_bind_text(statement, parameter, value->text);
    else if (f->type == FIELD_REAL)
        sql_bind_double(statement, parameter, value->real);
    else if (f->type == FIELD_CHOICE)
        sql_bind_str(statement, parameter, field_choice(f->choices, value->number));
    else
        sql_bind_int(statement, parameter, value->number);
}

bool field_column_read(sqlite3_stmt *row, int column, const struct field *f, struct field_value *out_value)
{
    *out_value = (struct field_value){.text = ""};
    if (sql_column_is_null(row, column)) {
        if (f->is_nullable)
            *out_value = field_absent();
        else if (f->special != NULL)
            out_value->number = FIELD_SPECIAL;
        return true;
    }
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_BYTES: out_value->text = sql_column_text(row, column); return true;
    case FIELD_CHOICE:
        out_value->number = field_choice_index(f->choices, str(sql_column_text(row, column)));
        return out_value->number >= 0;
    case FIELD_REAL:
        out_value->real = sqlite3_column_double(row, column);
        return isfinite(out_value->real) && out_value->real >= f->min && out_value->real <= f->max;
    default: out_value->number = sqlite3_column_int64(row, column); return field_check(f, out_value, NULL) == 0;
    }
}

int field_column_fail(sqlite3_stmt *row, int column, const struct field *f, struct err *e)
{
    struct buf accepted = {0};
    field_accepted(f, &accepted);
    int status = err_value(e, f->name, str(sql_column_text(row, column)), "%s", accepted.text);
    buf_release(&accepted);
    if (e != NULL) e->code = ERR_INTERNAL;
    return status;
}
