#include "cli/table.h"

#include <string.h>

#include "base/ensure.h"
#include "cli/width.h"

enum { GAP = 2 };

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

void table_add(struct table *t, struct str cell)
{
    char *copy = buf_room(&t->text, cell.length);
    if (cell.length > 0) memcpy(copy, cell.text, cell.length);
    if (!str_is_printable(cell)) text_make_plain(copy, cell.length);
    t->text.length += cell.length;

    uint32_t column = t->cells.count % t->column_count, width = width_of((struct str){copy, cell.length});
    if (width > t->widths[column]) t->widths[column] = width;
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

/* --- widths ------------------------------------------------------------------------------------------------------- */

/* The columns that are written, and their widths. */
struct layout {
    uint32_t widths[TABLE_COLUMNS_MAX];
    bool is_left_out[TABLE_COLUMNS_MAX];
    uint32_t count; /* of columns that are not left out */
};

static void set_natural_widths(const struct table *t, bool has_header, struct layout *l)
{
    for (uint32_t c = 0; c < t->column_count; c++) {
        uint32_t heading = has_header ? width_of(str(t->columns[c].heading)) : 0;
        l->widths[c] = t->widths[c] > heading ? t->widths[c] : heading;
        if (t->columns[c].width_set > 0) l->widths[c] = t->columns[c].width_set;
    }
}

static uint32_t line_width(const struct table *t, const struct layout *l)
{
    uint32_t width = 0;
    for (uint32_t c = 0; c < t->column_count; c++) {
        if (!l->is_left_out[c]) width += l->widths[c] + (width > 0 ? GAP : 0);
    }
    return width;
}

/* The widest column that can be cut further, or NONE. */
static uint32_t widest_to_cut(const struct table *t, const struct layout *l)
{
    uint32_t widest = NONE;
    for (uint32_t c = 0; c < t->column_count; c++) {
        const struct table_column *column = &t->columns[c];
        if (l->is_left_out[c] || column->width_min == 0 || column->width_set > 0) continue;
        if (l->widths[c] <= column->width_min) continue;
        if (widest == NONE || l->widths[c] > l->widths[widest]) widest = c;
    }
    return widest;
}

/* The last of the columns with the highest rank, or NONE if none can be left out. */
static uint32_t next_to_leave_out(const struct table *t, const struct layout *l)
{
    uint32_t found = NONE;
    for (uint32_t c = 0; c < t->column_count; c++) {
        if (l->is_left_out[c] || t->columns[c].rank == 0) continue;
        if (found == NONE || t->columns[c].rank >= t->columns[found].rank) found = c;
    }
    return found;
}

/* Cuts texts, the widest column first. Returns false if the lines are still too wide. */
static bool cut_to_fit(const struct table *t, uint32_t room, struct layout *l)
{
    for (uint32_t width = line_width(t, l); width > room; width--) {
        uint32_t column = widest_to_cut(t, l);
        if (column == NONE) return false;
        l->widths[column]--;
    }
    return true;
}

/* room: the width of the output; 0: unlimited. */
static struct layout make_layout(const struct table *t, bool has_header, uint32_t room)
{
    struct layout l = {.count = t->column_count};
    set_natural_widths(t, has_header, &l);
    while (room > 0 && !cut_to_fit(t, room, &l)) {
        uint32_t column = next_to_leave_out(t, &l);
        if (column == NONE) break; /* the lines stay too wide */
        l.is_left_out[column] = true;
        l.count--;
        set_natural_widths(t, has_header, &l);
    }
    return l;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void note_left_out(const struct table *t, const struct layout *l)
{
    struct buf names = {0};
    if (l->count == t->column_count) return;
    for (uint32_t c = 0; c < t->column_count; c++) {
        if (l->is_left_out[c]) buf_format(&names, "%s%s", names.length > 0 ? ", " : "", t->columns[c].heading);
    }
    output_note("columns left out to fit the width: %s; give -o FIELD,... to choose columns or -P for all", names.text);
    buf_release(&names);
}

/* Writes one cell, padded; no blanks follow the last one of a line. */
static void write_cell(const struct table *t, const struct layout *l, uint32_t column, bool is_last, struct str cell,
                       uint32_t width, struct buf *out)
{
    bool is_right_aligned = t->columns[column].is_right_aligned, is_cut = width > l->widths[column];
    if (is_cut) {
        cell = width_cut(cell, l->widths[column] > 0 ? l->widths[column] - 1 : 0);
        width = width_of(cell) + 1;
    }
    uint32_t padding = l->widths[column] > width ? l->widths[column] - width : 0;
    if (is_right_aligned) buf_add_blanks(out, padding);
    buf_add_str(out, cell);
    if (is_cut) buf_add_text(out, width_mark());
    if (!is_right_aligned && !is_last) buf_add_blanks(out, padding);
    if (!is_last) {
        buf_add_blanks(out, GAP);
        return;
    }
    while (out->length > 0 && out->text[out->length - 1] == ' ') out->length--; /* from empty cells */
    buf_add_char(out, '\n');
}

static void write_header(const struct table *t, const struct layout *l, struct output *out)
{
    uint32_t written = 0;
    if (out->has_styles) buf_add_text(&out->text, bold);
    for (uint32_t c = 0; c < t->column_count; c++) {
        struct str heading = str(t->columns[c].heading);
        if (!l->is_left_out[c]) write_cell(t, l, c, ++written == l->count, heading, width_of(heading), &out->text);
    }
    if (out->has_styles) buf_add_text(&out->text, plain);
}

static void write_row(const struct table *t, const struct layout *l, uint32_t row, struct output *out)
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
    const struct layout layout = make_layout(t, has_header, out->width);
    uint32_t next_line = 0;
    if (has_header) write_header(t, &layout, out);
    for (uint32_t row = 0; row < table_row_count(t); row++) {
        for (; next_line < t->lines.count && t->lines.items[next_line].before_row == row; next_line++)
            buf_format(&out->text, "%s%s\n", row > 0 ? "\n" : "", t->lines.items[next_line].text);
        write_row(t, &layout, order != NULL ? order[row] : row, out);
    }
    note_left_out(t, &layout);
}
