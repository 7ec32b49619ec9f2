/* Laws of time lines, against an array with one entry a second.
 *
 *   1. The maximum of a window is that of its seconds.
 *   2. The first fit is the first second from which the limit holds for the duration; nothing earlier fits.
 *   3. The time of timeline_free_for_ever is the first second from which the limit holds for ever.
 *   4. Bookings in any order give the same amounts.
 *   5. Changes ascend, and neighbours differ. */
#include "../dies.h"

#include "base/rng.h"
#include "sched/timeline.h"

enum { SECONDS = 40, BOOKINGS = 12 }; /* from second SECONDS on, only endless bookings count */

struct slow_timeline {
    double booked[SECONDS + 1]; /* the last entry: for ever */
};

static void slow_book(struct slow_timeline *s, const struct timeline_booking *b)
{
    for (int64_t i = 0; i <= SECONDS; i++) {
        if (i >= b->from_us && i < b->until_us) s->booked[i] += b->amount;
    }
}

static double slow_at(const struct slow_timeline *s, int64_t at)
{
    return at < 0 ? 0.0 : s->booked[at < SECONDS ? at : SECONDS];
}

static bool slow_fits(const struct slow_timeline *s, int64_t from, int64_t duration, double limit)
{
    int64_t end = duration == TIMELINE_END ? 3 * SECONDS : from + duration;
    for (int64_t i = from; i < end; i++) {
        if (slow_at(s, i) > limit) return false;
    }
    return true;
}

static int64_t slow_first_fit(const struct slow_timeline *s, int64_t from, int64_t duration, double limit)
{
    for (int64_t start = from; start <= 2 * SECONDS; start++) {
        if (slow_fits(s, start, duration, limit)) return start;
    }
    return TIMELINE_END;
}

static void check_searches(const struct timeline *t, const struct slow_timeline *s, struct rng *rng)
{
    for (int i = 0; i < 40; i++) {
        int64_t from = (int64_t)rng_below(rng, SECONDS + 5) - 2, duration = 1 + rng_below(rng, SECONDS);
        double limit = (double)rng_below(rng, 12) + 0.25, max = 0.0;
        if (rng_below(rng, 8) == 0) duration = TIMELINE_END;
        assert_int_equal(timeline_first_fit(t, from, duration, limit), slow_first_fit(s, from, duration, limit));
        assert_int_equal(timeline_free_for_ever(t, from, limit), slow_first_fit(s, from, TIMELINE_END, limit));
        if (duration == TIMELINE_END) continue;
        for (int64_t at = from; at < from + duration; at++) max = slow_at(s, at) > max ? slow_at(s, at) : max;
        assert_true(timeline_max(t, from, from + duration) == max);
    }
}

static void check_changes(const struct timeline *t, const struct slow_timeline *s)
{
    double before = 0.0;
    for (uint32_t i = 0; i < t->changes.count; i++) {
        const struct timeline_change *c = &t->changes.items[i];
        assert_true(i == 0 || c->at_us > c[-1].at_us);
        assert_true(c->booked != before && c->booked == slow_at(s, c->at_us));
        before = c->booked;
    }
}

static void time_lines_equal_seconds(void **unused)
{
    (void)unused;
    struct rng rng = {.state = 9};
    for (int world = 0; world < 3000; world++) {
        struct timeline in_order = {0}, rotated = {0};
        struct slow_timeline slow = {0};
        struct timeline_booking bookings[BOOKINGS];
        uint32_t n = rng_below(&rng, BOOKINGS + 1), first = rng_below(&rng, n + 1);
        for (uint32_t i = 0; i < n; i++) {
            int64_t from = rng_below(&rng, SECONDS - 1);
            int64_t until = from + 1 + rng_below(&rng, (uint32_t)(SECONDS - from));
            bookings[i] =
                (struct timeline_booking){from, rng_below(&rng, 6) ? until : TIMELINE_END, (double)rng_below(&rng, 5)};
            slow_book(&slow, &bookings[i]);
        }
        for (uint32_t i = 0; i < n; i++) timeline_book(&in_order, &bookings[i]);
        for (uint32_t i = 0; i < n; i++) timeline_book(&rotated, &bookings[(i + first) % n]);
        const struct timeline *both[] = {&in_order, &rotated};
        for (size_t i = 0; i < COUNT(both); i++) {
            check_changes(both[i], &slow);
            check_searches(both[i], &slow, &rng);
        }
        assert_int_equal(in_order.changes.count, rotated.changes.count);
        timeline_release(&in_order);
        timeline_release(&rotated);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(time_lines_equal_seconds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
