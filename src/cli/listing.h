/* A listing of the instance's rows, three ways: a table for people, columns between | for programs (-P), or the rows as
 * JSON objects as they came (--json). The two for programs are written as the rows arrive, so their length does not matter.
 *
 *     static const struct column columns[] = {
 *         {"ID", "id", false, cell_id},
 *         {"TIME", "elapsed_s", true, cell_time},
 *     };
 */
#ifndef FAIRLEAD_CLI_LISTING_H
#define FAIRLEAD_CLI_LISTING_H

#include "cli/instance.h"
#include "cli/table.h"

/* row: the struct of the listing's shape. is_exact: for programs, numbers in full and in their unit; else for people. */
struct column {
    const char *heading; /* for people */
    const char *name;    /* for programs: the field's, with its unit */
    bool is_right;
    void (*cell)(const void *row, bool is_exact, struct buf *out);
};

struct listing {
    const struct wire_shape *shape; /* of a row */
    const struct column *columns;
    uint32_t column_count;
    const char *empty;                                   /* note for people when there is nothing */
    const char *account;                                 /* has to exist when there is nothing; NULL: none was named */
    bool is_reversed;                                    /* the instance gives the last row first */
    bool has_lines;                                      /* the instance can give rows as lines (api/wire.h) */
    bool (*wants)(const void *row, const void *context); /* which rows to show; NULL: all */
    const char *(*group)(const void *row); /* a table has a line with this where it begins to differ; may be NULL */
    /* Of columns that have no cell of their own, because they are made from a table. */
    void (*cell_at)(const void *row, uint32_t column, bool is_exact, struct buf *out, const void *context);
    const void *context; /* of wants and cell_at */
};

/* Of a listing that has no options but LISTING_OPTIONS. */
struct listing_only_values {
    struct listing_values listing;
};
extern const struct option_row listing_only_options[];

/* Asks for target (which may have a query) and writes what comes. *out_count: rows written; may be NULL. */
int listing_run(struct call *call, const struct listing *l, const struct listing_values *how, const char *target,
                uint32_t *out_count, struct err *e);

/* The rows of the reply that is coming, as an array of objects, as they are. */
int listing_copy_json(struct client *c, struct output *out, struct err *e);

/* Cells. A moment for people is local time, "21 Nov 09:05" or with the year where it is another; else ISO in UTC. Missing
 * moments and spans are "-" for people and empty for programs. */
void cell_add_text(struct buf *out, const char *text, bool is_exact);
void cell_add_moment(struct buf *out, int64_t moment_us, bool is_exact);
void cell_add_span(struct buf *out, int64_t span_s, bool is_exact);
void cell_add_memory(struct buf *out, uint64_t mib, bool is_exact);
void cell_add_shares(struct buf *out, uint32_t shares);
void cell_add_priority(struct buf *out, uint32_t priority); /* of an association */

/* Now, in microseconds since the epoch. */
int64_t now_us(void);

#endif
