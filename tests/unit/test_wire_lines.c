/* Rows as lines: what is written reads back the same, whatever is in the texts; columns may stand in another order, be
 * unknown, or be missing where a field may be absent; what is wrong is said. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/wire.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static struct str text_of(const struct buf *b)
{
    return (struct str){b->text, b->length > 0 ? b->length - 1 : 0}; /* without the line end */
}

static const struct wire_job_row job = {
    .id = "5_[1-3]",
    .job_id = 5,
    .task_id = NONE,
    .array_tasks = "1-3",
    .task_count = 3,
    .account = "a|b",
    .user = "\\n",
    .name = "two\nlines \\p|\\",
    .command = "",
    .directory = "/tmp/\xff",
    .out_path = "\\e",
    .err_path = "e",
    .state = "PENDING",
    .held = true,
    .reason = "None",
    .cpus = 4294967295,
    .mem_mib = UINT64_C(9223372036854775807),
    .cpu_ids = "",
    .gpu_ids = "0-3",
    .exit_status = -1,
    .signal = -1,
    .detail = "\xc3\xa9",
    .fair_share = 0.1,
    .partition = "fast,batch",
    .qos = "normal",
    .project = "",
    .requests = "license=2",
    .tres = "",
    .billing = (double)NAN,
    .nice = -2147483645,
    .posix_priority = -1023,
    .deadline_us = 1,
};

static void read_back(const struct wire_shape *shape, const void *value, struct arena *arena, void *out_value)
{
    struct buf heading = {0}, line = {0}, again = {0};
    struct wire_columns columns;
    struct err e = {0};
    wire_write_heading(shape, &heading);
    wire_write_line(shape, value, &line);
    assert_null(memchr(line.text, '\n', line.length - 1));
    if (wire_read_heading(shape, text_of(&heading), &columns, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    if (wire_read_line(&columns, text_of(&line), arena, out_value, &e) != 0)
        fail_msg("%s in %s", ERR_SENTENCE(&e), line.text);
    wire_write_line(shape, out_value, &again);
    assert_string_equal(line.text, again.text);
    buf_release(&heading);
    buf_release(&line);
    buf_release(&again);
}

static void jobs_survive(void **unused)
{
    struct arena arena = {0};
    struct wire_job_row got;
    (void)unused;
    read_back(&wire_job_row_shape, &job, &arena, &got);
    assert_string_equal(got.account, job.account);
    assert_string_equal(got.user, job.user);
    assert_string_equal(got.name, job.name);
    assert_string_equal(got.command, "");
    assert_string_equal(got.directory, job.directory);
    assert_string_equal(got.out_path, "\\e");
    assert_int_equal(got.task_id, NONE);
    assert_true(got.held && isnan(got.billing));
    assert_true(got.fair_share == 0.1);
    assert_int_equal(got.mem_mib, job.mem_mib);
    assert_int_equal(got.nice, job.nice);
    assert_int_equal(got.start_us, 0);
    assert_int_equal(got.deadline_us, 1);
    arena_release(&arena);
}

static void words_and_limits_survive(void **unused)
{
    struct arena arena = {0};
    struct wire_user_row got, user = {.name = "u",
                                      .account = "a",
                                      .shares = WIRE_SHARES_PARENT,
                                      .priority = WIRE_PRIORITY_PARENT,
                                      .created_us = INT64_MAX};
    struct wire_priority_row row, back;
    (void)unused;
    read_back(&wire_user_row_shape, &user, &arena, &got);
    assert_int_equal(got.shares, WIRE_SHARES_PARENT);
    assert_int_equal(got.priority, WIRE_PRIORITY_PARENT);
    assert_false(got.is_default);
    wire_clear(&wire_priority_row_shape, &row);
    row.model = row.id = row.user = row.account = row.project = row.partition = row.qos = "x";
    row.state = "HELD";
    row.priority = (double)INFINITY;
    row.billing = row.site = -0.5e-300;
    read_back(&wire_priority_row_shape, &row, &arena, &back);
    assert_true(isinf(back.priority) && back.site == -0.5e-300 && isnan(back.age) && back.tres_terms == NULL);
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
    {heading, "|||1|parent|7", "UserRow: '' cannot be its shares"},
    {heading, "u|a|-1|1|parent|7", "UserRow: '-1' cannot be its shares"},
    {heading, "u|a|2147483647|1|parent|7", "UserRow: '2147483647' cannot be its shares"},
    {heading, "u|a|3|yes|parent|7", "UserRow: 'yes' cannot be its default"},
    {heading, "u|a|3|1|parents|7", "UserRow: 'parents' cannot be its priority"},
    {heading, "u|a\\|3|1|parent|7", "UserRow: 'a\\' cannot be its account"},
    {heading, "u|a\\x|3|1|parent|7", "UserRow: 'a\\x' cannot be its account"},
    {"name|account|shares|default|created_us", "", "UserRow: the listing has no column 'priority'"},
    {"", "", "UserRow: the listing has no column 'name'"},
};

static void others_are_read_or_refused(void **unused)
{
    struct arena arena = {0};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wire_columns columns;
        struct wire_user_row user;
        struct err e = {0};
        int status = wire_read_heading(&wire_user_row_shape, str(rows[i].heading), &columns, &e);
        if (status == 0) status = wire_read_line(&columns, str(rows[i].line), &arena, &user, &e);
        assert_int_equal(status, rows[i].error ? -1 : 0);
        if (rows[i].error == NULL) {
            assert_string_equal(user.name, "u");
            continue;
        }
        assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        assert_int_equal(e.code, ERR_INTERNAL);
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
    assert_int_equal(wire_read_heading(&wire_user_row_shape, text_of(&line), &columns, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "UserRow: more than 64 columns");
    buf_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_survive),
        cmocka_unit_test(words_and_limits_survive),
        cmocka_unit_test(others_are_read_or_refused),
        cmocka_unit_test(too_many_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
