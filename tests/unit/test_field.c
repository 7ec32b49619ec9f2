/* Fields: every type reads the text that it writes, in its unit and range; errors name the accepted values; and the
 * tables of fields are sound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fields/job_fields.h"
#include "fields/limits.h"
#include "fields/objects.h"
#include "fields/priority_fields.h"
#include "fields/settings.h"
#include "fields/share_fields.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

enum { DAY_S = 86400 };

static struct arena arena;

static int check_lower(struct str text, const char *field, struct err *e)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] >= 'A' && text.text[i] <= 'Z') return err_value(e, field, text, "in lower case");
    }
    return 0;
}

static const struct field number = {.name = "number", .type = FIELD_NUMBER, .min = 0, .max = 100};
static const struct field cpus = {.name = "cpus", .type = FIELD_NUMBER, .min = 1, .max = 65536, .special = "auto"};
static const struct field signed_number = {.name = "signed", .type = FIELD_NUMBER, .min = -9, .max = 9};
static const struct field largest = {.name = "largest", .type = FIELD_NUMBER, .min = 0, .max = WHOLE_REAL_MAX};
static const struct field only = {.name = "only", .type = FIELD_NUMBER};
static const struct field real = {.name = "real", .type = FIELD_REAL, .min = -1, .max = 1e300};
static const struct field boolean = {.name = "boolean", .type = FIELD_BOOL, .max = 1};
static const struct field choice = {.name = "choice", .type = FIELD_CHOICE, .choices = "merge,slurm,none"};
static const struct field text = {.name = "text", .type = FIELD_TEXT, .min = 1, .max = 4, .check = check_lower};
static const struct field any_text = {.name = "any_text", .type = FIELD_TEXT};
static const struct field bytes = {.name = "bytes", .type = FIELD_BYTES, .max = 10};
static const struct field seconds = {.name = "seconds", .type = FIELD_SECONDS, .min = 0, .max = 10 * DAY_S};
static const struct field minutes = {
    .name = "minutes", .type = FIELD_MINUTES, .min = 60, .max = 10 * DAY_S, .special = "UNLIMITED"};
static const struct field hours = {.name = "hours", .type = FIELD_HOURS, .min = 0, .max = 10 * DAY_S};
static const struct field memory = {.name = "memory", .type = FIELD_MEMORY, .min = 1, .max = MEM_MIB_MAX};
static const struct field at_time = {
    .name = "time", .type = FIELD_TIME, .min = 1, .max = TIME_US_MAX, .special = "none", .is_nullable = true};
static const struct field nullable_number = {
    .name = "nullable_number", .type = FIELD_NUMBER, .min = 1, .max = 9, .is_nullable = true};
static const struct field nullable_real = {.name = "nullable_real", .type = FIELD_REAL, .is_nullable = true};
static const struct field nullable_text = {.name = "nullable_text", .type = FIELD_TEXT, .is_nullable = true};

static const char *formatted(const struct field *f, const struct field_value *value)
{
    static struct buf out;
    buf_clear(&out);
    buf_add_text(&out, "");
    field_format(f, value, &out);
    return out.text;
}

/* --- reading and writing ------------------------------------------------------------------------------------------ */

