/* The demand of a task as limits let it be placed. Mostly that is the demand itself, or nothing. A task is restricted
 *
 *     a range of slots or of hosts     to the most that the limits let it have
 *     in an environment                to a number of hosts, and of slots on each (MaxTRESPerNode)
 *     GrpTRES=node and the like        to so many hosts on which its group has no task yet (demand.host_limits)
 *
 * A restricted demand gets no reservation, because its restriction changes with each start and end. */
#ifndef FAIRLEAD_ENGINE_LIMIT_PLACE_H
#define FAIRLEAD_ENGINE_LIMIT_PLACE_H

#include "engine/cluster_model.h"
#include "engine/limit_hosts.h"
#include "engine/limits.h"
#include "sched/demand.h"

struct limit_places {
    struct state *s;
    const struct limit_counts *counts; /* up to date */
    const struct cluster_model *model;
    struct arena *arena;             /* of restricted demands */
    struct limit_hosts_cache *cache; /* NULL: none */
    int64_t now_us;
};

/* The demand of a task of a job in a partition, d being that without limits. NULL: a limit keeps it waiting, which
 * out_hit names. If a limit of hosts restricts it, out_hit names that; else its reason is PENDING_NONE. */
const struct demand *limit_place(const struct limit_places *p, const struct job *j, uint32_t partition,
                                 const struct demand *d, struct limit_hit *out_hit);

#endif
