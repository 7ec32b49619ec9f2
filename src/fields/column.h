/* Columns of listings: which fields of a record are shown, under which names, and how a table lays them out. Each
 * listing has one table of columns. It serves people (a table fitted to the terminal), programs (-P: values separated
 * by |) and the daemon's own listing of shares. Any other field of the record can be selected by its name.
 *
 *     {.field = JOB_FIELD_MEM_MIB, .heading = "MEM", .rank = 7}
 *     {.computed = &elapsed_field, .compute = compute_elapsed, .heading = "TIME", .rank = 3} */
#ifndef FAIRLEAD_FIELDS_COLUMN_H
#define FAIRLEAD_FIELDS_COLUMN_H

#include "fields/field.h"

enum { COLUMN_NAME_WIDTH_MIN = 8 }; /* of a column with names: what a name is cut to before columns are left out */

struct column {
    uint32_t field;               /* index in the record's table; unused if the column is computed */
    const struct field *computed; /* the type and name of a value that compute makes from the record; NULL: see field */
    struct field_value (*compute)(const struct field_value *row, struct arena *arena);
    const char *name;     /* for programs and for -o; NULL: the field's name */
    const char *heading;  /* for people; NULL: the name in capitals */
    bool is_for_programs; /* in a table only if -o names it */
    bool is_for_people;   /* with -P only if -o names it */
    uint32_t indent;      /* index of a field: its value is the number of blanks before the text; 0: no blanks */

    /* For people. */
    void (*show)(const struct field_value *row, struct buf *out); /* NULL: by the field's type and the members below */
    bool (*is_marked)(const struct field_value *row); /* whether show marks it, for a note below; NULL: never */
    const char *absent_text;                          /* in place of an absent value; NULL: "-" */
    bool is_right_aligned;                            /* numbers are, whatever this says, unless show is set */
    bool zero_is_absent;                              /* the number 0 is shown as an absent value */
    bool is_optional;  /* not in a table in which no row has a value, unless -o names it */
    bool is_fixed;     /* reals, and amounts in a list "cpu=2.5,mem=64": a fixed number of decimals; otherwise %.6g */
    bool is_whole;     /* reals: digits after the point are cut off */
    uint8_t decimals;  /* if is_fixed */
    uint8_t rank;      /* in a table that is too wide, the column of the largest rank is left out first; 0: never */
    uint8_t width_min; /* in a table that is too wide, texts are cut to no fewer columns than this; 0: never cut */
};

struct column_table {
    const struct field_table *fields;
    const struct column *columns;
    uint32_t count;
    const struct column_table *related; /* of the same record: its headings name columns, too; NULL: none */
};

/* The field that describes the column's values. */
const struct field *column_field(const struct column_table *t, const struct column *c);

/* The column's value in a row, which is a record of the table's fields. A computed text is in arena. */
struct field_value column_value(const struct column *c, const struct field_value *row, struct arena *arena);

/* Appends the column's name: "elapsed_s", "end" (the field is end_us, but a time that is printed as text has no
 * unit). */
void column_name(const struct column_table *t, const struct column *c, struct buf *out);

#endif
