/* The usage that limits count, decayed to a time, with running tasks charged up to it: of an association with all below
 * it, and of a QOS. In TRES-seconds, and in seconds of run time. */
#ifndef FAIRLEAD_ENGINE_LIMIT_USAGE_H
#define FAIRLEAD_ENGINE_LIMIT_USAGE_H

#include <math.h>

#include "engine/state.h"

enum { LIMIT_MINUTE_S = 60 };

/* Seconds of usage as limits compare them: whole minutes, cut off. A charge that is a rounding error short of a minute
 * counts as one. */
static inline double limit_usage_minutes(double seconds)
{
    return floor(seconds / LIMIT_MINUTE_S + 1e-9);
}

/* index of the association or the QOS; tres: index of policy.tres. O(1) amortised (engine/usage_sums.h). */
double limit_usage_tres(struct state *s, uint32_t assoc, uint32_t tres, int64_t now_us);
double limit_usage_wall(struct state *s, uint32_t assoc, int64_t now_us);
double limit_usage_qos_tres(struct state *s, uint32_t qos, uint32_t tres, int64_t now_us);
double limit_usage_qos_wall(struct state *s, uint32_t qos, int64_t now_us);

#endif
