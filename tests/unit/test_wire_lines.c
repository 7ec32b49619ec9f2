/* Records as lines: round trips with any bytes in texts; columns in another order, unknown or missing columns; messages
 * of refused lines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fields/job_fields.h"
#include "fields/priority_fields.h"
#include "fields/share_fields.h"
#include "wire/wire.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static struct str text_of(const struct buf *b)
{
    return (struct str){b->text, b->length > 0 ? b->length - 1 : 0}; /* without the line end */
}

/* A job with values in the fields named here, and field_nothing in the others. */
static void make_job(struct job_row *out)
{
    static const struct {
        enum job_field field;
        struct field_value value;
    } given[] = {
        {JOB_FIELD_ID, {.text = "5_[1-3]"}},
        {JOB_FIELD_JOB_ID, {.number = 5}},
        {JOB_FIELD_TASK_ID, {.number = FIELD_ABSENT}},
        {JOB_FIELD_ARRAY_TASKS, {.text = "1-3"}},
        {JOB_FIELD_TASK_COUNT, {.number = 3}},
        {JOB_FIELD_ACCOUNT, {.text = "a|b"}},
        {JOB_FIELD_USER, {.text = "\\n"}},
        {JOB_FIELD_NAME, {.text = "two\nlines \\p|\\"}},
        {JOB_FIELD_COMMAND, {.text = ""}},
        {JOB_FIELD_DIRECTORY, {.text = "/tmp/\xff"}},
        {JOB_FIELD_OUT_PATH, {.text = "\\e"}},
        {JOB_FIELD_ERR_PATH, {.text = "e"}},
        {JOB_FIELD_COMMENT, {.text = ""}}, /* an empty text is a value */
        {JOB_FIELD_STATE, {.number = JOB_PENDING}},
        {JOB_FIELD_HELD, {.number = 1}},
        {JOB_FIELD_REASON, {.number = PENDING_NONE}},
        {JOB_FIELD_CPUS, {.number = 65536}},
        {JOB_FIELD_MEM_MIB, {.number = INT64_C(1) << 40}},
        {JOB_FIELD_TIME_LIMIT, {.number = 316224000}},
        {JOB_FIELD_SUBMIT, {.number = 1}},
        {JOB_FIELD_CPU_IDS, {.text = ""}},
        {JOB_FIELD_GPU_IDS, {.text = "0-3"}},
        {JOB_FIELD_EXIT_STATUS, {.number = 0}},
        {JOB_FIELD_SIGNAL, {.number = INT32_MAX}},
        {JOB_FIELD_CPU_TIME, {.number = INT64_C(1) << 53}},
        {JOB_FIELD_DETAIL, {.text = "\xc3\xa9"}},
        {JOB_FIELD_FAIR_SHARE, {.real = 0.1}},
        {JOB_FIELD_PARTITION, {.text = "fast,batch"}},
        {JOB_FIELD_QOS, {.text = "normal"}},
        {JOB_FIELD_PROJECT, {.text = ""}},
        {JOB_FIELD_REQUESTS, {.text = "license=2"}},
        {JOB_FIELD_TRES, {.text = ""}},
        {JOB_FIELD_BILLING, {.real = (double)NAN}},
        {JOB_FIELD_NICE, {.number = -2147483645}},
        {JOB_FIELD_POSIX_PRIORITY, {.number = -1023}},
        {JOB_FIELD_DEADLINE, {.number = 1}},
        {JOB_FIELD_BEGIN, {.number = FIELD_SPECIAL}},
    };
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) out->value[i] = field_nothing(field_at(&job_fields, i));
    for (size_t i = 0; i < COUNT(given); i++) {
        out->value[given[i].field] = given[i].value;
        if (given[i].value.text == NULL && !field_is_text(job_field_at(given[i].field)))
            out->value[given[i].field].text = "";
    }
}

