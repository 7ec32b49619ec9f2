/* Whether a job could run if nothing else ran. Loads, drained hosts and closed queues do not count, because they
 * change. never_cause.h says why it could not. */
#ifndef FAIRLEAD_ENGINE_NEVER_RUNS_H
#define FAIRLEAD_ENGINE_NEVER_RUNS_H

#include "engine/job_demand.h"

/* The kept demands of jobs that are gone are dropped when there are so many more than jobs. */
enum { NEVER_RUNS_DEMANDS_MAX = 50000 };

struct never_runs {
    struct cluster_model empty;
    bool is_document;
    bool has_sensors; /* what nothing offers now may be reported later */
    uint64_t edition; /* of the rules and the hosts for which it was made (never_runs_kept) */
    /* Of the kept one: the demands of the jobs that were asked about, and whether those of a kind never run. */
    struct job_demands demands;
    struct arena arena;
    ARRAY(uint8_t) answers;    /* by kind: enum never_answer */
    ARRAY(uint8_t) up_answers; /* the same on the hosts that are up */
};

/* The cluster's definition is consistent. Resource quotas do not count. */
void never_runs_begin(struct never_runs *n, const struct state *s);
void never_runs_end(struct never_runs *n);

/* The same, kept in the state until hosts, objects or settings change, so no question drops what another one uses; and
 * one in which resource quotas count. never_runs_drop: load values have changed, which they refer to, or all rows. */
struct never_runs *never_runs_kept(struct state *s);
struct never_runs *never_runs_kept_with_quotas(struct state *s);

/* Drops a kept one if it has too many demands. Between two questions only, because those refer to its demands. */
void never_runs_trim(struct state *s);
void never_runs_drop(struct state *s);

/* Whether tasks could ever run. never_runs_is: a demand of n, O(1) after the first time for its kind;
 * never_runs_is_demand: any demand. */
bool never_runs_is(struct never_runs *n, const struct demand *d);
bool never_runs_is_demand(const struct never_runs *n, const struct demand *d);

/* Whether it could run, but only on hosts or in partitions that are drained or down. Likewise O(1). */
bool never_runs_is_unavailable(struct never_runs *n, const struct demand *d);

/* The demand without the needs that may be met later, because values of hosts change; in memory of arena. */
struct demand never_runs_lasting(const struct never_runs *n, const struct demand *d, struct arena *arena);

/* Whether a partition has a host that runs jobs. */
bool never_runs_has_host(const struct never_runs *n, uint32_t partition);

/* Whether a demand fits on the empty cluster. */
bool never_runs_fits(const struct never_runs *n, const struct demand *d);

#endif
