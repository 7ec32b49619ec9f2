/* Durations, amounts of memory and points in time, from text and to text.
 *
 * Durations are read as Slurm's sbatch reads --time ("minutes", "minutes:seconds", "hours:minutes:seconds",
 * "days-hours", "days-hours:minutes", "days-hours:minutes:seconds": sbatch(1), 23.11, --time). As in Slurm, a part may
 * exceed its usual range: "90:00" is an hour and a half. Unlike in Slurm, 0 is refused: sbatch takes it as "no limit",
 * which users do not expect. Numbers with units are read beside these forms; no text fits both.
 *
 * A point in time is a number of days and a time of day. Days become dates and back by counting from 1 March of year 0
 * in eras of 400 years (146097 days), so that the leap day is the last day of its year: Howard Hinnant,
 * "chrono-Compatible Low-Level Date Algorithms", days_from_civil and civil_from_days. The calendar is the proleptic
 * Gregorian one without leap seconds, as in POSIX. Only the zone that is in the text is ever used. */
#include "base/quantity.h"

#include "base/number.h"
#include "base/text.h"

enum { S_PER_MINUTE = 60, S_PER_HOUR = 3600, S_PER_DAY = 86400, TEXT_SIZE = 32, PARTS_MAX = 3 };

#define MIB_MAX (UINT64_C(1) << 40)
#define FIRST_SECOND INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define LAST_SECOND INT64_C(253402300799)  /* 9999-12-31T23:59:59Z */

/* Reads numbers that are separated by colons. Returns their count, or 0 if one is missing, is not a number or is 2^40
 * or more, or if there are too many. */
static int read_parts(struct str s, int64_t parts[PARTS_MAX])
{
    int count = 0;
    for (struct str rest = s; rest.text != NULL || count == 0;) {
        uint64_t part;
        if (count == PARTS_MAX || !number_parse_u64(str_cut(rest, ':', &rest), &part) || part >> 40) return 0;
        parts[count++] = (int64_t)part;
    }
    return count;
}

const struct duration_form duration_forms[] = {
    {.form = "M", .meaning = "minutes", .parts_s = {S_PER_MINUTE}},
    {.form = "M:S", .meaning = "minutes and seconds", .parts_s = {S_PER_MINUTE, 1}},
    {.form = "H:M:S", .meaning = "hours, minutes and seconds", .parts_s = {S_PER_HOUR, S_PER_MINUTE, 1}},
    {.form = "D-H", .meaning = "days and hours", .has_days = true, .parts_s = {S_PER_HOUR}},
    {.form = "D-H:M", .meaning = "days, hours and minutes", .has_days = true, .parts_s = {S_PER_HOUR, S_PER_MINUTE}},
    {.form = "D-H:M:S",
     .meaning = "days, hours, minutes and seconds",
     .has_days = true,
     .parts_s = {S_PER_HOUR, S_PER_MINUTE, 1}},
    {.form = "90m, 1.5h, 2d, 1h30m",
     .meaning = "numbers with units: seconds, minutes, hours, days or weeks, or the first letters of these"},
    {0},
};

static const struct {
    const char *name;
    int64_t seconds;
} duration_units[] = {
    {"weeks", 7 * S_PER_DAY}, {"days", S_PER_DAY}, {"hours", S_PER_HOUR}, {"minutes", S_PER_MINUTE}, {"seconds", 1},
};

enum { UNIT_COUNT = sizeof duration_units / sizeof *duration_units, FRACTION_DIGITS_MAX = 9 };

/* The index of the unit of which the word is a prefix, in any case, or UNIT_COUNT. */
static size_t find_unit(struct str word)
{
    size_t i = 0;
    for (; i < UNIT_COUNT; i++) {
        const struct str name = str(duration_units[i].name);
        if (word.length > 0 && word.length <= name.length &&
            str_equal_nocase(word, (struct str){name.text, word.length}))
            break;
    }
    return i;
}

