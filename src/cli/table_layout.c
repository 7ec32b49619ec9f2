#include "cli/table_layout.h"

#include "base/ensure.h"
#include "cli/display_width.h"

static void set_natural_widths(const struct table *t, bool has_header, struct table_layout *l)
{
    for (uint32_t c = 0; c < t->column_count; c++) {
        uint32_t heading = has_header ? display_width(str(t->columns[c].heading)) : 0;
        l->widths[c] = t->widths[c] > heading ? t->widths[c] : heading;
        if (t->columns[c].width_set > 0) l->widths[c] = t->columns[c].width_set;
    }
}

static uint32_t line_width(const struct table *t, const struct table_layout *l)
{
    uint32_t width = 0;
    for (uint32_t c = 0; c < t->column_count; c++) {
        if (!l->is_left_out[c]) width += l->widths[c] + (width > 0 ? TABLE_LAYOUT_GAP : 0);
    }
    return width;
}

/* The widest column that can be cut further, or NONE. Headings are not cut. */
static uint32_t widest_to_cut(const struct table *t, bool has_header, const struct table_layout *l)
{
    uint32_t widest = NONE;
    for (uint32_t c = 0; c < t->column_count; c++) {
        const struct table_column *column = &t->columns[c];
        if (l->is_left_out[c] || column->width_min == 0 || column->width_set > 0) continue;
        uint32_t heading = has_header ? display_width(str(column->heading)) : 0;
        if (l->widths[c] <= column->width_min || l->widths[c] <= heading) continue;
        if (widest == NONE || l->widths[c] > l->widths[widest]) widest = c;
    }
    return widest;
}

/* The last of the columns with the highest rank, or NONE if none can be left out. is_empty: only of those in which no
 * row has a value. */
static uint32_t next_to_leave_out(const struct table *t, const struct table_layout *l, bool is_empty)
{
    uint32_t found = NONE;
    for (uint32_t c = 0; c < t->column_count; c++) {
        if (l->is_left_out[c] || t->columns[c].rank == 0 || (is_empty && t->has_value[c])) continue;
        if (found == NONE || t->columns[c].rank >= t->columns[found].rank) found = c;
    }
    return found;
}

/* Cuts texts, the widest column first. Returns false if the lines are still too wide. */
static bool cut_to_fit(const struct table *t, bool has_header, uint32_t room, struct table_layout *l)
{
    for (uint32_t width = line_width(t, l); width > room; width--) {
        uint32_t column = widest_to_cut(t, has_header, l);
        if (column == NONE) return false;
        l->widths[column]--;
    }
    return true;
}

static void leave_out(uint32_t column, struct table_layout *l)
{
    l->is_left_out[column] = true;
    l->count--;
}

static void leave_out_optional(const struct table *t, struct table_layout *l)
{
    for (uint32_t c = 0; c < t->column_count; c++) {
        bool is_optional = t->columns[c].is_optional || (t->drops_empty && t->columns[c].rank > 1);
        if (is_optional && !t->has_value[c]) leave_out(c, l);
    }
}

static void leave_out_empty(const struct table *t, uint32_t room, struct table_layout *l)
{
    uint32_t column;
    while (line_width(t, l) > room && (column = next_to_leave_out(t, l, true)) != NONE) leave_out(column, l);
}

struct table_layout table_layout_make(const struct table *t, bool has_header, uint32_t room)
{
    struct table_layout l = {.count = t->column_count};
    set_natural_widths(t, has_header, &l);
    leave_out_optional(t, &l);
    if (room > 0) leave_out_empty(t, room, &l);
    while (room > 0 && !cut_to_fit(t, has_header, room, &l)) {
        uint32_t column = next_to_leave_out(t, &l, false);
        if (column == NONE) break; /* the lines stay too wide */
        leave_out(column, &l);
        set_natural_widths(t, has_header, &l);
    }
    return l;
}
