#include "engine/limit_usage.h"

#include "engine/usage_sums.h"

double limit_usage_tres(struct state *s, uint32_t assoc, uint32_t tres, int64_t now_us)
{
    return usage_sums_below(s, assoc, tres, now_us);
}

double limit_usage_wall(struct state *s, uint32_t assoc, int64_t now_us)
{
    return usage_sums_below(s, assoc, USAGE_WALL, now_us);
}

double limit_usage_qos_tres(struct state *s, uint32_t qos, uint32_t tres, int64_t now_us)
{
    return usage_sums_qos(s, qos, tres, now_us);
}

double limit_usage_qos_wall(struct state *s, uint32_t qos, int64_t now_us)
{
    return usage_sums_qos(s, qos, USAGE_WALL, now_us);
}
