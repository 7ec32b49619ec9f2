/* The hosts of a pretend cluster over time: which are down, and what other work they have. A position in the steps of
 * the document moves forward with the time; its place follows from the time alone, so a restart finds it again.
 *
 *     pretend_timeline_init(&t, &cluster, origin_us, now_us);
 *     while ((at_us = pretend_timeline_next_us(&t)) != 0 && at_us <= now_us) step = pretend_timeline_take(&t); */
#ifndef FAIRLEAD_PRETEND_PRETEND_TIMELINE_H
#define FAIRLEAD_PRETEND_PRETEND_TIMELINE_H

#include "pretend/pretend_cluster.h"

struct pretend_host_now {
    bool is_down;
    struct pretend_load load;
};

struct pretend_timeline {
    const struct pretend_cluster *cluster;
    int64_t period_begin_us; /* of the steps that come next; the first start if nothing repeats */
    uint32_t next;           /* the next step; all were taken if it is the number of steps */
    ARRAY(struct pretend_host_now) hosts;
};

/* The hosts as they are at now_us, with the steps of that time taken. origin_us: the first start, above 0 and not after
 * now_us. The load of a host before the first one of a period is the last one of the period before.
 * O(hosts + steps). */
void pretend_timeline_init(struct pretend_timeline *t, const struct pretend_cluster *cluster, int64_t origin_us,
                           int64_t now_us);
void pretend_timeline_release(struct pretend_timeline *t);

/* When the next step is; 0: there is none any more. */
int64_t pretend_timeline_next_us(const struct pretend_timeline *t);

/* Takes the next step, which exists, and returns it. */
const struct pretend_step *pretend_timeline_take(struct pretend_timeline *t);

#endif
