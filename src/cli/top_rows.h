/* The rows of one view of 'fairlead top', in memory: they are read, filtered and sorted, and written as far as a screen
 * shows them. A row of 10^5 jobs keeps a few hundred bytes. */
#ifndef FAIRLEAD_CLI_TOP_ROWS_H
#define FAIRLEAD_CLI_TOP_ROWS_H

#include "cli/command.h"
#include "cli/listing.h"

enum top_view {
    TOP_QUEUE,     /* running and waiting jobs */
    TOP_SHARES,    /* what was promised and received */
    TOP_USERS,     /* who uses the machine, in jobs and outside */
    TOP_JOBS,      /* the same by job */
    TOP_PROCESSES, /* the same by process */
    TOP_VIEW_COUNT
};

struct top_query {
    enum top_view view;
    const char *user;    /* a name or a uid; NULL: all */
    bool only_outside;   /* of views of use */
    bool leaves_out_use; /* of TOP_QUEUE: what jobs use takes a second to measure */
    bool keeps_ranks;    /* of TOP_QUEUE: the ranks that were read last are still good enough */
};

struct top_rows {
    const struct column_table *columns;
    ARRAY(struct field_value *) list; /* records of columns->fields */
    struct arena arena;               /* theirs, with their texts */
};

extern const char *const top_view_titles[TOP_VIEW_COUNT];

/* The columns and the field with the id of a job; NONE: the view has none. */
const struct column_table *top_view_columns(enum top_view view);
uint32_t top_view_id_field(enum top_view view);

/* Reads the rows of a view in their usual order. out is empty, and has to be released also after an error. */
int top_rows_read(struct call *call, const struct top_query *query, struct top_rows *out, struct err *e);
void top_rows_release(struct top_rows *rows);

/* Keeps the rows in which a text or a word contains this one, in any case. */
void top_rows_filter(struct top_rows *rows, struct str text);

/* Sorts by a column; rows that are equal in it keep their order. */
void top_rows_sort(struct top_rows *rows, uint32_t column, bool is_descending);

/* Writes count rows from first on in this form. */
int top_rows_write(const struct top_rows *rows, const struct listing_values *form, uint32_t first, uint32_t count,
                   struct output *out, struct err *e);

#endif
