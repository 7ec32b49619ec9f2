/* Resource quota sets in the scheduler's cluster: which pools (sched/quota.h) a job takes of, by the first rule of each
 * set that is for it. Pools are added to the cluster when the first job takes of them.
 *
 *     set users    limit users ann to slots=1; limit users {*} to slots=3
 *     job of bob   pool bob///// of rule users/2, on all instances
 *     set hosts    limit hosts {*} to slots=$num_proc
 *     any job      pools ////n1/, ////n2/ of rule hosts/1, by instance
 *
 * What depends on instances is a table of pools by instance. Jobs to which the same rules of a set apply share it, so
 * tables do not become more with users and projects, unless a rule gives each of them pools on each host or queue.
 * Derived from the rows, never stored. */
#ifndef FAIRLEAD_ENGINE_QUOTAS_H
#define FAIRLEAD_ENGINE_QUOTAS_H

#include "engine/cluster_model.h"
#include "engine/quota_sets.h"

/* Where a pool comes from. */
struct quota_pool {
    uint32_t set, rule;                      /* of quota_model.sets */
    uint32_t host;                           /* of the cluster, on which amounts depend; NONE: on none */
    const char *members[QUOTA_FILTER_COUNT]; /* whose it is, by filter; "": the whole list's */
};

struct quota_model {
    const struct state *s;
    const struct cluster_model *m;
    struct quota_sets sets;
    struct sched_pools pools;
    ARRAY(struct quota_pool) sources;  /* by pool */
    ARRAY(uint32_t) refreshed;         /* pools whose amounts are formulas */
    ARRAY(struct demand_quota) found;  /* what a set means for jobs; index 0: nothing */
    ARRAY(const uint32_t *) lists;     /* by set: index of found; each list once */
    struct map pool_by_key;            /* set, rule, and the members with their lengths -> pool */
    struct map found_by_rules;         /* the rules of a set that may be for a job, with its pools -> found */
    struct map list_by_found;          /* bytes of a list -> list */
    struct map list_by_job;            /* the parts of a job that any set mentions -> list */
    bool mentions[QUOTA_FILTER_COUNT]; /* whether any set has a list of it */
    bool *is_limited;                  /* by resource of the cluster: whether a rule limits it */
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

/* The index in q->lists of what the sets mean for a job; jobs that take from the same pools have the same. O(1);
 * O(rules) for the first job of a user in a project and environment, as far as sets mention them; and O(instances x
 * rules that may be for it) for the first job to which the same rules apply. */
uint32_t quota_model_find(struct quota_model *q, const struct quota_job *job);

/* Computes the amounts that are formulas again. Returns whether one has changed. O(such pools). */
bool quota_model_refresh(struct quota_model *q);

#endif
