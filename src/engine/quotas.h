/* Resource quota sets in the scheduler's cluster: which pools (sched/quota.h) a job takes of, by the first rule of each
 * set that is for it. Pools are added to the cluster when the first job takes of them.
 *
 *     set users    limit users ann to slots=1; limit users {*} to slots=3
 *     job of bob   pool bob///// of rule users/2, on all instances
 *     set hosts    limit hosts {*} to slots=$num_proc
 *     any job      pools ////n1/, ////n2/ of rule hosts/1, by instance
 *
 * What a set's rules do not mention makes no difference to it: jobs with the same user, project and environment, as far
 * as they are mentioned, share what was found. Derived from the rows, never stored. */
#ifndef FAIRLEAD_ENGINE_QUOTAS_H
#define FAIRLEAD_ENGINE_QUOTAS_H

#include "engine/cluster_model.h"
#include "engine/quota_sets.h"

/* Where a pool comes from. */
struct quota_pool {
    uint32_t set, rule; /* of quota_model.sets */
    uint32_t host;      /* of the cluster, on which amounts depend; NONE: on none */
    bool is_refreshed;  /* an amount is a formula */
};

struct quota_model {
    const struct state *s;
    const struct cluster_model *m;
    struct quota_sets sets;
    struct sched_pools pools;
    ARRAY(struct quota_pool) sources; /* by pool */
    ARRAY(struct demand_quota) found; /* for a set and the parts of a job that it mentions */
    struct map pool_by_key, found_by_key;
    bool *is_limited; /* by resource of the cluster: whether a rule limits it */
    struct buf key;
    struct arena arena;
};

/* The sets of the state, for a model whose hosts and instances are made. *out NULL: none is enabled. The errors are
 * those of quota_sets_make. */
int quota_model_make(const struct state *s, const struct cluster_model *m, struct quota_model **out, struct err *e);
void quota_model_release(struct quota_model *q); /* NULL is allowed */

/* A job as rules see it. */
struct quota_job {
    const char *user, *department, *project, *pe; /* project, pe: NULL: none */
};

/* The index in q->found of what a set means for a job. O(1), and O(instances x rules) for the first of its kind. */
uint32_t quota_model_find(struct quota_model *q, uint32_t set, const struct quota_job *job);

/* Computes the amounts that are formulas again. Returns whether one has changed. O(pools). */
bool quota_model_refresh(struct quota_model *q);

#endif