static void read_back(const struct field_table *table, const struct field_value *values, struct arena *arena,
                      struct field_value *out_values)
{
    struct buf heading = {0}, line = {0}, again = {0};
    struct wire_columns columns;
    struct err e = {0};
    wire_write_heading(table, &heading);
    wire_write_line(table, values, &line);
    assert_null(memchr(line.text, '\n', line.length - 1));
    if (wire_read_heading(table, text_of(&heading), &columns, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    if (wire_read_line(&columns, text_of(&line), arena, out_values, &e) != 0)
        fail_msg("%s in %s", ERR_SENTENCE(&e), line.text);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *f = field_at(table, i);
        if (!f->is_hidden && !field_equal(f, &values[i], &out_values[i])) fail_msg("%s in %s", f->name, line.text);
    }
    wire_write_line(table, out_values, &again);
    assert_string_equal(line.text, again.text);
    buf_release(&heading);
    buf_release(&line);
    buf_release(&again);
}

static void round_trip_of_jobs(void **unused)
{
    struct arena arena = {0};
    struct job_row job, got;
    (void)unused;
    make_job(&job);
    read_back(&job_fields, job.value, &arena, got.value);
    assert_string_equal(job_row_text(&got, JOB_FIELD_ACCOUNT), "a|b");
    assert_string_equal(job_row_text(&got, JOB_FIELD_USER), "\\n");
    assert_string_equal(job_row_text(&got, JOB_FIELD_NAME), "two\nlines \\p|\\");
    assert_string_equal(job_row_text(&got, JOB_FIELD_COMMAND), "");
    assert_string_equal(job_row_text(&got, JOB_FIELD_DIRECTORY), "/tmp/\xff");
    assert_string_equal(job_row_text(&got, JOB_FIELD_OUT_PATH), "\\e");
    assert_string_equal(job_row_text(&got, JOB_FIELD_COMMENT), "");
    assert_null(job_row_text(&got, JOB_FIELD_ADMIN_COMMENT));
    assert_int_equal(job_row_number(&got, JOB_FIELD_TASK_ID), FIELD_ABSENT);
    assert_int_equal(job_row_number(&got, JOB_FIELD_HELD), 1);
    assert_true(isnan(got.value[JOB_FIELD_BILLING].real));
    assert_true(got.value[JOB_FIELD_FAIR_SHARE].real == 0.1);
    assert_int_equal(job_row_number(&got, JOB_FIELD_MEM_MIB), INT64_C(1) << 40);
    assert_int_equal(job_row_number(&got, JOB_FIELD_NICE), -2147483645);
    assert_int_equal(job_row_number(&got, JOB_FIELD_START), FIELD_ABSENT);
    assert_int_equal(job_row_number(&got, JOB_FIELD_DEADLINE), 1);
    assert_int_equal(job_row_number(&got, JOB_FIELD_EXIT_STATUS), 0);
    arena_release(&arena);
}

static void hidden_fields_have_no_column(void **unused)
{
    struct buf heading = {0};
    (void)unused;
    wire_write_heading(&job_fields, &heading);
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct field *f = field_at(&job_fields, i);
        bool is_there = false;
        for (struct str rest = text_of(&heading); rest.text != NULL;)
            is_there |= str_equal(str_cut(rest, '|', &rest), str(f->name));
        if (is_there == f->is_hidden) fail_msg("%s", f->name);
    }
    buf_release(&heading);
}

static void round_trip_of_words_and_limits(void **unused)
{
    struct arena arena = {0};
    struct field_value user[ACCOUNT_USER_FIELD_COUNT] = {0}, got[ACCOUNT_USER_FIELD_COUNT];
    struct priority_values row, back;
    (void)unused;
    user[ACCOUNT_USER_FIELD_NAME] = field_text("u");
    user[ACCOUNT_USER_FIELD_ACCOUNT] = field_text("a");
    user[ACCOUNT_USER_FIELD_SHARES] = user[ACCOUNT_USER_FIELD_PRIORITY] = field_number(FIELD_SPECIAL);
    user[ACCOUNT_USER_FIELD_IS_DEFAULT] = field_number(0);
    user[ACCOUNT_USER_FIELD_CREATED] = field_number(INT64_C(253402300799000000)); /* the end of the year 9999 */
    memcpy(&user[ACCOUNT_USER_FIELD_LIMITS], limit_fields_defaults, sizeof limit_fields_defaults);
    user[ACCOUNT_USER_FIELD_LIMITS + ASSOC_GRP_TRES] = field_text("cpu=4");
    read_back(&account_fields_user, user, &arena, got);
    assert_int_equal(got[ACCOUNT_USER_FIELD_LIMITS + ASSOC_MAX_JOBS].number, FIELD_SPECIAL);
    assert_string_equal(got[ACCOUNT_USER_FIELD_LIMITS + ASSOC_GRP_TRES].text, "cpu=4");
    assert_int_equal(got[ACCOUNT_USER_FIELD_SHARES].number, FIELD_SPECIAL);
    assert_int_equal(got[ACCOUNT_USER_FIELD_PRIORITY].number, FIELD_SPECIAL);
    assert_int_equal(got[ACCOUNT_USER_FIELD_IS_DEFAULT].number, 0);
    for (uint32_t i = 0; i < PRIORITY_FIELD_COUNT; i++) row.value[i] = field_nothing(field_at(&priority_fields, i));
    row.value[PRIORITY_FIELD_MODEL] = row.value[PRIORITY_FIELD_ID] = row.value[PRIORITY_FIELD_USER] = field_text("x");
    row.value[PRIORITY_FIELD_STATE] = field_number(JOB_HELD);
    row.value[PRIORITY_FIELD_PRIORITY] = field_real((double)INFINITY);
    row.value[PRIORITY_FIELD_BILLING] = row.value[PRIORITY_FIELD_SITE] = field_real(-0.5e-300);
    read_back(&priority_fields, row.value, &arena, back.value);
    assert_true(isinf(back.value[PRIORITY_FIELD_PRIORITY].real));
    assert_true(back.value[PRIORITY_FIELD_SITE].real == -0.5e-300);
    assert_true(isnan(back.value[PRIORITY_FIELD_AGE].real));
    assert_null(back.value[PRIORITY_FIELD_TRES_TERMS].text);
    assert_int_equal(back.value[PRIORITY_FIELD_STATE].number, JOB_HELD);
    arena_release(&arena);
}

