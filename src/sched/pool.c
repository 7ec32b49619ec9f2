#include "sched/pool.h"

#include <math.h>

#include "base/ensure.h"

static const double tolerance = 1e-9;

void pool_init(struct pool *p, uint32_t count, struct arena *arena)
{
    p->count = count;
    p->free = arena_alloc(arena, (count + (size_t)1) * sizeof *p->free);
    for (uint32_t i = 0; i < count; i++) p->free[i] = INFINITY;
}

uint32_t pool_slots(const struct pool *p, const struct pool_need *needs, uint32_t need_count, uint32_t max)
{
    for (uint32_t i = 0; i < need_count; i++) {
        ensure(needs[i].resource < p->count);
        if (needs[i].amount <= 0.0) continue;
        double slots = p->free[needs[i].resource] / needs[i].amount;
        slots += tolerance * fabs(slots);
        if (slots < (double)max) max = slots < 1.0 ? 0 : (uint32_t)slots;
    }
    return max;
}

void pool_take(struct pool *p, const struct pool_need *needs, uint32_t need_count, uint32_t slots)
{
    for (uint32_t i = 0; i < need_count; i++) p->free[needs[i].resource] -= needs[i].amount * (double)slots;
}
