/* A table for terminals: columns as wide as their content, two blanks apart, with a bold heading. All cells are
 * stored until table_write, because the widths are known only then. If the lines are wider than the output, columns
 * in which no row has a value ("-", "NONE") are left out first, as far as they have a rank; then long texts are
 * cut; if that is not enough, whole columns are left out, the highest rank first, and a note on standard error
 * names them.
 *
 *     ID  NAME        STATE    TIME              ID  NAME   STATE
 *      5  a-long-name RUNNING  1:05     ->        5  a-lo…  RUNNING */
#ifndef FAIRLEAD_CLI_TABLE_H
#define FAIRLEAD_CLI_TABLE_H

#include "base/array.h"
#include "cli/output.h"

enum { TABLE_COLUMNS_MAX = 96 };

struct table_column {
    const char *heading;
    bool is_right_aligned;
    bool is_optional; /* left out, without a note, if no row has a value */
    uint8_t rank;     /* 0: never left out; otherwise the column with the highest rank is left out first */
    uint8_t
        width_min; /* 0: its texts are never cut; otherwise they may be cut down to this width, but no heading is cut */
    uint32_t width_set; /* 0: as wide as its content; otherwise its width, to which texts are cut */
};

struct table_cell {
    size_t end;     /* of its text, which begins at the end of the previous cell's */
    uint32_t width; /* in columns of the terminal */
};

/* A line between rows: it is printed before the row with this index. */
struct table_line {
    uint32_t before_row;
    const char *text;
};

struct table {
    const struct table_column *columns;
    uint32_t column_count;
    uint32_t widths[TABLE_COLUMNS_MAX];
    bool has_value[TABLE_COLUMNS_MAX]; /* in some row */
    bool
        drops_empty; /* columns in which no row has a value, or each has 0, are left out however wide the output is, but
                         for those of rank 0 and 1; set before the first row */
    struct buf text;
    ARRAY(struct table_cell) cells;
    ARRAY(struct table_line) lines;
};

/* columns: 1 to TABLE_COLUMNS_MAX; must outlive the table. */
void table_init(struct table *t, const struct table_column *columns, uint32_t column_count);
void table_release(struct table *t);

/* Adds the next cell, row by row. The text is copied; control characters become '?'. */
void table_add(struct table *t, struct str cell);
void table_add_text(struct table *t, const char *cell);

/* Adds a line after the rows so far; if there are any, an empty line precedes it. text must outlive the table. */
void table_add_line(struct table *t, const char *text);

/* The number of complete rows. */
uint32_t table_row_count(const struct table *t);

/* Writes all rows, the last of which must be complete, with or without headings. order: the indices of all rows in the
 * order to write them; NULL: as added. */
void table_write(const struct table *t, bool has_header, const uint32_t *order, struct output *out);

#endif
