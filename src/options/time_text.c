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

/* "+90" and "+1hour", which follow "now". One that is longer than all times is DURATION_US_MAX. */
static bool read_duration(struct str s, int64_t *out_us)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {
        {.name = "seconds", .seconds = 1},  {.name = "minutes", .seconds = 60},   {.name = "hours", .seconds = 3600},
        {.name = "days", .seconds = 86400}, {.name = "weeks", .seconds = 604800},
    };
    size_t end = 1;
    while (end < s.length && s.text[end] >= '0' && s.text[end] <= '9') end++;
    uint64_t count;
    struct str digits_text = {s.text + 1, end - 1}, unit = {s.text + end, s.length - end};
    if (s.text[0] != '+' || !number_parse_u64(digits_text, &count)) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!str_starts(str(units[i].name), unit)) continue; /* an empty unit is a prefix of "seconds" */
        int64_t unit_us = units[i].seconds * US_PER_S;
        *out_us = count <= (uint64_t)(DURATION_US_MAX / unit_us) ? (int64_t)count * unit_us : DURATION_US_MAX;
        return true;
    }
    return false;
}

/* The next time that the local clock shows this time of day. */
static bool next_time(int hour, int minute, int second, int64_t now_us, int64_t *out_us)
{
    struct tm day = local_of(now_us);
    day.tm_hour = hour;
    day.tm_min = minute;
    day.tm_sec = second;
    if (!convert_local(day, out_us)) return false;
    if (*out_us > now_us) return true;
    day.tm_mday++;
    day.tm_isdst = -1;
    time_t time_s = mktime(&day); /* mktime turns a 32nd into the 1st of the next month */
    *out_us = (int64_t)time_s * US_PER_S;
    return time_s >= 0;
}

static bool read_word(struct str s, int64_t now_us, int64_t *out_us)
{
    if (str_equal_nocase(s, str("now"))) {
        *out_us = now_us;
        return true;
    }
    if (str_equal_nocase(s, str("midnight")) || str_equal_nocase(s, str("tomorrow")))
        return next_time(0, 0, 0, now_us, out_us);
    if (str_equal_nocase(s, str("noon"))) return next_time(12, 0, 0, now_us, out_us);
    if (!str_equal_nocase(s, str("today"))) return false;
    struct tm day = local_of(now_us);
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    return convert_local(day, out_us);
}

static bool read_clock(struct str s, int64_t now_us, int64_t *out_us)
{
    bool has_seconds = matches(s, "00:00:00");
    if (!has_seconds && !matches(s, "00:00")) return false;
    return next_time(digits(s, 0, 2), digits(s, 3, 2), has_seconds ? digits(s, 6, 2) : 0, now_us, out_us);
}

static bool read_date(struct str s, int64_t *out_us)
{
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

static bool read_dense(struct str s, int64_t *out_us)
{
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

int time_text_parse(struct str text, const char *what, int64_t now_us, int64_t *out_us, struct err *e)
{
    static const struct str now = {"now", 3};
    int64_t time_us, duration_us;
    struct str head = {text.text, text.length < now.length ? text.length : now.length};
    if (text.length > now.length && str_equal_nocase(head, now) &&
        read_duration((struct str){text.text + now.length, text.length - now.length}, &duration_us)) {
        *out_us = now_us + duration_us;
        return 0;
    }
    if (read_word(text, now_us, &time_us) || read_clock(text, now_us, &time_us) || read_date(text, &time_us) ||
        read_dense(text, &time_us)) {
        *out_us = time_us;
        return 0;
    }
    if (!is_dense(text) && time_parse(text, what, out_us, e) == 0) return 0;
    return err_value(e, what, text, "a time: %s", TIME_TEXT_FORMATS);
}
