/* Earliest starts of many jobs on a large cluster, with gaps used. A job that cannot start now can start at the
 * earliest when a booking ends, so the ends of all bookings are swept in their order, and only the hosts on which
 * something changes are looked at.
 *
 *     ends     10 n1    20 n2    20 n4    35 n1
 *     2 slots on one host    10: n1 offers 1    20: n2 offers 3, so it starts at 20 on n2
 *     4 slots on any         10: 1 in all       20: 1 + 3 + 2, so it starts at 20 on n1, n2, n4
 *
 * During a run what is free only shrinks, so the search for a shape continues where that for the last job of the same
 * shape ended. A parallel job's shape keeps what each host offers; hosts that were booked in its window since are
 * looked at again.
 *
 * Cost: the ends up to the start, for each shape once. Consumables that limit the whole cluster, environments with a
 * limit, quotas, and first hosts that need more than the others are left to reserve_job, which tries every host
 * (sweep_serves). */
#ifndef FAIRLEAD_SCHED_SWEEP_H
#define FAIRLEAD_SCHED_SWEEP_H

#include "sched/place.h"

struct sweep_event {
    int64_t at_us;
    uint32_t host;
    uint32_t free; /* slots on the host then, as of the first look at the event, later at most so many; NONE: no look */
};

/* What a host was booked for during the sweep. */
struct sweep_booking {
    uint32_t host;
    int64_t from_us, until_us;
};

/* Ascending. */
struct sweep_events {
    ARRAY(struct sweep_event) list;
};

enum { SWEEP_BUCKETS = 256 };

/* How far the search for a parallel shape has come. */
struct sweep_shape {
    int64_t at_us;
    uint32_t *offered;    /* by host, in a window from at_us on; NULL: not begun */
    uint32_t *hosts_with; /* by number of slots that a host offers: hosts; the last one is for all larger numbers */
    uint64_t total;       /* of slots, with as many of each host as the job may have there */
    uint32_t bookings;    /* so many of the bookings since were taken into account */
};

struct sweep {
    const struct cluster *cluster;
    int64_t now_us;
    struct sweep_events ends;             /* of the bookings when the sweep began */
    struct sweep_events new_ends;         /* of those since */
    struct sweep_events begins;           /* of bookings then that begin later, which windows run into */
    struct sweep_events new_begins;       /* of those since; apart, because closed times are many */
    ARRAY(struct sweep_booking) bookings; /* since the sweep began, in order */
    ARRAY(struct sweep_shape) shapes;
    uint32_t *free_now; /* by host: slots that were free at now_us when the sweep began */
    uint32_t *rank;     /* by instance: its position in the cluster's order */
    bool rank_is_stale;
    struct arena arena; /* offered, free_now, rank */
};

/* Collects the ends and begins of all bookings. O(n), n changes. */
void sweep_init(struct sweep *s, const struct cluster *c, int64_t now_us);
void sweep_release(struct sweep *s);

/* After cluster_book. */
void sweep_booked(struct sweep *s, const struct allocation *a, int64_t from_us, int64_t until_us);

/* After the order of the instances has changed. */
void sweep_reordered(struct sweep *s);

/* Whether the sweep knows everything that limits such a job. */
bool sweep_serves(const struct sweep *s, const struct demand *d);

/* The earliest start at from_us or later of a job that cannot start now, and its allocation; TIMELINE_END: there is
 * none. A shape's from_us never decreases. */
int64_t sweep_reserve(struct sweep *s, const struct demand *d, int64_t from_us, struct arena *arena,
                      struct allocation *out_allocation);

#endif
