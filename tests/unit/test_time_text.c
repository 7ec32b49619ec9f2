/* Times as people write them, parsed at a fixed time in a fixed zone, with and without summer time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "base/text.h"
#include "options/time_text.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* Two hours ahead of UTC in summer, one in winter. */
static const char zone[] = "CET-1CEST,M3.5.0,M10.5.0/3";

struct row {
    const char *now, *text, *time;
    const char *behind; /* the time of the other side; NULL: the same */
};

static const struct row rows[] = {
    {"2026-11-21T10:00:00Z", "now", "2026-11-21T10:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "NOW", "2026-11-21T10:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now+90", "2026-11-21T10:01:30Z", NULL},
    {"2026-11-21T10:00:00Z", "now+0", "2026-11-21T10:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now+1hour", "2026-11-21T11:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now+2hours", "2026-11-21T12:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now+30m", "2026-11-21T10:30:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now+1day", "2026-11-22T10:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now+2weeks", "2026-12-05T10:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "16:00", "2026-11-21T15:00:00Z", "2026-11-20T15:00:00Z"},
    {"2026-11-21T10:00:00Z", "16:00:30", "2026-11-21T15:00:30Z", "2026-11-20T15:00:30Z"},
    {"2026-11-21T10:00:00Z", "10:30", "2026-11-22T09:30:00Z", "2026-11-21T09:30:00Z"},
    {"2026-11-21T10:00:00Z", "11:00", "2026-11-22T10:00:00Z", "2026-11-21T10:00:00Z"}, /* now is exactly that time */
    {"2026-11-30T10:00:00Z", "10:30", "2026-12-01T09:30:00Z", "2026-11-30T09:30:00Z"},
    {"2026-12-31T23:30:00Z", "00:10", "2027-01-01T23:10:00Z", "2026-12-31T23:10:00Z"},
    {"2026-11-21T10:00:00Z", "noon", "2026-11-21T11:00:00Z", "2026-11-20T11:00:00Z"},
    {"2026-11-21T10:00:00Z", "midnight", "2026-11-21T23:00:00Z", "2026-11-20T23:00:00Z"},
    {"2026-11-21T10:00:00Z", "tomorrow", "2026-11-21T23:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "today", "2026-11-20T23:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "yesterday", "2026-11-19T23:00:00Z", NULL},
    {"2026-03-01T10:00:00Z", "Yesterday", "2026-02-27T23:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now-1hour", "2026-11-21T09:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "now-90", "2026-11-21T09:58:30Z", NULL},
    {"2026-11-21T10:00:00Z", "now+1.5h", "2026-11-21T11:30:00Z", NULL},
    {"2026-11-21T10:00:00Z", "1h", "2026-11-21T11:00:00Z", "2026-11-21T09:00:00Z"},
    {"2026-11-21T10:00:00Z", "2d", "2026-11-23T10:00:00Z", "2026-11-19T10:00:00Z"},
    {"2026-11-21T10:00:00Z", "1.5h", "2026-11-21T11:30:00Z", "2026-11-21T08:30:00Z"},
    {"2026-11-21T10:00:00Z", "00:30", "2026-11-21T23:30:00Z", "2026-11-20T23:30:00Z"},
    {"2026-11-21T10:00:00Z", "monday", "2026-11-22T23:00:00Z", "2026-11-15T23:00:00Z"}, /* now is a Saturday */
    {"2026-11-21T10:00:00Z", "Sun", "2026-11-21T23:00:00Z", "2026-11-14T23:00:00Z"},
    {"2026-11-21T10:00:00Z", "saturday", "2026-11-27T23:00:00Z", "2026-11-20T23:00:00Z"},
    {"2026-03-28T12:00:00Z", "tomorrow", "2026-03-28T23:00:00Z", NULL},
    {"2026-03-28T12:00:00Z", "10:00", "2026-03-29T08:00:00Z",
     "2026-03-28T09:00:00Z"}, /* the clocks go forward in between */
    {"2026-11-21T10:00:00Z", "2026-11-22", "2026-11-21T23:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "2026-07-01", "2026-06-30T22:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "2026-11-22T09:05", "2026-11-22T08:05:00Z", NULL},
    {"2026-11-21T10:00:00Z", "2026-11-22 09:05:07", "2026-11-22T08:05:07Z", NULL},
    {"2026-11-21T10:00:00Z", "2026-11-22T09:05Z", "2026-11-22T09:05:00Z", NULL},
    {"2026-11-21T10:00:00Z", "2026-11-22T09:05:00-03:30", "2026-11-22T12:35:00Z", NULL},
    {"2026-11-21T10:00:00Z", "2024-02-29", "2024-02-28T23:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "202611220905", "2026-11-22T08:05:00Z", NULL},
    {"2026-11-21T10:00:00Z", "202611220905.30", "2026-11-22T08:05:30Z", NULL},
    {"2026-11-21T10:00:00Z", "1795243000", "2026-11-21T06:36:40Z", NULL},
    {"2026-11-21T10:00:00Z", "0", "1970-01-01T00:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "1969-12-31", "1969-12-30T23:00:00Z", NULL},
    {"2026-11-21T10:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", NULL},
    {"2026-11-21T10:00:00Z", "now+251600000000", "9999-10-11T10:53:20Z", NULL},
};

static const char *const bad[] = {
    "",
    "now+",
    "now-",
    "now-x",
    "now*1",
    "now+1x",
    "now+x",
    "now+1hourss",
    "now +1",
    "now+18446744073709551616",
    "now+18446744073709551615weeks",
    "nowhere",
    "mo",
    "mond",
    "1 h",
    "1h30",
    "24:00",
    "12:60",
    "1:00",
    "12:00:60",

    "2026-13-01",
    "2026-02-30",
    "2026-11-21T",
    "2026-11-21T9:05",
    "2026-11-21T24:00",
    "2026-11-21t09:05",
    "2026-11-21T09:05:00 Z",
    "21.11.2026",
    "-1",
    "1.5",
    "202613220905",
};

static int64_t at(const char *text)
{
    int64_t time_us;
    struct err e;
    if (time_parse(str(text), "test", &time_us, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    return time_us;
}

static void check_row(const struct row *row, enum time_side side, const char *expected)
{
    int64_t time_us;
    char text[32];
    struct err e = {0};
    if (time_text_parse(str(row->text), "--begin", &(struct time_context){side, at(row->now)}, &time_us, &e) != 0)
        fail_msg("'%s': %s", row->text, ERR_SENTENCE(&e));
    time_format(text, time_us);
    if (time_us != at(expected)) fail_msg("'%s' is %s, not %s (side %d)", row->text, text, expected, (int)side);
}

static void times_are_read(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_row(&rows[i], TIME_AHEAD, rows[i].time);
        check_row(&rows[i], TIME_BEHIND, rows[i].behind != NULL ? rows[i].behind : rows[i].time);
    }
}

static void others_are_refused(void **unused)
{
    (void)unused;
    const struct time_context ahead = {TIME_AHEAD, at("2026-11-21T10:00:00Z")};
    for (size_t i = 0; i < COUNT(bad); i++) {
        int64_t time_us = 7;
        struct err e = {0};
        if (time_text_parse(str(bad[i]), "--begin", &ahead, &time_us, &e) != -1)
            fail_msg("'%s' is taken for a time", bad[i]);
        assert_int_equal(e.code, ERR_INPUT);
        assert_true(str_starts(str(ERR_SENTENCE(&e)), str("--begin: '")));
        assert_non_null(strstr(ERR_SENTENCE(&e), "' is not a time: " TIME_TEXT_FORMATS));
        assert_int_equal(time_us, 7);
    }
}

/* A duration that no number can hold ends after the last time, and does not begin again at the first. */
static void durations_do_not_overflow(void **unused)
{
    static const char *const late[] = {"now+61001138weeks", "now+99999999days", "now+99999999weeks",
                                       "now+253402300799",  "now+999999999999", "1099511627775w"};
    (void)unused;
    const struct time_context ahead = {TIME_AHEAD, at("2026-11-21T10:00:00Z")};
    for (size_t i = 0; i < COUNT(late); i++) {
        int64_t time_us = 7;
        struct err e = {0};
        assert_int_equal(time_text_parse(str(late[i]), "--begin", &ahead, &time_us, &e), 0);
        if (time_us <= at("9999-12-31T23:59:59Z")) fail_msg("'%s' is %lld", late[i], (long long)time_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(durations_do_not_overflow),
    };
    setenv("TZ", zone, 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
