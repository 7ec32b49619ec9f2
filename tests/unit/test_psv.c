/* Rows for programs: names of columns, values in full and in their unit, and no text that could be taken for two
 * columns or two rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/psv.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

enum { NAME, DEPTH, CPUS, SHARES, FACTOR, HELD, STATE, LIMIT, MAX_AGE, MEM, START, PATH, FIELDS };

static const struct field fields[FIELDS] = {
    [NAME] = {.name = "name", .type = FIELD_TEXT},
    [DEPTH] = {.name = "depth", .type = FIELD_NUMBER, .max = 100},
    [CPUS] = {.name = "cpus", .type = FIELD_NUMBER, .min = -1e18, .max = 1e18, .is_nullable = true},
    [SHARES] = {.name = "shares", .type = FIELD_NUMBER, .max = 100, .special = "parent"},
    [FACTOR] = {.name = "factor", .type = FIELD_REAL, .is_nullable = true},
    [HELD] = {.name = "held", .type = FIELD_BOOL, .max = 1},
    [STATE] = {.name = "state", .type = FIELD_CHOICE, .choices = "PENDING,RUNNING"},
    [LIMIT] = {.name = "limit_s", .type = FIELD_SECONDS, .max = 1e9},
    [MAX_AGE] = {.name = "MaxAge", .type = FIELD_MINUTES, .max = 1e9, .special = "UNLIMITED"},
    [MEM] = {.name = "mem_mib", .type = FIELD_MEMORY, .max = 1e9},
    [START] = {.name = "start_us", .type = FIELD_TIME, .max = 1e18, .is_nullable = true},
    [PATH] = {.name = "path", .type = FIELD_BYTES, .is_nullable = true},
};
static const struct field_table table = {
    .name = "Row", .rows = fields, .row_size = sizeof fields[0], .count = COUNT(fields)};

static const struct column all_columns[] = {
    {.field = NAME},  {.field = DEPTH}, {.field = CPUS},    {.field = SHARES}, {.field = FACTOR}, {.field = HELD},
    {.field = STATE}, {.field = LIMIT}, {.field = MAX_AGE}, {.field = MEM},    {.field = START},  {.field = PATH},
};
static const struct column_table all = {.fields = &table, .columns = all_columns, .count = COUNT(all_columns)};

static void make_row(struct field_value row[FIELDS])
{
    for (uint32_t i = 0; i < FIELDS; i++) row[i] = field_nothing(&fields[i]);
}

static const char *heading(const struct column_table *t)
{
    static struct buf out;
    buf_clear(&out);
    psv_write_heading(t, &out);
    return out.text;
}

static const char *line(const struct column_table *t, const struct field_value *row, struct arena *arena)
{
    static struct buf out;
    buf_clear(&out);
    psv_write_row(t, row, arena, &out);
    return out.text;
}

static void headings_are_names(void **unused)
{
    static const struct column own[] = {{.field = NAME, .name = "Account", .heading = "ACCT"},
                                        {.field = START, .name = "begun_us"},
                                        {.field = START},
                                        {.field = LIMIT, .heading = "LIMIT"}};
    const struct column_table t = {.fields = &table, .columns = own, .count = COUNT(own)};
    (void)unused;
    assert_string_equal(heading(&all), "name|depth|cpus|shares|factor|held|state|limit_s|MaxAge|mem_mib|start|path\n");
    assert_string_equal(heading(&t), "Account|begun_us|start|limit_s\n"); /* a time as text has no unit */
}

