#include "options/time_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/number.h"
#include "base/quantity.h"
#include "fields/limits.h"

enum { DATE_BYTES = 10, DENSE_BYTES = 12 };

#define DURATION_US_MAX ((int64_t)TIME_US_MAX) /* added to now, it is after the last time that is accepted */

/* Whether the text matches the pattern, in which '0' stands for any digit and every other character for itself. */
static bool matches(struct str s, const char *pattern)
{
    size_t i = 0;
    for (; pattern[i] != '\0'; i++) {
        if (i >= s.length) return false;
        bool is_digit = s.text[i] >= '0' && s.text[i] <= '9';
        if (pattern[i] == '0' ? !is_digit : s.text[i] != pattern[i]) return false;
    }
    return i == s.length;
}

/* The number that the digits [from, from + count) form. */
static int digits(struct str s, size_t from, size_t count)
{
    int value = 0;
    for (size_t i = from; i < from + count; i++) value = value * 10 + (s.text[i] - '0');
    return value;
}

/* Converts a local date and time; false if there is no such day or hour. */
static bool convert_local(struct tm local, int64_t *out_us)
{
    struct tm normalized = local; /* mktime turns the 31st of April into the 1st of May */
    normalized.tm_isdst = -1;
    time_t time_s = mktime(&normalized);
    bool is_date =
        normalized.tm_mday == local.tm_mday && normalized.tm_mon == local.tm_mon && normalized.tm_year == local.tm_year;
    bool is_time = local.tm_hour < 24 && local.tm_min < 60 && local.tm_sec < 60;
    if (time_s == -1 || !is_date || !is_time) return false;
    *out_us = (int64_t)time_s * US_PER_S;
    return true;
}

static struct tm local_of(int64_t now_us)
{
    time_t now = (time_t)(now_us / US_PER_S);
    struct tm local;
    localtime_r(&now, &local);
    return local;
}

/* Seconds without a unit ("90") or numbers with units ("1hour"), at most DURATION_US_MAX. */
static bool read_duration(struct str s, int64_t *out_us)
{
    uint64_t count;
    int64_t duration_s;
    if (number_parse_u64(s, &count)) {
        duration_s = count < INT64_MAX ? (int64_t)count : INT64_MAX;
    } else if (!duration_read_units(s, &duration_s)) {
        return false;
    }
    *out_us = duration_s <= DURATION_US_MAX / US_PER_S ? duration_s * US_PER_S : DURATION_US_MAX;
    return true;
}

static bool read_now(struct str s, const struct time_context *c, int64_t *out_us)
{
    static const struct str now = {"now", 3};
    struct str head = {s.text, s.length < now.length ? s.length : now.length};
    int64_t duration_us = 0;
    if (!str_equal_nocase(head, now)) return false;
    bool has_sign = s.length > now.length, is_before = has_sign && s.text[now.length] == '-';
    if (has_sign && !is_before && s.text[now.length] != '+') return false;
    if (has_sign && !read_duration(str_range(s.text + now.length + 1, s.text + s.length), &duration_us)) return false;
    *out_us = is_before ? c->now_us - duration_us : c->now_us + duration_us;
    return true;
}

static bool read_span(struct str s, const struct time_context *c, int64_t *out_us)
{
    int64_t unused, duration_us;
    if (!duration_read_units(s, &unused) || !read_duration(s, &duration_us)) return false;
    *out_us = c->side == TIME_BEHIND ? c->now_us - duration_us : c->now_us + duration_us;
    return true;
}

/* The local midnight at the start of the day that is so many days after that of now. */
static bool midnight_after(int days, const struct time_context *c, int64_t *out_us)
{
    struct tm day = local_of(c->now_us);
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_mday += days;
    day.tm_isdst = -1;
    time_t time_s = mktime(&day); /* turns a 32nd into the 1st of the next month, a 0th into the last */
    *out_us = (int64_t)time_s * US_PER_S;
    return true;
}

/* The next time, or the last one, that the local clock shows this time of day. */
static bool time_of_day(int hour, int minute, int second, const struct time_context *c, int64_t *out_us)
{
    struct tm day = local_of(c->now_us);
    day.tm_hour = hour;
    day.tm_min = minute;
    day.tm_sec = second;
    if (!convert_local(day, out_us)) return false;
    bool is_behind = c->side == TIME_BEHIND;
    if (is_behind ? *out_us <= c->now_us : *out_us > c->now_us) return true;
    day.tm_mday += is_behind ? -1 : 1;
    day.tm_isdst = -1;
    time_t time_s = mktime(&day);
    *out_us = (int64_t)time_s * US_PER_S;
    return true;
}

static bool read_clock(struct str s, const struct time_context *c, int64_t *out_us)
{
    bool has_seconds = matches(s, "00:00:00");
    if (str_equal_nocase(s, str("midnight"))) return time_of_day(0, 0, 0, c, out_us);
    if (str_equal_nocase(s, str("noon"))) return time_of_day(12, 0, 0, c, out_us);
    if (!has_seconds && !matches(s, "00:00")) return false;
    return time_of_day(digits(s, 0, 2), digits(s, 3, 2), has_seconds ? digits(s, 6, 2) : 0, c, out_us);
}

