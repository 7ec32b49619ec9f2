/* When a calendar closes queues, as times: its days and hours are those of local clocks.
 *
 *     week mon-fri=2:30-6, zone Europe/Berlin       2027-03-28 (no 2:30): [3:00, 6:00) of summer time
 *
 * A queue is closed at a time exactly if the calendar says so for what the clocks show at that time. So an hour that
 * the clocks repeat counts twice, and one that they leave out not at all. */
#ifndef FAIRLEAD_DAEMON_CALENDAR_TIMES_H
#define FAIRLEAD_DAEMON_CALENDAR_TIMES_H

#include "engine/state.h"
#include "fields/calendar_text.h"

/* The last closed time is endless, because what comes after the others is not known; a calendar that closes nothing has
 * none. So a job whose time limit is longer than a queue is ever open does not get a place behind what is known. */
enum { CALENDAR_TIMES_MAX = 1000 };

struct calendar_times {
    struct closed_time *items; /* ascending, none overlaps another one; memory of the arena */
    uint32_t count;
    int64_t known_until_us; /* until_us, or earlier if there are more than CALENDAR_TIMES_MAX */
};

/* Until when they are made: 400 days on, rounded down to a day of UTC, so that all times made in a day end alike. */
int64_t calendar_times_horizon_us(int64_t now_us);

/* The closed times from from_us to until_us, which are whole seconds. O(days). */
struct calendar_times calendar_times_make(const struct calendar_entries *year, const struct calendar_entries *week,
                                          int64_t from_us, int64_t until_us, struct arena *arena);

#endif
