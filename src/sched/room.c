#include "sched/room.h"

#include <math.h>

/* The number of slots, at most max, for which an offer has enough of a need in the window. */
static uint32_t slots_of_offer(const struct offer *o, const struct need *n, enum relation relation,
                               struct window window, uint32_t max)
{
    if (relation == RELATION_EXCLUSIVE) {
        double others = timeline_max(&o->booked, window.from_us, window.until_us);
        return others > exclusive_max(n) ? 0 : max;
    }
    if (n->amount <= 0.0 || isinf(o->amount)) return max;
    double booked = timeline_max(&o->booked, window.from_us, window.until_us);
    double slots = (timeline_limit(o->amount, 0.0) - booked) / n->amount;
    if (n->scope != NEED_PER_SLOT) return slots >= 1.0 ? max : 0;
    return slots < 1.0 ? 0 : slots < max ? (uint32_t)slots : max;
}

uint32_t room_of_object(const struct cluster *c, const struct offers *o, const struct demand *d, struct window window,
                        uint32_t max, bool needs_master)
{
    static const struct need slot = {.resource = SCHED_SLOTS, .scope = NEED_PER_SLOT, .amount = 1.0};
    const struct offer *slots = offers_find(o, SCHED_SLOTS);
    if (slots != NULL) max = slots_of_offer(slots, &slot, RELATION_LESS_EQUAL, window, max);
    for (uint32_t i = 0; i < d->need_count && max > 0; i++) {
        const struct need *n = &d->needs[i];
        const struct sched_resource *r = &c->resources.items[n->resource];
        const struct offer *offer = r->is_consumable ? offers_find(o, n->resource) : NULL;
        if (offer == NULL || (n->scope == NEED_PER_JOB && !needs_master)) continue;
        max = slots_of_offer(offer, n, r->relation, window, max);
    }
    return max;
}