static bool read_day(struct str s, const struct time_context *c, int64_t *out_us)
{
    static const char *const days[] = {"yesterday", "today", "tomorrow"};
    for (int i = 0; i < 3; i++) {
        if (str_equal_nocase(s, str(days[i]))) return midnight_after(i - 1, c, out_us);
    }
    return false;
}

static bool read_weekday(struct str s, const struct time_context *c, int64_t *out_us)
{
    enum { DAYS = 7, SHORT = 3 };
    static const char *const names[DAYS] = {"sunday",   "monday", "tuesday", "wednesday",
                                            "thursday", "friday", "saturday"};
    int today = local_of(c->now_us).tm_wday, day = 0;
    for (; day < DAYS; day++) {
        if (str_equal_nocase(s, str(names[day])) || str_equal_nocase(s, (struct str){names[day], SHORT})) break;
    }
    if (day == DAYS) return false;
    int back = (today - day + DAYS) % DAYS;
    return midnight_after(c->side == TIME_BEHIND ? -back : DAYS - back, c, out_us);
}

static bool read_date(struct str s, const struct time_context *c, int64_t *out_us)
{
    (void)c;
    struct str date = {s.text, s.length < DATE_BYTES ? s.length : DATE_BYTES};
    struct str rest = {s.text + date.length, s.length - date.length};
    if (!matches(date, "0000-00-00")) return false;
    struct tm day = {
        .tm_year = digits(s, 0, 4) - 1900, .tm_mon = digits(s, 5, 2) - 1, .tm_mday = digits(s, 8, 2), .tm_isdst = -1};
    if (rest.length > 0) {
        bool has_seconds = matches(rest, "T00:00:00") || matches(rest, " 00:00:00");
        if (!has_seconds && !matches(rest, "T00:00") && !matches(rest, " 00:00")) return false;
        day.tm_hour = digits(rest, 1, 2);
        day.tm_min = digits(rest, 4, 2);
        day.tm_sec = has_seconds ? digits(rest, 7, 2) : 0;
    }
    return convert_local(day, out_us);
}

/* Twelve digits are a date, never seconds, which would be after the year 5000. */
static bool is_dense(struct str s)
{
    return matches(s, "000000000000.00") || matches(s, "000000000000");
}

static bool read_dense(struct str s, const struct time_context *c, int64_t *out_us)
{
    (void)c;
    bool has_seconds = s.length > DENSE_BYTES;
    if (!is_dense(s)) return false;
    const struct tm wanted = {.tm_year = digits(s, 0, 4) - 1900,
                              .tm_mon = digits(s, 4, 2) - 1,
                              .tm_mday = digits(s, 6, 2),
                              .tm_hour = digits(s, 8, 2),
                              .tm_min = digits(s, 10, 2),
                              .tm_sec = has_seconds ? digits(s, DENSE_BYTES + 1, 2) : 0};
    return convert_local(wanted, out_us);
}

static bool read_absolute(struct str s, const struct time_context *c, int64_t *out_us)
{
    (void)c;
    return !is_dense(s) && time_parse(s, "", out_us, NULL) == 0;
}

#define LAST_ONE "; of --since and --until the last one"

const struct time_form time_text_forms[] = {
    {.form = "now, now+1hour, now-90",
     .meaning = "the current time, or so long after or before it; without a unit in seconds",
     .read = read_now},
    {.form = "2h, 90m, 1.5d", .meaning = "so long from now; of --since and --until so long ago", .read = read_span},
    {.form = "16:00, 16:00:30, noon, midnight",
     .meaning = "the next such time of day, local" LAST_ONE,
     .read = read_clock},
    {.form = "today, tomorrow, yesterday", .meaning = "local midnight at its start", .read = read_day},
    {.form = "monday, ..., mon, ...",
     .meaning = "local midnight at the start of the next such day" LAST_ONE,
     .read = read_weekday},
    {.form = "2026-11-21, 2026-11-21T09:05[:30]", .meaning = "local; a blank may replace the T", .read = read_date},
    {.form = "202611210905[.30]", .meaning = "local, the format of Grid Engine", .read = read_dense},
    {.form = "2026-11-21T09:05Z, ...+01:00, 1795243000",
     .meaning = "with a time zone, or seconds since 1970",
     .read = read_absolute},
    {0},
};

int time_text_parse(struct str text, const char *what, const struct time_context *c, int64_t *out_us, struct err *e)
{
    for (const struct time_form *f = time_text_forms; f->form != NULL; f++) {
        int64_t time_us;
        if (!f->read(text, c, &time_us)) continue;
        *out_us = time_us;
        return 0;
    }
    return err_value(e, what, text, "a time: %s", TIME_TEXT_FORMATS);
}
