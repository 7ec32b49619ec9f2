#include "fields/column.h"

const struct field *column_field(const struct column_table *t, const struct column *c)
{
    return c->computed != NULL ? c->computed : field_at(t->fields, c->field);
}

struct field_value column_value(const struct column *c, const struct field_value *row, struct arena *arena)
{
    return c->computed != NULL ? c->compute(row, arena) : row[c->field];
}

void column_name(const struct column_table *t, const struct column *c, struct buf *out)
{
    static const struct str unit = {"_us", 3};
    const struct field *f = column_field(t, c);
    struct str name = str(c->name != NULL ? c->name : f->name);
    bool has_unit = f->type == FIELD_TIME && c->name == NULL && name.length > unit.length &&
                    str_equal((struct str){name.text + name.length - unit.length, unit.length}, unit);
    if (has_unit) name.length -= unit.length;
    buf_add_str(out, name);
}
