/* The wire: what is written reads back the same, what is refused and how, and that the shapes are what their structs are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/wire.h"
#include "api/wire_base64.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const struct wire_shape *const shapes[] = {
    &wire_submit_shape,         &wire_update_shape,        &wire_jobs_shape,          &wire_account_shape,
    &wire_account_modify_shape, &wire_user_shape,          &wire_user_modify_shape,   &wire_jobs_query_shape,
    &wire_shares_query_shape,   &wire_wait_query_shape,    &wire_account_query_shape, &wire_error_shape,
    &wire_submitted_shape,      &wire_count_shape,         &wire_done_shape,          &wire_job_row_shape,
    &wire_waited_shape,         &wire_job_list_shape,      &wire_share_row_shape,     &wire_share_list_shape,
    &wire_account_row_shape,    &wire_account_list_shape,  &wire_user_row_shape,      &wire_user_list_shape,
    &wire_setting_shape,        &wire_setting_list_shape,  &wire_host_shape,          &wire_tasks_shape,
    &wire_status_shape,         &wire_difference_shape,    &wire_verified_shape,      &wire_priorities_query_shape,
    &wire_priority_row_shape,   &wire_priority_list_shape,
};

/* --- the shapes themselves ---------------------------------------------------------------------------------------- */

static size_t member_size(const struct wire_field *f)
{
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_CHOICE:
    case WIRE_BYTES: return sizeof(const char *);
    case WIRE_BLOB: return sizeof(struct str);
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_ROWS: return sizeof(struct wire_list);
    case WIRE_BOOL: return sizeof(bool);
    case WIRE_U32:
    case WIRE_I32:
    case WIRE_SHARE:
    case WIRE_PRIORITY: return sizeof(uint32_t);
    case WIRE_U64:
    case WIRE_I64: return sizeof(uint64_t);
    case WIRE_DOUBLE: return sizeof(double);
    case WIRE_OBJECT: return f->shape->size;
    }
    return 0;
}

/* Every member is of one row, does not overlap another's, and its range can be held. */
static void shapes_fit_their_structs(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const struct wire_shape *s = shapes[i];
        for (const struct wire_field *f = s->fields; f->name; f++) {
            if (f->offset + member_size(f) > s->size || !f->help) fail_msg("%s.%s", s->name, f->name);
            for (const struct wire_field *g = s->fields; g != f; g++) {
                bool apart = f->offset + member_size(f) <= g->offset || g->offset + member_size(g) <= f->offset;
                if (!apart || strcmp(f->name, g->name) == 0) fail_msg("%s: %s and %s", s->name, f->name, g->name);
            }
            bool is_word = f->type == WIRE_SHARE || f->type == WIRE_PRIORITY;
            bool is_number = (f->type >= WIRE_U32 && f->type <= WIRE_I64) || is_word;
            if (is_number && f->min >= f->max && strcmp(f->name, "raw_usage") != 0)
                fail_msg("%s.%s has no range", s->name, f->name);
            if (f->type == WIRE_U32 && (f->min < 0 || f->max > UINT32_MAX)) fail_msg("%s.%s", s->name, f->name);
            if (f->type == WIRE_I32 && f->max > INT32_MAX) fail_msg("%s.%s", s->name, f->name);
            if (f->type == WIRE_U64 && f->min < 0) fail_msg("%s.%s", s->name, f->name);
            /* But for the GPUs of a submission, where absent means 0. */
            if (is_number && !is_word && !s->is_reply && !f->is_required && f->absent >= f->min &&
                f->absent <= f->max && strcmp(f->name, "gpus") != 0)
                fail_msg("%s.%s: its absent value can be meant", s->name, f->name);
        }
    }
}

/* --- there and back ----------------------------------------------------------------------------------------------- */

static char *written(const struct wire_shape *shape, const void *value)
{
    static struct buf text;
    buf_clear(&text);
    wire_write(shape, value, &text);
    return text.text;
}

