#include "policy/field.h"

#include <math.h>

#include "base/array.h"
#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"

enum { MINUTE_S = 60, HOUR_S = 3600 };

static bool is_span(const struct field *f)
{
    return f->type == FIELD_SECONDS || f->type == FIELD_MINUTES || f->type == FIELD_HOURS;
}

/* How many of the value's unit a written one has: spans are kept in seconds. */
static int64_t written_unit(const struct field *f)
{
    return f->type == FIELD_MINUTES ? MINUTE_S : f->type == FIELD_HOURS ? HOUR_S : 1;
}

static const char *type_words(const struct field *f)
{
    switch (f->type) {
    case FIELD_REAL: return "a number";
    case FIELD_SECONDS: return "a span in seconds";
    case FIELD_MINUTES: return "a span in minutes (or D-H:M:S)";
    case FIELD_HOURS: return "a span in hours";
    case FIELD_MEMORY: return "memory in MiB (or with K, M, G or T)";
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
        buf_format(out, "%s, the only value it takes", min);
        return;
    }
    buf_format(out, "%s from %s to %s", type_words(f), min, max);
    if (f->special != NULL) buf_format(out, ", or %s", f->special);
}

void field_accepted(const struct field *f, struct buf *out)
{
    if (f->type == FIELD_TEXT) return;
    if (f->type != FIELD_CHOICE && f->type != FIELD_BOOL) {
        add_range(f, out);
        return;
    }
    buf_add_text(out, "one of ");
    struct str rest = str(f->type == FIELD_BOOL ? "yes,no,true,false" : f->choices);
    while (rest.text != NULL) {
        buf_add_str(out, str_cut(rest, ',', &rest));
        if (rest.text != NULL) buf_add_text(out, ", ");
    }
}

static int not_accepted(const struct field *f, struct str value, struct err *e)
{
    struct buf accepted = {0};
    field_accepted(f, &accepted);
    int status = err_value(e, f->name, value, "%s", accepted.text);
    buf_release(&accepted);
    return status;
}

/* The place of a word in "merge,slurm", or -1. */
static int64_t choice_index(const char *choices, struct str word)
{
    struct str rest = str(choices);
    for (int64_t i = 0; rest.text != NULL; i++) {
        if (str_equal_nocase(str_cut(rest, ',', &rest), word)) return i;
    }
    return -1;
}

static int parse_bool(const struct field *f, struct str value, int64_t *out_number, struct err *e)
{
    static const char *const words[] = {"false", "true", "no", "yes", "0", "1"};
    for (int64_t i = 0; i < 6; i++) {
        if (!str_equal_nocase(value, str(words[i]))) continue;
        *out_number = i % 2;
        return 0;
    }
    return not_accepted(f, value, e);
}

static bool looks_like_clock(struct str value)
{
    for (size_t i = 1; i < value.length; i++) {
        if (value.text[i] == ':' || value.text[i] == '-') return true;
    }
    return false;
}

/* Slurm knows three ways to say that there is no limit. */
static bool is_special(const struct field *f, struct str value)
{
    if (f->special == NULL) return false;
    if (f->type == FIELD_MINUTES && (str_equal_nocase(value, str("INFINITE")) || str_equal(value, str("-1"))))
        return true;
    return str_equal_nocase(value, str(f->special));
}

/* A whole number of seconds, MiB or whatever the field counts, before its range is looked at. Slurm counts whole minutes
 * and rounds up; so do fields in minutes. */
static int parse_number(const struct field *f, struct str value, int64_t *out_number, struct err *e)
{
    int64_t number;
    uint64_t mib;
    if (number_parse_i64(value, &number)) {
        bool fits = fabs((double)number) <= 9e15 / (double)written_unit(f);
        *out_number = fits ? number * written_unit(f) : INT64_MAX;
        return 0;
    }
    if (is_span(f) && f->type != FIELD_HOURS && looks_like_clock(value)) {
        if (duration_parse(value, f->name, &number, e) != 0) return -1;
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

static int parse_text(const struct field *f, struct str value, struct arena *arena, struct field_value *out_value,
                      struct err *e)
{
    if (value.length > FIELD_TEXT_MAX)
        return err_value_reason(e, f->name, value, "has %zu bytes; the maximum is %d", value.length, FIELD_TEXT_MAX);
    if (!str_is_printable(value)) return err_value(e, f->name, value, "printable UTF-8");
    if (f->check != NULL && f->check(value, f->name, e) != 0) return -1;
    out_value->text = arena_copy(arena, value);
    return 0;
}

int field_parse(const struct field *f, struct str value, struct arena *arena, struct field_value *out_value,
                struct err *e)
{
    struct field_value read = {0, 0.0, ""};
    double min = f->min;
    if (f->type == FIELD_TEXT) {
        if (parse_text(f, value, arena, &read, e) != 0) return -1;
    } else if (f->type == FIELD_BOOL) {
        if (parse_bool(f, value, &read.number, e) != 0) return -1;
    } else if (f->type == FIELD_CHOICE) {
        read.number = choice_index(f->choices, value);
        if (read.number < 0) return not_accepted(f, value, e);
    } else if (is_special(f, value)) {
        read.number = FIELD_SPECIAL;
    } else if (f->type == FIELD_REAL) {
        if (!number_parse_double(value, &read.real) || !(read.real >= min && read.real <= f->max))
            return not_accepted(f, value, e);
    } else {
        if (parse_number(f, value, &read.number, e) != 0) return -1;
        if ((double)read.number < min || (double)read.number > f->max) return not_accepted(f, value, e);
    }
    *out_value = read;
    return 0;
}

static void format_span(const struct field *f, int64_t span_s, struct buf *out)
{
    char text[32];
    if (span_s % written_unit(f) == 0) {
        buf_format(out, "%lld", (long long)(span_s / written_unit(f)));
    } else {
        buf_add(out, text, duration_format(text, span_s));
    }
}

void field_format(const struct field *f, const struct field_value *value, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    if (f->type == FIELD_TEXT) {
        buf_add_text(out, value->text);
    } else if (f->type == FIELD_BOOL) {
        buf_add_text(out, value->number ? "yes" : "no");
    } else if (f->type == FIELD_CHOICE) {
        struct str rest = str(f->choices), word = {0};
        for (int64_t i = 0; i <= value->number; i++) word = str_cut(rest, ',', &rest);
        buf_add_str(out, word);
    } else if (f->special != NULL && value->number == FIELD_SPECIAL) {
        buf_add_text(out, f->special);
    } else if (f->type == FIELD_REAL) {
        buf_add(out, text, number_format_shortest(text, value->real));
    } else if (is_span(f)) {
        format_span(f, value->number, out);
    } else {
        buf_format(out, "%lld", (long long)value->number);
    }
}

bool field_equal(const struct field *f, const struct field_value *a, const struct field_value *b)
{
    if (f->type == FIELD_TEXT) return str_equal(str(a->text), str(b->text));
    return a->number == b->number && !(a->real < b->real) && !(a->real > b->real);
}

uint32_t field_find(const struct field *fields, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_equal_nocase(str(fields[i].name), name)) return i;
    }
    return NONE;
}

void field_names(const struct field *fields, uint32_t count, struct buf *out)
{
    for (uint32_t i = 0; i < count; i++) buf_format(out, "%s%s", i > 0 ? ", " : "", fields[i].name);
}
