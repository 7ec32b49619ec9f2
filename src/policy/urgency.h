/* Grid Engine's urgency, its normalisations, and the priority that urgency, tickets and the POSIX priority make together.
 *
 *     urgency = resources + waiting time + deadline
 *     norm(v, lo, hi) = 0.5 if hi - lo < 1e-5, else (v - lo)/(hi - lo)
 *     prior = weight_ticket norm(tickets, 0, most) + weight_urgency norm(urgency, least, most) + weight_priority npprior
 *
 * Source: docs/formulas.md 5.6 and 5.7; Grid Engine 8.1.9, cases f1 to f5. */
#ifndef FAIRLEAD_POLICY_URGENCY_H
#define FAIRLEAD_POLICY_URGENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy_text.h"

enum { POSIX_PRIORITY_MIN = -1023, POSIX_PRIORITY_MAX = 1024 };

/* Where the manual of N1GE 6.1 says otherwise than 8.1.9 does, the second of each two. */
enum posix_range { POSIX_FIXED, POSIX_PRESENT };       /* -1023..1024, or the jobs present */
enum deadline_rule { DEADLINE_OWN, DEADLINE_WAITING }; /* weight_deadline, or weight_waiting_time, over the time left */

struct urgency_rules {
    double weight_ticket, weight_urgency, weight_priority;
    double weight_waiting_time, weight_deadline;
    enum posix_range posix_range;
    enum deadline_rule deadline_rule;
    enum urgency_slots_rule slots_rule;
    uint32_t slots_number;
};

/* A hard request: value x urgency x slots; text requests count their urgency once, per_slot false and value 1. */
struct urgency_request {
    double value, urgency;
    bool is_text;
};

struct urgency_job {
    uint32_t slots_min, slots_max; /* 1 and 1: serial */
    const struct urgency_request *requests;
    uint32_t request_count;
    int64_t submit_us, deadline_us; /* 0: none */
    int32_t posix_priority;
};

struct urgency {
    double resources, waiting_time, deadline, sum;
};

/* slots_urgency: of the implicit resource slots, 1000 unless changed. */
void urgency_of(const struct urgency_rules *r, double slots_urgency, int64_t now_us, const struct urgency_job *j,
                struct urgency *out_urgency);

/* Slots a job counts for: exactly, or by the rule where it has a range. */
double urgency_slots(const struct urgency_rules *r, uint32_t min, uint32_t max);

/* All jobs' final priorities from their tickets and urgencies, count entries each. The extremes are taken over all jobs
 * given (pending and running). Any out may be NULL. */
void urgency_priorities(const struct urgency_rules *r, uint32_t count, const double *tickets, const double *urgency,
                        const int32_t *posix_priority, double *out_norm_tickets, double *out_norm_urgency,
                        double *out_norm_posix, double *out_prior);

#endif
