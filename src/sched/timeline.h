/* A time line: how much of one consumable is booked, and when. It belongs to an object (the cluster, a host, a queue on
 * a host, a parallel environment), which has a total of the consumable.
 *
 *     changes    at     0     40     60
 *                booked 2      4      0        2 from 0 to 40, 4 from 40 to 60, then nothing; before 0 nothing
 *
 * Invariants
 *   1. Changes are in ascending order of time, all different.
 *   2. Neighbours have different amounts, and the first one is not 0 (unless rounding left a difference).
 *
 * Amounts are doubles and may be fractions; timeline_limit has the tolerance that makes ten tenths one. Searching a
 * time is O(log changes), scanning a window O(changes in it), and booking O(changes). A booking is taken back by one of
 * the negative amount; of fractions this may leave differences of rounding. */
#ifndef FAIRLEAD_SCHED_TIMELINE_H
#define FAIRLEAD_SCHED_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* The end of a booking that has none; and the result of a search without one. */
#define TIMELINE_END INT64_MAX

struct timeline_change {
    int64_t at_us;
    double booked; /* from at_us to the next change */
};

/* The end of a job that starts at a time, which is negative before 1970; TIMELINE_END: endless. */
static inline int64_t timeline_end_of(int64_t start_us, int64_t duration_us)
{
    bool is_endless = duration_us == TIMELINE_END || (start_us > 0 && duration_us > TIMELINE_END - start_us);
    return is_endless ? TIMELINE_END : start_us + duration_us;
}

/* All zero: nothing is booked. */
struct timeline {
    ARRAY(struct timeline_change) changes;
};

struct timeline_booking {
    int64_t from_us, until_us; /* from_us < until_us, which may be TIMELINE_END */
    double amount;
};

/* Frees it; nothing is booked then. */
void timeline_release(struct timeline *t);

/* Adds an amount from from_us to until_us (not included). */
void timeline_book(struct timeline *t, const struct timeline_booking *booking);

/* The highest amount booked at any time from from_us to until_us (not included), at least 0. */
double timeline_max(const struct timeline *t, int64_t from_us, int64_t until_us);

/* The amount booked at a time. */
double timeline_at(const struct timeline *t, int64_t at_us);

/* What others may have booked so that an amount is free of a total: their difference, and 1e-9 of the total. Below 0:
 * the amount is never free. total INFINITY: unlimited. */
double timeline_limit(double total, double amount);

/* The first time, at least from_us, from which at most limit is booked for duration_us (TIMELINE_END: for ever). Gaps
 * between bookings are used. TIMELINE_END: there is none. */
int64_t timeline_first_fit(const struct timeline *t, int64_t from_us, int64_t duration_us, double limit);

/* The first time, at least from_us, from which at most limit is booked for ever: gaps are not used. TIMELINE_END: there
 * is none. Source: docs/formulas.md 7 (Grid Engine's reservation). */
int64_t timeline_free_for_ever(const struct timeline *t, int64_t from_us, double limit);

#endif
