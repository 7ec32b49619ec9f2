/* A cluster as the scheduler sees it: objects, what each offers of which resource, and what is booked of that.
 *
 *     level      object       offers                             booked over time
 *     global     the cluster  license=5                          license
 *     host       n1           cpu=16 mem=65536 arch=lx-amd64     cpu, mem
 *     instance   batch@n1     slots=16                           slots
 *     instance   fast@n1      slots=4                            slots
 *     environment  mpi        slots=999                          slots
 *     quota      users/1 ann  slots=3                            slots
 *
 * An instance is a queue (a partition) on a host; jobs are placed on instances. A consumable may be offered at several
 * levels, and then a job needs it at each of them. An object that does not offer a consumable does not limit it.
 *
 * Invariants
 *   1. Resource 0 is SCHED_SLOTS, of which every job needs one for each of its slots.
 *   2. The instances of a host are adjacent, hosts in ascending order.
 *   3. order has every instance once, the best one first (sched/load.h). */
#ifndef FAIRLEAD_SCHED_CLUSTER_H
#define FAIRLEAD_SCHED_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "sched/demand.h"
#include "sched/timeline.h"

enum { SCHED_SLOTS = 0 };

/* An exclusive job books so much more of an exclusive resource, and other jobs find no room below it. */
#define EXCLUSIVE_AMOUNT 1099511627776.0 /* 2^40 */

/* How a value has to stand to the requested one. EXCLUSIVE: no other job may use the object. */
enum relation {
    RELATION_EQUAL,
    RELATION_NOT_EQUAL,
    RELATION_GREATER_EQUAL,
    RELATION_LESS_EQUAL,
    RELATION_GREATER,
    RELATION_LESS,
    RELATION_EXCLUSIVE
};

struct sched_resource {
    const char *name;
    bool is_consumable;
    bool is_text;
    bool ignores_case; /* of a text */
    enum relation relation;
};

/* An object's amount of a consumable, or its value of another resource. */
struct offer {
    uint32_t resource;
    double amount;    /* the total of a consumable; INFINITY: unlimited */
    const char *text; /* the value of a text resource, or NULL */
    struct timeline booked;
};

struct offers {
    ARRAY(struct offer) list; /* one for each resource at most */
};

struct sched_host {
    const char *name;
    struct offers offers;
    uint32_t first_instance, instance_count;
    uint32_t cpus;        /* num_proc, by which adjustments of np_ values are divided; 0: unknown */
    double started_slots; /* slots of jobs that started a short time ago, fading (sched/load.h) */
    double tickets;       /* of the jobs that run there (ORDER_BY_SHARE of sched/load.h) */
    double load;          /* derived: the load formula, or by how much its share is exceeded */
};

/* An instance is closed while a load value has passed this. */
struct load_threshold {
    uint32_t resource;
    double value;
};

struct sched_instance {
    const char *name; /* "batch@n1" */
    uint32_t host;
    struct offers offers;
    uint32_t seq_no;
    const struct load_threshold *thresholds;
    uint32_t threshold_count;
    bool is_off;        /* disabled, drained or down: nothing starts there, and nothing is reserved */
    bool is_overloaded; /* derived: a threshold has been passed, with the same effect */
};

/* How the slots of a parallel job are distributed over hosts. */
enum allocation_rule {
    ALLOCATE_ONE_HOST, /* $pe_slots */
    ALLOCATE_FILL_UP,  /* as many as possible on each host, in order */
    ALLOCATE_ROUND_ROBIN /* one on each host in turn */,
    ALLOCATE_FIXED /* slots_per_host on each host */
};

struct sched_environment {
    const char *name;
    const uint64_t *instances; /* bits: those that have the environment; NULL: all */
    enum allocation_rule rule;
    uint32_t slots_per_host;
    struct offers offers;
};

