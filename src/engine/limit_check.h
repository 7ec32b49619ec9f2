/* Compares a request with its limits, and records the one that blocks. limits.c asks whether a task may start,
 * limit_submit.c whether tasks may be submitted. */
#ifndef FAIRLEAD_ENGINE_LIMIT_CHECK_H
#define FAIRLEAD_ENGINE_LIMIT_CHECK_H

#include "engine/limit_usage.h"
#include "engine/limits.h"

enum { LIMIT_CHECK_QOS_COUNT = 2, LIMIT_CHECK_ASSOC = LIMIT_CHECK_QOS_COUNT };

/* place, below: the position of a QOS in qos, or LIMIT_CHECK_ASSOC. subject: the QOS or the association. */
struct limit_check {
    struct state *s;
    const struct limit_counts *counts;
    const struct limit_table *table;
    const struct limit_request *r;
    int64_t now_us;
    struct limit_hit *hit;
    uint32_t qos[LIMIT_CHECK_QOS_COUNT]; /* in the order in which they decide; NONE: none */
    const struct limit_set *of_qos[LIMIT_CHECK_QOS_COUNT];
    bool has_qos_limits; /* otherwise nothing is decided before the associations */
    bool is_safe;
};

/* out_hit has no limit at first. */
struct limit_check limit_check_begin(struct state *s, const struct limit_counts *counts, const struct limit_request *r,
                                     int64_t now_us, struct limit_hit *out_hit);

/* Whether a QOS of higher precedence sets the limit. */
bool limit_check_count_is_decided(const struct limit_check *c, int place, enum limit_count limit);
bool limit_check_tres_is_decided(const struct limit_check *c, int place, enum limit_tres limit, uint32_t tres);

/* The nearest association with Grp limits, the given one (NONE is allowed) or above it; NONE. */
uint32_t limit_check_group_at(const struct limit_check *c, uint32_t assoc);
uint32_t limit_check_group_above(const struct limit_check *c, uint32_t assoc);

/* The counter of the user's association. NULL: it has counted nothing. */
const struct limit_counter *limit_check_user_counter(const struct limit_check *c);

/* Record the limit that blocks, and return true. k: the counter that has to become less; NULL: none can. */
bool limit_check_hit_count(const struct limit_check *c, int place, uint32_t subject, enum limit_count limit,
                           const struct limit_counter *k, double max, double used);
bool limit_check_hit_tres(const struct limit_check *c, int place, uint32_t subject, enum limit_tres limit,
                          const struct tres_amount *max, const struct limit_counter *k, double used, double requested);

/* An amount for the time limit of the request, in minutes, cut off. */
double limit_check_minutes(const struct limit_check *c, double amount);

/* Whether the request by itself exceeds MaxWall, MaxTRESPerNode, MaxTRESMins or MaxTRES, or is below MinTRES. */
bool limit_check_time_hit(const struct limit_check *c, int place, uint32_t subject, const struct limit_set *l);
bool limit_check_own_hit(const struct limit_check *c, int place, uint32_t subject, enum limit_tres limit,
                         const struct tres_amount *max);

#endif
