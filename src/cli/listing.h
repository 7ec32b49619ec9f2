/* A listing of records, written row by row in one of three forms:
 *
 *     (default)       a table fitted to the terminal (cli/table.h)
 *     --parsable      fields separated by |, for programs (wire/psv.h): always the same columns
 *     --json          an array of objects, one per line: all fields
 *
 * -o FIELD,... chooses the columns of any form: those of the listing, or any field of its records. --sort FIELD,...
 * sorts the rows; otherwise they keep the order in which they are added.
 *
 * --parsable and --json without --sort are written as rows are added, in constant memory. A table and a sorted listing
 * are kept in memory until listing_end; sorting is O(n log n). */
#ifndef FAIRLEAD_CLI_LISTING_H
#define FAIRLEAD_CLI_LISTING_H

#include "base/arena.h"
#include "cli/table.h"
#include "fields/column.h"
#include "options/options.h"

/* The options of every listing. A command embeds the struct in its values and LISTING_OPTIONS in its options. */
struct listing_values {
    bool is_parsable, is_json, has_no_header;
    const char *columns, *sort;
};

#define LISTING_OPTIONS(s, field)                                                                                \
    {.name = "parsable",                                                                                         \
     .letter = 'P',                                                                                              \
     .value = FLAG_IN(s, field.is_parsable),                                                                     \
     .help = "print columns separated by |, numbers at full precision"},                                         \
        {.name = "json", .value = FLAG_IN(s, field.is_json), .help = "print a JSON array, one object per line"}, \
        {.name = "columns",                                                                                      \
         .letter = 'o',                                                                                          \
         .argument = "FIELD[:WIDTH],...",                                                                        \
         .value = TEXT_IN(s, field.columns),                                                                     \
         .help = "columns to print; WIDTH is the column's width in a table"},                                    \
        {.name = "sort",                                                                                         \
         .argument = "FIELD,...",                                                                                \
         .value = TEXT_IN(s, field.sort),                                                                        \
         .help = "sort by these fields; -FIELD: in descending order"},                                           \
    {                                                                                                            \
        .name = "noheader", .value = FLAG_IN(s, field.has_no_header), .help = "omit the line of headings"        \
    }

/* For commands with no other options than LISTING_OPTIONS. */
struct listing_only_values {
    struct listing_values listing;
};
extern const struct option_row listing_only_options[];

struct sort_key {
    struct column column;
    bool is_descending;
};

/* A listing while it is written. */
struct listing {
    const struct column_table *columns; /* the columns without -o, and all fields */
    const struct listing_values *form;
    struct output *out;
    struct column_table chosen; /* the chosen columns: chosen_columns */
    struct column chosen_columns[TABLE_COLUMNS_MAX];
    struct table_column table_columns[TABLE_COLUMNS_MAX];
    struct table table;
    struct buf cell;        /* the text of one cell */
    struct buf rows;        /* if sorted: the text of all rows */
    ARRAY(size_t) ends;     /* if sorted: where each row ends in rows */
    struct arena arena;     /* lives as long as the listing */
    struct arena row_arena; /* values computed for one row */
    struct sort_key keys[TABLE_COLUMNS_MAX];
    uint32_t key_count;
    ARRAY(struct field_value) key_values; /* key_count for each row */
    uint32_t count;                       /* rows */
    uint32_t marked_count;                /* cells of a table that are marked (column.is_marked) */
};

/* ERR_USAGE: --json and --parsable together. */
int listing_check(const struct listing_values *form, struct err *e);

/* Chooses the columns, and writes the heading or the opening bracket. columns, form and out must outlive the listing.
 * ERR_USAGE as listing_check; ERR_INPUT: an unknown field or an invalid width. Release the listing also after an
 * error. */
int listing_begin(struct listing *l, const struct column_table *columns, const struct listing_values *form,
                  struct output *out, struct err *e);

/* Adds a record of columns->fields. */
void listing_add(struct listing *l, const struct field_value *row);

/* Adds the text of a row that is printed as a block of lines, instead of listing_add. Requires the form of a table. */
void listing_add_block(struct listing *l, const struct field_value *row, struct str text);

/* Adds a line between the rows, which only an unsorted table prints. text must outlive the listing. */
void listing_add_line(struct listing *l, const char *text);

/* Whether rows of JSON are copied unread: with --json and neither -o nor --sort. listing_add_json adds one. */
bool listing_takes_json(const struct listing_values *form);
void listing_add_json(struct listing *l, struct str text);

/* Writes the rest: the table, the sorted rows, the closing bracket. */
void listing_end(struct listing *l);
void listing_release(struct listing *l);

/* The order of two values of a field as --sort has it: absent ones first, special ones last. */
int listing_compare(const struct field *f, const struct field_value *a, const struct field_value *b);

/* Whether the form is a table. */
static inline bool listing_is_table(const struct listing_values *form)
{
    return !form->is_json && !form->is_parsable;
}

/* Appends a cell of a table: "2:05", "4G", "21 Nov 09:05". row: the whole record. */
void listing_write_cell(const struct column_table *t, const struct column *c, const struct field_value *row,
                        struct arena *arena, struct buf *out);

/* Appends a time as tables and messages have it, in local time: "21 Nov 09:05:00"; of another year than the current one
 * "21 Nov 2027 09:05". */
void listing_write_time(int64_t time_us, struct buf *out);

/* Appends the names that -o and --sort accept, separated by ", ". */
void listing_write_names(const struct column_table *t, struct buf *out);

#endif