static void submission_survives(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct err e = {0};
    struct str arguments[] = {{"a b", 3}, {"", 0}, {"\xff\xfe", 2}, {"\xc3\xa9\"\\\n", 5}};
    struct str environment[] = {{"A=", 2}};
    const struct wire_submit wanted = {.account = "physics",
                                       .name = "\xe2\x82\xac",
                                       .directory = "/home/\xe9",
                                       .command = "run it",
                                       .cpus = 65536,
                                       .mem_mib = UINT64_C(1) << 40,
                                       .time_limit_s = 1,
                                       .array = "0-9%2",
                                       .held = true,
                                       .script = {"#!/bin/sh\n\0\xff", 12},
                                       .script_name = "\xffx",
                                       .arguments = {arguments, 4},
                                       .environment = {environment, 1}};
    struct wire_submit got;
    struct buf text = {0};
    assert_int_equal(wire_request(&wire_submit_shape, &wanted, &text, &e), 0);
    assert_null(strstr(text.text, "\"out\""));
    assert_null(strstr(text.text, "null"));
    if (wire_read_text(&wire_submit_shape, (struct str){text.text, text.length}, &arena, &got, &e) != 0)
        fail_msg("%s", ERR_SENTENCE(&e));
    assert_string_equal(got.directory, wanted.directory);
    assert_string_equal(got.script_name, wanted.script_name);
    assert_null(got.out);
    assert_int_equal(got.mem_mib, wanted.mem_mib);
    assert_int_equal(got.script.length, 12);
    assert_memory_equal(got.script.text, wanted.script.text, 12);
    assert_int_equal(got.arguments.count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_true(str_equal(((struct str *)got.arguments.items)[i], arguments[i]));
    assert_string_equal(written(&wire_submit_shape, &got), text.text);
    buf_release(&text);
    arena_release(&arena);
}

static void absent_fields(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct wire_update update;
    struct wire_account account;
    struct wire_job_row row;
    (void)unused;
    assert_int_equal(wire_read_text(&wire_update_shape, str("{}"), &arena, &update, &e), 0);
    assert_int_equal(update.gpus, NONE);
    assert_int_equal(update.cpus, 0);
    assert_int_equal(update.array_limit, NONE);
    assert_string_equal(written(&wire_update_shape, &update), "{}");
    update.gpus = update.array_limit = 0;
    assert_string_equal(written(&wire_update_shape, &update), "{\"gpus\":0,\"array_limit\":0}");
    update.terms = (struct wire_terms){.slots_max = 0};
    assert_string_equal(written(&wire_update_shape, &update),
                        "{\"gpus\":0,\"array_limit\":0,\"nice\":0,\"site\":0,\"posix_priority\":0,\"job_share\":0,"
                        "\"override_tickets\":0,\"set_priority\":0,\"begin_us\":0,\"deadline_us\":0}");

    assert_int_equal(wire_read_text(&wire_account_shape, str("{\"name\":\"a\"}"), &arena, &account, &e), 0);
    assert_int_equal(account.shares, WIRE_SHARES_UNSET);
    assert_string_equal(written(&wire_account_shape, &account), "{\"name\":\"a\"}");
    assert_int_equal(wire_read_text(&wire_account_shape, str("{\"name\":\"a\",\"shares\":0}"), &arena, &account, &e),
                     0);
    assert_string_equal(written(&wire_account_shape, &account), "{\"name\":\"a\",\"shares\":0}");
    account.shares = WIRE_SHARES_PARENT;
    assert_string_equal(written(&wire_account_shape, &account), "{\"name\":\"a\",\"shares\":\"parent\"}");
    account.shares = WIRE_SHARES_UNSET;
    account.raw_usage = -1;
    account.priority = WIRE_PRIORITY_PARENT;
    assert_string_equal(written(&wire_account_shape, &account), "{\"name\":\"a\",\"priority\":\"parent\"}");
    assert_false(wire_is_empty(&wire_account_modify_shape, &account));
    account.priority = WIRE_PRIORITY_UNSET;
    assert_true(wire_is_empty(&wire_account_modify_shape, &account));
    assert_int_equal(wire_read_text(&wire_account_modify_shape, str("{\"raw_usage\":0}"), &arena, &account, &e), 0);
    assert_string_equal(written(&wire_account_modify_shape, &account), "{\"raw_usage\":0}");
    assert_int_equal(wire_read_text(&wire_account_modify_shape, str("{\"raw_usage\":5}"), &arena, &account, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "raw_usage: 5 is not 0, the only value it takes");

    wire_clear(&wire_job_row_shape, &row);
    assert_int_equal(row.task_id, NONE);
    assert_int_equal(row.exit_status, -1);
    assert_true(isnan(row.fair_share));
    arena_release(&arena);
}

static void replies_have_null(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct wire_share_row got;
    const struct wire_share_row root = {.account = "root",
                                        .raw_shares = WIRE_SHARES_UNSET,
                                        .raw_usage = 0.1,
                                        .norm_usage = (double)NAN,
                                        .fair_share = (double)NAN,
                                        .level_fs = (double)INFINITY,
                                        .pending = UINT64_C(100000000000)};
    const char *text =
        "{\"account\":\"root\",\"user\":null,\"parent_account\":null,\"raw_shares\":null,\"norm_shares\":0,"
        "\"raw_usage\":0.1,\"norm_usage\":null,\"effective_usage\":0,\"fair_share\":null,"
        "\"level_fs\":\"inf\",\"pending\":100000000000,\"running\":0,\"running_cpus\":0,\"tres_raw\":null}";
    (void)unused;
    assert_string_equal(written(&wire_share_row_shape, &root), text);
    assert_int_equal(wire_read_text(&wire_share_row_shape, str(text), &arena, &got, &e), 0);
    assert_true(isinf(got.level_fs) && isnan(got.fair_share) && got.user == NULL);
    assert_string_equal(written(&wire_share_row_shape, &got), text);
    arena_release(&arena);
}

static void lists_have_a_row_a_line(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct wire_setting rows[] = {{"a", "1", "2", "x", "g", "z"}, {"b", "3", "4", "y", "h", ""}};
    const struct wire_setting_list list = {{rows, 2}};
    struct wire_setting_list got;
    const char *text =
        "{\"settings\":[\n{\"name\":\"a\",\"value\":\"1\",\"default\":\"2\",\"help\":\"x\",\"group\":\"g\",\"accepted\":\"z\"},\n"
        "{\"name\":\"b\",\"value\":\"3\",\"default\":\"4\",\"help\":\"y\",\"group\":\"h\",\"accepted\":\"\"}\n]}";
    (void)unused;
    assert_string_equal(written(&wire_setting_list_shape, &list), text);
    assert_int_equal(wire_read_text(&wire_setting_list_shape, str(text), &arena, &got, &e), 0);
    assert_int_equal(got.settings.count, 2);
    assert_string_equal(((struct wire_setting *)got.settings.items)[1].default_value, "4");
    arena_release(&arena);
}

/* A client may be older than the daemon; the daemon takes nothing it does not know. */
static void replies_may_have_more(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct wire_submitted submitted;
    struct wire_count count;
    (void)unused;
    assert_int_equal(
        wire_read_text(&wire_submitted_shape, str("{\"job_id\":5,\"new\":{\"a\":[]}}"), &arena, &submitted, &e), 0);
    assert_int_equal(submitted.job_id, 5);
    assert_int_equal(wire_read_text(&wire_count_shape, str("{\"new\":1}"), &arena, &count, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
    arena_release(&arena);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static const struct {
    const struct wire_shape *shape;
    const char *text, *error;
} refused[] = {
    {&wire_submit_shape, "", "no JSON object: line 1, column 0: '[' or '{' expected near end of file"},
    {&wire_submit_shape, "{\"command\":}", "no JSON object: line 1, column 12: unexpected token near '}'"},
    {&wire_submit_shape, "{} {}", "no JSON object: line 1, column 4: end of file expected near '{'"},
    {&wire_submit_shape, "[1]", "Submit: a list is not an object"},
    {&wire_submit_shape, "{\"command\":\"c\"}", "directory: missing; the absolute path of the directory to run in"},
    {&wire_submit_shape, "{\"command\":null,\"directory\":\"/\"}", "command: null is not text"},
    {&wire_submit_shape, "{\"command\":{},\"directory\":\"/\"}", "command: an object is not text"},
    {&wire_submit_shape, "{\"command\":\"\",\"directory\":7}", "directory: 7 is not text or {\"base64\":\"...\"}"},
    {&wire_submit_shape, "{\"command\":\"\",\"directory\":{\"base64\":\"YQ==\",\"b\":1}}",
     "directory: an object is not text or {\"base64\":\"...\"}"},
    {&wire_submit_shape, "{\"command\":\"\",\"directory\":{\"base64\":\"YR==\"}}",
     "directory: 'YR==' is not base64 (RFC 4648, with padding)"},
    {&wire_update_shape, "{\"cpus\":true}", "cpus: true is not a whole number from 1 to 65536"},
    {&wire_update_shape, "{\"cpus\":-1}", "cpus: -1 is not a whole number from 1 to 65536"},
    {&wire_update_shape, "{\"cpus\":\"4\"}", "cpus: '4' is not a whole number from 1 to 65536"},
    {&wire_update_shape, "{\"cpus\":4.5}", "cpus: 4.5 is not a whole number from 1 to 65536"},
    {&wire_update_shape, "{\"cpus\":4.0}", "cpus: 4.0 is not a whole number from 1 to 65536"},
    {&wire_update_shape, "{\"cpus\":-4e0}", "cpus: -4.0 is not a whole number from 1 to 65536"},
    {&wire_update_shape, "{\"time_limit_s\":9223372036854775807}",
     "time_limit_s: 9223372036854775807 is not a whole number from 1 to 316224000"},
    {&wire_update_shape, "{\"na\\nme\":1}",
     "unknown field 'na?me'; there are: name, cpus, mem_mib, gpus, time_limit_s, array_limit, "
     "partitions, qos, project, requests, nice, site, posix_priority, job_share, override_tickets, set_priority, "
     "begin_us, deadline_us, slots_max"},
    {&wire_jobs_shape, "{\"ids\":\"5\"}", "ids: '5' is not a list"},
    {&wire_jobs_shape, "{\"ids\":[\"5\",[]]}", "ids: a list is not text"},
    {&wire_jobs_shape, "{\"all\":1}", "all: 1 is not true or false"},
    {&wire_account_shape, "{\"name\":\"a\",\"shares\":\"most\"}",
     "shares: 'most' is not a whole number from 0 to 2147483646, or 'parent'"},
    {&wire_account_shape, "{\"name\":\"a\",\"shares\":2147483647}",
     "shares: 2147483647 is not a whole number from 0 to 2147483646, or 'parent'"},
    {&wire_account_shape, "{\"name\":\"a\",\"parent\":12345678901234567890}", NULL},
    {&wire_account_shape,
     "{\"name\":[\""
     "x\xff"
     "\"]}",
     NULL},
};

static void refusals_say_what_is_accepted(void **unused)
{
    union {
        struct wire_submit submit;
        struct wire_status status;
    } value;
    (void)unused;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct arena arena = {0};
        struct err e = {0};
        assert_int_equal(wire_read_text(refused[i].shape, str(refused[i].text), &arena, &value, &e), -1);
        assert_int_equal(e.code, ERR_INPUT);
        assert_null(strchr(ERR_SENTENCE(&e), '\n'));
        if (refused[i].error) assert_string_equal(ERR_SENTENCE(&e), refused[i].error);
        arena_release(&arena);
    }
}

static void requests_are_utf8(void **unused)
{
    struct err e = {0};
    struct buf text = {0};
    const char *ids[] = {"5", "\xff"};
    const struct wire_jobs jobs = {.ids = {ids, 2}};
    const struct wire_account account = {.name = "caf\xe9", .shares = 1};
    (void)unused;
    assert_int_equal(wire_request(&wire_account_shape, &account, &text, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "name: 'caf\xe9' is not UTF-8 text");
    assert_int_equal(wire_request(&wire_jobs_shape, &jobs, &text, &e), -1);
    assert_int_equal(text.length, 0);
    buf_release(&text);
}

/* More values than a request can need are refused before they are made. */
static void too_many_values(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct buf text = {0};
    struct wire_jobs jobs;
    (void)unused;
    buf_add_text(&text, "{\"ids\":[\"5\"");
    for (uint32_t i = 0; i < WIRE_VALUES_MAX; i++) buf_add_text(&text, ",\"5\"");
    buf_add_text(&text, "]}");
    assert_int_equal(wire_read_text(&wire_jobs_shape, (struct str){text.text, text.length}, &arena, &jobs, &e), -1);
    assert_int_equal(e.code, ERR_TOO_LARGE);

    /* Commas in texts do not count. */
    buf_clear(&text);
    buf_add_text(&text, "{\"ids\":[\"\\\"");
    memset(buf_room(&text, 3 * WIRE_VALUES_MAX), ',', 3 * WIRE_VALUES_MAX);
    text.length += 3 * WIRE_VALUES_MAX;
    buf_add_text(&text, "\"]}");
    assert_int_equal(wire_read_text(&wire_jobs_shape, (struct str){text.text, text.length}, &arena, &jobs, &e), 0);
    buf_release(&text);
    arena_release(&arena);
}

/* --- queries, settings, ids, base64 ------------------------------------------------------------------------------- */

static void queries(void **unused)
{
    static const struct {
        const char *name, *text, *error;
    } bad[] = {
        {"which", "dead", "which: 'dead' is not one of live,ended,all"},
        {"limit", "-5", "limit: -5 is not a whole number from 1 to 4294967295"},
        {"limit", "1e3", "limit: '1e3' is not a whole number from 1 to 4294967295"},
        {"user", "\xff", "user: it is not UTF-8 text"},
        {"colour", "red",
         "unknown field 'colour'; there are: which, id, account, user, state, since_us, until_us, order, limit, format"},
    };
    struct arena arena = {0};
    struct err e = {0};
    struct wire_jobs_query query;
    (void)unused;
    wire_clear(&wire_jobs_query_shape, &query);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(wire_read_query(&wire_jobs_query_shape, bad[i].name, bad[i].text, &arena, &query, &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), bad[i].error);
    }
    assert_int_equal(wire_read_query(&wire_jobs_query_shape, "id", "5,6_1", &arena, &query, &e), 0);
    assert_int_equal(query.id.count, 2);
    assert_string_equal(((const char **)query.id.items)[1], "6_1");
    assert_int_equal(wire_read_query(&wire_jobs_query_shape, "since_us", "1700000000000000", &arena, &query, &e), 0);
    assert_int_equal(query.since_us, 1700000000000000);
    assert_int_equal(wire_read_query(&wire_jobs_query_shape, "order", "newest", &arena, &query, &e), 0);
    assert_string_equal(query.order, "newest");
    arena_release(&arena);
}

static void pairs(void **unused)
{
    static const struct {
        const char *body, *error;
    } bad[] = {
        {"{}", "nothing to change is named: an object is wanted, as in {\"NAME\":\"VALUE\"}"},
        {"{\"a\":null}", "a: null is not text, a number, true or false"},
        {"{\"a\":[1]}", "a: a list is not text, a number, true or false"},
        {"{\"a\":{}}", "a: an object is not text, a number, true or false"},
    };
    static const char *const values[] = {"x", "-5", "0.25", "1e+30", "true", "false", ""};
    struct arena arena = {0};
    struct err e = {0};
    struct wire_list list;
    (void)unused;
    const char *body = "{\"b\":\"x\",\"a\":-5,\"c\":0.25,\"d\":1e30,\"e\":true,\"f\":false,\"g\":\"\"}";
    assert_int_equal(wire_read_pairs(str(body), &arena, &list, &e), 0);
    const struct wire_pair *rows = list.items;
    assert_int_equal(list.count, COUNT(values));
    assert_string_equal(rows[0].name, "b");
    for (size_t i = 0; i < COUNT(values); i++) assert_string_equal(rows[i].value, values[i]);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(wire_read_pairs(str(bad[i].body), &arena, &list, &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), bad[i].error);
        assert_int_equal(e.code, ERR_INPUT);
    }
    assert_int_equal(wire_read_pairs(str("[\"a\"]"), &arena, &list, &e), -1);
    arena_release(&arena);
}

static void job_ids(void **unused)
{
    static const char *const bad[] = {"",
                                      "0",
                                      "_",
                                      "5_",
                                      "_5",
                                      "5_x",
                                      "x",
                                      "-1",
                                      "+1",
                                      "4294967294",
                                      "5_4294967295",
                                      "1_2_3",
                                      " 5",
                                      "5 ",
                                      "5_[1-3]",
                                      "99999999999999999999"};
    struct err e = {0};
    uint32_t job, task;
    char text[24];
    (void)unused;
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (wire_job_id_parse(str(bad[i]), "id", &job, &task, &e) != -1) fail_msg("'%s'", bad[i]);
        assert_int_equal(e.code, ERR_INPUT);
    }
    assert_int_equal(wire_job_id_parse(str("4294967293"), "id", &job, &task, &e), 0);
    assert_int_equal(task, NONE);
    assert_int_equal(wire_job_id_format(text, job, task), 10);
    assert_string_equal(text, "4294967293");
    assert_int_equal(wire_job_id_parse(str("7_0"), "id", &job, &task, &e), 0);
    assert_int_equal(task, 0);
    wire_job_id_format(text, job, task);
    assert_string_equal(text, "7_0");
}

static void base64(void **unused)
{
    static const struct {
        const char *bytes, *text;
    } rows[] = {/* RFC 4648 section 10 */ {"", ""},
                {"f", "Zg=="},
                {"fo", "Zm8="},
                {"foo", "Zm9v"},
                {"foob", "Zm9vYg=="},
                {"fooba", "Zm9vYmE="},
                {"foobar", "Zm9vYmFy"},
                {"\xff\xfe\xfd", "//79"}};
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "Zg===", "====", "Z===", "=Zg=", "Zg==Zg==", "Zm9\n", "Zh==", "Zm9=", "Zm-v"};
    struct arena arena = {0};
    struct str bytes;
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf text = {0};
        base64_write(str(rows[i].bytes), &text);
        assert_true(str_equal((struct str){text.text, text.length}, str(rows[i].text)));
        assert_true(base64_read(str(rows[i].text), &arena, &bytes));
        assert_true(str_equal(bytes, str(rows[i].bytes)));
        buf_release(&text);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (base64_read(str(bad[i]), &arena, &bytes)) fail_msg("'%s'", bad[i]);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_fit_their_structs),
        cmocka_unit_test(submission_survives),
        cmocka_unit_test(absent_fields),
        cmocka_unit_test(replies_have_null),
        cmocka_unit_test(lists_have_a_row_a_line),
        cmocka_unit_test(replies_may_have_more),
        cmocka_unit_test(refusals_say_what_is_accepted),
        cmocka_unit_test(requests_are_utf8),
        cmocka_unit_test(too_many_values),
        cmocka_unit_test(queries),
        cmocka_unit_test(pairs),
        cmocka_unit_test(job_ids),
        cmocka_unit_test(base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
