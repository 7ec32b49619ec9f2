/* The sizes that a task may have: numbers of slots and of hosts. A submission and a pass hold the smallest one against
 * limits, and a pass gives a task the largest one that they admit.
 *
 *     without an environment    at least the nodes that it asks for, and those that its slots need: by slots_per_node,
 *                               or if each had as many as the largest host
 *     $pe_slots                 one host
 *     $fill_up, $round_robin    as few hosts as MaxTRESPerNode lets have its slots: one, if it is large enough
 *     a number of slots         each host has so many, so the slots are a multiple of it
 *
 * Source: docs/formulas.md 9.2. */
#ifndef FAIRLEAD_ENGINE_LIMIT_SIZE_H
#define FAIRLEAD_ENGINE_LIMIT_SIZE_H

#include "engine/limits.h"
#include "sched/cluster.h"

struct limit_size {
    uint32_t slots, hosts;
};

/* How the slots of a job are distributed. */
struct limit_spread {
    uint32_t slots_min, slots_max;
    uint32_t host_min;       /* without an environment; at least 1 */
    uint32_t slots_per_host; /* so many on each; 0: any number */
    bool has_environment;
    enum allocation_rule rule; /* of the environment */
};

/* The spread of a job in a partition of an instance, from its row alone. */
struct limit_spread limit_size_spread(const struct state *s, const struct job *j, uint32_t partition);

/* The slots of a job with whole hosts on the smallest hosts of a partition that can have it; of another job its own.
 * O(hosts log hosts) for the former. */
uint32_t limit_size_slots(const struct state *s, const struct job *j, uint32_t partition,
                          const struct limit_size *size);

/* The largest number of slots that a host may give a job in an environment, at most max (MaxTRESPerNode). Where not
 * even one is allowed, max: the limit is the reason then. O(log max) requests */
uint32_t limit_size_each(struct state *s, const struct limit_counts *counts, const struct job *j, uint32_t partition,
                         uint32_t max);

/* The smallest size. each: of limit_size_each, or any large number without an environment. */
struct limit_size limit_size_min(const struct limit_spread *spread, uint32_t each);

#endif
