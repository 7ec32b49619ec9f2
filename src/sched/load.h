/* Which instance is tried first: by the load of its host, which a formula computes from load values, or by sequence
 * number.
 *
 *     load_formula np_load_avg, job_load_adjustments np_load_avg=0.50, 2 CPUs each
 *     n1 0.05   n4 0.15   n2 0.25   n3 0.45            order n1 n4 n2 n3
 *     after a job was placed on n1: 0.05 + 0.50/2      order n4 n2 n1 n3
 *
 * A job that has started raises load values at once, because the measured ones follow later; the adjustment fades over
 * load_adjustment_decay_time. Source: docs/formulas.md 8; Grid Engine 8.1.9, cases g1 to g7. */
#ifndef FAIRLEAD_SCHED_LOAD_H
#define FAIRLEAD_SCHED_LOAD_H

#include "sched/cluster.h"

/* The load of a host without one of the values. */
#define LOAD_UNKNOWN 9999.0

struct load_term {
    uint32_t resource; /* NONE: a plain number, the weight */
    double weight;
};

struct load_adjustment {
    uint32_t resource;
    double amount; /* for each slot that has just started */
};

/* By share: hosts have shares of the cluster's CPUs, and of the tickets of all running jobs. First comes the host whose
 * share of tickets is furthest below that of CPUs. */
enum load_order { ORDER_BY_LOAD, ORDER_BY_SEQ_NO, ORDER_BY_SHARE };

struct load_rules {
    const struct load_term *terms; /* their sum is the load */
    uint32_t term_count;
    const struct load_adjustment *adjustments;
    uint32_t adjustment_count;
    int64_t decay_us; /* 0: no adjustments */
    enum load_order order;
};

/* What a job that started on a host age_us ago counts there for each of its slots: 1 at first, 0 from decay_us on, in
 * hundredths. */
double load_started_slots(const struct load_rules *r, int64_t age_us);

/* A host's value of a resource as the scheduler counts it: what is free of a consumable at a time, else the load value
 * with its adjustment. NAN: it has none. */
double load_value(const struct cluster *c, const struct load_rules *r, uint32_t host, uint32_t resource,
                  int64_t now_us);

/* The adjustment of a resource's load values, if there is one for each job that starts; NULL: none. */
const struct load_adjustment *load_adjustment_find(const struct load_rules *r, uint32_t resource);

/* The first threshold of an instance that a load value has passed; NULL: none. A value that the host does not have
 * counts as LOAD_UNKNOWN. */
const struct load_threshold *load_threshold_find_passed(const struct cluster *c, const struct load_rules *r,
                                                        uint32_t instance, int64_t now_us);

/* Computes loads, thresholds and the order of all instances. O(instances log instances). */
void load_begin(struct cluster *c, const struct load_rules *r, int64_t now_us);

/* The same for one host after slots of a job were placed there. If its load has changed, its instances move before the
 * first one that is equal. O(instances); by share as load_begin. */
void load_placed(struct cluster *c, const struct load_rules *r, uint32_t host, uint32_t slots, int64_t now_us);

#endif
