/* Calendars: the message of each text that is refused, and when a queue is closed on a day. */
#include "dies.h"

#include <string.h>
#include <time.h>

#include "base/text.h"
#include "fields/calendar_text.h"

static struct arena arena;

/* "6:00-20:00 22:00-24:00"; "-": not at all. */
static const char *format_spans(const struct calendar_spans *spans)
{
    struct buf out = {0};
    for (uint32_t i = 0; i < spans->count; i++) {
        const struct calendar_span *s = &spans->items[i];
        buf_format(&out, "%s%u:%02u-%u:%02u", i > 0 ? " " : "", s->from_s / 3600, s->from_s / 60 % 60,
                   s->until_s / 3600, s->until_s / 60 % 60);
    }
    const char *copy = arena_copy(&arena, out.length > 0 ? (struct str){out.text, out.length} : str("-"));
    buf_release(&out);
    return copy;
}

/* date: "2027-03-13" */
static const char *closed_on(const char *year_text, const char *week_text, const char *date)
{
    struct calendar_entries year, week;
    struct tm tm = {0};
    assert_int_equal(calendar_text_year(str(year_text), "year", &arena, &year, NULL), 0);
    assert_int_equal(calendar_text_week(str(week_text), "week", &arena, &week, NULL), 0);
    assert_non_null(strptime(date, "%Y-%m-%d", &tm));
    timegm(&tm); /* finds the day of the week */
    const struct calendar_day day = {(uint32_t)tm.tm_year + 1900, (uint32_t)tm.tm_mon + 1, (uint32_t)tm.tm_mday,
                                     (uint32_t)tm.tm_wday};
    const struct calendar_spans spans = calendar_text_closed(&year, &week, &day, &arena);
    return format_spans(&spans);
}

