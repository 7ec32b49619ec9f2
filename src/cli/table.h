/* A table for people: columns as wide as their content, two blanks apart, a bold heading on a terminal. Cells are collected
 * first, since a width is known only at the end. Where the lines would be longer than the output is wide, long texts are cut,
 * then whole columns are left out, the least important first; a note on standard error names them.
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
    bool is_right_aligned; /* numbers */
    uint8_t rank;          /* 0: always there; else left out where there is no room, the largest first */
    uint8_t width_min;     /* 0: never cut; else its texts may be cut down to so many columns */
    uint32_t width_set;    /* 0: as wide as its content; else so wide, its texts cut */
};

struct table_cell {
    size_t end;     /* of its text; it begins where the one before ends */
    uint32_t width; /* on a terminal */
};

/* A line that is no row: it stands before the row of that number. */
struct table_line {
    uint32_t before_row;
    const char *text;
};

struct table {
    const struct table_column *columns;
    uint32_t column_count;
    uint32_t widths[TABLE_COLUMNS_MAX];
    struct buf text;
    ARRAY(struct table_cell) cells;
    ARRAY(struct table_line) lines;
};

/* columns: must outlive the table; up to TABLE_COLUMNS_MAX. */
void table_init(struct table *t, const struct table_column *columns, uint32_t column_count);
void table_release(struct table *t);

/* The next cell, row by row. Control characters become '?'. */
void table_add(struct table *t, struct str cell);
void table_add_text(struct table *t, const char *cell);

/* A line between the rows, with an empty one before it where rows stand above. text must outlive the table. */
void table_add_line(struct table *t, const char *text);

/* Rows so far. */
uint32_t table_row_count(const struct table *t);

/* Every row so far (a begun one must be complete), with the line of headings or without; order: the numbers of the rows in
 * the order wanted, or NULL. */
void table_write(const struct table *t, bool has_header, const uint32_t *order, struct output *out);

#endif
