/* Columns of listings: which fields of a record are shown, under which names, and what a table does with them. One table of
 * columns for each listing serves people (a table fitted to the terminal), programs (-P, lines between |) and the daemon's
 * own listing of shares; any other field of the record can be asked for by its name.
 *
 *     {.field = JOB_FIELD_MEM_MIB, .heading = "MEM", .rank = 7}
 *     {.made = &elapsed_field, .make = make_elapsed, .heading = "TIME", .rank = 3} */
#ifndef FAIRLEAD_FIELDS_COLUMN_H
#define FAIRLEAD_FIELDS_COLUMN_H

#include "fields/field.h"

struct column {
    uint32_t field;           /* in the record's table, unless the column is made */
    const struct field *made; /* of a column made from others */
    struct field_value (*make)(const struct field_value *row, struct arena *arena);
    const char *name;     /* for programs, and to ask for it; NULL: the field's */
    const char *heading;  /* for people; NULL: the name in capitals */
    bool is_for_programs; /* not in a table unless it is asked for */
    uint32_t indent;      /* a field: so many blanks stand before the text; 0: none */

    /* For people. */
    void (*show)(const struct field_value *row, struct buf *out); /* NULL: by the field's type and what follows */
    const char *nothing;                                          /* where there is no value; NULL: "-" */
    bool is_right;                                                /* the cells stand at the right, as numbers do */
    bool zero_is_nothing;                                         /* a number 0 is no value */
    bool is_fixed; /* reals, and amounts in a list "cpu=2.5,mem=64": with so many decimals; else %.6g */
    bool is_whole; /* reals: what is behind the point is cut off */
    uint8_t decimals;
    uint8_t rank;      /* 0: always there; else left out where a table is too wide, the largest first */
    uint8_t width_min; /* 0: never cut; else texts may be cut down to this where a table is too wide */
};

struct column_table {
    const struct field_table *fields;
    const struct column *columns;
    uint32_t count;
};

/* The field whose values the column has; its value in a row; its name, appended: "elapsed_s", "end" (of end_us: a time as
 * text has no unit). */
const struct field *column_field(const struct column_table *t, const struct column *c);
struct field_value column_value(const struct column *c, const struct field_value *row, struct arena *arena);
void column_name(const struct column_table *t, const struct column *c, struct buf *out);

#endif
