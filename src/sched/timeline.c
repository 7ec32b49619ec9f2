/* A sorted array of changes. Most time lines have few (a host has a handful of jobs); one of a licence that every job
 * takes has thousands, which timeline_book_all sorts once. */
#include "sched/timeline.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"

static const double tolerance = 1e-9;

void timeline_release(struct timeline *t)
{
    array_release(&t->changes);
}

void timeline_clear(struct timeline *t)
{
    array_clear(&t->changes);
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

/* A time at which the booked amount changes by a difference. */
struct step {
    int64_t at_us;
    double difference;
};

/* The steps of the time line and the bookings, in ascending order of time. Returns their number. */
static uint32_t sorted_steps(const struct timeline *t, const struct timeline_booking *bookings, uint32_t n,
                             struct arena *arena, struct step **out_steps)
{
    uint32_t max = t->changes.count + 2 * n, count = 0;
    struct step *steps = arena_alloc_raw(arena, (max + (size_t)1) * sizeof *steps);
    struct step *sorted = arena_alloc_raw(arena, (max + (size_t)1) * sizeof *sorted);
    struct sort_record *order = arena_alloc_raw(arena, (max + (size_t)1) * sizeof *order);
    struct sort_record *scratch = arena_alloc_raw(arena, (max + (size_t)1) * sizeof *scratch);
    double before = 0.0;
    for (uint32_t i = 0; i < t->changes.count; i++) {
        const struct timeline_change *c = &t->changes.items[i];
        steps[count++] = (struct step){c->at_us, c->booked - before};
        before = c->booked;
    }
    for (uint32_t i = 0; i < n; i++) {
        ensure(bookings[i].from_us < bookings[i].until_us);
        steps[count++] = (struct step){bookings[i].from_us, bookings[i].amount};
        if (bookings[i].until_us != TIMELINE_END)
            steps[count++] = (struct step){bookings[i].until_us, -bookings[i].amount};
    }
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct sort_record){.key = (uint64_t)steps[i].at_us ^ UINT64_C(1) << 63, .index = i};
    sort_records(order, count, scratch);
    for (uint32_t i = 0; i < count; i++) sorted[i] = steps[order[i].index];
    *out_steps = sorted;
    return count;
}

void timeline_book_all(struct timeline *t, const struct timeline_booking *bookings, uint32_t n)
{
    struct arena arena = {0};
    struct step *steps;
    uint32_t count = sorted_steps(t, bookings, n, &arena, &steps);
    double booked = 0.0, before = 0.0;
    array_clear(&t->changes);
    array_reserve(&t->changes, count);
    for (uint32_t i = 0; i < count;) {
        int64_t at_us = steps[i].at_us;
        for (; i < count && steps[i].at_us == at_us; i++) booked += steps[i].difference;
        if (booked == before) continue;
        *array_add(&t->changes) = (struct timeline_change){at_us, booked};
        before = booked;
    }
    arena_release(&arena);
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

int64_t timeline_next_change(const struct timeline *t, int64_t after_us)
{
    uint32_t i = count_until(t, after_us);
    return i < t->changes.count ? t->changes.items[i].at_us : TIMELINE_END;
}
