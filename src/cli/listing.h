/* A listing of records in its forms, row by row, for whoever has rows, from the instance or from a file:
 *
 *     for people      a table fitted to the terminal (cli/table.h)
 *     --parsable      lines between |, for programs (wire/psv.h): always the same columns
 *     --json          an array, one object a line: all fields
 *     -o FIELD,...    the columns wanted, of any form: those of the listing, or any field of its records
 *     --sort FIELD    by these, -FIELD for the largest first; else in the order they come
 *
 * --parsable and --json without --sort are written as rows are added, so their length does not matter. */
#ifndef FAIRLEAD_CLI_LISTING_H
#define FAIRLEAD_CLI_LISTING_H

#include "base/arena.h"
#include "cli/table.h"
#include "fields/column.h"
#include "options/options.h"

/* What every listing offers; a command embeds the struct and the rows. */
struct listing_values {
    bool is_parsable, is_json, has_no_header;
    const char *columns, *sort;
};

#define LISTING_OPTIONS(s, field)                                                                               \
    {.name = "parsable",                                                                                        \
     .letter = 'P',                                                                                             \
     .value = FLAG_IN(s, field.is_parsable),                                                                    \
     .help = "columns separated by |, numbers in full, for programs"},                                          \
        {.name = "json", .value = FLAG_IN(s, field.is_json), .help = "an array of objects, one object a line"}, \
        {.name = "columns",                                                                                     \
         .letter = 'o',                                                                                         \
         .argument = "FIELD[:WIDTH],...",                                                                       \
         .value = TEXT_IN(s, field.columns),                                                                    \
         .help = "the columns to show, with the width of each in a table"},                                     \
        {.name = "sort",                                                                                        \
         .argument = "FIELD,...",                                                                               \
         .value = TEXT_IN(s, field.sort),                                                                       \
         .help = "sort by these fields; -FIELD for the largest first"},                                         \
    {                                                                                                           \
        .name = "noheader", .value = FLAG_IN(s, field.has_no_header), .help = "leave out the line of headings"  \
    }

/* Of a listing that has no options but LISTING_OPTIONS. */
struct listing_only_values {
    struct listing_values listing;
};
extern const struct option_row listing_only_options[];

struct sort_key {
    struct column column;
    bool is_descending;
};

/* One listing being written. */
struct listing {
    const struct column_table *columns; /* of all fields, in the order shown without -o */
    const struct listing_values *how;
    struct output *out;
    struct column_table shown;
    struct column shown_columns[TABLE_COLUMNS_MAX];
    struct table_column table_columns[TABLE_COLUMNS_MAX];
    struct table table;
    struct buf cell, rows;     /* of one cell; of all rows, where they are sorted */
    struct arena arena, value; /* of the listing; of what one row's columns make */
    ARRAY(size_t) ends;        /* of rows in the text of rows */
    struct sort_key keys[TABLE_COLUMNS_MAX];
    uint32_t key_count;
    ARRAY(struct field_value) key_values; /* key_count a row */
    uint32_t count;
};

/* ERR_USAGE: --json and --parsable together. */
int listing_check(const struct listing_values *how, struct err *e);

/* Begins: chooses the columns, writes a heading or an opening bracket. ERR_USAGE as listing_check; ERR_INPUT: an unknown field.
 * To be released either way. */
int listing_begin(struct listing *l, const struct column_table *columns, const struct listing_values *how,
                  struct output *out, struct err *e);

/* A record, of the table of columns. */
void listing_add(struct listing *l, const struct field_value *row);

/* A line between the rows of a table; text must outlive the listing. */
void listing_add_line(struct listing *l, const char *text);

/* Whether rows are shown as the instance's JSON has them, whatever is in them; such a row. */
bool listing_takes_json(const struct listing_values *how);
void listing_add_json(struct listing *l, struct str text);

/* Writes what is left. */
void listing_end(struct listing *l);
void listing_release(struct listing *l);

/* Whether a person reads it. */
static inline bool listing_is_table(const struct listing_values *how)
{
    return !how->is_json && !how->is_parsable;
}

/* A cell for people, appended: "2:05", "4G", "21 Nov 09:05". row: the whole record. */
void listing_write_cell(const struct column_table *t, const struct column *c, const struct field_value *row,
                        struct arena *arena, struct buf *out);

/* The names that -o takes, appended, by commas. */
void listing_write_names(const struct column_table *t, struct buf *out);

#endif
