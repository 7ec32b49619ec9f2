/* A table for people: columns as wide as their content, two blanks apart, a bold heading on a terminal. Cells are
 * collected first, since a width is known only at the end. Control characters in cells become '?'. */
#ifndef FAIRLEAD_CLI_TABLE_H
#define FAIRLEAD_CLI_TABLE_H

#include "base/array.h"
#include "cli/output.h"

enum { TABLE_COLUMNS_MAX = 24 };

struct table_column {
    const char *heading;
    bool is_right; /* numbers */
};

struct table_cell {
    size_t end;     /* of its text; it begins where the one before ends */
    uint32_t width; /* in characters */
};

struct table {
    const struct table_column *columns;
    uint32_t column_count;
    uint32_t widths[TABLE_COLUMNS_MAX];
    struct buf text;
    ARRAY(struct table_cell) cells;
};

/* columns: must outlive the table; up to TABLE_COLUMNS_MAX. */
void table_init(struct table *t, const struct table_column *columns, uint32_t column_count);
void table_release(struct table *t);

/* The next cell, row by row. */
void table_add(struct table *t, struct str cell);
void table_add_text(struct table *t, const char *cell);
void table_add_u64(struct table *t, uint64_t cell);

/* Every row so far (a begun one must be complete), with the line of headings or without. */
void table_write(const struct table *t, bool has_header, struct output *out);

#endif
