/* The hosts that limits of nodes (GrpTRES=node and the like) leave to a task: those that every exhausted group has
 * already.
 *
 *     group has     n1 n2     may have no other one
 *     job may use   n2 n3     left: n2
 *
 * A pass asks that for every group of waiting jobs, while the answer depends only on the instances that the job may use
 * and on the sets of hosts of its groups. So it is found once for all jobs that have these in common, and again when a
 * task that was started has changed one of the sets. */
#ifndef FAIRLEAD_ENGINE_LIMIT_HOSTS_H
#define FAIRLEAD_ENGINE_LIMIT_HOSTS_H

#include "engine/cluster_model.h"
#include "engine/limits.h"
#include "sched/demand.h"

struct limit_hosts_cache;

struct limit_hosts {
    const struct limit_counts *counts; /* up to date */
    const struct cluster_model *model; /* the same one as long as the cache is used */
    struct arena *arena;               /* of the restricted demand; that of the cache */
    struct limit_hosts_cache *cache;   /* NULL: none */
};

/* An empty cache, which lives as long as the arena. */
struct limit_hosts_cache *limit_hosts_cache_make(struct arena *arena);

/* Restricts a demand by limits of hosts, of which there is at least one. Returns whether hosts are left for a task on
 * at least host_min hosts; if not, out_hit has the limit. O(instances / 64) if the answer is in the cache; else
 * O(instances x limits). */
bool limit_hosts_restrict(const struct limit_hosts *p, const struct limit_of_hosts *of, uint32_t count,
                          uint32_t host_min, struct demand *d, struct limit_hit *out_hit);

#endif
