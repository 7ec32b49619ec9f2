#include "options/option_store.h"

#include <math.h>
#include <time.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/text.h"
#include "fields/limits.h"
#include "options/time_text.h"

enum { NAME_BYTES = 48 };

/* Appends "merge|slurm" as "merge, slurm". */
static void spell_choices(const char *choices, struct buf *out)
{
    for (struct str rest = str(choices); rest.text != NULL;) {
        if (out->length > 0) buf_add_text(out, ", ");
        buf_add_str(out, str_cut(rest, '|', &rest));
    }
}

static int store_choice(const char *what, const char *choices, const char *argument, int *member, struct err *e)
{
    struct str rest = str(choices);
    struct buf words = {0};
    for (int i = 0; rest.text != NULL; i++) {
        if (!str_equal_nocase(str_cut(rest, '|', &rest), str(argument))) continue;
        *member = i;
        return 0;
    }
    spell_choices(choices, &words);
    (void)err_value(e, what, str(argument), "one of %s", words.text);
    buf_release(&words);
    return -1;
}

static int store_u64(const char *what, const struct option_value *v, const char *argument, uint64_t *member,
                     struct err *e)
{
    uint64_t max = v->max > 0 ? v->max : UINT64_MAX, value;
    if (number_parse_u64(str(argument), &value) && value >= v->min && value <= max) {
        *member = value;
        return 0;
    }
    if (v->max == 0)
        return err_value(e, what, str(argument), "a whole number of at least %llu", (unsigned long long)v->min);
    return err_value(e, what, str(argument), "a whole number from %llu to %llu", (unsigned long long)v->min,
                     (unsigned long long)v->max);
}

static int store_i64(const char *what, const struct option_value *v, const char *argument, int64_t *member,
                     struct err *e)
{
    int64_t min = (int64_t)v->min, max = (int64_t)v->max, value;
    if (!number_parse_i64(str(argument), &value) || value < min || value > max)
        return err_value(e, what, str(argument), "a whole number from %lld to %lld", (long long)min, (long long)max);
    *member = value;
    return 0;
}

static int append_text(const char *what, const char *argument, struct option_texts *member, struct err *e)
{
    if (member->count == OPTION_TEXTS_MAX)
        return err_field(e, ERR_USAGE, what, "given more than %d times", OPTION_TEXTS_MAX);
    member->items[member->count++] = argument;
    return 0;
}

/* Refuses a time that is not from min_us to max_us, in whole seconds. special: a word that is accepted, too, or
 * NULL. */
static int check_time(const char *what, const char *argument, int64_t time_us, double min_us, double max_us,
                      const char *special, struct err *e)
{
    char first[32], last[32];
    if ((double)time_us >= min_us && (double)time_us <= max_us) return 0;
    time_format(first, (int64_t)min_us + US_PER_S - 1);
    time_format(last, (int64_t)max_us);
    return err_value(e, what, str(argument), "a time from %s to %s%s%s", first, last, special != NULL ? ", or " : "",
                     special != NULL ? special : "");
}

static int64_t time_of_day_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / NS_PER_US;
}

/* f: the field whose range and word are accepted; NULL: any time since 1970. */
static int store_time(const struct option_rules *rules, enum time_side side, const struct field *f, const char *what,
                      const char *argument, int64_t *member, struct err *e)
{
    int64_t time_us, now_us = rules->now_us != NULL ? rules->now_us(rules->now_context) : time_of_day_us();
    const struct time_context context = {side, now_us};
    if (time_text_parse(str(argument), what, &context, &time_us, e) != 0 ||
        check_time(what, argument, time_us, f != NULL ? f->min : 0, f != NULL ? f->max : TIME_US_MAX,
                   f != NULL ? f->special : NULL, e) != 0)
        return -1;
    *member = time_us;
    return 0;
}

static int store_double(const char *what, const char *argument, double *member, struct err *e)
{
    double value;
    if (!number_parse_double(str(argument), &value) || !isfinite(value))
        return err_value(e, what, str(argument), "a finite number");
    if (!number_is_held(str(argument))) return err_value_reason(e, what, str(argument), NUMBER_NOT_HELD);
    *member = value;
    return 0;
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

/* Parses a duration; UNLIMITED is the maximum of the field. */
static int read_duration(const struct field *f, const char *what, const char *argument, int64_t *out_s, struct err *e)
{
    if (duration_parse(str(argument), what, out_s, e) != 0) return -1;
    if (*out_s == INT64_MAX) *out_s = (int64_t)f->max < DURATION_S_MAX ? (int64_t)f->max : DURATION_S_MAX;
    return 0;
}

static int read_field(const struct option_rules *rules, const struct field *f, const char *what, const char *argument,
                      struct field_value *out, struct err *e)
{
    struct field named = *f;
    uint64_t mib;
    named.name = what;
    *out = field_number(0);
    if (f->special != NULL && str_equal_nocase(str(argument), str(f->special))) {
        out->number = FIELD_SPECIAL;
        return 0;
    }
    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_BYTES: out->text = argument; return field_check(&named, out, e);
    case FIELD_SECONDS: return read_duration(f, what, argument, &out->number, e);
    case FIELD_TIME: return store_time(rules, TIME_AHEAD, f, what, argument, &out->number, e);
    case FIELD_MEMORY:
        if (memory_parse(str(argument), what, &mib, e) != 0) return -1;
        out->number = (int64_t)mib;
        return 0;
    default: return field_parse(&named, str(argument), NULL, out, e); /* no arena: these types have no text */
    }
}

static int store_field(const struct option_rules *rules, const char *what, const struct option_row *row,
                       const char *argument, void *values, struct err *e)
{
    const struct option_value *v = &row->value;
    struct field_value *member = (struct field_value *)(void *)((char *)values + v->offset);
    *((bool *)values + v->given_offset) = true;
    if (row->argument == NULL) {
        *member = field_number(1);
        return 0;
    }
    return read_field(rules, v->field, what, argument, member, e);
}

int option_store(const struct option_rules *rules, const struct option_row *row, const char *given, void *values,
                 struct err *e)
{
    const struct option_value *v = &row->value;
    const char *argument = given != NULL ? given : v->default_value;
    void *member = (char *)values + v->offset;
    char what[NAME_BYTES];
    text_format(what, sizeof what, "--%s", row->name);
    switch (v->type) {
    case OPTION_FLAG: *(bool *)member = true; return 0;
    case OPTION_TEXT: *(const char **)member = argument; return 0;
    case OPTION_TEXTS: return append_text(what, argument, member, e);
    case OPTION_CHOICE: return store_choice(what, v->choices, argument, member, e);
    case OPTION_U64: return store_u64(what, v, argument, member, e);
    case OPTION_I64: return store_i64(what, v, argument, member, e);
    case OPTION_DOUBLE: return store_double(what, argument, member, e);
    case OPTION_DURATION: return duration_parse(str(argument), what, member, e);
    case OPTION_MEMORY: return memory_parse(str(argument), what, member, e);
    case OPTION_TIME: return store_time(rules, TIME_AHEAD, NULL, what, argument, member, e);
    case OPTION_PAST_TIME: return store_time(rules, TIME_BEHIND, NULL, what, argument, member, e);
    case OPTION_FIELD: return store_field(rules, what, row, argument, values, e);
    }
    ensure(!"an option type without a parser");
    return -1;
}
