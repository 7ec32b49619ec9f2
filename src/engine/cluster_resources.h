/* The resources of a cluster, as the scheduler counts them (sched/cluster.h). They are in this order, which is also
 * that of Grid Engine's schedule file:
 *
 *     slots
 *     license, gpu, bigio ...        what administrators define
 *     mem                            MiB, of jobs that ask for memory on each host (--mem)
 *     gres/gpu, gres/gpu:tesla ...   the tracked generic resources, and gres/gpu and the types of GPUs in any case
 *     np_load_avg, mem_free, arch    load values and attributes that every cluster has, unless defined above
 *
 * Source of the last ones: Grid Engine 8.1.9, qconf -sc. */
#ifndef FAIRLEAD_ENGINE_CLUSTER_RESOURCES_H
#define FAIRLEAD_ENGINE_CLUSTER_RESOURCES_H

#include "base/map.h"
#include "engine/state.h"
#include "sched/cluster.h"

struct cluster_resource {
    const char *name;
    enum resource_type type;
    enum resource_relop relop;
    bool is_consumable;
    bool is_per_job;       /* consumed once by a job, not for each slot */
    double default_amount; /* taken by jobs that do not request it */
    double global_amount;  /* at the level of the whole cluster; INFINITY: unlimited there, or not offered */
};

struct cluster_resources {
    ARRAY(struct cluster_resource) list; /* indices are those of cluster.resources */
    ARRAY(uint32_t) of_object;           /* by index of objects[OBJECT_RESOURCE]; NONE: deleted */
    struct map by_name;
    uint32_t mem;            /* "mem" */
    uint32_t gpu;            /* "gres/gpu" */
    uint32_t gres[TRES_MAX]; /* by index of policy.tres; NONE: no generic resource */
};

/* Names are those of the state. ERR_INPUT: a default amount is not one of the resource's type. */
int cluster_resources_make(const struct state *s, struct cluster_resources *out, struct err *e);
void cluster_resources_release(struct cluster_resources *r);

/* The index of a resource, or NONE. */
uint32_t cluster_resources_find(const struct cluster_resources *r, struct str name);

/* "FIELD: 'np_load_avk' is not ACCEPTED; did you mean 'np_load_avg'?", with the most similar name if one is similar.
 * Returns -1. */
int cluster_resources_fail_unknown(const struct cluster_resources *r, struct str name, const char *field,
                                   const char *accepted, struct err *e);

/* Whether there is one of that name whose amounts are numbers. */
bool cluster_resources_has_number(const struct cluster_resources *r, struct str name);

/* Adds them to the cluster, with what the whole cluster offers. */
void cluster_resources_define(const struct cluster_resources *r, struct cluster *c);

/* An object's value of a resource, such as "4", "2G" or "lx-amd64": a text is copied into arena. ERR_INPUT names the
 * resource. */
int cluster_resources_offer(const struct cluster_resources *r, uint32_t resource, struct str value, struct arena *arena,
                            struct offer *out_offer, struct err *e);

#endif
