/* Whether a job could run if nothing else ran. Loads, drained hosts and closed queues do not count, because they
 * change. */
#ifndef FAIRLEAD_ENGINE_NEVER_RUNS_H
#define FAIRLEAD_ENGINE_NEVER_RUNS_H

#include "engine/cluster_model.h"

struct never_runs {
    struct cluster_model empty;
};

/* The cluster's definition is consistent. */
void never_runs_begin(struct never_runs *n, const struct state *s);
void never_runs_end(struct never_runs *n);

/* "can never run: asks for 96 slots on one host; at most 64 would fit", in memory of arena; NULL: it could run. */
const char *never_runs_why(const struct never_runs *n, const struct demand *d, struct arena *arena);

#endif