static const char heading[] = "name|account|shares|default|priority|created_us";

static const struct {
    const char *heading, *line, *error; /* error NULL: it is accepted */
} rows[] = {
    {heading, "u|a|3|1|parent|7", NULL},
    {heading, "u|a|parent|0|0|7", NULL},
    {"created_us|priority|default|shares|new|account|name", "7|0|1|3|what\\ever|a|u", NULL},
    {heading, "u|a|3|1|parent", "UserRow: a row has 5 of 6 columns"},
    {heading, "u|a|3|1|parent|7|", "UserRow: a row has more than 6 columns"},
    {heading, "", "UserRow: a row has 1 of 6 columns"},
    {heading, "u|a|-7|1|parent|7", NULL}, /* no range is checked */
    {heading, "u|a|x|1|parent|7", "UserRow: shares: 'x' is not a valid value"},
    {heading, "u|a|99999999999|1|parent|7", NULL},
    {heading, "u|a|-9223372036854775808|1|parent|7",
     "UserRow: shares: '-9223372036854775808' is not a valid value"}, /* FIELD_ABSENT */
    {heading, "u|a|3|yes|parent|7", "UserRow: default: 'yes' is not a valid value"},
    {heading, "u|a|3|2|parent|7", "UserRow: default: '2' is not a valid value"},
    {heading, "u|a|3|1|parents|7", "UserRow: priority: 'parents' is not a valid value"},
    {heading, "u|a\\|3|1|parent|7", "UserRow: account: 'a\\' is not a valid value"},
    {heading, "u|a\\x|3|1|parent|7", "UserRow: account: 'a\\x' is not a valid value"},
    {"colour|taste", "1|2", "UserRow: the listing has no known column"},
    {"", "", "UserRow: the listing has no known column"},
};

static void lines_are_read_or_refused(void **unused)
{
    struct arena arena = {0};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wire_columns columns;
        struct field_value user[ACCOUNT_USER_FIELD_COUNT];
        struct err e = {0};
        int status = wire_read_heading(&account_fields_user, str(rows[i].heading), &columns, &e);
        if (status == 0) status = wire_read_line(&columns, str(rows[i].line), &arena, user, &e);
        assert_int_equal(status, rows[i].error ? -1 : 0);
        if (rows[i].error == NULL) {
            assert_string_equal(user[ACCOUNT_USER_FIELD_NAME].text, "u");
            assert_string_equal(user[ACCOUNT_USER_FIELD_ACCOUNT].text, "a");
            assert_int_equal(user[ACCOUNT_USER_FIELD_CREATED].number, 7);
            continue;
        }
        assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        assert_int_equal(e.code, ERR_INTERNAL);
        assert_string_equal(e.subject, "UserRow");
        if (strstr(rows[i].error, "is not a valid") != NULL) assert_string_equal(e.accepted, "a valid value");
        assert_int_equal(e.field[0] != '\0', e.accepted[0] != '\0');
    }
    arena_release(&arena);
}

/* An empty or missing column (from an older daemon) gives field_unsaid. */
static void columns_may_be_missing(void **unused)
{
    struct arena arena = {0};
    struct wire_columns columns;
    struct job_row got;
    struct err e = {0};
    (void)unused;
    assert_int_equal(wire_read_heading(&job_fields, str("name|launch_id|cpus|comment|fair_share|nice"), &columns, &e),
                     0);
    assert_int_equal(columns.count, 6);
    assert_int_equal(columns.field[1], NONE); /* hidden */
    assert_int_equal(wire_read_line(&columns, str("a|7||||"), &arena, got.value, &e), 0);
    assert_string_equal(job_row_text(&got, JOB_FIELD_NAME), "a");
    assert_int_equal(job_row_number(&got, JOB_FIELD_LAUNCH_ID), 0);
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct field *f = field_at(&job_fields, i);
        const struct field_value nothing = field_unsaid(f);
        if (i != JOB_FIELD_NAME && !field_equal(f, &got.value[i], &nothing)) fail_msg("%s", f->name);
        assert_int_equal(field_is_absent(f, &got.value[i]), f->is_nullable || f->is_private);
    }
    arena_release(&arena);
}

static void too_many_columns(void **unused)
{
    struct buf line = {0};
    struct wire_columns columns;
    struct err e = {0};
    (void)unused;
    for (int i = 0; i <= WIRE_COLUMNS_MAX; i++) buf_add_text(&line, "x|");
    assert_int_equal(wire_read_heading(&account_fields_user, text_of(&line), &columns, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "UserRow: more than 96 columns");
    buf_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_of_jobs),
        cmocka_unit_test(hidden_fields_have_no_column),
        cmocka_unit_test(round_trip_of_words_and_limits),
        cmocka_unit_test(lines_are_read_or_refused),
        cmocka_unit_test(columns_may_be_missing),
        cmocka_unit_test(too_many_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
