/* Boundaries of a period in local time. The rules of zones are written out, so the test needs no zone database. Cuba's
 * clocks go forward and back over midnight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/reset_period.h"

#define CUBA "CST5CDT4,M3.2.0/0,M11.1.0/1"
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

static int64_t utc_us(const char *text)
{
    struct tm tm = {0};
    assert_non_null(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
    return (int64_t)timegm(&tm) * 1000000;
}

static void assert_time(int64_t found_us, const char *expected, const char *name)
{
    char text[40];
    struct tm tm;
    time_t at = (time_t)(found_us / 1000000);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", gmtime_r(&at, &tm));
    if (found_us % 1000000 != 0 || strcmp(text, expected) != 0) fail_msg("%s: %s is not %s", name, text, expected);
}

static void periods_begin_at_local_midnight(void **unused)
{
    (void)unused;
    static const struct {
        const char *zone;
        enum usage_reset period;
        const char *at, *begin, *end; /* in UTC */
    } rows[] = {
        {"UTC0", USAGE_RESET_DAILY, "2026-11-21 15:00:00", "2026-11-21 00:00:00", "2026-11-22 00:00:00"},
        {"UTC0", USAGE_RESET_DAILY, "2026-11-21 00:00:00", "2026-11-21 00:00:00", "2026-11-22 00:00:00"},
        {"UTC0", USAGE_RESET_DAILY, "2026-12-31 23:59:59", "2026-12-31 00:00:00", "2027-01-01 00:00:00"},
        {"UTC0", USAGE_RESET_WEEKLY, "2026-11-21 15:00:00", "2026-11-15 00:00:00", "2026-11-22 00:00:00"},
        {"UTC0", USAGE_RESET_WEEKLY, "2026-11-22 00:00:00", "2026-11-22 00:00:00", "2026-11-29 00:00:00"},
        {"UTC0", USAGE_RESET_WEEKLY, "2026-01-01 10:00:00", "2025-12-28 00:00:00", "2026-01-04 00:00:00"},
        {"UTC0", USAGE_RESET_MONTHLY, "2026-01-31 15:00:00", "2026-01-01 00:00:00", "2026-02-01 00:00:00"},
        {"UTC0", USAGE_RESET_MONTHLY, "2024-02-29 15:00:00", "2024-02-01 00:00:00", "2024-03-01 00:00:00"},
        {"UTC0", USAGE_RESET_QUARTERLY, "2026-11-21 15:00:00", "2026-10-01 00:00:00", "2027-01-01 00:00:00"},
        {"UTC0", USAGE_RESET_QUARTERLY, "2026-05-31 15:00:00", "2026-04-01 00:00:00", "2026-07-01 00:00:00"},
        {"UTC0", USAGE_RESET_YEARLY, "2026-11-21 15:00:00", "2026-01-01 00:00:00", "2027-01-01 00:00:00"},
        {"XXX-5:30", USAGE_RESET_DAILY, "2026-11-21 18:29:59", "2026-11-20 18:30:00", "2026-11-21 18:30:00"},
        {"XXX-5:30", USAGE_RESET_DAILY, "2026-11-21 18:30:00", "2026-11-21 18:30:00", "2026-11-22 18:30:00"},
        {BERLIN, USAGE_RESET_DAILY, "2026-03-29 12:00:00", "2026-03-28 23:00:00", "2026-03-29 22:00:00"},
        {BERLIN, USAGE_RESET_MONTHLY, "2026-10-31 12:00:00", "2026-09-30 22:00:00", "2026-10-31 23:00:00"},
        {CUBA, USAGE_RESET_DAILY, "2026-03-08 12:00:00", "2026-03-08 05:00:00", "2026-03-09 04:00:00"},
        {CUBA, USAGE_RESET_DAILY, "2026-03-08 04:59:59", "2026-03-07 05:00:00", "2026-03-08 05:00:00"},
        {CUBA, USAGE_RESET_DAILY, "2026-11-01 04:30:00", "2026-11-01 04:00:00", "2026-11-02 05:00:00"},
        {CUBA, USAGE_RESET_DAILY, "2026-11-01 05:30:00", "2026-11-01 04:00:00", "2026-11-02 05:00:00"},
        {CUBA, USAGE_RESET_WEEKLY, "2026-11-04 12:00:00", "2026-11-01 04:00:00", "2026-11-08 05:00:00"},
        {CUBA, USAGE_RESET_MONTHLY, "2026-10-10 12:00:00", "2026-10-01 04:00:00", "2026-11-01 04:00:00"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("TZ", rows[i].zone, 1);
        tzset();
        assert_time(reset_period_begin_us(rows[i].period, utc_us(rows[i].at)), rows[i].begin, rows[i].at);
        assert_time(reset_period_end_us(rows[i].period, utc_us(rows[i].at)), rows[i].end, rows[i].at);
    }
}

/* Every period ends where the next one begins: second by second on the days of clock changes, and month by month. */
static void periods_are_contiguous(void **unused)
{
    (void)unused;
    static const char *const zones[] = {"UTC0", BERLIN, CUBA, "XXX-13:45", "YYY11"};
    for (size_t z = 0; z < sizeof zones / sizeof *zones; z++) {
        setenv("TZ", zones[z], 1);
        tzset();
        for (int period = USAGE_RESET_DAILY; period <= USAGE_RESET_YEARLY; period++) {
            int64_t at_us = utc_us("2023-12-30 00:00:00"), last_us = utc_us("2028-01-02 00:00:00");
            while (at_us < last_us) {
                int64_t begin_us = reset_period_begin_us((enum usage_reset)period, at_us);
                int64_t end_us = reset_period_end_us((enum usage_reset)period, at_us);
                assert_true(begin_us <= at_us && at_us < end_us);
                assert_true(reset_period_begin_us((enum usage_reset)period, end_us - 1) == begin_us);
                assert_true(reset_period_begin_us((enum usage_reset)period, end_us) == end_us);
                at_us = end_us + (end_us - begin_us) / 3;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(periods_begin_at_local_midnight),
                                       cmocka_unit_test(periods_are_contiguous)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
