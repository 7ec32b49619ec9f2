/* What there is once for all jobs together and is used up by them: licences, a shared disk. A pool is made for one pass
 * from the resources' amounts and from what runs; nothing of it is kept, so it cannot drift.
 *
 *     resource   licence  bigio  scratch
 *     free       3        inf    0.5         inf: unlimited, or text
 *
 * A job takes amount x slots of each resource that it asks for. */
#ifndef FAIRLEAD_SCHED_POOL_H
#define FAIRLEAD_SCHED_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct pool {
    double *free; /* by resource; INFINITY: no end of it; below 0 when an amount was lowered under running jobs */
    uint32_t count;
};

/* So much of a resource for each slot. */
struct pool_need {
    uint32_t resource;
    double amount;
};

/* A pool of count resources without end, in memory of arena. */
void pool_init(struct pool *p, uint32_t count, struct arena *arena);

/* For how many slots, at most most, the pool has what is needed for each. Amounts compare with a tolerance of 1e-9 of the
 * need, so ten tenths are one. */
uint32_t pool_slots(const struct pool *p, const struct pool_need *needs, uint32_t need_count, uint32_t max);

/* Takes it, whether or not it is there. */
void pool_take(struct pool *p, const struct pool_need *needs, uint32_t need_count, uint32_t slots);

#endif