/* Whole numbers: the stored number, and its text. */
static const struct {
    const struct field *field;
    const char *text;
    int64_t number;
    const char *written;
} wholes[] = {
    {&number, "0", 0, "0"},
    {&number, "100", 100, "100"},
    {&number, "+1", 1, "1"},
    {&signed_number, "-9", -9, "-9"},
    {&largest, "9007199254740992", INT64_C(9007199254740992), "9007199254740992"},
    {&only, "0", 0, "0"},
    {&cpus, "1", 1, "1"},
    {&cpus, "65536", 65536, "65536"},
    {&cpus, "auto", FIELD_SPECIAL, "auto"},
    {&cpus, "AUTO", FIELD_SPECIAL, "auto"},

    {&boolean, "yes", 1, "yes"},
    {&boolean, "TRUE", 1, "yes"},
    {&boolean, "1", 1, "yes"},
    {&boolean, "No", 0, "no"},
    {&boolean, "false", 0, "no"},
    {&boolean, "0", 0, "no"},

    {&choice, "merge", 0, "merge"},
    {&choice, "SLURM", 1, "slurm"},
    {&choice, "none", 2, "none"},

    {&seconds, "90", 90, "90"},
    {&seconds, "0:00", 0, "0"},
    {&seconds, "1:30", 90, "90"},
    {&seconds, "1:00:00", 3600, "3600"},
    {&seconds, "1-0", DAY_S, "86400"},
    {&seconds, "1.5h", 5400, "5400"},
    {&minutes, "90s", 120, "2"},
    {&minutes, "2h", 7200, "120"},
    {&hours, "2d", 2 * DAY_S, "48"},
    {&seconds, "1-02:03:04", DAY_S + 7384, "93784"},
    {&minutes, "1", 60, "1"},
    {&minutes, "1:01", 120, "2"}, /* whole minutes, rounded up */
    {&minutes, "1-0", DAY_S, "1440"},
    {&minutes, "unlimited", FIELD_SPECIAL, "UNLIMITED"},
    {&minutes, "INFINITE", FIELD_SPECIAL, "UNLIMITED"},
    {&minutes, "-1", FIELD_SPECIAL, "UNLIMITED"},
    {&hours, "24", DAY_S, "24"},
    {&hours, "0", 0, "0"},

    {&memory, "512", 512, "512"},
    {&memory, "4G", 4096, "4096"},
    {&memory, "1025K", 2, "2"},
    {&memory, "1048576T", INT64_C(1) << 40, "1099511627776"},

    {&at_time, "1700000000", INT64_C(1700000000000000), "2023-11-14T22:13:20Z"},
    {&at_time, "2026-11-21T10:05+01:00", INT64_C(1795251900000000), "2026-11-21T09:05:00Z"},
    {&at_time, "9999-12-31T23:59:59Z", INT64_C(253402300799000000), "9999-12-31T23:59:59Z"},
    {&at_time, "None", FIELD_SPECIAL, "none"},
};

static void whole_numbers_round_trip(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(wholes); i++) {
        const struct field *f = wholes[i].field;
        struct field_value value = {.text = NULL}, again;
        struct err e = {0};
        if (field_parse(f, str(wholes[i].text), &arena, &value, &e) != 0)
            fail_msg("%s=%s: %s", f->name, wholes[i].text, ERR_SENTENCE(&e));
        if (value.number != wholes[i].number) fail_msg("%s=%s: %lld", f->name, wholes[i].text, (long long)value.number);
        assert_string_equal(value.text, "");
        assert_true(value.real == 0.0);
        assert_false(field_is_absent(f, &value));
        assert_int_equal(field_check(f, &value, &e), 0);
        assert_string_equal(formatted(f, &value), wholes[i].written);
        assert_int_equal(field_parse(f, str(wholes[i].written), &arena, &again, &e), 0);
        assert_true(field_equal(f, &value, &again));
    }
}

static void reals_round_trip(void **unused)
{
    static const struct {
        const char *text;
        double real;
        const char *written;
    } rows[] = {{"0.1", 0.1, "0.1"},        {"-1", -1.0, "-1"},
                {"1e300", 1e300, "1e+300"}, {"-0", 0.0, "0"},
                {"5e-1", 0.5, "0.5"},       {"0.30000000000000004", 0.30000000000000004, "0.30000000000000004"}};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct field_value value, again;
        struct err e = {0};
        assert_int_equal(field_parse(&real, str(rows[i].text), &arena, &value, &e), 0);
        assert_true(value.real == rows[i].real);
        assert_int_equal(value.number, 0);
        assert_int_equal(field_check(&real, &value, &e), 0);
        assert_string_equal(formatted(&real, &value), rows[i].written);
        assert_int_equal(field_parse(&real, str(rows[i].written), &arena, &again, &e), 0);
        assert_true(field_equal(&real, &value, &again));
    }
}

