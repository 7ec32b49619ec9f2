#include "cli/table.h"

#include <string.h>

#include "base/ensure.h"
#include "cli/display_width.h"
#include "cli/table_layout.h"

static const char bold[] = "\033[1m", plain[] = "\033[0m";

void table_init(struct table *t, const struct table_column *columns, uint32_t column_count)
{
    ensure(column_count > 0 && column_count <= TABLE_COLUMNS_MAX);
    *t = (struct table){.columns = columns, .column_count = column_count};
}

void table_release(struct table *t)
{
    buf_release(&t->text);
    array_release(&t->cells);
    array_release(&t->lines);
}

/* The words of listings for a value that is not there. */
static bool is_value(const struct table *t, struct str cell)
{
    if (t->drops_empty && str_equal(cell, str("0"))) return false;
    return cell.length > 0 && !str_equal(cell, str("-")) && !str_equal(cell, str("NONE"));
}

void table_add(struct table *t, struct str cell)
{
    char *copy = buf_room(&t->text, cell.length);
    if (cell.length > 0) memcpy(copy, cell.text, cell.length);
    if (!str_is_printable(cell)) text_make_plain(copy, cell.length);
    t->text.length += cell.length;

    uint32_t column = t->cells.count % t->column_count, width = display_width((struct str){copy, cell.length});
    if (width > t->widths[column]) t->widths[column] = width;
    t->has_value[column] |= is_value(t, cell);
    *array_add(&t->cells) = (struct table_cell){t->text.length, width};
}

void table_add_text(struct table *t, const char *cell)
{
    table_add(t, str(cell));
}

uint32_t table_row_count(const struct table *t)
{
    return t->cells.count / t->column_count;
}

void table_add_line(struct table *t, const char *text)
{
    *array_add(&t->lines) = (struct table_line){table_row_count(t), text};
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Columns without values are not missed. */
static void note_left_out(const struct table *t, const struct table_layout *l)
{
    struct buf names = {0};
    for (uint32_t c = 0; c < t->column_count; c++) {
        if (l->is_left_out[c] && t->has_value[c])
            buf_format(&names, "%s%s", names.length > 0 ? ", " : "", t->columns[c].heading);
    }
    if (names.length > 0)
        output_note("columns left out to fit the width: %s; give -o FIELD,... to choose columns or -P for all",
                    names.text);
    buf_release(&names);
}

/* Writes one cell, padded; no blanks follow the last one of a line. */
static void write_cell(const struct table *t, const struct table_layout *l, uint32_t column, bool is_last,
                       struct str cell, uint32_t width, struct buf *out)
{
    bool is_right_aligned = t->columns[column].is_right_aligned, is_cut = width > l->widths[column];
    if (is_cut) {
        cell = display_width_cut(cell, l->widths[column] > 0 ? l->widths[column] - 1 : 0);
        width = display_width(cell) + 1;
    }
    uint32_t padding = l->widths[column] > width ? l->widths[column] - width : 0;
    if (is_right_aligned) buf_add_blanks(out, padding);
    buf_add_str(out, cell);
    if (is_cut) buf_add_text(out, display_width_mark());
    if (!is_right_aligned && !is_last) buf_add_blanks(out, padding);
    if (!is_last) {
        buf_add_blanks(out, TABLE_LAYOUT_GAP);
        return;
    }
    while (out->length > 0 && out->text[out->length - 1] == ' ') out->length--; /* from empty cells */
    buf_add_char(out, '\n');
}

static void write_header(const struct table *t, const struct table_layout *l, struct output *out)
{
    uint32_t written = 0;
    if (out->has_styles) buf_add_text(&out->text, bold);
    for (uint32_t c = 0; c < t->column_count; c++) {
        struct str heading = str(t->columns[c].heading);
        if (!l->is_left_out[c]) write_cell(t, l, c, ++written == l->count, heading, display_width(heading), &out->text);
    }
    if (out->has_styles) buf_add_text(&out->text, plain);
}

static void write_row(const struct table *t, const struct table_layout *l, uint32_t row, struct output *out)
{
    uint32_t written = 0, first = row * t->column_count;
    for (uint32_t c = 0; c < t->column_count; c++) {
        uint32_t i = first + c;
        size_t start = i > 0 ? t->cells.items[i - 1].end : 0;
        struct str text = {t->text.text + start, t->cells.items[i].end - start};
        if (!l->is_left_out[c]) write_cell(t, l, c, ++written == l->count, text, t->cells.items[i].width, &out->text);
    }
    output_pace(out);
}

void table_write(const struct table *t, bool has_header, const uint32_t *order, struct output *out)
{
    ensure(t->column_count > 0 && t->cells.count % t->column_count == 0);
    const struct table_layout layout = table_layout_make(t, has_header, out->width);
    uint32_t next_line = 0;
    if (has_header) write_header(t, &layout, out);
    for (uint32_t row = 0; row < table_row_count(t); row++) {
        for (; next_line < t->lines.count && t->lines.items[next_line].before_row == row; next_line++)
            buf_format(&out->text, "%s%s\n", row > 0 ? "\n" : "", t->lines.items[next_line].text);
        write_row(t, &layout, order != NULL ? order[row] : row, out);
    }
    if (!out->has_no_notes) note_left_out(t, &layout);
}
