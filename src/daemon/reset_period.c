#include "daemon/reset_period.h"

#include <time.h>

#include "base/ensure.h"

enum { HOUR_S = 3600, US = 1000000, MONTHS_OF_QUARTER = 3 };

static struct tm local(time_t at)
{
    struct tm tm;
    ensure(localtime_r(&at, &tm) != NULL);
    return tm;
}

static bool is_day(time_t at, const struct tm *day)
{
    struct tm tm = local(at);
    return tm.tm_mday == day->tm_mday && tm.tm_mon == day->tm_mon;
}

/* The first second of a day, whose number may be beyond its month's. Mostly that is its midnight; but mktime's answer is an
 * hour off where there is none, and either of two where there are two. */
static time_t day_begin(struct tm day)
{
    day.tm_sec = day.tm_min = 0;
    day.tm_hour = 12;
    day.tm_isdst = -1;
    time_t noon = mktime(&day); /* and day is what the calendar has */
    struct tm midnight = day;
    midnight.tm_hour = 0;
    midnight.tm_isdst = -1;
    time_t begin = mktime(&midnight);
    if (is_day(begin, &day) && !is_day(begin - 1, &day)) return begin;
    time_t before = noon - (time_t)24 * HOUR_S, within = noon;
    while (is_day(before, &day)) before -= HOUR_S;
    while (within - before > 1) {
        time_t middle = before + (within - before) / 2;
        if (is_day(middle, &day))
            within = middle;
        else
            before = middle;
    }
    return within;
}

/* The day that the period begins with; steps periods on. */
static struct tm first_day(enum usage_reset period, int64_t at_us, int steps)
{
    struct tm tm = local((time_t)(at_us / US));
    switch (period) {
    case USAGE_RESET_WEEKLY: tm.tm_mday += 7 * steps - tm.tm_wday; return tm;
    case USAGE_RESET_MONTHLY: tm.tm_mon += steps; break;
    case USAGE_RESET_QUARTERLY: tm.tm_mon += MONTHS_OF_QUARTER * steps - tm.tm_mon % MONTHS_OF_QUARTER; break;
    case USAGE_RESET_YEARLY:
        tm.tm_mon = 0;
        tm.tm_year += steps;
        break;
    default: tm.tm_mday += steps; return tm;
    }
    tm.tm_mday = 1;
    return tm;
}

int64_t reset_period_begin_us(enum usage_reset period, int64_t at_us)
{
    return (int64_t)day_begin(first_day(period, at_us, 0)) * US;
}

int64_t reset_period_end_us(enum usage_reset period, int64_t at_us)
{
    return (int64_t)day_begin(first_day(period, at_us, 1)) * US;
}