static void values_are_in_full(void **unused)
{
    struct field_value row[FIELDS];
    (void)unused;
    make_row(row);
    assert_string_equal(line(&all, row, NULL), "|0||0||0|PENDING|0|0|0||\n");
    row[NAME] = field_text("a b");
    row[DEPTH] = field_number(3);
    row[CPUS] = field_number(1000000000000);
    row[SHARES] = field_number(FIELD_SPECIAL);
    row[FACTOR] = field_real(0.1);
    row[HELD] = row[STATE] = field_number(1);
    row[LIMIT] = field_number(90061);
    row[MAX_AGE] = field_number(FIELD_SPECIAL);
    row[MEM] = field_number(4096);
    row[START] = field_number(INT64_C(1795251900123456));
    row[PATH] = field_text("/tmp/x");
    assert_string_equal(line(&all, row, NULL),
                        "a b|3|1000000000000|parent|0.10000000000000001|1|RUNNING|90061|UNLIMITED|4096|"
                        "2026-11-21T09:05:00Z|/tmp/x\n");
    struct field_table written = table;
    const struct column held = {.field = HELD};
    const struct column_table as_written = {.fields = &written, .columns = &held, .count = 1};
    written.is_written = true; /* values in their written form */
    assert_string_equal(line(&as_written, row, NULL), "yes\n");
    row[CPUS] = field_number(-5);
    row[FACTOR] = field_real((double)INFINITY);
    row[MAX_AGE] = field_number(7200);
    assert_string_equal(line(&all, row, NULL),
                        "a b|3|-5|parent|inf|1|RUNNING|90061|120|4096|2026-11-21T09:05:00Z|/tmp/x\n");
}

/* Whatever a text contains, the row has all its columns and is one line. */
static void texts_are_made_plain(void **unused)
{
    static const struct column own[] = {{.field = NAME}, {.field = PATH}, {.field = NAME}};
    static const char *const rows[][2] = {
        {"a|b", "a?b"},           {"|", "?"},
        {"||a||", "??a??"},       {"two\nlines\r", "two?lines?"},
        {"\x1b[1m\x9b", "?[1m?"}, {"caf\xc3\xa9|", "caf\xc3\xa9?"},
        {"\xff|\xfe", "???"},     {"", ""},
        {" blanks ", " blanks "},
    };
    const struct column_table t = {.fields = &table, .columns = own, .count = COUNT(own)};
    struct field_value row[FIELDS];
    (void)unused;
    make_row(row);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char wanted[100];
        row[NAME] = row[PATH] = field_text(rows[i][0]);
        text_format(wanted, sizeof wanted, "%s|%s|%s\n", rows[i][1], rows[i][1], rows[i][1]);
        assert_string_equal(line(&t, row, NULL), wanted);
    }
}

/* The earlier content of the buffer is not changed. */
static void rows_are_appended(void **unused)
{
    static const struct column own[] = {{.field = NAME}, {.field = DEPTH}};
    const struct column_table t = {.fields = &table, .columns = own, .count = COUNT(own)};
    struct field_value row[FIELDS];
    struct buf out = {0};
    (void)unused;
    make_row(row);
    row[NAME] = field_text("x|y");
    buf_add_text(&out, "a|b\n");
    psv_write_row(&t, row, NULL, &out);
    psv_write_row(&t, row, NULL, &out);
    assert_string_equal(out.text, "a|b\nx?y|0\nx?y|0\n");
    buf_release(&out);
}

static const struct field both_field = {.name = "both", .type = FIELD_TEXT, .is_nullable = true};

/* "NAME/DEPTH"; absent if the depth is 0. */
static struct field_value compute_both(const struct field_value *row, struct arena *arena)
{
    char text[100];
    if (row[DEPTH].number == 0) return field_absent();
    text_format(text, sizeof text, "%s/%lld", row[NAME].text, (long long)row[DEPTH].number);
    return field_text(arena_copy(arena, str(text)));
}

static void columns_are_made_and_indented(void **unused)
{
    static const struct column own[] = {{.field = NAME, .indent = DEPTH},
                                        {.computed = &both_field, .compute = compute_both}};
    const struct column_table t = {.fields = &table, .columns = own, .count = COUNT(own)};
    struct arena arena = {0};
    struct field_value row[FIELDS];
    (void)unused;
    make_row(row);
    row[NAME] = field_text("r");
    assert_string_equal(heading(&t), "name|both\n");
    assert_string_equal(line(&t, row, &arena), "r|\n");
    row[DEPTH] = field_number(2);
    assert_string_equal(line(&t, row, &arena), "  r|r/2\n");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_are_names),
        cmocka_unit_test(values_are_in_full),
        cmocka_unit_test(texts_are_made_plain),
        cmocka_unit_test(rows_are_appended),
        cmocka_unit_test(columns_are_made_and_indented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
