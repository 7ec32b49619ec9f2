#include "fields/field.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"

enum { MINUTE_S = 60, HOUR_S = 3600 };

/* What one unit of the written form is in units of the value: durations are stored in seconds, times in
 * microseconds. */
static int64_t written_unit(const struct field *f)
{
    switch (f->type) {
    case FIELD_MINUTES: return MINUTE_S;
    case FIELD_HOURS: return HOUR_S;
    case FIELD_TIME: return US_PER_S;
    default: return 1;
    }
}

struct field_value field_absent(void)
{
    return (struct field_value){.number = FIELD_ABSENT, .real = (double)NAN, .text = NULL};
}

struct field_value field_nothing(const struct field *f)
{
    return f->is_nullable ? field_absent() : field_number(0);
}

struct field_value field_unsaid(const struct field *f)
{
    return f->is_private ? field_absent() : field_nothing(f);
}

bool field_is_absent(const struct field *f, const struct field_value *value)
{
    if (field_is_text(f)) return value->text == NULL;
    return f->type == FIELD_REAL ? isnan(value->real) : value->number == FIELD_ABSENT;
}

/* --- words -------------------------------------------------------------------------------------------------------- */

struct str field_choice(const char *choices, int64_t index)
{
    struct str rest = str(choices), word = {0};
    for (int64_t i = 0; i <= index; i++) word = str_cut(rest, ',', &rest);
    ensure(word.text != NULL);
    return word;
}

int64_t field_choice_index(const char *choices, struct str word)
{
    struct str rest = str(choices);
    for (int64_t i = 0; rest.text != NULL; i++) {
        if (str_equal_nocase(str_cut(rest, ',', &rest), word)) return i;
    }
    return -1;
}

bool field_parse_bool(struct str text, bool *out_value)
{
    int64_t index = field_choice_index("false,true,no,yes,0,1", text);
    if (index < 0) return false;
    *out_value = index % 2 != 0;
    return true;
}

/* Slurm has three spellings for "no limit": UNLIMITED, INFINITE and -1. */
static bool is_special(const struct field *f, struct str value)
{
    if (f->special == NULL) return false;
    bool is_unlimited = f->type == FIELD_MINUTES || str_equal(str(f->special), str("UNLIMITED"));
    if (is_unlimited && (str_equal_nocase(value, str("INFINITE")) || str_equal(value, str("-1")))) return true;
    return str_equal_nocase(value, str(f->special));
}

/* --- what is accepted --------------------------------------------------------------------------------------------- */

static const char *type_text(const struct field *f)
{
    switch (f->type) {
    case FIELD_REAL: return "a number";
    case FIELD_SECONDS: return "a duration in seconds (or 90m, 1.5h, D-H:M:S)";
    case FIELD_MINUTES: return "a duration in minutes (or 1.5h, 2d, D-H:M:S)";
    case FIELD_HOURS: return "a duration in hours (or 90m, 2d)";
    case FIELD_MEMORY: return "memory in MiB (or with a suffix K, M, G or T)";
    default: return "a whole number";
    }
}

static void add_range(const struct field *f, struct buf *out)
{
    char min[NUMBER_TEXT_SIZE], max[NUMBER_TEXT_SIZE];
    double unit = (double)written_unit(f);
    number_format_double(min, f->min / unit, 16, 'g');
    number_format_double(max, f->max / unit, 16, 'g');
    if (!(f->min < f->max)) {
        buf_format(out, "%s, the only accepted value", min);
        return;
    }
    buf_format(out, "%s from %s to %s", type_text(f), min, max);
}

void field_accepted(const struct field *f, struct buf *out)
{
    if (field_is_text(f)) return;
    if (f->type == FIELD_TIME) {
        buf_add_text(out, "a time: seconds since 1970, or a date and time with a time zone");
    } else if (f->type == FIELD_CHOICE || f->type == FIELD_BOOL) {
        buf_add_text(out, "one of ");
        struct str rest = str(f->type == FIELD_BOOL ? "yes,no,true,false" : f->choices);
        while (rest.text != NULL) {
            buf_add_str(out, str_cut(rest, ',', &rest));
            if (rest.text != NULL) buf_add_text(out, ", ");
        }
    } else {
        add_range(f, out);
    }
    if (f->special != NULL) buf_format(out, ", or %s", f->special);
}

