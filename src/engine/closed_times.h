/* When queues are closed: by the calendar of the partition, whose times the daemon reports (EVENT_CALENDARS), or by the
 * times that a document gives the partition itself.
 *
 *     calendar night   closed Mon-Fri 6-20       times [Mon 6, Mon 20), [Tue 6, Tue 20), ...
 *     partition batch  calendar=night            all slots of each of its instances are booked then
 *
 * So a job starts only if it is planned to end before its queue closes, its reservation begins when the queue opens,
 * and what runs goes on. Source: docs/formulas.md 7; Grid Engine 8.1.9, case i6. */
#ifndef FAIRLEAD_ENGINE_CLOSED_TIMES_H
#define FAIRLEAD_ENGINE_CLOSED_TIMES_H

#include "engine/cluster_model.h"

struct closed_times {
    const struct closed_time *items; /* ascending; none overlaps another one; the last one may be endless */
    uint32_t count;
};

/* Of a partition: its own, as documents have them; else those of its calendar. */
struct closed_times closed_times_of(const struct state *s, uint32_t partition);

/* A search for reservations that uses no gaps would look behind the last closed time, so it sees only the next one. The
 * others count for estimates. */
enum closed_part { CLOSED_ALL, CLOSED_NEXT, CLOSED_LATER };
enum closed_part closed_times_part(enum reserve_search search);

/* Books the closed times that are not over. O(instances x closed times), if little else is booked. */
void closed_times_book(struct cluster_model *m, const struct state *s, enum closed_part part, int64_t now_us);

/* When a partition that is closed at a time opens; 0: it is open. TIMELINE_END: no opening is known. */
int64_t closed_times_end(const struct state *s, uint32_t partition, int64_t at_us);

/* Whether a partition closes at from_us or later, and before until_us. */
bool closed_times_meet(const struct state *s, uint32_t partition, int64_t from_us, int64_t until_us);

/* Whether a partition is ever open for so long from from_us on. */
bool closed_times_leave(const struct state *s, uint32_t partition, int64_t from_us, int64_t duration_us);

/* The first time after now_us at which a closed time of any partition is over; 0: there is none. */
int64_t closed_times_next_opening(const struct state *s, int64_t now_us);

#endif
