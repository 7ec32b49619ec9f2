#include "options/time_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/number.h"
#include "base/quantity.h"

enum { DATE_BYTES = 10, DENSE_BYTES = 12, COUNT_MAX = 100000000 };

/* Every character of form '0' is a digit there, every other one itself. */
static bool has_form(struct str s, const char *form)
{
    size_t i = 0;
    for (; form[i] != '\0'; i++) {
        if (i >= s.length) return false;
        bool is_digit = s.text[i] >= '0' && s.text[i] <= '9';
        if (form[i] == '0' ? !is_digit : s.text[i] != form[i]) return false;
    }
    return i == s.length;
}

/* Digits at a place; they are there. */
static int digits(struct str s, size_t from, size_t count)
{
    int value = 0;
    for (size_t i = from; i < from + count; i++) value = value * 10 + (s.text[i] - '0');
    return value;
}

/* A local date and time; false where there is no such day or hour. */
static bool from_local(struct tm wanted, int64_t *out_us)
{
    struct tm made = wanted;
    made.tm_isdst = -1;
    time_t made_s = mktime(&made);
    bool is_same = made.tm_mday == wanted.tm_mday && made.tm_mon == wanted.tm_mon && made.tm_year == wanted.tm_year;
    bool is_time = wanted.tm_hour < 24 && wanted.tm_min < 60 && wanted.tm_sec < 60;
    if (made_s < 0 || !is_same || !is_time) return false;
    *out_us = (int64_t)made_s * US_PER_S;
    return true;
}

static struct tm local_of(int64_t now_us)
{
    time_t now = (time_t)(now_us / US_PER_S);
    struct tm local;
    localtime_r(&now, &local);
    return local;
}

/* "+90", "+1hour" behind now. */
static bool read_duration(struct str s, int64_t *out_us)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"weeks", 604800}};
    size_t end = 1;
    while (end < s.length && s.text[end] >= '0' && s.text[end] <= '9') end++;
    uint64_t count;
    struct str unit = {s.text + end, s.length - end};
    if (s.text[0] != '+' || !number_parse_u64((struct str){s.text + 1, end - 1}, &count) || count > COUNT_MAX)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!str_starts(str(units[i].name), unit)) continue; /* no unit begins seconds */
        *out_us = (int64_t)count * units[i].seconds * US_PER_S;
        return true;
    }
    return false;
}

/* That time of the day, when it comes next. */
static bool next_time(int hour, int minute, int second, int64_t now_us, int64_t *out_us)
{
    struct tm day = local_of(now_us);
    day.tm_hour = hour;
    day.tm_min = minute;
    day.tm_sec = second;
    if (!from_local(day, out_us)) return false;
    if (*out_us > now_us) return true;
    day.tm_mday++;
    day.tm_isdst = -1;
    time_t made_s = mktime(&day); /* a 32nd is the first of the next month */
    *out_us = (int64_t)made_s * US_PER_S;
    return made_s >= 0;
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
    return from_local(day, out_us);
}

static bool read_clock(struct str s, int64_t now_us, int64_t *out_us)
{
    bool has_seconds = has_form(s, "00:00:00");
    if (!has_seconds && !has_form(s, "00:00")) return false;
    return next_time(digits(s, 0, 2), digits(s, 3, 2), has_seconds ? digits(s, 6, 2) : 0, now_us, out_us);
}

static bool read_date(struct str s, int64_t *out_us)
{
    struct str date = {s.text, s.length < DATE_BYTES ? s.length : DATE_BYTES};
    struct str rest = {s.text + date.length, s.length - date.length};
    if (!has_form(date, "0000-00-00")) return false;
    struct tm day = {
        .tm_year = digits(s, 0, 4) - 1900, .tm_mon = digits(s, 5, 2) - 1, .tm_mday = digits(s, 8, 2), .tm_isdst = -1};
    if (rest.length > 0) {
        bool has_seconds = has_form(rest, "T00:00:00") || has_form(rest, " 00:00:00");
        if (!has_seconds && !has_form(rest, "T00:00") && !has_form(rest, " 00:00")) return false;
        day.tm_hour = digits(rest, 1, 2);
        day.tm_min = digits(rest, 4, 2);
        day.tm_sec = has_seconds ? digits(rest, 7, 2) : 0;
    }
    return from_local(day, out_us);
}

/* Twelve digits are never seconds, which would be in the year 5000. */
static bool is_dense(struct str s)
{
    return has_form(s, "000000000000.00") || has_form(s, "000000000000");
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
    return from_local(wanted, out_us);
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
    return err_value(e, what, text, "a time: %s", TIME_TEXT_FORMS);
}
