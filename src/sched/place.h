/* Where a job can run for the whole of a window of time: which instances, and how many slots on each.
 *
 *     offers free in the window   batch@n1 2, batch@n2 4, batch@n3 3, in this order
 *     serial                      n1
 *     6 slots, fill up            n1 2, n2 4
 *     6 slots, round robin        n1 2, n2 2, n3 2
 *     4 slots on one host         n2
 *     6 slots, 2 on each host     n1 2, n2 2, n3 2
 *     7 slots on 2 hosts          n2 4, n3 3            sched/spread.h
 *
 * A job with ranges of slots gets the largest number that fits. Source: docs/formulas.md 7. */
#ifndef FAIRLEAD_SCHED_PLACE_H
#define FAIRLEAD_SCHED_PLACE_H

#include "base/arena.h"
#include "sched/quota.h"

/* That of a job that starts at a time. */
static inline struct window window_of(const struct demand *d, int64_t start_us)
{
    return (struct window){start_us, demand_end_us(d, start_us)};
}

/* The instances to try, the best one first. slots_max: by index of the cluster's instances, how many slots can be free
 * at most; NULL: not known. */
struct place_scope {
    const uint32_t *instances;
    uint32_t count;
    const uint32_t *slots_max;
};

/* Whether the job can run in the window. scope NULL: all instances, in the cluster's order. out_allocation's parts are
 * in memory of arena; it stays untouched if not. O(instances x needs), less if the first ones fit. */
bool place_job(const struct cluster *c, const struct demand *d, struct window window, const struct place_scope *scope,
               struct arena *arena, struct allocation *out_allocation);

/* The slots, at most max, that a host's instances offer together to the job in the window, in its first environment; 0
 * if they are fewer than min. O(instances of the host x needs); less if too few are free when the window begins. */
uint32_t place_host_offers(const struct cluster *c, const struct demand *d, struct window window, uint32_t host,
                           uint32_t min, uint32_t max);

/* Whether the instance, its host or the cluster offers what is needed, and a value satisfies the request. The value
 * nearest to the instance counts. */
bool place_satisfies(const struct cluster *c, uint32_t instance, const struct need *n);

/* Whether the job may run on an instance at all: it is allowed, open, offers every resource that the job requests, and
 * values that do not change with bookings satisfy the request. */
bool place_admits(const struct cluster *c, const struct demand *d, uint32_t instance);

/* How many soft requests of the job the instance does not satisfy. */
uint32_t place_violations(const struct cluster *c, const struct demand *d, uint32_t instance);

#endif
