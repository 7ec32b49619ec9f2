/* Calendars from arbitrary bytes: the first line is the year, the rest the week. The check agrees with the parser. A
 * refused text leaves the output unchanged, and the error is one printable line that names the field. What a day's
 * closed times are agrees with looking at every entry, second by second around their ends. */
#include <string.h>

#include "base/ensure.h"
#include "fields/calendar_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int reader(struct str text, const char *what, struct arena *arena, struct calendar_entries *out, struct err *e);
typedef int checker(struct str text, const char *what, struct err *e);

static bool read_text(struct str text, reader *read, checker *check, struct arena *arena, struct calendar_entries *out)
{
    struct err e = {0};
    struct calendar_entries entries = {.count = 77};
    int status = read(text, "field", arena, &entries, &e);
    ensure(check(text, "field", NULL) == status);
    if (status == 0) {
        *out = entries;
        return true;
    }
    const char *sentence = ERR_SENTENCE(&e);
    ensure(e.code == ERR_INPUT && strncmp(sentence, "field: ", 7) == 0 && str_is_printable(str(sentence)));
    ensure(entries.items == NULL && entries.count == 77);
    return false;
}

/* No span of the entry's days is longer than the day. */
static void check_entries(const struct calendar_entries *entries)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct calendar_entry *entry = &entries->items[i];
        ensure(entry->weekdays > 0 && entry->weekdays <= 0x7f);
        for (uint32_t k = 0; k < entry->time_count; k++)
            ensure(entry->times[k].from_s < entry->times[k].until_s && entry->times[k].until_s <= CALENDAR_DAY_S);
    }
}

static bool is_named(const struct calendar_entry *entry, const struct calendar_day *day)
{
    bool is_in = entry->date_count == 0;
    uint32_t date = day->month * 100 + day->day;
    for (uint32_t i = 0; i < entry->date_count; i++) {
        const struct calendar_dates *d = &entry->dates[i];
        uint32_t number = d->is_of_every_year ? date : day->year * 10000 + date;
        bool is_after = number >= d->from, is_before = number <= d->to;
        is_in |= d->from <= d->to ? is_after && is_before : is_after || is_before;
    }
    return is_in && (entry->weekdays & 1U << day->weekday) != 0;
}

static bool is_closed_at(const struct calendar_entries *entries, const struct calendar_day *day, uint32_t second)
{
    bool is_on = false, is_off = false;
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct calendar_entry *entry = &entries->items[i];
        bool is_then = entry->time_count == 0;
        if (!is_named(entry, day)) continue;
        for (uint32_t k = 0; k < entry->time_count; k++)
            is_then |= second >= entry->times[k].from_s && second < entry->times[k].until_s;
        is_on |= is_then && entry->is_on;
        is_off |= is_then && !entry->is_on;
    }
    return is_off && !is_on;
}

static bool is_in_spans(const struct calendar_spans *spans, uint32_t second)
{
    bool is_in = false;
    for (uint32_t i = 0; i < spans->count; i++)
        is_in |= second >= spans->items[i].from_s && second < spans->items[i].until_s;
    return is_in;
}

static void check_day(const struct calendar_entries *year, const struct calendar_entries *week,
                      const struct calendar_day *day, struct arena *arena)
{
    const struct calendar_spans spans = calendar_text_closed(year, week, day, arena);
    const struct calendar_entries *rules = week;
    for (uint32_t i = 0; i < year->count; i++) {
        if (is_named(&year->items[i], day)) rules = year;
    }
    for (uint32_t i = 0; i < spans.count; i++) {
        const struct calendar_span *s = &spans.items[i];
        ensure(s->from_s < s->until_s && s->until_s <= CALENDAR_DAY_S);
        ensure(i == 0 || spans.items[i - 1].until_s < s->from_s);
        ensure(is_closed_at(rules, day, s->from_s) && is_closed_at(rules, day, s->until_s - 1));
    }
    for (uint32_t second = 0; second < CALENDAR_DAY_S; second += 1789)
        ensure(is_in_spans(&spans, second) == is_closed_at(rules, day, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct calendar_day days[] = {{2027, 3, 13, 6}, {2028, 2, 29, 2}, {2004, 5, 1, 6}, {2026, 12, 31, 4}};
    struct str rest, first = str_cut((struct str){(const char *)data, size}, '\n', &rest);
    struct calendar_entries year, week;
    struct arena arena = {0};
    if (rest.text == NULL) rest = (struct str){"", 0};
    bool has_year = read_text(first, calendar_text_year, calendar_text_year_check, &arena, &year);
    bool has_week = read_text(rest, calendar_text_week, calendar_text_week_check, &arena, &week);
    if (has_year) check_entries(&year);
    if (has_week) check_entries(&week);
    for (size_t i = 0; i < sizeof days / sizeof *days && has_year && has_week; i++)
        check_day(&year, &week, &days[i], &arena);
    arena_release(&arena);
    return 0;
}