static void texts_round_trip(void **unused)
{
    static const struct {
        const struct field *field;
        const char *text;
    } rows[] = {{&text, "abc"},     {&text, "\xc3\xa9"}, {&any_text, ""},           {&any_text, "a|b,c=d e"},
                {&bytes, "\xff/x"}, {&bytes, "\n\x01x"}, {&nullable_text, "parent"}};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char given[32];
        struct field_value value;
        struct err e = {0};
        strcpy(given, rows[i].text);
        assert_int_equal(field_parse(rows[i].field, str(given), &arena, &value, &e), 0);
        memset(given, 'x', strlen(given)); /* it is a copy */
        assert_string_equal(value.text, rows[i].text);
        assert_int_equal(field_check(rows[i].field, &value, &e), 0);
        assert_string_equal(formatted(rows[i].field, &value), rows[i].text);
    }
    char longest[FIELD_TEXT_MAX + 2];
    struct field_value value;
    memset(longest, 'x', sizeof longest);
    assert_int_equal(field_parse(&any_text, (struct str){longest, FIELD_TEXT_MAX}, &arena, &value, NULL), 0);
    assert_int_equal(field_parse(&any_text, (struct str){longest, FIELD_TEXT_MAX + 1}, &arena, &value, NULL), -1);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static const struct {
    const struct field *field;
    const char *text, *error; /* error NULL: any text that names the field and the value */
} refused[] = {
    {&number, "101", "number: '101' is not a whole number from 0 to 100"},
    {&number, "-1", "number: '-1' is not a whole number from 0 to 100"},
    {&number, "1.0", "number: '1.0' is not a whole number from 0 to 100"},
    {&number, "", "number: '' is not a whole number from 0 to 100"},
    {&number, " 1", NULL},
    {&number, "1e2", NULL},
    {&number, "0x10", NULL},
    {&number, "99999999999999999999", NULL},
    {&number, "auto", NULL},
    {&largest, "9007199254740994", NULL},
    {&largest, "9223372036854775807", NULL},
    {&only, "1", "only: '1' is not 0, the only accepted value"},
    {&cpus, "0", "cpus: '0' is not a whole number from 1 to 65536, or auto"},
    {&cpus, "-1", "cpus: '-1' is not a whole number from 1 to 65536, or auto"},
    {&cpus, "UNLIMITED", NULL},
    {&real, "1e301", "real: '1e301' is not a number from -1 to 1e+300"},
    {&real, "-1.5", NULL},
    {&real, "inf", NULL},
    {&real, "nan", NULL},
    {&real, "0,5", NULL},
    {&real, "", NULL},
    {&boolean, "maybe", "boolean: 'maybe' is not one of yes, no, true, false"},
    {&boolean, "2", NULL},
    {&boolean, "", NULL},
    {&choice, "both", "choice: 'both' is not one of merge, slurm, none"},
    {&choice, "merg", NULL},
    {&choice, "1", NULL},
    {&choice, "", NULL},
    {&choice, "merge,slurm", NULL},
    {&text, "", "text: '' has 0 bytes; 1 to 4 are accepted"},
    {&text, "abcde", "text: 'abcde' has 5 bytes; 1 to 4 are accepted"},
    {&text, "a\nb", "text: 'a?b' is not printable UTF-8"},
    {&text, "\xff", "text: '?' is not printable UTF-8"},
    {&text, "Abc", "text: 'Abc' is not in lower case"},
    {&bytes, "12345678901", "bytes: '12345678901' has 11 bytes; 0 to 10 are accepted"},
    {&seconds, "-5", "seconds: '-5' is not a duration in seconds (or 90m, 1.5h, D-H:M:S) from 0 to 864000"},
    {&seconds, "864001", NULL},
    {&seconds, "1.5", NULL},
    {&seconds, "11-0", "seconds: '11-0' is not a duration in seconds (or 90m, 1.5h, D-H:M:S) from 0 to 864000"},
    {&seconds, "4000-0", NULL},
    {&seconds, "UNLIMITED", NULL},
    {&seconds, "1:x", "seconds: '1:x' is not a duration in seconds (or 90m, 1.5h, D-H:M:S) from 0 to 864000"},
    {&minutes, "0", "minutes: '0' is not a duration in minutes (or 1.5h, 2d, D-H:M:S) from 1 to 14400, or UNLIMITED"},
    {&minutes, "-2", NULL},
    {&minutes, "0:00", NULL},
    {&minutes, "4000-0",
     "minutes: '4000-0' is not a duration in minutes (or 1.5h, 2d, D-H:M:S) from 1 to 14400, or UNLIMITED"},
    {&minutes, "14401", NULL},
    {&minutes, "9223372036854775807", NULL},
    {&hours, "241", "hours: '241' is not a duration in hours (or 90m, 2d) from 0 to 240"},
    {&hours, "1:00", NULL},
    {&hours, "1-0", NULL},
    {&memory, "0", "memory: '0' is not memory in MiB (or with a suffix K, M, G or T) from 1 to 1099511627776"},
    {&memory, ".5G", NULL},
    {&memory, "4X", NULL},
    {&memory, "-1", NULL},
    {&at_time, "yesterday", NULL},
    {&at_time, "2026-11-21T10:05", NULL}, /* no zone */
    {&at_time, "0", "time: '0' is not a time: seconds since 1970, or a date and time with a time zone, or none"},
    {&at_time, "", NULL},
};