static int not_accepted(const struct field *f, struct str value, struct err *e)
{
    struct buf accepted = {0};
    field_accepted(f, &accepted);
    int status = err_value(e, f->name, value, "%s", accepted.text);
    buf_release(&accepted);
    return status;
}

static int64_t count_choices(const char *choices)
{
    int64_t count = 0;
    for (struct str rest = str(choices); rest.text != NULL; count++) str_cut(rest, ',', &rest);
    return count;
}

static bool is_in_range(const struct field *f, const struct field_value *value)
{
    switch (f->type) {
    case FIELD_REAL: return value->real >= f->min && value->real <= f->max;
    case FIELD_BOOL: return value->number == 0 || value->number == 1;
    case FIELD_CHOICE: return value->number >= 0 && value->number < count_choices(f->choices);
    case FIELD_TEXT:
    case FIELD_BYTES: return true;
    default: return number_is_between(value->number, f->min, f->max);
    }
}

/* --- parsing ------------------------------------------------------------------------------------------------------ */

/* Parses a whole number in the unit of the field's values, without checking its range. Fields in minutes round up to
 * whole minutes, as Slurm does. */
static int parse_number(const struct field *f, struct str value, int64_t *out_number, struct err *e)
{
    int64_t number;
    uint64_t mib;
    if (f->type == FIELD_TIME) return time_parse(value, f->name, out_number, e);
    if (number_parse_i64(value, &number)) {
        bool fits = number <= INT64_MAX / written_unit(f) && number >= INT64_MIN / written_unit(f);
        *out_number = fits ? number * written_unit(f) : INT64_MAX;
        return 0;
    }
    bool has_units = field_is_duration(f) && duration_read_units(value, &number);
    if (has_units || (field_is_duration(f) && f->type != FIELD_HOURS && duration_read(value, &number))) {
        *out_number = (number + written_unit(f) - 1) / written_unit(f) * written_unit(f);
        return 0;
    }
    if (f->type == FIELD_MEMORY) {
        if (memory_parse(value, f->name, &mib, e) != 0) return -1;
        *out_number = (int64_t)mib;
        return 0;
    }
    return not_accepted(f, value, e);
}

static bool is_printable(const struct field *f, struct str value)
{
    if (!f->has_lines) return str_is_printable(value);
    for (struct str rest = value; rest.text != NULL;) {
        if (!str_is_printable(str_trim(str_cut(rest, '\n', &rest)))) return false;
    }
    return true;
}

/* The lines of a text that are not empty, with "; " between them. */
static char *join_lines(struct str value, struct arena *arena)
{
    struct buf text = {0};
    for (struct str rest = value; rest.text != NULL;) {
        struct str line = str_trim(str_cut(rest, '\n', &rest));
        if (line.length > 0 && text.length > 0) buf_add_text(&text, "; ");
        buf_add_str(&text, line);
    }
    char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

static int check_text(const struct field *f, struct str value, struct err *e)
{
    double max = f->max > 0 ? f->max : FIELD_TEXT_MAX, length = (double)value.length;
    if (length < f->min || length > max)
        return err_value_reason(e, f->name, value, "has %zu bytes; %.0f to %.0f are accepted", value.length, f->min,
                                max);
    if (f->type == FIELD_TEXT && !is_printable(f, value)) return err_value(e, f->name, value, "printable UTF-8");
    if (length > 0 && memchr(value.text, 0, value.length) != NULL)
        return err_value_reason(e, f->name, value, "has a zero byte");
    return f->check != NULL ? f->check(value, f->name, e) : 0;
}

int field_parse(const struct field *f, struct str value, struct arena *arena, struct field_value *out_value,
                struct err *e)
{
    struct field_value parsed = {.text = ""};
    bool is_true;
    if (is_special(f, value)) {
        *out_value = (struct field_value){.number = FIELD_SPECIAL, .text = ""};
        return 0;
    }
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_BYTES:
        if (check_text(f, value, e) != 0) return -1;
        parsed.text = f->has_lines ? join_lines(value, arena) : arena_copy(arena, value);
        break;
    case FIELD_BOOL:
        if (!field_parse_bool(value, &is_true)) return not_accepted(f, value, e);
        parsed.number = is_true;
        break;
    case FIELD_CHOICE:
        parsed.number = field_choice_index(f->choices, value);
        if (parsed.number < 0) return not_accepted(f, value, e);
        break;
    case FIELD_REAL:
        if (!number_parse_double(value, &parsed.real)) return not_accepted(f, value, e);
        if (!number_is_held(value)) return err_value_reason(e, f->name, value, NUMBER_NOT_HELD);
        parsed.real += 0.0; /* -0 becomes 0: it would sort before 0 */
        break;
    default:
        if (parse_number(f, value, &parsed.number, e) != 0) return -1;
    }
    if (!is_in_range(f, &parsed)) return not_accepted(f, value, e);
    *out_value = parsed;
    return 0;
}

