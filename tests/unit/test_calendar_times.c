/* Calendars as times. The rules of zones are written out, so the test needs no zone database. In Berlin 2027-03-28 has
 * no 2:00 to 3:00, and 2027-10-31 has it twice. */
#include "dies.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "base/text.h"
#include "daemon/calendar_times.h"
#include "sched/timeline.h"

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define CUBA "CST5CDT4,M3.2.0/0,M11.1.0/1" /* 2027-03-14 has no 0:00 to 1:00; 2027-11-07 has it twice */

static struct arena arena;

static int64_t utc_us(const char *text)
{
    struct tm tm = {0};
    assert_non_null(strptime(text, "%Y-%m-%d %H:%M", &tm));
    return (int64_t)timegm(&tm) * US_PER_S;
}

static struct calendar_times times_of(const char *zone, const char *week_text, int64_t from_us, int64_t until_us)
{
    struct calendar_entries year = {0}, week;
    setenv("TZ", zone, 1);
    tzset();
    assert_int_equal(calendar_text_week(str(week_text), "week", &arena, &week, NULL), 0);
    return calendar_times_make(&year, &week, from_us, until_us, &arena);
}

static void add_time(struct buf *out, int64_t at_us)
{
    char text[40];
    struct tm tm;
    time_t at = (time_t)(at_us / US_PER_S);
    strftime(text, sizeof text, "%d %H:%M", gmtime_r(&at, &tm));
    buf_add_text(out, at_us == TIMELINE_END ? "" : text);
}

/* "28 01:30-28 04:00 ..." in UTC */
static const char *format(const struct calendar_times *t)
{
    struct buf out = {0};
    for (uint32_t i = 0; i < t->count; i++) {
        buf_add_text(&out, i > 0 ? ", " : "");
        add_time(&out, t->items[i].from_us);
        buf_add_char(&out, '-');
        add_time(&out, t->items[i].until_us);
    }
    const char *copy = arena_copy(&arena, (struct str){out.text, out.length});
    buf_release(&out);
    return copy;
}

static void times_follow_local_clocks(void **unused)
{
    (void)unused;
    static const struct {
        const char *zone, *week, *from, *until, *closed;
    } rows[] = {
        {"UTC0", "6-20", "2027-03-08 00:00", "2027-03-10 00:00", "08 06:00-08 20:00, 09 06:00-09 20:00, 10 00:00-"},
        {"UTC0", "6-20", "2027-03-08 12:00", "2027-03-09 12:00", "08 12:00-08 20:00, 09 06:00-09 12:00, 09 12:00-"},
        {"UTC0", "20-6", "2027-03-08 00:00", "2027-03-09 12:00", "08 00:00-08 06:00, 08 20:00-09 06:00, 09 12:00-"},
        {"UTC0", "on", "2027-03-08 00:00", "2027-03-10 00:00", ""},
        {"UTC0", "NONE", "2027-03-08 00:00", "2027-03-10 00:00", ""},
        {"UTC0", "off", "2027-03-08 00:00", "2027-03-10 00:00", "08 00:00-10 00:00, 10 00:00-"},
        {"XXX-5:30", "mon=0-1", "2027-03-07 00:00", "2027-03-09 00:00", "07 18:30-07 19:30, 09 00:00-"},
        {BERLIN, "6-20", "2027-03-27 00:00", "2027-03-29 00:00", "27 05:00-27 19:00, 28 04:00-28 18:00, 29 00:00-"},
        {BERLIN, "2:30-4", "2027-03-28 00:00", "2027-03-28 20:00", "28 01:00-28 02:00, 28 20:00-"},
        {BERLIN, "2-3,4-5", "2027-03-28 00:00", "2027-03-28 20:00", "28 02:00-28 03:00, 28 20:00-"},
        {BERLIN, "2-3", "2027-10-31 00:00", "2027-10-31 20:00", "31 00:00-31 02:00, 31 20:00-"},
        {BERLIN, "2:15-2:45", "2027-10-31 00:00", "2027-10-31 20:00",
         "31 00:15-31 00:45, 31 01:15-31 01:45, 31 20:00-"},
        {BERLIN, "sun", "2027-10-30 00:00", "2027-11-02 00:00", "30 22:00-31 23:00, 02 00:00-"},
        {CUBA, "sun", "2027-03-13 00:00", "2027-03-16 00:00", "14 05:00-15 04:00, 16 00:00-"},
        {CUBA, "sun=0-1", "2027-11-06 00:00", "2027-11-09 00:00", "07 04:00-07 06:00, 09 00:00-"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct calendar_times t =
            times_of(rows[i].zone, rows[i].week, utc_us(rows[i].from), utc_us(rows[i].until));
        if (strcmp(format(&t), rows[i].closed) != 0)
            fail_msg("%s, %s: %s is not %s", rows[i].zone, rows[i].week, format(&t), rows[i].closed);
        assert_int_equal(t.known_until_us, utc_us(rows[i].until));
    }
}

static bool is_in(const struct calendar_times *t, int64_t at_us)
{
    bool is_in = false;
    for (uint32_t i = 0; i < t->count; i++) is_in |= t->items[i].from_us <= at_us && at_us < t->items[i].until_us;
    return is_in;
}

/* A queue is closed at a time exactly if the calendar says so for what the clocks show then. */
static void closed_is_what_the_clocks_say(void **unused)
{
    (void)unused;
    static const char *const zones[] = {"UTC0", BERLIN, CUBA, "XXX-5:30", "XXX11"};
    static const char *const week_text = "mon-fri=6-20 sun=0:30-2:30,23-24 tue=13-17=on";
    int64_t from_us = utc_us("2027-01-01 00:00"), until_us = from_us + (int64_t)400 * CALENDAR_DAY_S * US_PER_S;
    for (size_t z = 0; z < COUNT(zones); z++) {
        struct calendar_entries year = {0}, week;
        const struct calendar_times t = times_of(zones[z], week_text, from_us, until_us);
        assert_int_equal(calendar_text_week(str(week_text), "week", &arena, &week, NULL), 0);
        for (int64_t at_us = from_us; at_us < until_us; at_us += 977 * US_PER_S) {
            time_t at = (time_t)(at_us / US_PER_S);
            struct tm tm;
            localtime_r(&at, &tm);
            uint32_t second = (uint32_t)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec);
            const struct calendar_day day = {(uint32_t)tm.tm_year + 1900, (uint32_t)tm.tm_mon + 1, (uint32_t)tm.tm_mday,
                                             (uint32_t)tm.tm_wday};
            const struct calendar_spans spans = calendar_text_closed(&year, &week, &day, &arena);
            bool is_closed = false;
            for (uint32_t i = 0; i < spans.count; i++)
                is_closed |= spans.items[i].from_s <= second && second < spans.items[i].until_s;
            if (is_in(&t, at_us) != is_closed) fail_msg("%s at %lld", zones[z], (long long)at);
        }
        arena_clear(&arena);
    }
}

