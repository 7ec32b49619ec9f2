/* Grid Engine's urgency, and the priority that is computed from urgency, tickets and the POSIX priority.
 *
 *     urgency = resources + waiting time + deadline
 *     norm(v, min, max) = 0.5 if max - min < 1e-5, else (v - min)/(max - min)
 *     prior = weight_ticket norm(tickets, 0, max) + weight_urgency norm(urgency, min, max) + weight_priority npprior
 *
 * Source: docs/formulas.md 5.6 and 5.7; Grid Engine 8.1.9, cases f1 to f5. */
#ifndef FAIRLEAD_POLICY_URGENCY_H
#define FAIRLEAD_POLICY_URGENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "fields/limits.h"
#include "fields/setting_text.h"

/* Where Grid Engine 8.1.9 and the manual of N1GE 6.1 differ, the first value is the program's and the second the
 * manual's. */
enum posix_range { POSIX_FIXED, POSIX_PRESENT };       /* norm over -1024..1024, or over the jobs present */
enum deadline_rule { DEADLINE_OWN, DEADLINE_WAITING }; /* weight_deadline or weight_waiting_time over the time left */

struct urgency_rules {
    double weight_ticket, weight_urgency, weight_priority;
    double weight_waiting_time, weight_deadline;
    enum posix_range posix_range;
    enum deadline_rule deadline_rule;
    enum urgency_slots_rule slots_rule;
    uint32_t slots_number;
};

/* A hard request. It counts value x urgency x slots; a text request counts its urgency once. */
struct urgency_request {
    double value, urgency;
    bool is_text;
};

struct urgency_job {
    uint32_t slots_min, slots_max; /* 1 and 1 for a serial job */
    const struct urgency_request *requests;
    uint32_t request_count;
    int64_t submit_us;
    int64_t deadline_us; /* 0: none */
    int32_t posix_priority;
};

struct urgency {
    double resources, waiting_time, deadline, sum;
};

/* The urgency of a job. slots_urgency: the urgency of the implicit resource slots. */
void urgency_of(const struct urgency_rules *r, double slots_urgency, int64_t now_us, const struct urgency_job *j,
                struct urgency *out_urgency);

/* The number of slots that a job counts with: min if it is max, else by the rule for ranges. */
double urgency_slots(const struct urgency_rules *r, uint32_t min, uint32_t max);

/* From the smallest to the largest of count values; 0 to 0 without values. O(n). */
struct urgency_range {
    double min, max;
};
struct urgency_range urgency_range_of(uint32_t count, const double *values);

/* norm(value, min, max), as above. */
double urgency_norm(double value, double min, double max);

/* The final priority of a job from its normalised numbers. */
double urgency_prior(const struct urgency_rules *r, double norm_tickets, double norm_urgency, double norm_posix);

/* The final priorities of count jobs from their tickets, urgencies and POSIX priorities. max_tickets: the number that
 * is normalised to 1 (tickets_compute). The other minima and maxima are taken over all of these jobs (pending and
 * running). Any out may be NULL. O(n). */
void urgency_priorities(const struct urgency_rules *r, uint32_t count, double max_tickets, const double *tickets,
                        const double *urgency, const int32_t *posix_priority, double *out_norm_tickets,
                        double *out_norm_urgency, double *out_norm_posix, double *out_prior);

#endif