/* 2027-03-08 is a Monday. */
static void a_queue_is_closed_on_days_and_at_times(void **unused)
{
    (void)unused;
    static const struct {
        const char *year, *week, *date, *closed;
    } rows[] = {
        {"NONE", "NONE", "2027-03-08", "-"},
        {"", " none ", "2027-03-08", "-"},
        {"NONE", "off", "2027-03-08", "0:00-24:00"},
        {"NONE", "6-20", "2027-03-08", "6:00-20:00"},
        {"NONE", "mon", "2027-03-08", "0:00-24:00"},
        {"NONE", "mon", "2027-03-09", "-"},
        {"NONE", "mon-fri=6-20", "2027-03-12", "6:00-20:00"},
        {"NONE", "mon-fri=6-20", "2027-03-13", "-"},
        {"NONE", "mon-fri=6-20=off", "2027-03-08", "6:00-20:00"},
        /* A blank begins the next entry, which is for all days: as Grid Engine reads it, and not DAYS=TIMES. */
        {"NONE", "mon-fri 6-20", "2027-03-12", "0:00-24:00"},
        {"NONE", "mon-fri 6-20", "2027-03-13", "6:00-20:00"},
        {"NONE", "Fri-Mon=OFF", "2027-03-08", "0:00-24:00"},
        {"NONE", "fri-mon=off", "2027-03-11", "-"},
        {"NONE", "mon-fri=20-6 sat-sun", "2027-03-08", "0:00-6:00 20:00-24:00"},
        {"NONE", "mon-fri=20-6 sat-sun", "2027-03-14", "0:00-24:00"},
        {"NONE", "20-0", "2027-03-08", "20:00-24:00"},
        {"NONE", "24-6", "2027-03-08", "0:00-6:00"},
        {"NONE", "6:30-7:15:00,7-8", "2027-03-08", "6:30-8:00"},
        {"NONE", "6-7,7-8", "2027-03-08", "6:00-8:00"},
        {"NONE", "12-18 tue=13-17=on", "2027-03-09", "12:00-13:00 17:00-18:00"}, /* of calendar_conf(5) */
        {"NONE", "12-18 tue=13-17=on", "2027-03-10", "12:00-18:00"},
        {"NONE", "on mon=off", "2027-03-08", "-"},
        {"12.03.2004=12-11=off", "NONE", "2004-03-12", "0:00-11:00 12:00-24:00"}, /* likewise */
        {"12.3.2004,1.5.-5.5.2004=off", "NONE", "2004-05-05", "0:00-24:00"},
        {"12.3.2004,1.5.-5.5.2004=off", "NONE", "2005-05-05", "-"},
        {"1.5.2004-5.5.", "NONE", "2004-05-03", "0:00-24:00"},
        {"1.may.2027", "NONE", "2027-05-01", "0:00-24:00"},
        {"1.5.", "NONE", "2031-05-01", "0:00-24:00"},
        {"24.12.-6.1.", "NONE", "2026-12-31", "0:00-24:00"},
        {"24.12.-6.1.", "NONE", "2027-01-06", "0:00-24:00"},
        {"24.12.-6.1.", "NONE", "2027-01-07", "-"},
        {"29.2.", "NONE", "2028-02-29", "0:00-24:00"},
        {"8.3.2027=on", "mon-fri=6-20", "2027-03-08", "-"}, /* the year alone */
        {"8.3.2027=1-2", "mon-fri=6-20", "2027-03-08", "1:00-2:00"},
        {"8.3.2027=on", "mon-fri=6-20", "2027-03-09", "6:00-20:00"},
        {"off 8.3.2027=8-9=on", "NONE", "2027-03-08", "0:00-8:00 9:00-24:00"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *closed = closed_on(rows[i].year, rows[i].week, rows[i].date);
        if (strcmp(closed, rows[i].closed) != 0)
            fail_msg("%s, %s on %s: %s is not %s", rows[i].year, rows[i].week, rows[i].date, closed, rows[i].closed);
    }
}

#define WEEKDAYS " is not a day of the week: mon, tue, wed, thu, fri, sat, sun, or a range such as mon-fri"
#define DATES " is not a day of the year such as 13.3.2027, 1.5. (of every year) or 24.12.-26.12.2027"
#define CLOCK " is not a time of day with two different ends, such as 6-20 or 18:30-24"

static void a_refusal_names_part_and_column(void **unused)
{
    (void)unused;
    static const struct {
        bool is_week;
        const char *text, *message;
    } rows[] = {
        {true, "mon-fru", "week: 'mon-fru' in column 1" WEEKDAYS},
        {true, "mon sat,,sun=off", "week: '' in column 9" WEEKDAYS},
        {true, "monday", "week: 'monday' in column 1" WEEKDAYS},
        {true, "mon=6-25", "week: '6-25' in column 5" CLOCK},
        {true, "mon=6-20:60", "week: '6-20:60' in column 5" CLOCK},
        {true, "mon=6-24:00:01", "week: '6-24:00:01' in column 5" CLOCK},
        {true, "mon=6-6", "week: '6-6' in column 5" CLOCK},
        {true, "mon=24-0", "week: '24-0' in column 5" CLOCK},
        {true, "mon=6", "week: '6' in column 5" CLOCK},
        {true, "1.5.=off", "week: '1.5.' in column 1" CLOCK},
        {true, "mon=1:2:3:4-5", "week: '1:2:3:4-5' in column 5" CLOCK},
        {true, "mon=", "week: 'mon=' in column 1 is not DAYS=TIMES=STATE, such as mon-fri=6-20=off"},
        {true, "tue mon=1-2=on=on",
         "week: 'mon=1-2=on=on' in column 5 is not DAYS=TIMES=STATE, such as mon-fri=6-20=off"},
        {true, "mon=of", "week: 'of' in column 5 is not a state: on or off"},
        {true, "6-20=mon", "week: 'mon' in column 6 is not a state: on or off"},
        {true, "off=6-20", "week: '6-20' in column 5 stands behind the state; the order is DAYS=TIMES=STATE"},
        {true, "mon=suspended",
         "week: 'suspended' in column 5 is a state that queues do not have; on and off are accepted, and with off the "
         "running jobs go on"},
        {false, "mon=off", "year: 'mon' in column 1 is not a state: on or off"},
        {false, "31.4.", "year: '31.4.' in column 1" DATES},
        {false, "29.2.2027", "year: '29.2.2027' in column 1" DATES},
        {false, "28.2.-29.2.2027", "year: '28.2.-29.2.2027' in column 1" DATES},
        {false, "1.13.2027", "year: '1.13.2027' in column 1" DATES},
        {false, "0.1.2027", "year: '0.1.2027' in column 1" DATES},
        {false, "1.1.1969", "year: '1.1.1969' in column 1" DATES},
        {false, "1.1", "year: '1.1' in column 1" DATES},
        {false, "1.1.2027,2.1.2027-1.1.2027", "year: '2.1.2027-1.1.2027' in column 10 ends before it begins"},
        {false, "24.12.-6.1.2027", "year: '24.12.-6.1.2027' in column 1 ends before it begins"},
        {false, "=off", "year: '=off' in column 1 is not DAYS=TIMES=STATE, such as 13.3.2027=6-20=off"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = {0}, of_check = {0};
        struct calendar_entries unchanged = {.count = 77};
        bool is_week = rows[i].is_week;
        assert_int_equal((is_week ? calendar_text_week : calendar_text_year)(
                             str(rows[i].text), is_week ? "week" : "year", &arena, &unchanged, &e),
                         -1);
        assert_string_equal(ERR_SENTENCE(&e), rows[i].message);
        assert_int_equal(unchanged.count, 77);
        int (*check)(struct str, const char *, struct err *) =
            is_week ? calendar_text_week_check : calendar_text_year_check;
        assert_int_equal(check(str(rows[i].text), is_week ? "week" : "year", &of_check), -1);
        assert_string_equal(ERR_SENTENCE(&of_check), rows[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_closed_on_days_and_at_times),
        cmocka_unit_test(a_refusal_names_part_and_column),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&arena);
    return failed;
}
