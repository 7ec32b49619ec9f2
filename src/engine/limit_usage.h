/* The usage that limits count, decayed to a time, with running tasks charged up to it: of an association with all below
 * it, and of a QOS. In TRES-seconds, and in seconds of run time. */
#ifndef FAIRLEAD_ENGINE_LIMIT_USAGE_H
#define FAIRLEAD_ENGINE_LIMIT_USAGE_H

#include <math.h>

#include "engine/usage_sums.h"

enum { LIMIT_MINUTE_S = 60 };

/* Seconds of usage as limits compare them: whole minutes, cut off. A charge that is a rounding error short of a minute
 * counts as one. */
static inline double limit_usage_minutes(double seconds)
{
    return floor(seconds / LIMIT_MINUTE_S + 1e-9);
}

/* subject: index of the QOS, or of the association. kind: index of policy.tres, or USAGE_WALL. O(1) amortised
 * (engine/usage_sums.h). */
static inline double limit_usage_of(struct state *s, bool is_qos, uint32_t subject, uint32_t kind, int64_t now_us)
{
    return is_qos ? usage_sums_qos(s, subject, kind, now_us) : usage_sums_below(s, subject, kind, now_us);
}

#endif
