/* A listing of an instance's rows: requests them, reads them and writes them in one of the forms of cli/listing.h. */
#ifndef FAIRLEAD_CLI_INSTANCE_LISTING_H
#define FAIRLEAD_CLI_INSTANCE_LISTING_H

#include "cli/instance.h"
#include "cli/listing.h"

struct instance_listing {
    const struct column_table *columns;
    const char *target;     /* "/v1/jobs?which=live" */
    const char *empty_note; /* printed to standard error if a table has no rows; may be NULL */
    const char *account;    /* if there are no rows, it is an error that this account does not exist; NULL: no check */
    const char *user;       /* likewise a note; NULL: no check */
    bool is_reversed;       /* the instance sends the last row first */
    bool has_lines;         /* the instance can send rows as lines (wire/wire.h) */
    bool has_psv;           /* the instance can send rows as --parsable prints them (wire/psv.h) */
    bool has_blocks;        /* instead of a table: for each row a block with a column per line */
    bool drops_empty;       /* a table has no columns without a value (cli/table.h), and a block no such lines */
    void (*block_heading)(const struct field_value *row,
                          struct buf *out);                             /* appends a line above a block; may be NULL */
    bool (*filter)(const struct field_value *row, const void *context); /* whether to list the row; NULL: all rows */
    const void *filter_context;
    const char *(*group_of)(const struct field_value *row); /* a table has it as a heading between rows; may be NULL */
};

/* Writes the listing. *out_count: rows written; may be NULL. ERR_USAGE and ERR_INPUT as listing_begin; otherwise the
 * instance's error. */
int instance_listing_write(struct call *call, const struct instance_listing *l, const struct listing_values *form,
                           uint32_t *out_count, struct err *e);

#endif
