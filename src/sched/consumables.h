/* Consumables: resources that all jobs share and use up, such as licences or a shared disk. The amounts that are free
 * are computed for each pass from the amounts of the resources and the running jobs. Nothing is kept between passes, so
 * the amounts cannot drift.
 *
 *     resource   licence  bigio  scratch
 *     free       3        inf    0.5         inf: unlimited, or a text
 *
 * A job takes amount x slots of each resource that it requests. */
#ifndef FAIRLEAD_SCHED_CONSUMABLES_H
#define FAIRLEAD_SCHED_CONSUMABLES_H

#include <stdint.h>

#include "base/arena.h"

struct consumables {
    double *free; /* by resource; INFINITY: unlimited; below 0 when an amount was lowered under running jobs */
    uint32_t count;
};

/* An amount of a resource for each slot. */
struct consumable_need {
    uint32_t resource;
    double amount;
};

/* count unlimited resources, in memory of arena. */
void consumables_init(struct consumables *c, uint32_t count, struct arena *arena);

/* The number of slots, at most max, for which everything needed is free. Amounts are compared with a relative tolerance
 * of 1e-9, so that ten tenths are one. O(need_count). */
uint32_t consumables_slots(const struct consumables *c, const struct consumable_need *needs, uint32_t need_count,
                           uint32_t max);

/* Takes the needs of so many slots, whether they are free or not. */
void consumables_take(struct consumables *c, const struct consumable_need *needs, uint32_t need_count, uint32_t slots);

#endif
