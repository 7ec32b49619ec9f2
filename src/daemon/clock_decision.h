/* What the time of an instance is, given what the clocks of the machine show: a pure function.
 *
 *     time since boot (CLOCK_BOOTTIME)   also while the machine sleeps; never set. It says how much time has passed
 *     wall clock (CLOCK_REALTIME)        people, NTP and a wrong battery clock set it. It says what time it is
 *
 * Within one boot the time that has passed since the last reading is known. The wall clock may differ from it by less
 * than CLOCK_SMALL_US (leap seconds, small corrections) and is followed: forward at once, backward by standing still.
 * If it differs by more, it was set. Then all times in the database are shifted, so that everything stays as long ago
 * as it is (store_change_clock), and the time is again that of the wall clock.
 *
 * Across a reboot it is not known how much time has passed. The wall clock is believed if it says at most
 * CLOCK_GAP_MAX_S; a clock that is behind the last commit, or further ahead, may be wrong, and then none of the gap is
 * counted: all times are shifted so that the last commit is now. The gap stays open: if the clock is set and the gap
 * is believable then (1970 at boot, later NTP), that shift is taken back, and the gap counts as if the clock had been
 * right from the beginning; jobs that run since the reboot keep their distance from now.
 *
 * A wall clock outside CLOCK_WALL_MIN_US to CLOCK_WALL_MAX_US is certainly wrong. It is not followed: time goes on by
 * the time since boot. */
#ifndef FAIRLEAD_DAEMON_CLOCK_DECISION_H
#define FAIRLEAD_DAEMON_CLOCK_DECISION_H

#include "base/quantity.h"
#include "store/store.h"

#define CLOCK_SMALL_US (10 * US_PER_S)
#define CLOCK_GAP_MAX_S INT64_C(2592000)                   /* 30 days */
#define CLOCK_WALL_MIN_US (INT64_C(1577836800) * US_PER_S) /* 2020 */
#define CLOCK_WALL_MAX_US (INT64_C(7258118400) * US_PER_S) /* 2200 */

/* When time was last known. */
struct clock_last {
    int64_t time_us;      /* of the instance */
    int64_t boot_us;      /* time since boot then */
    bool is_of_this_boot; /* otherwise boot_us is of an earlier boot, or not known */
    bool is_running;      /* the daemon has run since then */
    bool has_gap;         /* as in struct store_clock */
    int64_t gap_s;
    bool keeps_gap; /* it cannot be counted for now (store_has_charged_task) */
};

struct clock_reading {
    int64_t wall_us, boot_us;
};

struct clock_decision {
    int64_t time_us;            /* of the instance now, after the change; at least last.time_us after it */
    bool is_wall_ignored;       /* the wall clock is certainly wrong */
    bool has_change;            /* the database has to be changed */
    struct clock_change change; /* if so */
};

/* What the clocks say now, held against what was last known: the time of the instance, and how the times of the
 * database have to change for it. Pure; O(1). */
struct clock_decision clock_decision_make(const struct clock_last *last, const struct clock_reading *now);

/* What a person decides about an open gap. counts: it is counted, otherwise it never will be. ERR_CONFLICT: there is no
 * gap; or it is to be counted, and cannot be for now, or the clock says that it was negative or none. */
int clock_decision_of_gap(const struct clock_last *last, bool counts, struct clock_decision *out, struct err *e);

#endif
