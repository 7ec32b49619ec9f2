#include "wire/psv.h"

#include <string.h>

#include "base/number.h"

void psv_write_heading(const struct column_table *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (i > 0) buf_add_char(out, '|');
        column_name(t, &t->columns[i], out);
    }
    buf_add_char(out, '\n');
}

static void write_text(const struct field *f, const struct field_value *value, struct buf *out)
{
    size_t start = out->length;
    field_format(f, value, out);
    if (!str_is_printable((struct str){out->text + start, out->length - start}))
        text_make_plain(out->text + start, out->length - start);
    for (char *p = memchr(out->text + start, '|', out->length - start); p != NULL; p = strchr(p, '|')) *p = '?';
}

static void write_value(const struct field *f, const struct field_value *value, bool is_written, struct buf *out)
{
    bool is_number = f->type == FIELD_NUMBER || f->type == FIELD_SECONDS || f->type == FIELD_MEMORY ||
                     (f->type == FIELD_BOOL && !is_written);
    if (field_is_absent(f, value)) return;
    if (field_is_text(f) && value->text[0] != '\0')
        write_text(f, value, out);
    else if (f->type == FIELD_REAL)
        out->length += number_format_g17(buf_room(out, NUMBER_TEXT_SIZE), value->real);
    else if (is_number && value->number >= 0)
        buf_add_u64(out, (uint64_t)value->number);
    else if (!field_is_text(f))
        field_format(f, value, out);
}

void psv_write_row(const struct column_table *t, const struct field_value *row, struct arena *arena, struct buf *out)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct column *c = &t->columns[i];
        const struct field_value value = column_value(c, row, arena);
        if (i > 0) buf_add_char(out, '|');
        if (c->indent != 0) buf_add_blanks(out, (size_t)row[c->indent].number);
        write_value(column_field(t, c), &value, t->fields->is_written, out);
    }
    buf_add_char(out, '\n');
}
