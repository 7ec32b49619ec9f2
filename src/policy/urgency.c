/* Each term is a number of its own in the result, so that a listing can show it. */
#include "policy/urgency.h"

#include <math.h>

#include "base/quantity.h"

static const double RANGE_MIN = 1e-5; /* in a narrower range every value is normalised to the middle */
static const double POSIX_RANGE_MIN = -1024.0, POSIX_RANGE_MAX = 1024.0;

double urgency_slots(const struct urgency_rules *r, uint32_t min, uint32_t max)
{
    if (min == max) return min;
    switch (r->slots_rule) {
    case URGENCY_SLOTS_MIN: return min;
    case URGENCY_SLOTS_MAX: return max;
    case URGENCY_SLOTS_AVG: return (double)(((uint64_t)min + max) / 2);
    case URGENCY_SLOTS_NUMBER: return r->slots_number;
    }
    return min;
}

static double resource_urgency(const struct urgency_rules *r, double slots_urgency, const struct urgency_job *j)
{
    double slots = urgency_slots(r, j->slots_min, j->slots_max);
    double sum = slots_urgency * slots;
    for (uint32_t i = 0; i < j->request_count; i++) {
        const struct urgency_request *q = &j->requests[i];
        sum += q->is_text ? q->urgency : q->value * q->urgency * slots;
    }
    return sum;
}

/* The weight over the seconds left; the whole weight from one second before the deadline on. */
static double deadline_urgency(const struct urgency_rules *r, int64_t now_us, int64_t deadline_us)
{
    if (deadline_us == 0) return 0.0;
    double weight = r->deadline_rule == DEADLINE_WAITING ? r->weight_waiting_time : r->weight_deadline;
    return weight / fmax(1.0, (double)(deadline_us - now_us) / US_PER_S);
}

void urgency_of(const struct urgency_rules *r, double slots_urgency, int64_t now_us, const struct urgency_job *j,
                struct urgency *out_urgency)
{
    struct urgency u = {
        .resources = resource_urgency(r, slots_urgency, j),
        .waiting_time = r->weight_waiting_time * ((double)(now_us - j->submit_us) / US_PER_S),
        .deadline = deadline_urgency(r, now_us, j->deadline_us),
    };
    u.sum = u.resources + u.waiting_time + u.deadline;
    *out_urgency = u;
}

double urgency_norm(double value, double min, double max)
{
    return max - min < RANGE_MIN ? 0.5 : (value - min) / (max - min);
}

struct urgency_range urgency_range_of(uint32_t count, const double *values)
{
    struct urgency_range range = {count > 0 ? values[0] : 0.0, count > 0 ? values[0] : 0.0};
    for (uint32_t i = 1; i < count; i++) {
        range.min = fmin(range.min, values[i]);
        range.max = fmax(range.max, values[i]);
    }
    return range;
}

static struct urgency_range posix_range_of(enum posix_range rule, uint32_t count, const int32_t *priorities)
{
    if (rule == POSIX_FIXED) return (struct urgency_range){POSIX_RANGE_MIN, POSIX_RANGE_MAX};
    struct urgency_range range = {count > 0 ? priorities[0] : 0, count > 0 ? priorities[0] : 0};
    for (uint32_t i = 1; i < count; i++) {
        range.min = fmin(range.min, priorities[i]);
        range.max = fmax(range.max, priorities[i]);
    }
    return range;
}

double urgency_prior(const struct urgency_rules *r, double norm_tickets, double norm_urgency, double norm_posix)
{
    return r->weight_ticket * norm_tickets + r->weight_urgency * norm_urgency + r->weight_priority * norm_posix;
}

void urgency_priorities(const struct urgency_rules *r, uint32_t count, double max_tickets, const double *tickets,
                        const double *urgency, const int32_t *posix_priority, double *out_norm_tickets,
                        double *out_norm_urgency, double *out_norm_posix, double *out_prior)
{
    struct urgency_range urgencies = urgency_range_of(count, urgency);
    struct urgency_range posix = posix_range_of(r->posix_range, count, posix_priority);
    for (uint32_t i = 0; i < count; i++) {
        double norm_tickets = urgency_norm(tickets[i], 0.0, max_tickets);
        double norm_urgency = urgency_norm(urgency[i], urgencies.min, urgencies.max);
        double norm_posix = urgency_norm(posix_priority[i], posix.min, posix.max);
        if (out_norm_tickets != NULL) out_norm_tickets[i] = norm_tickets;
        if (out_norm_urgency != NULL) out_norm_urgency[i] = norm_urgency;
        if (out_norm_posix != NULL) out_norm_posix[i] = norm_posix;
        if (out_prior != NULL) out_prior[i] = urgency_prior(r, norm_tickets, norm_urgency, norm_posix);
    }
}
