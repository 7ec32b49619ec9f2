/* Amounts are doubles and may be fractions, so they are compared with a tolerance: 1 - 9 x 0.1 is a little less than
 * 0.1. */
#include "sched/consumables.h"

#include <math.h>

#include "base/ensure.h"

static const double tolerance = 1e-9;

void consumables_init(struct consumables *c, uint32_t count, struct arena *arena)
{
    c->count = count;
    c->free = arena_alloc(arena, (count + (size_t)1) * sizeof *c->free);
    for (uint32_t i = 0; i < count; i++) c->free[i] = INFINITY;
}

uint32_t consumables_slots(const struct consumables *c, const struct consumable_need *needs, uint32_t need_count,
                           uint32_t max)
{
    for (uint32_t i = 0; i < need_count; i++) {
        ensure(needs[i].resource < c->count);
        if (needs[i].amount <= 0.0) continue;
        double slots = c->free[needs[i].resource] / needs[i].amount;
        slots += tolerance * fabs(slots);
        if (slots < (double)max) max = slots < 1.0 ? 0 : (uint32_t)slots;
    }
    return max;
}

void consumables_take(struct consumables *c, const struct consumable_need *needs, uint32_t need_count, uint32_t slots)
{
    for (uint32_t i = 0; i < need_count; i++) {
        ensure(needs[i].resource < c->count);
        c->free[needs[i].resource] -= needs[i].amount * (double)slots;
    }
}
