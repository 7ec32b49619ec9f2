/* Questions about the audit log, which the store answers. */
#ifndef FAIRLEAD_ENGINE_AUDIT_QUERY_H
#define FAIRLEAD_ENGINE_AUDIT_QUERY_H

#include "engine/event.h"

struct audit_query {
    int64_t since_us, until_us; /* made at since_us or later, and before until_us; 0: any time */
    const char *user;           /* by this user; NULL: by any */
    const char *command, *name; /* by this command ("partition modify"), of this name; NULL: any */
    uint64_t before;            /* only entries before the one of this number; 0: all */
    uint32_t limit;             /* at most so many */
};

/* An entry and its number: a later entry has a larger one. */
struct audit_row {
    uint64_t seq;
    struct audit_entry entry;
};

/* read: the newest entries that the query is for, the newest first, in memory of arena. O(limit). */
struct audit_reader {
    void *context;
    int (*read)(void *context, const struct audit_query *query, struct arena *arena, struct audit_row **out_rows,
                uint32_t *out_count, struct err *e);
};

#endif
