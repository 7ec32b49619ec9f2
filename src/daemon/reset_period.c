#include "daemon/reset_period.h"

#include <time.h>

#include "base/ensure.h"
#include "base/quantity.h"

enum { HOUR_S = 3600, MONTHS_OF_QUARTER = 3 };

static struct tm local_time(time_t time)
{
    struct tm tm;
    ensure(localtime_r(&time, &tm) != NULL);
    return tm;
}

static bool is_on_day(time_t time, const struct tm *day)
{
    struct tm tm = local_time(time);
    return tm.tm_mday == day->tm_mday && tm.tm_mon == day->tm_mon;
}

/* The first second of a day; its tm_mday and tm_mon may be out of range, as for mktime. That is usually the day's
 * midnight. If the day has no midnight, mktime is an hour off; if it has two, mktime returns either. Then a bisection
 * between the previous day and noon finds the first second. */
static time_t day_begin(struct tm day)
{
    day.tm_sec = day.tm_min = 0;
    day.tm_hour = 12;
    day.tm_isdst = -1;
    time_t noon = mktime(&day); /* normalises day */
    struct tm midnight = day;
    midnight.tm_hour = 0;
    midnight.tm_isdst = -1;
    time_t begin = mktime(&midnight);
    if (is_on_day(begin, &day) && !is_on_day(begin - 1, &day)) return begin;
    time_t before = noon - (time_t)24 * HOUR_S, within = noon;
    while (is_on_day(before, &day)) before -= HOUR_S;
    while (within - before > 1) {
        time_t middle = before + (within - before) / 2;
        if (is_on_day(middle, &day))
            within = middle;
        else
            before = middle;
    }
    return within;
}

/* The first day of the period that time_us is in (skipped 0), or of the one after it (skipped 1). */
static struct tm first_day(enum usage_reset period, int64_t time_us, int skipped)
{
    ensure(period >= USAGE_RESET_DAILY && period <= USAGE_RESET_YEARLY);
    struct tm tm = local_time((time_t)(time_us / US_PER_S));
    switch (period) {
    case USAGE_RESET_WEEKLY: tm.tm_mday += 7 * skipped - tm.tm_wday; return tm;
    case USAGE_RESET_MONTHLY: tm.tm_mon += skipped; break;
    case USAGE_RESET_QUARTERLY: tm.tm_mon += MONTHS_OF_QUARTER * skipped - tm.tm_mon % MONTHS_OF_QUARTER; break;
    case USAGE_RESET_YEARLY:
        tm.tm_mon = 0;
        tm.tm_year += skipped;
        break;
    default: tm.tm_mday += skipped; return tm;
    }
    tm.tm_mday = 1;
    return tm;
}

int64_t reset_period_begin_us(enum usage_reset period, int64_t time_us)
{
    return (int64_t)day_begin(first_day(period, time_us, 0)) * US_PER_S;
}

int64_t reset_period_end_us(enum usage_reset period, int64_t time_us)
{
    return (int64_t)day_begin(first_day(period, time_us, 1)) * US_PER_S;
}
