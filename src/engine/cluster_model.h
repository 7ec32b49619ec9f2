/* The cluster that the scheduler plans with (sched/cluster.h), made from what administrators define: resources, hosts,
 * groups of hosts, partitions (an instance for each of their hosts) and parallel environments.
 *
 *     partition all.q  hosts n1,n2  slots 4,[n2=2]  pe_list smp      instances all.q@n1 (4 slots), all.q@n2 (2 slots)
 *     host n1  complex_values gpu=2                                  host n1 offers gpu
 *     pe smp  slots 999                                              environment smp on both instances
 *
 * A partition that has left a host has an instance there as long as its tasks run there, on which nothing starts.
 *
 * A queue without `slots` has as many as each host has CPUs, and the host's CPUs limit all queues on it together. */
#ifndef FAIRLEAD_ENGINE_CLUSTER_MODEL_H
#define FAIRLEAD_ENGINE_CLUSTER_MODEL_H

#include "engine/cluster_resources.h"
#include "engine/host_names.h"
#include "sched/run.h"

struct quota_model;

struct cluster_model {
    struct cluster cluster;
    struct quota_model *quotas; /* engine/quotas.h; NULL: none */
    struct cluster_resources resources;
    struct host_names hosts;   /* indices are those of objects[OBJECT_HOST] */
    struct load_rules load;    /* from the settings */
    uint32_t *partition_of;    /* by instance: index of objects[OBJECT_PARTITION] */
    bool *has_left;            /* by instance: its partition has left the host, and tasks of it run on there */
    uint8_t *state_of;         /* by instance: enum host_state, by its partition or its host */
    uint32_t *host_of;         /* by host of the cluster: index of objects[OBJECT_HOST] */
    uint32_t *cluster_host_of; /* by index of objects[OBJECT_HOST]: host of the cluster; NONE: deleted */
    uint32_t
        *given_count; /* by host of the cluster: its first offers, which an administrator has set; load values follow */
    uint32_t *environment_of; /* by index of objects[OBJECT_ENVIRONMENT]: environment of the cluster, or NONE */
    uint32_t largest_slots;   /* of any host; 0: not known */
    uint32_t set_words;       /* of a set of instances */
    struct arena arena;
};

/* Everything is free. ERR_INPUT names the object, the field and the value: a resource, host, group or environment that
 * does not exist, or a value that is not one of the resource's type. The caller releases out also after an error.
 * O(instances x fields). */
int cluster_model_make(const struct state *s, struct cluster_model *out, struct err *e);
void cluster_model_release(struct cluster_model *m);

/* From now on no quota counts. */
void cluster_model_drop_quotas(struct cluster_model *m);

/* Whether jobs can run on the host of an instance: an executor serves it. */
bool cluster_model_is_attached(const struct cluster_model *m, const struct state *s, uint32_t instance);

/* Whether the host of an instance is this machine in a pretend cluster, where jobs run on other hosts only. */
bool cluster_model_is_outside(const struct cluster_model *m, const struct state *s, uint32_t instance);

/* Whether the cluster, a host or an instance offers a resource; hosts without an executor do not. O(hosts +
 * instances). */
bool cluster_model_offers(const struct cluster_model *m, uint32_t resource);

/* Whether load sensors of an instance may report resources that are not there now. */
bool cluster_model_has_sensors(const struct state *s);

/* Has the hosts of an instance offer GPUs that are withheld (sched/host.h), too: a job that asks for them waits. */
void cluster_model_offer_withheld(struct cluster_model *m, const struct state *s);

/* Whether it can be made. The errors are those of cluster_model_make. */
int cluster_model_check(const struct state *s, struct err *e);

/* Takes in the load values that a host of an instance (by index) reports now; what is booked stays. False: it reports
 * other resources than before, so the cluster has to be made anew. out_quotas_changed: the amount of a pool is another
 * one now. O(its load values + pools). */
bool cluster_model_refresh_loads(struct cluster_model *m, const struct state *s, uint32_t host,
                                 bool *out_quotas_changed);

/* Whether a host reports the resource. O(offers of hosts). */
bool cluster_model_is_reported(const struct cluster_model *m, uint32_t resource);

/* Whether a host reports the resource, or it is no consumable, so that its amounts may change. O(offers of hosts). */
bool cluster_model_is_load(const struct cluster_model *m, uint32_t resource);

/* Whether a load value, or another value that is not booked, decides where jobs of the demand may start. */
bool cluster_model_needs_load(const struct cluster_model *m, const struct demand *d);

/* The rules of a scheduling run, from the settings. */
void cluster_model_run_rules(const struct cluster_model *m, const struct state *s, struct run_rules *out);

/* The instance of a partition on a host, both by index of their objects; NONE: the partition is not on the host, and
 * nothing of it runs there. */
uint32_t cluster_model_instance(const struct cluster_model *m, uint32_t partition, uint32_t host);

/* The hosts of an allocation, as indices of objects[OBJECT_HOST], each once, in the order in which they come
 * first. out: part_count entries; NULL: only their number is wanted, which is returned. */
uint32_t cluster_model_list_hosts(const struct cluster_model *m, const struct allocation *a, uint32_t *out);

#endif
