/* Pools that jobs take of beside what hosts and queues offer: the rules of resource quota sets.
 *
 *     users {*} to slots=3          the pools ann and bob, each for all instances
 *     hosts {*} to slots=$num_proc  the pools n1 and n2, each for the instances of a host
 *     queues a.q to license=2       one pool for the instances of a queue
 *
 * A demand says for each of its quotas which pool its slots on an instance take of (struct demand_quota). A pool of all
 * instances limits a job as the cluster does, a pool of some as a host does. Where several hosts share a pool, they are
 * first taken to have it alone; if that gives the job too much, they take of it one after the other in their order.
 *
 * Source: docs/formulas.md 7; Grid Engine 8.1.9, case i1. */
#ifndef FAIRLEAD_SCHED_QUOTA_H
#define FAIRLEAD_SCHED_QUOTA_H

#include "base/arena.h"
#include "sched/room.h"

/* A search for a place while hosts take of pools. Without quotas nothing is done. */
struct quota_use {
    const struct cluster *c;
    const struct demand *d;
    const struct demand_quota *list;
    uint32_t count; /* of list; 0: no quota */
    struct window window;
    bool is_shared;                   /* hosts take of pools one after the other; false: each has them alone */
    uint32_t *kept;                   /* by pool: slots of the hosts before */
    uint32_t *taken;                  /* by pool: slots of the instances of this host */
    uint32_t *touched, touched_count; /* pools with taken slots */
};

/* Memory is the arena's. environment: of the cluster, or NONE. */
struct quota_use quota_use_make(const struct cluster *c, const struct demand *d, uint32_t environment,
                                struct window window, struct arena *arena);

/* Whether a pool of the quotas is for some instances only. */
bool quota_use_has_partial(const struct quota_use *u);

/* Begins again with no host. */
void quota_use_begin(struct quota_use *u, bool is_shared);

/* The slots, at most max, that pools of all instances leave to the whole job. */
uint32_t quota_use_all(const struct quota_use *u, uint32_t max);

/* The slots, at most max, that pools leave on an instance of the current host; and those that it takes. */
uint32_t quota_use_room(const struct quota_use *u, uint32_t instance, uint32_t max, bool needs_master);
void quota_use_take(struct quota_use *u, uint32_t instance, uint32_t slots);

/* After a host: whether it keeps what its instances have taken, if hosts share pools. */
void quota_use_end_host(struct quota_use *u, bool keeps);

/* Whether the pools have room for all of an allocation. */
bool quota_allows(const struct cluster *c, const struct demand *d, const struct allocation *a, struct window window);

#endif
