/* Limits in tables: one column LIMITS with those that are set, "GrpTRES=cpu=64 MaxJobs=4", and a column of its own for
 * each limit, which a table has only if -o names it. */
#ifndef FAIRLEAD_CLI_LIMIT_COLUMNS_H
#define FAIRLEAD_CLI_LIMIT_COLUMNS_H

#include "fields/column.h"

/* The type and name of the column. */
extern const struct field limit_columns_field;

/* Its value: those of the fields that differ from their defaults. values: one for each field. */
struct field_value limit_columns_value(const struct field *fields, uint32_t count, const struct field_value *values,
                                       struct arena *arena);

/* The cells of a table: the limits that are set, as the column LIMITS has them, or "-"; and the value of one limit.
 * Memory and durations are as people read them: "GrpTRES=cpu=4,mem=16G MaxWall=1:30:00". */
void limit_columns_show_set(const struct field *fields, uint32_t count, const struct field_value *values,
                            struct buf *out);
void limit_columns_show(const struct field *f, const struct field_value *value, struct buf *out);

/* The columns of the limits of an association, as rows of an array. compute_ and show_ make the value and
 * the cell from a record in which first is the index of the first limit. */
#define LIMIT_COLUMN(first, limit)                          \
    {                                                       \
        .field = (first) + (limit), .is_for_programs = true \
    }
#define LIMIT_COLUMNS(first, compute_, show_)                                                                         \
    {.computed = &limit_columns_field, .compute = (compute_), .show = (show_), .heading = "LIMITS", .width_min = 16}, \
        LIMIT_COLUMN(first, ASSOC_GRP_JOBS), LIMIT_COLUMN(first, ASSOC_GRP_SUBMIT),                                   \
        LIMIT_COLUMN(first, ASSOC_GRP_WALL), LIMIT_COLUMN(first, ASSOC_GRP_TRES),                                     \
        LIMIT_COLUMN(first, ASSOC_GRP_TRES_MINS), LIMIT_COLUMN(first, ASSOC_GRP_TRES_RUN_MINS),                       \
        LIMIT_COLUMN(first, ASSOC_MAX_JOBS), LIMIT_COLUMN(first, ASSOC_MAX_SUBMIT),                                   \
        LIMIT_COLUMN(first, ASSOC_MAX_WALL), LIMIT_COLUMN(first, ASSOC_MAX_TRES),                                     \
        LIMIT_COLUMN(first, ASSOC_MAX_TRES_PER_NODE), LIMIT_COLUMN(first, ASSOC_MAX_TRES_MINS),                       \
        LIMIT_COLUMN(first, ASSOC_QOS_LIST), LIMIT_COLUMN(first, ASSOC_DEFAULT_QOS)

#endif