static void others_are_refused(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(refused); i++) {
        const struct field *f = refused[i].field;
        struct field_value value = {77, 0.5, "untouched"};
        struct err e = {0};
        if (field_parse(f, str(refused[i].text), &arena, &value, &e) != -1) fail_msg("%s=%s", f->name, refused[i].text);
        assert_int_equal(e.code, ERR_INPUT);
        assert_string_equal(e.field, f->name);
        if (refused[i].error != NULL) assert_string_equal(ERR_SENTENCE(&e), refused[i].error);
        assert_int_equal(value.number, 77);
        assert_string_equal(value.text, "untouched");
        assert_int_equal(field_parse(f, str(refused[i].text), &arena, &value, NULL), -1);
    }
    struct field_value value;
    struct err e = {0};
    assert_int_equal(field_parse(&bytes, (struct str){"a\0b", 3}, &arena, &value, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "bytes: 'a?b' has a zero byte");
}

/* Values that were not parsed from text. */
static void values_are_checked(void **unused)
{
    const double not_a_number = (double)NAN, infinite = (double)INFINITY;
    const struct {
        const struct field *field;
        struct field_value value;
        const char *error; /* NULL: it is accepted */
    } rows[] = {
        {&number, {100, 0, ""}, NULL},
        {&number, {101, 0, ""}, "number: 101 is not a whole number from 0 to 100"},
        {&number, {FIELD_SPECIAL, 0, ""}, "number: -1 is not a whole number from 0 to 100"},
        {&number, {FIELD_ABSENT, 0, ""}, "number: a value is required"},
        {&cpus, {FIELD_SPECIAL, 0, ""}, NULL},
        {&cpus, {-2, 0, ""}, "cpus: -2 is not a whole number from 1 to 65536, or auto"},
        {&nullable_number, {FIELD_ABSENT, 0, NULL}, NULL},
        {&nullable_number, {0, 0, ""}, "nullable_number: 0 is not a whole number from 1 to 9"},
        {&real, {0, 1.0, ""}, NULL},
        {&real, {0, infinite, ""}, "real: inf is not a number from -1 to 1e+300"},
        {&real, {0, -2.5, ""}, "real: -2.5 is not a number from -1 to 1e+300"},
        {&real, {0, not_a_number, ""}, "real: a value is required"},
        {&nullable_real, {0, not_a_number, NULL}, NULL},
        {&boolean, {1, 0, ""}, NULL},
        {&boolean, {2, 0, ""}, "boolean: 2 is not one of yes, no, true, false"},
        {&choice, {2, 0, ""}, NULL},
        {&choice, {3, 0, ""}, "choice: 3 is not one of merge, slurm, none"},
        {&choice, {-1, 0, ""}, "choice: -1 is not one of merge, slurm, none"},
        {&text, {0, 0, "abc"}, NULL},
        {&text, {0, 0, "ABC"}, "text: 'ABC' is not in lower case"},
        {&text, {0, 0, NULL}, "text: a value is required"},
        {&nullable_text, {FIELD_ABSENT, 0, NULL}, NULL},
        {&bytes, {0, 0, "\xff\n"}, NULL},
        {&minutes, {FIELD_SPECIAL, 0, ""}, NULL},
        {&minutes,
         {59, 0, ""},
         "minutes: 00:00:59 is not a duration in minutes (or 1.5h, 2d, D-H:M:S) from 1 to 14400, or UNLIMITED"},
        {&at_time, {1, 0, ""}, NULL},
        {&at_time, {FIELD_ABSENT, 0, NULL}, NULL},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err e = {0};
        int status = field_check(rows[i].field, &rows[i].value, &e);
        assert_int_equal(status, rows[i].error != NULL ? -1 : 0);
        if (rows[i].error != NULL) assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        if (status != 0) assert_int_equal(e.code, ERR_INPUT);
        assert_int_equal(field_check(rows[i].field, &rows[i].value, NULL), status);
    }
}

