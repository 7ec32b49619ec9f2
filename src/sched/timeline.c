/* A sorted array of changes. Most time lines have few (a host has a handful of jobs). */
#include "sched/timeline.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"

static const double tolerance = 1e-9;

void timeline_release(struct timeline *t)
{
    array_release(&t->changes);
}

double timeline_limit(double total, double amount)
{
    return isinf(total) ? total : total - amount + fmin(tolerance * fabs(total), 0.5); /* less than a whole one */
}

/* The number of changes at or before a time: the change in force is the one before. */
static uint32_t count_until(const struct timeline *t, int64_t at_us)
{
    uint32_t low = 0, high = t->changes.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->changes.items[middle].at_us <= at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double timeline_at(const struct timeline *t, int64_t at_us)
{
    uint32_t after = count_until(t, at_us);
    return after > 0 ? t->changes.items[after - 1].booked : 0.0;
}

/* --- booking ------------------------------------------------------------------------------------------------------ */

/* Makes a change at a time, with the amount in force there, unless there is one. Returns its index. */
static uint32_t split(struct timeline *t, int64_t at_us)
{
    uint32_t after = count_until(t, at_us);
    if (after > 0 && t->changes.items[after - 1].at_us == at_us) return after - 1;
    double booked = after > 0 ? t->changes.items[after - 1].booked : 0.0;
    (void)array_add(&t->changes);
    struct timeline_change *new = &t->changes.items[after];
    memmove(new + 1, new, (t->changes.count - 1 - after) * sizeof *new);
    *new = (struct timeline_change){at_us, booked};
    return after;
}

/* Removes a change that changes nothing. */
static void merge(struct timeline *t, uint32_t index)
{
    struct timeline_change *c = t->changes.items;
    if (index >= t->changes.count || c[index].booked != (index > 0 ? c[index - 1].booked : 0.0)) return;
    memmove(c + index, c + index + 1, (--t->changes.count - index) * sizeof *c);
}

void timeline_book(struct timeline *t, const struct timeline_booking *booking)
{
    ensure(booking->from_us < booking->until_us && booking->from_us > INT64_MIN);
    if (booking->amount == 0.0) return;
    uint32_t first = split(t, booking->from_us);
    uint32_t end = booking->until_us == TIMELINE_END ? t->changes.count : split(t, booking->until_us);
    for (uint32_t i = first; i < end; i++) t->changes.items[i].booked += booking->amount;
    merge(t, end);
    merge(t, first);
}

/* --- searching ---------------------------------------------------------------------------------------------------- */

double timeline_max(const struct timeline *t, int64_t from_us, int64_t until_us)
{
    double max = 0.0;
    uint32_t i = count_until(t, from_us);
    for (i = i > 0 ? i - 1 : 0; i < t->changes.count && t->changes.items[i].at_us < until_us; i++) {
        if (t->changes.items[i].booked > max) max = t->changes.items[i].booked;
    }
    return max;
}

int64_t timeline_first_fit(const struct timeline *t, int64_t from_us, int64_t duration_us, double limit)
{
    if (limit < 0.0) return TIMELINE_END;
    int64_t start_us = from_us;
    uint32_t i = count_until(t, from_us);
    for (i = i > 0 ? i - 1 : 0; i < t->changes.count; i++) {
        const struct timeline_change *c = &t->changes.items[i];
        if (c->at_us > start_us && (uint64_t)c->at_us - (uint64_t)start_us >= (uint64_t)duration_us) return start_us;
        if (c->booked <= limit) continue;
        if (i + 1 == t->changes.count) return TIMELINE_END;
        start_us = t->changes.items[i + 1].at_us > from_us ? t->changes.items[i + 1].at_us : from_us;
    }
    return start_us;
}

int64_t timeline_free_for_ever(const struct timeline *t, int64_t from_us, double limit)
{
    if (limit < 0.0) return TIMELINE_END;
    uint32_t i = t->changes.count;
    while (i > 0 && t->changes.items[i - 1].booked <= limit) i--;
    if (i == 0) return from_us;
    if (i == t->changes.count) return TIMELINE_END;
    return t->changes.items[i].at_us > from_us ? t->changes.items[i].at_us : from_us;
}
