#include "cli/table.h"

#include <string.h>

#include "base/ensure.h"

static const char bold[] = "\033[1m", plain[] = "\033[0m";

/* Characters, that is bytes that begin one. */
static uint32_t text_width(struct str s)
{
    uint32_t width = 0;
    for (size_t i = 0; i < s.length; i++) width += ((unsigned char)s.text[i] & 0xc0) != 0x80;
    return width;
}

void table_init(struct table *t, const struct table_column *columns, uint32_t column_count)
{
    ensure(column_count > 0 && column_count <= TABLE_COLUMNS_MAX);
    *t = (struct table){.columns = columns, .column_count = column_count};
}

void table_release(struct table *t)
{
    buf_release(&t->text);
    array_release(&t->cells);
}

void table_add(struct table *t, struct str cell)
{
    char *copy = buf_room(&t->text, cell.length);
    if (cell.length > 0) memcpy(copy, cell.text, cell.length);
    if (!str_is_printable(cell)) text_make_plain(copy, cell.length);
    t->text.length += cell.length;

    uint32_t column = t->cells.count % t->column_count, width = text_width(cell);
    if (width > t->widths[column]) t->widths[column] = width;
    *array_add(&t->cells) = (struct table_cell){t->text.length, width};
}

void table_add_text(struct table *t, const char *cell)
{
    table_add(t, str(cell));
}

void table_add_u64(struct table *t, uint64_t cell)
{
    char digits[24];
    table_add(t, (struct str){digits, text_format(digits, sizeof digits, "%llu", (unsigned long long)cell)});
}

static void add_blanks(struct buf *out, uint32_t count)
{
    memset(buf_room(out, count), ' ', count);
    out->length += count;
}

/* One cell, padded; the last column gets no blanks behind it. */
static void write_cell(const struct table *t, uint32_t column, const uint32_t *widths, struct str cell, uint32_t width,
                       struct buf *out)
{
    bool is_right = t->columns[column].is_right, is_last = column + 1 == t->column_count;
    uint32_t padding = widths[column] - width;
    if (is_right) add_blanks(out, padding);
    buf_add_str(out, cell);
    if (!is_right && !is_last) add_blanks(out, padding);
    if (is_last) {
        while (out->length > 0 && out->text[out->length - 1] == ' ') out->length--; /* of empty cells before it */
        buf_add_char(out, '\n');
    } else {
        add_blanks(out, 2);
    }
}

static void write_header(const struct table *t, const uint32_t *widths, struct output *out)
{
    if (out->has_styles) buf_add_text(&out->text, bold);
    for (uint32_t c = 0; c < t->column_count; c++) {
        struct str heading = str(t->columns[c].heading);
        write_cell(t, c, widths, heading, text_width(heading), &out->text);
    }
    if (out->has_styles) buf_add_text(&out->text, plain);
}

void table_write(const struct table *t, bool has_header, struct output *out)
{
    ensure(t->cells.count % t->column_count == 0);
    uint32_t widths[TABLE_COLUMNS_MAX];
    for (uint32_t c = 0; c < t->column_count; c++) {
        uint32_t heading = has_header ? text_width(str(t->columns[c].heading)) : 0;
        widths[c] = t->widths[c] > heading ? t->widths[c] : heading;
    }
    if (has_header) write_header(t, widths, out);

    size_t start = 0;
    for (uint32_t i = 0, c = 0; i < t->cells.count; i++) {
        const struct table_cell *cell = &t->cells.items[i];
        struct str text = {t->text.text + start, cell->end - start};
        write_cell(t, c, widths, text, cell->width, &out->text);
        start = cell->end;
        if (++c == t->column_count) {
            c = 0;
            output_pace(out);
        }
    }
}