/* Ten closed times a day for 400 days are more than there is room for. */
static void what_is_not_known_is_closed(void **unused)
{
    (void)unused;
    int64_t from_us = utc_us("2027-01-01 00:00"), until_us = from_us + (int64_t)400 * CALENDAR_DAY_S * US_PER_S;
    const struct calendar_times t =
        times_of("UTC0", "0-1,2-3,4-5,6-7,8-9,10-11,12-13,14-15,16-17,18-19", from_us, until_us);
    assert_int_equal(t.count, CALENDAR_TIMES_MAX + 1);
    assert_int_equal(t.known_until_us, from_us + ((int64_t)99 * 24 + 19) * 3600 * US_PER_S);
    assert_int_equal(t.items[CALENDAR_TIMES_MAX].from_us, t.known_until_us);
    assert_int_equal(t.items[CALENDAR_TIMES_MAX].until_us, TIMELINE_END);
}

/* A job may last longer than the times that are computed; a closing that has passed closes nothing. */
static void the_first_closing_may_be_far_away(void **unused)
{
    (void)unused;
    static const struct {
        const char *year, *closed_from;
    } rows[] = {{"29.2.2028=off", "2028-02-29 00:00"}, {"1.1.2020=off", NULL}};
    int64_t from_us = utc_us("2026-11-22 00:00"), until_us = from_us + (int64_t)400 * CALENDAR_DAY_S * US_PER_S;
    setenv("TZ", "UTC0", 1);
    tzset();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct calendar_entries year, week;
        assert_int_equal(calendar_text_year(str(rows[i].year), "year", &arena, &year, NULL), 0);
        assert_int_equal(calendar_text_week(str("NONE"), "week", &arena, &week, NULL), 0);
        const struct calendar_times t = calendar_times_make(&year, &week, from_us, until_us, &arena);
        assert_int_equal(t.count, rows[i].closed_from != NULL);
        if (t.count == 0) continue;
        assert_int_equal(t.items[0].from_us, utc_us(rows[i].closed_from));
        assert_int_equal(t.items[0].until_us, TIMELINE_END);
    }
}

static void the_horizon_moves_once_a_day(void **unused)
{
    (void)unused;
    int64_t day_us = (int64_t)CALENDAR_DAY_S * US_PER_S, begin_us = utc_us("2027-03-08 00:00");
    assert_int_equal(calendar_times_horizon_us(begin_us), begin_us + 400 * day_us);
    assert_int_equal(calendar_times_horizon_us(begin_us + day_us - 1), begin_us + 400 * day_us);
    assert_int_equal(calendar_times_horizon_us(begin_us + day_us), begin_us + 401 * day_us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_follow_local_clocks),    cmocka_unit_test(closed_is_what_the_clocks_say),
        cmocka_unit_test(what_is_not_known_is_closed),  cmocka_unit_test(the_first_closing_may_be_far_away),
        cmocka_unit_test(the_horizon_moves_once_a_day),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
