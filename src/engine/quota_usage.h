/* What running tasks have of resource quotas, and which quota keeps a job back. */
#ifndef FAIRLEAD_ENGINE_QUOTA_USAGE_H
#define FAIRLEAD_ENGINE_QUOTA_USAGE_H

#include "engine/schedule.h"
#include "fields/quota_fields.h"

struct quota_usage {
    struct quota_usage_values *items;
    uint32_t count;
};

/* The pools in use by running tasks: by set and rule, then in the order in which jobs first used them. user: only rules
 * that are for the user's jobs; NULL: all. In memory of arena. O(rows + pools). */
void quota_usage_list(const struct schedule *p, const char *user, struct arena *arena, struct quota_usage *out);

/* A pool that has no room for a job. */
struct quota_blocker {
    const char *rule;     /* "users/2" */
    const char *pool;     /* "ann/////" */
    const char *resource; /* that it has too little of: "slots"; NULL: one that jobs have alone */
    double limit, used, requested;
    bool is_memory;       /* these are MiB */
    bool is_of_whole_job; /* requested by a job that may take only a part of it from the pool */
};

/* The pools that have no room for the smallest number of slots of a demand if it started now: those of all instances;
 * or, if none of these, those of every instance where it may run. A parallel one for which each of these has a slot may
 * find too few of them together: then those that have fewer slots than the hosts. instance: those of this one only,
 * for a slot; NONE: of all. The first ones, at most max; 100 quotas with a pool for each of 10^4 hosts would be 10^6.
 * In memory of arena; returns their number, 0: no quota keeps it back. The bookings of the model count.
 * O(instances x (quotas + needs)). */
uint32_t quota_usage_blockers(const struct cluster_model *m, const struct demand *d, uint32_t instance, int64_t now_us,
                              uint32_t max, struct arena *arena, struct quota_blocker **out);

/* Whether there are any, with instance NONE. */
bool quota_usage_blocks(const struct cluster_model *m, const struct demand *d, int64_t now_us);

/* Appends ": slots=3; 2 in use, 2 requested"; nothing without a resource. */
void quota_usage_add_amounts(const struct quota_blocker *b, struct buf *out);

/* Whether a pool has no room for a demand even when nothing runs. Then appends 'it exceeds limit "ann/////" in rule
 * "q/1" by itself: slots=3; 4 requested (QuotaLimit)', and *out_resource is the resource, or NULL. Costs as
 * quota_usage_blockers, in whose arena the texts are. */
bool quota_usage_lasts(const struct cluster_model *m, const struct demand *d, struct arena *arena, struct buf *out,
                       const char **out_resource);

#endif
