#include "fields/calendar_text.h"

#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/sort.h"

enum { EVERY_WEEKDAY = 0x7f, YEAR_MIN = 1970, YEAR_MAX = 9999, MONTHS = 12, WEEKDAYS = 7 };

/* A text while it is read. */
struct calendar_reader {
    struct str text;
    const char *what;
    bool is_week;
    struct arena *arena;
    struct err *e;
};

static uint32_t column_of(const struct calendar_reader *r, struct str part)
{
    return (uint32_t)(part.text - r->text.text) + 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool calendar_text_is_none(struct str name)
{
    return str_trim(name).length == 0 || str_equal_nocase(str_trim(name), str("NONE"));
}

static size_t items_max(struct str list)
{
    size_t count = 1;
    for (size_t i = 0; i < list.length; i++) count += list.text[i] == ',';
    return count;
}

/* The position of a word in "jan,feb,...", from 0; NONE: it is not there. */
static uint32_t find_word(const char *words, struct str word)
{
    uint32_t at = 0;
    for (struct str rest = str(words); rest.text != NULL; at++) {
        if (str_equal_nocase(str_cut(rest, ',', &rest), word)) return at;
    }
    return NONE;
}

/* --- days --------------------------------------------------------------------------------------------------------- */

static bool is_leap_year(uint32_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* year 0: any. */
static uint32_t days_of_month(uint32_t month, uint32_t year)
{
    static const uint8_t days[MONTHS] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && year != 0 && !is_leap_year(year) ? 28 : days[month - 1];
}

static bool read_month(struct str text, uint64_t *out)
{
    uint32_t word = find_word("jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec", text);
    if (word < MONTHS) *out = word + 1;
    return word < MONTHS || (number_parse_u64(text, out) && *out >= 1 && *out <= MONTHS);
}

/* "13.3.2027", or "13.3." with year 0. */
static bool read_date(struct str text, struct calendar_day *out)
{
    struct str rest, day_text = str_cut(text, '.', &rest), month_text = str_cut(rest, '.', &rest);
    uint64_t day, month, year = 0;
    if (rest.text == NULL || !number_parse_u64(day_text, &day) || !read_month(month_text, &month)) return false;
    if (rest.length > 0 && (!number_parse_u64(rest, &year) || year < YEAR_MIN || year > YEAR_MAX)) return false;
    if (day < 1 || day > days_of_month((uint32_t)month, (uint32_t)year)) return false;
    *out = (struct calendar_day){.year = (uint32_t)year, .month = (uint32_t)month, .day = (uint32_t)day};
    return true;
}

static uint32_t date_number(const struct calendar_day *d)
{
    return d->year * 10000 + d->month * 100 + d->day;
}

/* A range has the year of the end that gives one. */
static int read_dates(const struct calendar_reader *r, struct str item, struct calendar_dates *out)
{
    struct calendar_day from, to;
    struct str last, first = str_cut(item, '-', &last);
    bool is_valid = read_date(first, &from);
    if (is_valid) to = from;
    if (is_valid && last.text != NULL) is_valid = read_date(last, &to);
    if (is_valid && (from.year == 0) != (to.year == 0)) {
        from.year = to.year = from.year + to.year;
        is_valid = from.day <= days_of_month(from.month, from.year) && to.day <= days_of_month(to.month, to.year);
    }
    if (!is_valid)
        return err_value_reason(r->e, r->what, item,
                                "in column %u is not a day of the year such as 13.3.2027, 1.5. (of every year) or "
                                "24.12.-26.12.2027",
                                column_of(r, item));
    *out = (struct calendar_dates){date_number(&from), date_number(&to), from.year == 0};
    if (out->is_of_every_year || out->from <= out->to) return 0;
    return err_value_reason(r->e, r->what, item, "in column %u ends before it begins", column_of(r, item));
}

static int read_year_days(const struct calendar_reader *r, struct str list, struct calendar_entry *out)
{
    out->dates = arena_alloc(r->arena, items_max(list) * sizeof *out->dates);
    for (struct str rest = list; rest.text != NULL;) {
        if (read_dates(r, str_cut(rest, ',', &rest), &out->dates[out->date_count++]) != 0) return -1;
    }
    return 0;
}

/* "fri-mon" goes over the end of the week. */
static int read_week_days(const struct calendar_reader *r, struct str list, struct calendar_entry *out)
{
    static const char words[] = "sun,mon,tue,wed,thu,fri,sat";
    out->weekdays = 0;
    for (struct str rest = list; rest.text != NULL;) {
        struct str item = str_cut(rest, ',', &rest), last, first = str_cut(item, '-', &last);
        uint32_t from = find_word(words, first), to = last.text != NULL ? find_word(words, last) : from;
        if (from >= WEEKDAYS || to >= WEEKDAYS)
            return err_value_reason(r->e, r->what, item,
                                    "in column %u is not a day of the week: mon, tue, wed, thu, fri, sat, sun, or a "
                                    "range such as mon-fri",
                                    column_of(r, item));
        for (uint32_t day = from;; day = (day + 1) % WEEKDAYS) {
            out->weekdays |= 1U << day;
            if (day == to) break;
        }
    }
    return 0;
}

/* --- times and states --------------------------------------------------------------------------------------------- */

/* "6", "6:30", "6:30:15", "24" */
static bool read_clock(struct str text, uint32_t *out_s)
{
    static const uint32_t max[] = {24, 59, 59}, unit_s[] = {3600, 60, 1};
    uint32_t total = 0, i = 0;
    for (struct str rest = text; rest.text != NULL; i++) {
        uint64_t number;
        if (i == 3 || !number_parse_u64(str_cut(rest, ':', &rest), &number) || number > max[i]) return false;
        total += (uint32_t)number * unit_s[i];
    }
    *out_s = total;
    return total <= CALENDAR_DAY_S;
}

/* From 24:00 to 0:00 there is no time either. */
static bool is_empty_span(uint32_t from_s, uint32_t until_s)
{
    return from_s == until_s || (from_s == CALENDAR_DAY_S && until_s == 0);
}

/* A span that goes over midnight becomes two of the same day. */
static int read_times(const struct calendar_reader *r, struct str list, struct calendar_entry *out)
{
    out->times = arena_alloc(r->arena, 2 * items_max(list) * sizeof *out->times);
    for (struct str rest = list; rest.text != NULL;) {
        struct str item = str_cut(rest, ',', &rest), last, first = str_cut(item, '-', &last);
        uint32_t from_s, until_s;
        if (last.text == NULL || !read_clock(first, &from_s) || !read_clock(last, &until_s) ||
            is_empty_span(from_s, until_s))
            return err_value_reason(r->e, r->what, item,
                                    "in column %u is not a time of day with two different ends, such as 6-20 or "
                                    "18:30-24",
                                    column_of(r, item));
        if (from_s < until_s) {
            out->times[out->time_count++] = (struct calendar_span){from_s, until_s};
            continue;
        }
        if (from_s < CALENDAR_DAY_S) out->times[out->time_count++] = (struct calendar_span){from_s, CALENDAR_DAY_S};
        if (until_s > 0) out->times[out->time_count++] = (struct calendar_span){0, until_s};
    }
    return 0;
}

static bool is_state(struct str part)
{
    return find_word("on,off,suspended", part) != NONE;
}

static int read_state(const struct calendar_reader *r, struct str part, struct calendar_entry *out)
{
    out->is_on = str_equal_nocase(part, str("on"));
    if (out->is_on || str_equal_nocase(part, str("off"))) return 0;
    if (is_state(part))
        return err_value_reason(r->e, r->what, part,
                                "in column %u is a state that queues do not have; on and off are accepted, and with "
                                "off the running jobs go on",
                                column_of(r, part));
    return err_value_reason(r->e, r->what, part, "in column %u is not a state: on or off", column_of(r, part));
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

static bool is_days(const struct calendar_reader *r, struct str part)
{
    if (!r->is_week) return memchr(part.text, '.', part.length) != NULL;
    return !is_digit(part.text[0]) && !is_state(part);
}

/* The next of an entry's parts; false at the end. An empty part has been refused. */
static bool next_part(struct str *rest, struct str *out)
{
    if (rest->text == NULL) return false;
    *out = str_cut(*rest, '=', rest);
    return true;
}

static int check_parts(const struct calendar_reader *r, struct str entry)
{
    uint32_t count = 0;
    bool has_empty = false;
    for (struct str rest = entry; rest.text != NULL; count++) has_empty |= str_cut(rest, '=', &rest).length == 0;
    if (!has_empty && count <= 3) return 0;
    return err_value_reason(r->e, r->what, entry, "in column %u is not DAYS=TIMES=STATE, such as %s",
                            column_of(r, entry), r->is_week ? "mon-fri=6-20=off" : "13.3.2027=6-20=off");
}

static int read_entry(const struct calendar_reader *r, struct str entry, struct calendar_entry *out)
{
    struct str rest = entry, part;
    *out = (struct calendar_entry){.weekdays = EVERY_WEEKDAY};
    if (check_parts(r, entry) != 0) return -1;
    bool has_part = next_part(&rest, &part);
    if (has_part && is_days(r, part)) {
        if ((r->is_week ? read_week_days : read_year_days)(r, part, out) != 0) return -1;
        has_part = next_part(&rest, &part);
    }
    if (has_part && is_digit(part.text[0])) {
        if (read_times(r, part, out) != 0) return -1;
        has_part = next_part(&rest, &part);
    }
    if (!has_part) return 0;
    if (read_state(r, part, out) != 0) return -1;
    if (!next_part(&rest, &part)) return 0;
    return err_value_reason(r->e, r->what, part, "in column %u stands behind the state; the order is DAYS=TIMES=STATE",
                            column_of(r, part));
}

static int read_entries(const struct calendar_reader *r, struct calendar_entries *out)
{
    struct calendar_entries list = {.items = arena_alloc(r->arena, (r->text.length / 2 + 1) * sizeof *list.items)};
    size_t length = calendar_text_is_none(r->text) ? 0 : r->text.length;
    for (size_t i = 0; i < length;) {
        size_t end = i;
        while (end < length && !is_blank(r->text.text[end])) end++;
        const struct str entry = {r->text.text + i, end - i};
        if (entry.length > 0 && read_entry(r, entry, &list.items[list.count++]) != 0) return -1;
        i = end + 1;
    }
    *out = list;
    return 0;
}

int calendar_text_year(struct str text, const char *what, struct arena *arena, struct calendar_entries *out,
                       struct err *e)
{
    const struct calendar_reader r = {.text = text, .what = what, .arena = arena, .e = e};
    return read_entries(&r, out);
}

int calendar_text_week(struct str text, const char *what, struct arena *arena, struct calendar_entries *out,
                       struct err *e)
{
    const struct calendar_reader r = {.text = text, .what = what, .is_week = true, .arena = arena, .e = e};
    return read_entries(&r, out);
}

int calendar_text_year_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct calendar_entries unused;
    int status = calendar_text_year(text, what, &arena, &unused, e);
    arena_release(&arena);
    return status;
}

int calendar_text_week_check(struct str text, const char *what, struct err *e)
{
    struct arena arena = {0};
    struct calendar_entries unused;
    int status = calendar_text_week(text, what, &arena, &unused, e);
    arena_release(&arena);
    return status;
}

/* --- what is closed on a day -------------------------------------------------------------------------------------- */

static bool is_in_dates(const struct calendar_dates *dates, const struct calendar_day *day)
{
    uint32_t number = date_number(day);
    if (dates->is_of_every_year) number %= 10000;
    if (dates->from <= dates->to) return number >= dates->from && number <= dates->to;
    return number >= dates->from || number <= dates->to;
}

static bool is_for_day(const struct calendar_entry *entry, const struct calendar_day *day)
{
    bool is_in = entry->date_count == 0;
    for (uint32_t i = 0; i < entry->date_count && !is_in; i++) is_in = is_in_dates(&entry->dates[i], day);
    return is_in && (entry->weekdays >> day->weekday & 1) != 0;
}

static bool names_day(const struct calendar_entries *entries, const struct calendar_day *day)
{
    bool is_named = false;
    for (uint32_t i = 0; i < entries->count && !is_named; i++) is_named = is_for_day(&entries->items[i], day);
    return is_named;
}

/* The ends of the spans of a day: the numbers of entries that say on, and off, change there. */
struct span_ends {
    struct sort_record *items;
    uint32_t count;
};
enum span_end { ON_BEGINS, ON_ENDS, OFF_BEGINS, OFF_ENDS };

static void add_ends(struct span_ends *ends, struct calendar_span span, bool is_on)
{
    ends->items[ends->count++] = (struct sort_record){.key = span.from_s, .extra = is_on ? ON_BEGINS : OFF_BEGINS};
    ends->items[ends->count++] = (struct sort_record){.key = span.until_s, .extra = is_on ? ON_ENDS : OFF_ENDS};
}

static struct span_ends sorted_ends(const struct calendar_entries *entries, const struct calendar_day *day,
                                    struct arena *arena)
{
    static const struct calendar_span whole_day = {0, CALENDAR_DAY_S};
    struct span_ends ends = {0};
    size_t max = 0;
    for (uint32_t i = 0; i < entries->count; i++) max += 2 * (entries->items[i].time_count + (size_t)1);
    ends.items = arena_alloc_raw(arena, (max + 1) * sizeof *ends.items);
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct calendar_entry *entry = &entries->items[i];
        if (!is_for_day(entry, day)) continue;
        if (entry->time_count == 0) add_ends(&ends, whole_day, entry->is_on);
        for (uint32_t k = 0; k < entry->time_count; k++) add_ends(&ends, entry->times[k], entry->is_on);
    }
    sort_records(ends.items, ends.count, arena_alloc_raw(arena, (max + 1) * sizeof *ends.items));
    return ends;
}

struct calendar_spans calendar_text_closed(const struct calendar_entries *year, const struct calendar_entries *week,
                                           const struct calendar_day *day, struct arena *arena)
{
    const struct span_ends ends = sorted_ends(names_day(year, day) ? year : week, day, arena);
    struct calendar_spans spans = {.items = arena_alloc(arena, (ends.count + (size_t)1) * sizeof *spans.items)};
    int32_t counts[4] = {0};
    bool was_closed = false;
    for (uint32_t i = 0; i < ends.count; i++) {
        counts[ends.items[i].extra]++;
        if (i + 1 < ends.count && ends.items[i + 1].key == ends.items[i].key) continue;
        bool is_closed = counts[OFF_BEGINS] > counts[OFF_ENDS] && counts[ON_BEGINS] == counts[ON_ENDS];
        if (is_closed && !was_closed) spans.items[spans.count].from_s = (uint32_t)ends.items[i].key;
        if (!is_closed && was_closed) spans.items[spans.count++].until_s = (uint32_t)ends.items[i].key;
        was_closed = is_closed;
    }
    return spans;
}