int field_check(const struct field *f, const struct field_value *value, struct err *e)
{
    if (field_is_absent(f, value)) return f->is_nullable ? 0 : err_field(e, ERR_INPUT, f->name, "a value is required");
    if (field_is_text(f)) return check_text(f, str(value->text), e);
    if (f->special != NULL && f->type != FIELD_REAL && value->number == FIELD_SPECIAL) return 0;
    if (is_in_range(f, value)) return 0;
    struct buf text = {0};
    if (f->type == FIELD_CHOICE || f->type == FIELD_BOOL)
        buf_format(&text, "%lld", (long long)value->number); /* no word stands for it */
    else
        field_format(f, value, &text);
    int status = not_accepted(f, (struct str){text.text, text.length}, e);
    if (e != NULL) e->is_number = true;
    buf_release(&text);
    return status;
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

static void format_duration(const struct field *f, int64_t duration_s, struct buf *out)
{
    char text[32];
    if (duration_s % written_unit(f) == 0)
        buf_format(out, "%lld", (long long)(duration_s / written_unit(f)));
    else
        buf_add(out, text, duration_format(text, duration_s));
}

static void format_pairs(const char *text, struct buf *out)
{
    for (; *text != '\0'; text++) buf_add_char(out, *text == '\n' ? ',' : *text);
}

void field_format(const struct field *f, const struct field_value *value, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    if (field_is_absent(f, value)) return;
    if (f->special != NULL && field_is_whole(f) && value->number == FIELD_SPECIAL) {
        buf_add_text(out, f->special);
        return;
    }
    if (f->is_pairs) {
        format_pairs(value->text, out);
        return;
    }
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_BYTES: buf_add_text(out, value->text); return;
    case FIELD_BOOL: buf_add_text(out, value->number ? "yes" : "no"); return;
    case FIELD_CHOICE: buf_add_str(out, field_choice(f->choices, value->number)); return;
    case FIELD_REAL: buf_add(out, text, number_format_shortest(text, value->real)); return;
    case FIELD_SECONDS:
    case FIELD_MINUTES:
    case FIELD_HOURS: format_duration(f, value->number, out); return;
    case FIELD_TIME: buf_add(out, text, time_format(text, value->number)); return;
    default: buf_format(out, "%lld", (long long)value->number);
    }
}

bool field_equal(const struct field *f, const struct field_value *a, const struct field_value *b)
{
    if (field_is_absent(f, a) || field_is_absent(f, b)) return field_is_absent(f, a) && field_is_absent(f, b);
    if (field_is_text(f)) return str_equal(str(a->text), str(b->text));
    return a->number == b->number && !(a->real < b->real) && !(a->real > b->real);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

uint32_t field_find(const struct field_table *t, struct str name)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (str_equal_nocase(str(field_at(t, i)->name), name)) return i;
    }
    return NONE;
}

void field_names(const struct field_table *t, struct buf *out)
{
    const char *separator = "";
    for (uint32_t i = 0; i < t->count; i++) {
        if (field_at(t, i)->is_hidden) continue;
        buf_format(out, "%s%s", separator, field_at(t, i)->name);
        separator = ", ";
    }
}
