/* Usage decays by the factor c per minute, so a charge over any time is one expm1. */
#include "policy/ticket_usage.h"

#include <math.h>

static const double S_PER_MINUTE = 60.0;

double ticket_decay_minute(const struct ticket_decay *d, enum usage_resource r)
{
    if (d->minutes[r] < 0.0) return 0.0;
    if (!(d->minutes[r] > 0.0)) return 1.0;
    if (d->rule == DECAY_EXACT) return exp2(-1.0 / d->minutes[r]);
    return fmax(0.0, 1.0 - M_LN2 / d->minutes[r]);
}

double ticket_decay_factor(const struct ticket_decay *d, enum usage_resource r, double elapsed_s)
{
    return elapsed_s > 0.0 ? pow(ticket_decay_minute(d, r), elapsed_s / S_PER_MINUTE) : 1.0;
}

void ticket_decay_factors(const struct ticket_decay *d, double elapsed_s, double out_factors[USAGE_RESOURCE_COUNT])
{
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        bool is_same = r > 0 && !(d->minutes[r] < d->minutes[r - 1]) && !(d->minutes[r] > d->minutes[r - 1]);
        out_factors[r] = is_same ? out_factors[r - 1] : ticket_decay_factor(d, (enum usage_resource)r, elapsed_s);
    }
}

double ticket_decay_charge(const struct ticket_decay *d, enum usage_resource r, double rate, double elapsed_s)
{
    if (!(elapsed_s > 0.0)) return 0.0;
    double per_second = log(ticket_decay_minute(d, r)) / S_PER_MINUTE; /* 0: no decay; -infinity: at once */
    if (!(per_second < 0.0)) return rate * elapsed_s;
    return rate * expm1(per_second * elapsed_s) / per_second;
}

double ticket_usage_combine(const struct usage_weights *weights, const struct ticket_usage *u)
{
    double sum = 0.0;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) sum += weights->weight[r] * u->used[r];
    return weights->total > 0.0 ? sum / weights->total : 0.0;
}
