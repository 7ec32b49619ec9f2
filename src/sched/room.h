/* For how many slots of a job an object has room, by what it offers and what is booked of it. */
#ifndef FAIRLEAD_SCHED_ROOM_H
#define FAIRLEAD_SCHED_ROOM_H

#include "sched/cluster.h"

/* A stretch of time. until_us is not included; TIMELINE_END: for ever. */
struct window {
    int64_t from_us, until_us;
};

/* The number of slots, at most max, for which an object has enough in the window of every consumable that it offers and
 * the job needs. needs_master: what the job needs once counts here. O(needs x offers of the object). */
uint32_t room_of_object(const struct cluster *c, const struct offers *o, const struct demand *d, struct window window,
                        uint32_t max, bool needs_master);

#endif