static struct str take_while(struct str *s, bool (*fits)(char c))
{
    size_t length = 0;
    while (length < s->length && fits(s->text[length])) length++;
    struct str taken = {s->text, length};
    s->text += length;
    s->length -= length;
    return taken;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "1.5h": takes it from the front. The unit must be smaller than the one before it, which is *io_unit - 1. */
static bool take_unit(struct str *s, size_t *io_unit, int64_t *io_duration_s)
{
    struct str whole_text = take_while(s, is_digit), fraction_text = {0};
    uint64_t whole, fraction = 0, scale = 1;
    if (s->length > 0 && s->text[0] == '.') {
        *s = (struct str){s->text + 1, s->length - 1};
        fraction_text = take_while(s, is_digit);
        if (fraction_text.length > FRACTION_DIGITS_MAX || !number_parse_u64(fraction_text, &fraction)) return false;
    }
    for (size_t i = 0; i < fraction_text.length; i++) scale *= 10;
    size_t unit = find_unit(take_while(s, is_letter));
    if (!number_parse_u64(whole_text, &whole) || whole >> 40 || unit < *io_unit || unit == UNIT_COUNT) return false;
    uint64_t unit_s = (uint64_t)duration_units[unit].seconds;
    *io_duration_s += (int64_t)(whole * unit_s + (fraction * unit_s + scale / 2) / scale);
    *io_unit = unit + 1;
    return true;
}

bool duration_read_units(struct str s, int64_t *out_s)
{
    size_t unit = 0;
    int64_t duration_s = 0;
    if (s.length == 0) return false;
    while (s.length > 0) {
        if (!take_unit(&s, &unit, &duration_s)) return false;
    }
    *out_s = duration_s;
    return true;
}

/* The form of that many numbers, with days or without. */
static const struct duration_form *find_form(bool has_days, int count)
{
    const struct duration_form *f = duration_forms;
    while (f->has_days != has_days || f->parts_s[count - 1] == 0 || (count < PARTS_MAX && f->parts_s[count] != 0)) f++;
    return f;
}

bool duration_read(struct str s, int64_t *out_s)
{
    struct str after_days;
    struct str days_text = str_cut(s, '-', &after_days);
    bool has_days = after_days.text != NULL;
    uint64_t days = 0;
    if (duration_read_units(s, out_s)) return true;
    if (has_days && (!number_parse_u64(days_text, &days) || days >> 40)) return false;

    int64_t parts[PARTS_MAX];
    int count = read_parts(has_days ? after_days : s, parts);
    if (count == 0) return false;
    const struct duration_form *form = find_form(has_days, count);
    int64_t duration_s = (int64_t)days * S_PER_DAY;
    for (int i = 0; i < count; i++) duration_s += parts[i] * form->parts_s[i];
    *out_s = duration_s;
    return true;
}

int duration_parse(struct str s, const char *field, int64_t *out_s, struct err *e)
{
    if (str_equal_nocase(s, str("UNLIMITED")) || str_equal_nocase(s, str("INFINITE"))) {
        *out_s = INT64_MAX;
        return 0;
    }
    int64_t duration_s;
    if (!duration_read(s, &duration_s))
        return err_value(e, field, s,
                         "a duration: minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S, 90m, 1.5h, 2d or UNLIMITED");
    if (duration_s == 0) return err_value_reason(e, field, s, "is less than one second");
    if (duration_s > DURATION_S_MAX)
        return err_value_reason(e, field, s, "is over 10 years (3660 days); write UNLIMITED for no limit");
    *out_s = duration_s;
    return 0;
}

static char *add_two(char *to, uint64_t value)
{
    *to++ = (char)('0' + value / 10 % 10);
    *to++ = (char)('0' + value % 10);
    return to;
}

/* Days and hours appear where they are needed. is_padded: hours always appear, with two digits. */
static size_t format_duration(char *out, int64_t duration_s, bool is_padded)
{
    if (duration_s == INT64_MAX) return text_format(out, TEXT_SIZE, "UNLIMITED");
    char *to = out;
    if (duration_s < 0) *to++ = '-';
    uint64_t s = duration_s < 0 ? 0 - (uint64_t)duration_s : (uint64_t)duration_s;
    bool has_days = s >= S_PER_DAY, has_hours = is_padded || s >= S_PER_HOUR;
    if (has_days) {
        to += number_format_u64(to, s / S_PER_DAY);
        *to++ = '-';
    }
    uint64_t hour = s / S_PER_HOUR % 24, minute = s / S_PER_MINUTE % 60;
    if (has_hours) {
        to = has_days || is_padded ? add_two(to, hour) : to + number_format_u64(to, hour);
        *to++ = ':';
    }
    to = has_hours ? add_two(to, minute) : to + number_format_u64(to, minute);
    *to++ = ':';
    to = add_two(to, s % 60);
    *to = '\0';
    return (size_t)(to - out);
}

size_t duration_format(char *out, int64_t duration_s)
{
    return format_duration(out, duration_s, true);
}

size_t duration_format_short(char *out, int64_t duration_s)
{
    return format_duration(out, duration_s, false);
}

/* Removes "K", "MB", "GiB" and the like from the end. Returns the letter in upper case, or 'M' if there is none. */
static char cut_suffix(struct str *s)
{
    size_t length = s->length;
    if (length > 0 && (s->text[length - 1] | 0x20) == 'b') {
        length--;
        if (length > 0 && (s->text[length - 1] | 0x20) == 'i') length--;
    }
    char letter = length > 0 ? (char)(s->text[length - 1] & ~0x20) : '\0';
    if (letter != 'K' && letter != 'M' && letter != 'G' && letter != 'T') return 'M';
    s->length = length - 1;
    return letter;
}

/* "1.5" of G is 1536 MiB; rounded up to whole MiB. Digits on both sides of the point, and not 0. */
static bool read_fraction(struct str s, char suffix, uint64_t *out_mib)
{
    struct str rest, whole = str_cut(s, '.', &rest);
    double value, mib_per_unit = suffix == 'K'   ? 1.0 / 1024.0
                                 : suffix == 'G' ? 1024.0
                                 : suffix == 'T' ? 1048576.0
                                                 : 1.0;
    if (whole.length == 0 || rest.length == 0) return false;
    for (size_t i = 0; i < s.length; i++) {
        if ((s.text[i] < '0' || s.text[i] > '9') && i != whole.length) return false;
    }
    if (!number_parse_double(s, &value)) return false;
    value *= mib_per_unit;
    if (value <= 0.0 || value > (double)MIB_MAX) return false;
    *out_mib = (uint64_t)value + ((double)(uint64_t)value < value ? 1 : 0);
    return true;
}

int memory_parse(struct str s, const char *field, uint64_t *out_mib, struct err *e)
{
    struct str digits = s;
    char suffix = cut_suffix(&digits);
    uint64_t value;
    if (read_fraction(digits, suffix, out_mib)) return 0;
    if (!number_parse_u64(digits, &value))
        return err_value(e, field, s, "an amount of memory: a number with an optional suffix K, M (default), G or T");
    int shift = suffix == 'G' ? 10 : suffix == 'T' ? 20 : 0;
    bool is_too_large = suffix == 'K' ? value > MIB_MAX << 10 : value > MIB_MAX >> shift;
    if (value == 0 || is_too_large)
        return err_value(e, field, s, "an amount of memory from 1K to %uT", (unsigned)(MIB_MAX >> 20));
    *out_mib = suffix == 'K' ? (value + 1023) / 1024 : value << shift;
    return 0;
}

size_t memory_format(char *out, uint64_t mib)
{
    static const struct {
        char letter;
        int shift;
    } units[] = {{'T', 20}, {'G', 10}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t unit = UINT64_C(1) << units[i].shift;
        if (mib < unit || (mib & (unit - 1)) != 0) continue;
        return text_format(out, TEXT_SIZE, "%ju%c", (uintmax_t)(mib >> units[i].shift), units[i].letter);
    }
    return text_format(out, TEXT_SIZE, "%juM", (uintmax_t)mib);
}

struct date {
    int64_t year;
    unsigned month, day; /* from 1 */
};

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days since 1970-01-01. */
static int64_t days_of_date(struct date d)
{
    int64_t year = d.year - (d.month <= 2);
    int64_t era = floor_divide(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * ((d.month + 9) % 12) + 2) / 5 + d.day - 1; /* from 1 March */
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static struct date date_of_days(int64_t days)
{
    days += 719468;
    int64_t era = floor_divide(days, 146097);
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* from March */
    return (struct date){
        .year = year_of_era + era * 400 + (month >= 10),
        .month = (unsigned)(month < 10 ? month + 3 : month - 9),
        .day = (unsigned)(day_of_year - (153 * month + 2) / 5 + 1),
    };
}

/* Two digits, and a character behind them. */
static char *put_two(char *to, unsigned number, char end)
{
    to[0] = (char)('0' + number / 10);
    to[1] = (char)('0' + number % 10);
    to[2] = end;
    return to + 3;
}

/* Not with text_format, because long listings have several times in each row. */
size_t time_format(char *out, int64_t time_us)
{
    int64_t time_s = floor_divide(time_us, US_PER_S);
    int64_t days = floor_divide(time_s, S_PER_DAY);
    unsigned s = (unsigned)(time_s - days * S_PER_DAY);
    struct date d = date_of_days(days);
    uint64_t year = d.year < 0 ? -(uint64_t)d.year : (uint64_t)d.year;
    char *to = out;
    if (d.year < 0) *to++ = '-';
    for (uint64_t above = 1000; above > year && above > 1; above /= 10) *to++ = '0';
    to += number_format_u64(to, year);
    *to++ = '-';
    to = put_two(put_two(to, d.month, '-'), d.day, 'T');
    to = put_two(put_two(to, s / S_PER_HOUR, ':'), s / S_PER_MINUTE % 60, ':');
    to = put_two(to, s % 60, 'Z');
    *to = '\0';
    return (size_t)(to - out);
}

/* Takes a number of exactly count digits from the front; false if it is not there or not from min to max. */
static bool take_number(struct str *s, size_t count, unsigned min, unsigned max, unsigned *out)
{
    uint64_t value;
    if (s->length < count || !number_parse_u64((struct str){s->text, count}, &value) || value < min || value > max)
        return false;
    s->text += count;
    s->length -= count;
    *out = (unsigned)value;
    return true;
}

static bool take_char(struct str *s, char c)
{
    if (s->length == 0 || s->text[0] != c) return false;
    s->text++;
    s->length--;
    return true;
}

/* All of s: "Z" or "+01:00". out_ahead_s: how far the zone's clock is ahead of UTC. */
static bool read_zone(struct str s, int64_t *out_ahead_s)
{
    unsigned hours = 0, minutes = 0;
    bool is_behind = false;
    if (!take_char(&s, 'Z')) {
        is_behind = take_char(&s, '-');
        if (!is_behind && !take_char(&s, '+')) return false;
        if (!take_number(&s, 2, 0, 23, &hours) || !take_char(&s, ':') || !take_number(&s, 2, 0, 59, &minutes))
            return false;
    }
    int64_t ahead_s = (int64_t)hours * S_PER_HOUR + (int64_t)minutes * S_PER_MINUTE;
    *out_ahead_s = is_behind ? -ahead_s : ahead_s;
    return s.length == 0;
}

/* ".5", ".123456789". Digits after the sixth are dropped. */
static bool take_fraction(struct str *s, int64_t *out_us)
{
    *out_us = 0;
    if (!take_char(s, '.')) return true;
    unsigned digit;
    if (!take_number(s, 1, 0, 9, &digit)) return false;
    int64_t unit = US_PER_S;
    do {
        unit /= 10;
        *out_us += digit * unit;
    } while (take_number(s, 1, 0, 9, &digit));
    return true;
}

static bool take_date(struct str *s, int64_t *out_days)
{
    unsigned year, month, day;
    bool is_read = take_number(s, 4, 1, 9999, &year) && take_char(s, '-') && take_number(s, 2, 1, 12, &month) &&
                   take_char(s, '-') && take_number(s, 2, 1, 31, &day);
    if (!is_read) return false;
    *out_days = days_of_date((struct date){.year = year, .month = month, .day = day});
    return date_of_days(*out_days).day == day; /* 30 February would become 1 or 2 March */
}

static bool take_time(struct str *s, int64_t *out_us)
{
    unsigned hour, minute, second = 0;
    int64_t fraction_us = 0;
    if (!take_number(s, 2, 0, 23, &hour) || !take_char(s, ':') || !take_number(s, 2, 0, 59, &minute)) return false;
    if (take_char(s, ':') && (!take_number(s, 2, 0, 59, &second) || !take_fraction(s, &fraction_us))) return false;
    *out_us = ((int64_t)hour * S_PER_HOUR + (int64_t)minute * S_PER_MINUTE + second) * US_PER_S + fraction_us;
    return true;
}

static bool read_iso(struct str s, int64_t *out_us)
{
    int64_t days, time_us, ahead_s;
    if (!take_date(&s, &days) || !take_char(&s, 'T') || !take_time(&s, &time_us) || !read_zone(s, &ahead_s))
        return false;
    *out_us = (days * S_PER_DAY - ahead_s) * US_PER_S + time_us;
    return *out_us >= FIRST_SECOND * US_PER_S && *out_us < (LAST_SECOND + 1) * US_PER_S;
}

int time_parse(struct str s, const char *field, int64_t *out_us, struct err *e)
{
    uint64_t since_epoch_s;
    int64_t time_us;
    if (number_parse_u64(s, &since_epoch_s) && since_epoch_s <= LAST_SECOND) {
        time_us = (int64_t)since_epoch_s * US_PER_S;
    } else if (!read_iso(s, &time_us)) {
        return err_value(
            e, field, s,
            "a time: seconds since 1970, or a date and time with a time zone such as 2026-11-21T09:05:00Z or "
            "2026-11-21T10:05+01:00");
    }
    *out_us = time_us;
    return 0;
}
