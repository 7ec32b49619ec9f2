/* The places of an instance: each partition on each of its hosts, with its slots now and in the plan
 * (engine/schedule.h).
 *
 *     main@localhost   UP   4 slots: 3 used by running tasks, 1 free, 4 reserved when those end */
#ifndef FAIRLEAD_ENGINE_PLACES_H
#define FAIRLEAD_ENGINE_PLACES_H

#include "engine/state.h"
#include "fields/place_fields.h"

struct place_list {
    struct place_values *items; /* hosts in their order, and partitions in theirs on each */
    uint32_t count;
};

/* In memory of arena. The cost of a run over all jobs. The errors are those of schedule_make. */
int places_list(struct state *s, int64_t now_us, struct arena *arena, struct place_list *out, struct err *e);

#endif
