/* Whether a job could run if nothing else ran. Loads, drained hosts and closed queues do not count, because they
 * change. */
#ifndef FAIRLEAD_ENGINE_NEVER_RUNS_H
#define FAIRLEAD_ENGINE_NEVER_RUNS_H

#include "engine/cluster_model.h"

struct never_runs {
    struct cluster_model empty;
    bool has_sensors; /* what nothing offers now may be reported later */
    uint64_t edition; /* of the rules and the hosts for which it was made (never_runs_kept) */
};

/* The cluster's definition is consistent. */
void never_runs_begin(struct never_runs *n, const struct state *s);
void never_runs_end(struct never_runs *n);

/* The same, kept in the state until hosts, objects or settings change. never_runs_drop: load values have changed, which
 * it refers to, or all rows. */
const struct never_runs *never_runs_kept(struct state *s);
void never_runs_drop(struct state *s);

/* "can never run: asks for 96 slots on one host; at most 64 would fit", in memory of arena; NULL: it could run. */
const char *never_runs_why(const struct never_runs *n, const struct demand *d, struct arena *arena);

#endif
