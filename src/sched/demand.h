/* What a job (each task of an array) asks for, and what it gets. */
#ifndef FAIRLEAD_SCHED_DEMAND_H
#define FAIRLEAD_SCHED_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

enum need_scope { NEED_PER_SLOT, NEED_PER_HOST, NEED_PER_JOB };

/* A resource that a job needs. */
struct need {
    uint32_t resource;
    enum need_scope scope;
    double amount;
    const char *text;          /* of a text resource: an expression (base/expression.h) */
    bool is_requested;         /* false: booked where it is offered, such as a default amount, and needed nowhere */
    bool is_exclusive;         /* of an exclusive resource: no other job may have booked it */
    const uint64_t *satisfied; /* a set of instances, where values never change; NULL: not computed */
};

struct slot_range {
    uint32_t min, max; /* 1 <= min <= max */
};

/* A pool that the job takes of, beside what its instances offer: the same on all instances, or one for each (NONE: none
 * there). sched/quota.h explains pools. */
struct demand_quota {
    uint32_t pool;
    const uint32_t *by_instance; /* NULL: pool, on all of them */
};

/* At most others_max of the job's hosts are not among these: bits, by host of the cluster. */
struct host_limit {
    const uint64_t *hosts;
    uint32_t others_max;
};

/* Jobs with equal demands have the same shape, and mostly point to the same demand. Shapes that differ only in their
 * duration are of the same kind. Sets of instances are bits, by index; NULL: all of them. */
struct demand {
    uint32_t shape, kind;     /* its numbers; shape NONE: not known to be like another one */
    const struct need *needs; /* in the order of the resources; the slots are not among them */
    uint32_t need_count;
    const struct need *soft; /* an instance that does not satisfy one is taken only if no better one is free */
    uint32_t soft_count;
    const uint64_t *allowed, *masters, *preferred; /* for all slots, for the first slot, as a soft request */
    const uint32_t *environments;                  /* of a parallel job: the first one that fits */
    uint32_t environment_count;
    uint32_t host_min, host_max; /* on so many hosts; host_max 0: on one instance; in an environment: on any number */
    uint32_t slots_per_host;     /* then: so many on each; 0: at least one */
    const struct slot_range *ranges; /* ascending; at least the slots of host_min hosts */
    uint32_t range_count;
    int64_t duration_us;               /* TIMELINE_END: endless */
    int64_t duration_min_us;           /* it may be cut so far to start at once; 0: not at all */
    const struct demand_quota *quotas; /* quota_count for each environment, one after the other; or for none */
    uint32_t quota_count;
    uint32_t bare_kind;                   /* with quotas: the number of the kind of the same demand without them */
    const struct host_limit *host_limits; /* all of them hold (sched/host_limit.h) */
    uint32_t host_limit_count;
    bool is_whole; /* it has all slots of each of its hosts, without an environment; the ranges are its minimum */
    uint32_t slots_per_host_max; /* in an environment or on a number of hosts; 0: no maximum */
};

/* What has to be free for the job to start now. */
static inline int64_t demand_shortest_us(const struct demand *d)
{
    return d->duration_min_us > 0 && d->duration_min_us < d->duration_us ? d->duration_min_us : d->duration_us;
}

/* The kind that jobs share whose demands differ only in duration and quotas. What does not fit without quotas does not
 * fit with them either. */
static inline uint32_t demand_bare_kind(const struct demand *d)
{
    return d->quota_count > 0 ? d->bare_kind : d->kind;
}

static inline struct demand demand_without_quotas(const struct demand *d)
{
    struct demand bare = *d;
    bare.kind = demand_bare_kind(d);
    bare.quotas = NULL;
    bare.quota_count = 0;
    return bare;
}

/* The quotas in one of the demand's environments (by index of the cluster), quota_count of them; NONE: without one. */
static inline const struct demand_quota *demand_quotas_in(const struct demand *d, uint32_t environment)
{
    uint32_t i = 0;
    if (d->quota_count == 0) return d->quotas;
    while (i < d->environment_count && d->environments[i] != environment) i++;
    return d->quotas + (size_t)(i < d->environment_count ? i : 0) * d->quota_count;
}

/* The pool of a quota on an instance, or NONE. */
static inline uint32_t demand_pool_on(const struct demand_quota *q, uint32_t instance)
{
    return q->by_instance != NULL ? q->by_instance[instance] : q->pool;
}

/* All slots on one instance. */
static inline bool demand_is_serial(const struct demand *d)
{
    return d->environment_count == 0 && d->host_max == 0;
}

/* Whether the first slot needs more than the others do, if they are on several hosts. */
static inline bool demand_has_special_first(const struct demand *d)
{
    bool is_special = d->masters != NULL;
    for (uint32_t i = 0; i < d->need_count; i++) is_special |= d->needs[i].scope == NEED_PER_JOB;
    return is_special;
}

/* The largest number of slots, at most max and a multiple of step, that a range allows; 0: none. */
static inline uint32_t demand_largest_slots(const struct demand *d, uint32_t max, uint32_t step)
{
    for (uint32_t i = d->range_count; i-- > 0;) {
        uint32_t slots = d->ranges[i].max < max ? d->ranges[i].max : max;
        slots -= slots % step;
        if (slots > 0 && slots >= d->ranges[i].min) return slots;
    }
    return 0;
}

/* Slots on an instance. */
struct allocation_part {
    uint32_t instance, slots;
};

/* The parts are in the order of the allocation; the first one has the job's first task. */
struct allocation {
    uint32_t environment; /* NONE: serial */
    uint32_t slots;       /* of all parts */
    uint32_t part_count;
    struct allocation_part *parts;
};

#endif
