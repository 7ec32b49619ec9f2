/* Pools from which jobs take, in addition to what hosts and queues offer: the rules of resource quota sets.
 *
 *     users {*} to slots=3          the pools ann and bob, each for all instances
 *     hosts {*} to slots=$num_proc  the pools n1 and n2, each for the instances of a host
 *     queues a.q to license=2       one pool for the instances of a queue
 *
 * A demand says for each of its quotas from which pool its slots on an instance come (struct demand_quota). A pool of
 * all instances limits a job as the cluster does, a pool of some as a host does. Where several hosts share a pool, each
 * is first counted as if it had the pool alone; if that gives the job too much, they take from it one after the other,
 * in their order. The cost of a placement depends on the job's quotas, and not on the number of pools.
 *
 * Source: docs/formulas.md 7; Grid Engine 8.1.9, case i1. */
#ifndef FAIRLEAD_SCHED_QUOTA_H
#define FAIRLEAD_SCHED_QUOTA_H

#include "base/arena.h"
#include "sched/room.h"

/* A search for a place in which hosts take from pools. Without quotas nothing is done. One search at a time uses the
 * pools of a cluster. */
struct quota_use {
    const struct cluster *c;
    const struct demand *d;
    const struct demand_quota *list;
    uint32_t count; /* of list; 0: no quota */
    struct window window;
    bool is_shared;   /* hosts take from pools one after the other; false: each has them alone */
    bool is_counting; /* false: of a serial job, which has all of its slots on one instance */
    /* In the pools' scratch memory: slots that hosts before have kept, and that instances of this host have taken. */
    uint64_t use;
    uint32_t touched; /* the first pool with taken slots; NONE */
};

/* environment: of the cluster, or NONE. */
struct quota_use quota_use_make(const struct cluster *c, const struct demand *d, uint32_t environment,
                                struct window window);

/* Whether a pool of the quotas is for some instances only. */
bool quota_use_has_partial(const struct quota_use *u);

/* Begins again with no host. O(1). */
void quota_use_begin(struct quota_use *u, bool is_shared);

/* The slots, at most max, that pools of all instances leave to the whole job. */
uint32_t quota_use_all(const struct quota_use *u, uint32_t max);

/* The slots, at most max, that pools leave on an instance of the current host; and those that it takes. */
uint32_t quota_use_room(const struct quota_use *u, uint32_t instance, uint32_t max, bool needs_master);
void quota_use_take(struct quota_use *u, uint32_t instance, uint32_t slots);

/* After a host: whether it keeps what its instances have taken, if hosts share pools. */
void quota_use_end_host(struct quota_use *u, bool keeps);

/* Whether the pools have room for all of an allocation. O(parts x quotas). */
bool quota_allows(const struct cluster *c, const struct demand *d, const struct allocation *a, struct window window);

#endif
