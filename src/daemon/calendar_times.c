#include "daemon/calendar_times.h"

#include <time.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "sched/timeline.h"

/* A stretch of time within one local day, in which the clocks are not changed. */
struct stretch {
    int64_t from_s, until_s;
    uint32_t clock_s; /* of the day, at from_s */
    struct calendar_day day;
};

static struct tm local_time(int64_t at_s)
{
    time_t time = (time_t)at_s;
    struct tm tm;
    ensure(localtime_r(&time, &tm) != NULL);
    return tm;
}

/* The first second from low on, at which the clocks differ from UTC by something else; at high they do. */
static int64_t find_change(int64_t low, int64_t high, long offset_s)
{
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (local_time(middle).tm_gmtoff == offset_s)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static struct stretch stretch_at(int64_t at_s)
{
    const struct tm tm = local_time(at_s);
    struct stretch s = {.from_s = at_s,
                        .clock_s = (uint32_t)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec),
                        .day = {.year = (uint32_t)tm.tm_year + 1900,
                                .month = (uint32_t)tm.tm_mon + 1,
                                .day = (uint32_t)tm.tm_mday,
                                .weekday = (uint32_t)tm.tm_wday}};
    s.until_s = at_s + CALENDAR_DAY_S - s.clock_s;
    if (local_time(s.until_s).tm_gmtoff != tm.tm_gmtoff) s.until_s = find_change(at_s, s.until_s, tm.tm_gmtoff);
    return s;
}

/* Returns false if there is no room for it. */
static bool add(struct calendar_times *t, int64_t from_s, int64_t until_s)
{
    int64_t from_us = from_s * US_PER_S, until_us = until_s * US_PER_S;
    if (t->count > 0 && t->items[t->count - 1].until_us == from_us) {
        t->items[t->count - 1].until_us = until_us;
        return true;
    }
    if (t->count == CALENDAR_TIMES_MAX) return false;
    t->items[t->count++] = (struct closed_time){from_us, until_us};
    return true;
}

static bool add_stretch(struct calendar_times *t, const struct stretch *s, const struct calendar_spans *spans)
{
    uint32_t clock_end_s = s->clock_s + (uint32_t)(s->until_s - s->from_s);
    for (uint32_t i = 0; i < spans->count; i++) {
        uint32_t from_s = spans->items[i].from_s, until_s = spans->items[i].until_s;
        if (from_s < s->clock_s) from_s = s->clock_s;
        if (until_s > clock_end_s) until_s = clock_end_s;
        if (from_s >= until_s) continue;
        if (!add(t, s->from_s + from_s - s->clock_s, s->from_s + until_s - s->clock_s)) return false;
    }
    return true;
}

int64_t calendar_times_horizon_us(int64_t now_us)
{
    const int64_t horizon_days = 400, day_us = (int64_t)CALENDAR_DAY_S * US_PER_S;
    return (now_us / day_us + horizon_days) * day_us;
}

/* Adds the closed times from from_s on, until there are so many. Returns whether there was room for all. */
static bool add_days(struct calendar_times *t, const struct calendar_entries *year, const struct calendar_entries *week,
                     int64_t from_s, int64_t until_s, uint32_t max)
{
    struct arena scratch = {0};
    bool has_room = true;
    for (int64_t at_s = from_s; at_s < until_s && has_room && t->count < max;) {
        struct stretch s = stretch_at(at_s);
        if (s.until_s > until_s) s.until_s = until_s;
        const struct calendar_spans spans = calendar_text_closed(year, week, &s.day, &scratch);
        has_room = add_stretch(t, &s, &spans);
        at_s = s.until_s;
        arena_clear(&scratch);
    }
    arena_release(&scratch);
    return has_room;
}

struct calendar_times calendar_times_make(const struct calendar_entries *year, const struct calendar_entries *week,
                                          int64_t from_us, int64_t until_us, struct arena *arena)
{
    struct calendar_times t = {.items = arena_alloc(arena, (CALENDAR_TIMES_MAX + 1) * sizeof *t.items),
                               .known_until_us = until_us};
    int64_t from_s = from_us / US_PER_S, until_s = until_us / US_PER_S;
    if (year->count + week->count == 0) return t;
    bool has_room = add_days(&t, year, week, from_s, until_s, UINT32_MAX);
    if (!has_room && t.count > 0) t.known_until_us = t.items[t.count - 1].until_us;
    if (t.count == 0) { /* a job may last until the first one */
        (void)add_days(&t, year, week, until_s, until_s + DURATION_S_MAX, 1);
        if (t.count == 0) return t;
        t.known_until_us = t.items[0].from_us;
        t.count = 0;
    }
    t.items[t.count++] = (struct closed_time){t.known_until_us, TIMELINE_END};
    return t;
}
