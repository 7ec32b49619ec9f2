/* A listing of the instance's rows: asked for, read, and written in one of the forms of cli/listing.h. */
#ifndef FAIRLEAD_CLI_INSTANCE_LISTING_H
#define FAIRLEAD_CLI_INSTANCE_LISTING_H

#include "cli/instance.h"
#include "cli/listing.h"

struct instance_listing {
    const struct column_table *columns;
    const char *target;  /* "/v1/jobs?which=live" */
    const char *empty;   /* note for people when there is nothing; NULL: none */
    const char *account; /* has to exist when there is nothing; NULL: none was named */
    bool is_reversed;    /* the instance gives the last row first */
    bool has_lines;      /* the instance can give rows as lines (wire/wire.h) */
    bool has_psv;        /* and as --parsable has them (wire/psv.h) */
    bool is_blocks;      /* for people not a table, but for each row its columns one below the other */
    bool (*wants)(const struct field_value *row, const void *context); /* which rows to show; NULL: all */
    const char *(*group)(
        const struct field_value *row); /* a table has a line with this where it differs; may be NULL */
    const void *context;                /* of wants */
};

/* *out_count: rows written; may be NULL. */
int instance_listing_run(struct call *call, const struct instance_listing *l, const struct listing_values *how,
                         uint32_t *out_count, struct err *e);

#endif