/* What a rule of a resource quota set lets jobs take together: of "users {*} to slots=3" the pool of each user. */
struct sched_pool {
    const char *set;  /* the name of the set */
    const char *rule; /* "SET/RULE" */
    const char *text; /* USER/PROJECT/PE/QUEUE/HOST/, each empty unless the rule gives each member a pool: "ann/////" */
    struct offers offers;
    struct pool_scratch {
        uint64_t use;         /* the others are of this use of scratch memory, and 0 for any other */
        uint32_t kept, taken; /* slots */
        uint32_t hosts;
        uint32_t next; /* in a list of pools; NONE: the last one */
        bool has_master;
    } scratch; /* sched/quota.c: of the placement that is being tried */
};

/* Pools are added when the first demand takes of them. */
struct sched_pools {
    ARRAY(struct sched_pool) list;
    uint64_t use_count; /* of scratch memory: so it is cleared at once, however many pools there are */
};

struct cluster {
    ARRAY(struct sched_resource) resources;
    struct offers global;
    ARRAY(struct sched_host) hosts;
    ARRAY(struct sched_instance) instances;
    ARRAY(struct sched_environment) environments;
    ARRAY(uint32_t) order;
    struct sched_pools *pools; /* not the cluster's own; NULL: there are none */
};

/* Frees it, but not its pools. */
void cluster_release(struct cluster *c);

/* When a job that starts at a time is to end; TIMELINE_END: never. */
static inline int64_t demand_end_us(const struct demand *d, int64_t start_us)
{
    return timeline_end_of(start_us, d->duration_us);
}

/* All slots of a host; 0: it offers none by itself. */
uint32_t cluster_whole_slots(const struct cluster *c, uint32_t host);

/* The slots that a job wants on each of its hosts; 0: any number. The job has one environment at most. */
static inline uint32_t cluster_slots_per_host(const struct cluster *c, const struct demand *d)
{
    if (d->environment_count == 0) return d->slots_per_host;
    const struct sched_environment *e = &c->environments.items[d->environments[0]];
    return e->rule == ALLOCATE_FIXED ? e->slots_per_host : 0;
}

/* Frees the offers of an object. */
void offers_release(struct offers *o);

/* The object's offer of a resource, or NULL. Inline, because a run asks it most of all. */
static inline struct offer *offers_find(const struct offers *o, uint32_t resource)
{
    for (uint32_t i = 0; i < o->list.count; i++) {
        if (o->list.items[i].resource == resource) return &o->list.items[i];
    }
    return NULL;
}

/* Books what a job takes from from_us to until_us at all levels. */
void cluster_book(struct cluster *c, const struct demand *d, const struct allocation *a, int64_t from_us,
                  int64_t until_us);

/* Takes a booking back, or its rest from from_us on. Amounts that are no whole numbers may leave differences of
 * rounding. */
void cluster_unbook(struct cluster *c, const struct demand *d, const struct allocation *a, int64_t from_us,
                    int64_t until_us);

/* An amount that an allocation takes of one offer. */
struct taken {
    struct offer *offer;
    enum sched_level { LEVEL_ENVIRONMENT, LEVEL_GLOBAL, LEVEL_HOST, LEVEL_INSTANCE, LEVEL_QUOTA } level;
    const char *object; /* its name; "global"; of a quota the set */
    const char *pool;   /* of a quota: sched_pool.text; else NULL */
    uint32_t pool_index;
    double amount;
    bool is_exclusive; /* no other job may take of it */
};

/* How much of an exclusive resource other jobs may have booked. */
static inline double exclusive_max(const struct need *n)
{
    return n->is_exclusive ? 0.0 : EXCLUSIVE_AMOUNT - 1.0;
}

/* Calls take for everything that an allocation takes, in the order of Grid Engine's schedule file: the environment,
 * global, then for each part the host, the instance and the pools; in each the resources in their order, the slots
 * last. */
void cluster_taken(const struct cluster *c, const struct demand *d, const struct allocation *a,
                   void (*take)(const struct taken *taken, void *context), void *context);

#endif