static void errors_name_what_is_accepted(void **unused)
{
    static const struct {
        const struct field *field;
        const char *words;
    } rows[] = {
        {&number, "a whole number from 0 to 100"},
        {&cpus, "a whole number from 1 to 65536, or auto"},
        {&only, "0, the only accepted value"},
        {&real, "a number from -1 to 1e+300"},
        {&boolean, "one of yes, no, true, false"},
        {&choice, "one of merge, slurm, none"},
        {&text, ""},
        {&bytes, ""},
        {&seconds, "a duration in seconds (or 90m, 1.5h, D-H:M:S) from 0 to 864000"},
        {&minutes, "a duration in minutes (or 1.5h, 2d, D-H:M:S) from 1 to 14400, or UNLIMITED"},
        {&hours, "a duration in hours (or 90m, 2d) from 0 to 240"},
        {&memory, "memory in MiB (or with a suffix K, M, G or T) from 1 to 1099511627776"},
        {&at_time, "a time: seconds since 1970, or a date and time with a time zone, or none"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = {0};
        buf_add_text(&out, "");
        field_accepted(rows[i].field, &out);
        assert_string_equal(out.text, rows[i].words);
        buf_release(&out);
    }
}

/* --- no value ----------------------------------------------------------------------------------------------------- */

static void no_value_is_distinct(void **unused)
{
    static const struct field *const fields[] = {&number,          &real,          &text,
                                                 &nullable_number, &nullable_real, &nullable_text};
    const struct field_value absent = field_absent();
    (void)unused;
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct field *f = fields[i];
        const struct field_value nothing = field_nothing(f);
        assert_true(field_is_absent(f, &absent));
        assert_int_equal(field_is_absent(f, &nothing), f->is_nullable);
        assert_string_equal(formatted(f, &absent), "");
        assert_true(field_equal(f, &absent, &absent));
        assert_int_equal(field_equal(f, &absent, &nothing), f->is_nullable);
        if (!f->is_nullable) assert_string_equal(nothing.text, "");
    }
    const struct field_value zero = field_number(0), none = field_text(NULL), empty = field_text("");
    assert_false(field_is_absent(&nullable_number, &zero));
    assert_true(field_is_absent(&nullable_text, &none));
    assert_false(field_is_absent(&nullable_text, &empty));
    assert_false(field_equal(&nullable_text, &none, &empty));
}

static void values_are_compared(void **unused)
{
    const struct field_value a = field_text("abc"), b = field_text("abd"), one = field_number(1), two = field_number(2);
    const struct field_value half = field_real(0.5), third = field_real(1.0 / 3.0);
    char copy[] = "abc";
    const struct field_value again = field_text(copy);
    (void)unused;
    assert_true(field_equal(&any_text, &a, &again) && !field_equal(&any_text, &a, &b));
    assert_true(field_equal(&number, &one, &one) && !field_equal(&number, &one, &two));
    assert_true(field_equal(&real, &half, &half) && !field_equal(&real, &half, &third));
}

/* --- words and tables --------------------------------------------------------------------------------------------- */

static void choices_have_their_index(void **unused)
{
    static const char words[] = "merge,slurm,none";
    bool is_true;
    (void)unused;
    for (int64_t i = 0; i < 3; i++) assert_int_equal(field_choice_index(words, field_choice(words, i)), i);
    assert_true(str_equal(field_choice(words, 1), str("slurm")));
    assert_int_equal(field_choice_index(words, str("SLURM")), 1);
    assert_int_equal(field_choice_index(words, str("slur")), -1);
    assert_int_equal(field_choice_index(words, str("")), -1);
    assert_true(field_parse_bool(str("Yes"), &is_true) && is_true);
    assert_true(field_parse_bool(str("0"), &is_true) && !is_true);
    assert_false(field_parse_bool(str("on"), &is_true));
}

static void fields_are_found_by_name(void **unused)
{
    static const struct {
        struct field field; /* only the beginning of a name */
        int more;
    } rows[] = {{{.name = "Alpha", .type = FIELD_NUMBER}, 1},
                {{.name = "beta", .type = FIELD_NUMBER, .is_hidden = true}, 2},
                {{.name = "gamma", .type = FIELD_NUMBER}, 3}};
    static const struct field_table table = {
        .name = "Greek", .rows = rows, .row_size = sizeof rows[0], .count = COUNT(rows)};
    struct buf names = {0};
    (void)unused;
    for (uint32_t i = 0; i < table.count; i++) assert_ptr_equal(field_at(&table, i), &rows[i].field);
    assert_int_equal(field_find(&table, str("alpha")), 0);
    assert_int_equal(field_find(&table, str("BETA")), 1);
    assert_int_equal(field_find(&table, str("delta")), NONE);
    assert_int_equal(field_find(&table, str("")), NONE);
    field_names(&table, &names);
    assert_string_equal(names.text, "Alpha, gamma");
    buf_release(&names);
}

static void check_row(const struct field_table *t, uint32_t i)
{
    const struct field *f = field_at(t, i);
    const char *name = f->name;
    if (name == NULL || f->help == NULL || f->help[0] == '\0') fail_msg("%s: field %u has no name or help", t->name, i);
    if (field_find(t, str(name)) != i) fail_msg("%s: two fields %s", t->name, name);
    if (f->min > f->max && !(field_is_text(f) && f->max <= 0)) fail_msg("%s.%s has no range", t->name, name);
    if ((f->type == FIELD_CHOICE) != (f->choices != NULL)) fail_msg("%s.%s: choices", t->name, name);
    if (f->special == NULL) return;
    /* Only whole numbers have special words; the word's number is outside of the range. */
    if (!field_is_whole(f) || f->type == FIELD_CHOICE || f->type == FIELD_BOOL)
        fail_msg("%s.%s: special", t->name, name);
    if (f->min <= FIELD_SPECIAL) fail_msg("%s.%s: %s could be given as -1", t->name, name, f->special);
    struct field_value value;
    assert_int_equal(field_parse(f, str(f->special), &arena, &value, NULL), 0);
    assert_string_equal(formatted(f, &value), f->special);
}

static void tables_are_sound(void **unused)
{
    static const struct field_table *const tables[] = {&job_fields,     &priority_fields,     &share_fields,
                                                       &account_fields, &account_fields_user, &settings_fields,
                                                       &setting_fields};
    (void)unused;
    for (size_t i = 0; i < COUNT(tables); i++) {
        for (uint32_t k = 0; k < tables[i]->count; k++) check_row(tables[i], k);
    }
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        const struct object_class *class = &object_classes[kind];
        for (uint32_t k = 0; k < class->record.count; k++) check_row(&class->record, k);
        for (uint32_t k = 0; k < class->field_count; k++) {
            struct err e = {0};
            if (field_check(&class->fields[k], &class->fields[k].default_value, &e) != 0)
                fail_msg("%s: default: %s", class->name, ERR_SENTENCE(&e));
        }
    }
    for (uint32_t i = 0; i < SETTING_COUNT; i++) {
        struct err e = {0};
        if (field_check(&settings_table[i], &settings_table[i].default_value, &e) != 0)
            fail_msg("%s: default: %s", settings_table[i].name, ERR_SENTENCE(&e));
    }
}

static int release(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_round_trip), cmocka_unit_test(reals_round_trip),
        cmocka_unit_test(texts_round_trip),         cmocka_unit_test(others_are_refused),
        cmocka_unit_test(values_are_checked),       cmocka_unit_test(errors_name_what_is_accepted),
        cmocka_unit_test(no_value_is_distinct),     cmocka_unit_test(values_are_compared),
        cmocka_unit_test(choices_have_their_index), cmocka_unit_test(fields_are_found_by_name),
        cmocka_unit_test(tables_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
