/* The wire: round trips of all types, refused values and their messages, and the shapes of all structs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../job_text.h"

#include "api/bodies.h"
#include "fields/settings.h"
#include "fields/share_fields.h"
#include "wire/base64.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const struct wire_shape *const shapes[] = {
    &api_submit_shape,
    &api_update_shape,
    &api_jobs_shape,
    &api_account_shape,
    &api_account_change_shape,
    &api_user_shape,
    &api_user_change_shape,
    &api_jobs_query_shape,
    &api_shares_query_shape,
    &api_wait_query_shape,
    &api_account_query_shape,
    &api_priorities_query_shape,
    &api_error_shape,
    &api_submitted_shape,
    &api_count_shape,
    &api_done_shape,
    &api_waited_shape,
    &api_status_shape,
    &api_difference_shape,
    &api_verified_shape,
    &api_job_list_shape,
    &api_priority_list_shape,
    &api_share_list_shape,
    &api_account_list_shape,
    &api_user_list_shape,
    &api_setting_list_shape,
    &api_object_lists[OBJECT_PARTITION],
    &api_object_lists[OBJECT_QOS],
    &api_object_lists[OBJECT_USER_POLICY],
    &api_object_lists[OBJECT_PROJECT],
    &api_object_lists[OBJECT_DEPARTMENT],
    &api_object_lists[OBJECT_RESOURCE],
};

/* --- the shapes themselves ---------------------------------------------------------------------------------------- */

static size_t member_size(const struct wire_field *f)
{
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_NAME:
    case WIRE_CHOICE:
    case WIRE_BYTES: return sizeof(const char *);
    case WIRE_BLOB: return sizeof(struct str);
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_RECORDS:
    case WIRE_ROWS: return sizeof(struct wire_list);
    case WIRE_BOOL: return sizeof(bool);
    case WIRE_U32:
    case WIRE_I32: return sizeof(uint32_t);
    case WIRE_U64:
    case WIRE_I64:
    case WIRE_TIME:
    case WIRE_MEMORY: return sizeof(uint64_t);
    case WIRE_DOUBLE: return sizeof(double);
    case WIRE_OBJECT: return f->shape->size;
    case WIRE_CUSTOM: break;
    }
    return 0;
}

static void check_number(const struct wire_shape *s, const struct wire_field *f)
{
    bool is_special_in_range =
        f->special != NULL && (double)f->special_number >= f->min && (double)f->special_number <= f->max;
    if (f->min >= f->max && strcmp(f->name, "raw_usage") != 0) fail_msg("%s.%s has no range", s->name, f->name);
    if (f->type == WIRE_U32 && (f->min < 0 || f->max > UINT32_MAX)) fail_msg("%s.%s", s->name, f->name);
    if (f->type == WIRE_I32 && (f->min < INT32_MIN || f->max > INT32_MAX)) fail_msg("%s.%s", s->name, f->name);
    if (f->type == WIRE_U64 && f->min < 0) fail_msg("%s.%s", s->name, f->name);
    if (is_special_in_range || (f->special != NULL && f->special_number == f->absent))
        fail_msg("%s.%s: its special word is a number that can be given", s->name, f->name);
    if (!s->is_reply && !f->is_required && (double)f->absent >= f->min && (double)f->absent <= f->max)
        fail_msg("%s.%s: its absent value can be given", s->name, f->name);
}

/* The list lies in the struct, beside the other members, whose names are those of no pair. */
static void check_pair_fields(const struct wire_shape *s)
{
    const struct wire_pair_fields *p = &s->pair_fields;
    for (const struct wire_field *f = s->fields; p->table != NULL && f->name; f++) {
        assert_false(p->is_member(f->name));
        assert_true(f->offset + member_size(f) <= p->offset || f->offset >= p->offset + sizeof(struct wire_list));
    }
    if (p->table == NULL) return;
    assert_null(s->table_fields.table);
    assert_true(p->offset + sizeof(struct wire_list) <= s->size);
    for (uint32_t i = 0; i < p->table->count; i++) assert_true(p->is_member(field_at(p->table, i)->name));
}

/* The arrays of the table's fields lie in the struct, and no field has the name of a member of the shape. */
static void check_table_fields(const struct wire_shape *s)
{
    const struct wire_table_fields *m = &s->table_fields;
    for (uint32_t i = 0; m->table != NULL && i < m->table->count; i++) {
        const char *name = m->name(i);
        for (const struct wire_field *f = s->fields; name != NULL && f->name; f++)
            assert_string_not_equal(name, f->name);
        if (m->is_required != NULL && m->is_required(i)) assert_non_null(name);
    }
    check_pair_fields(s);
    if (m->table == NULL) return;
    assert_true(m->values_offset + m->table->count * sizeof(struct field_value) <= s->size);
    assert_true(m->given_offset + m->table->count * sizeof(bool) <= s->size);
    for (const struct wire_field *f = s->fields; f->name; f++)
        assert_true(f->offset + member_size(f) <= m->values_offset || f->offset >= m->given_offset + m->table->count);
}

/* No two rows have the same member or overlap, and the type of each member can hold the range. */
static void check_shape(const struct wire_shape *s)
{
    for (const struct wire_field *f = s->fields; f->name; f++) {
        if (member_size(f) == 0 || f->offset + member_size(f) > s->size || !f->help)
            fail_msg("%s.%s", s->name, f->name);
        for (const struct wire_field *g = s->fields; g != f; g++) {
            bool apart = f->offset + member_size(f) <= g->offset || g->offset + member_size(g) <= f->offset;
            if (!apart || strcmp(f->name, g->name) == 0) fail_msg("%s: %s and %s", s->name, f->name, g->name);
        }
        if (f->type >= WIRE_U32 && f->type <= WIRE_I64) check_number(s, f);
        if (f->type == WIRE_CHOICE) assert_non_null(f->choices);
        if (f->type == WIRE_RECORDS) assert_non_null(f->table);
        if (f->type == WIRE_OBJECT || f->type == WIRE_ROWS) check_shape(f->shape);
    }
    check_table_fields(s);
}

static void shapes_fit_their_structs(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(shapes); i++) check_shape(shapes[i]);
}

/* --- round trips -------------------------------------------------------------------------------------------------- */

static char *written(const struct wire_shape *shape, const void *value)
{
    static struct buf text;
    buf_clear(&text);
    wire_write(shape, value, &text);
    return text.text;
}

static char *written_record(const struct field_table *table, const struct field_value *values)
{
    static struct buf text;
    buf_clear(&text);
    wire_write_record(table, values, &text);
    return text.text;
}

static void limits_round_trip(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct err e = {0};
    struct wire_pair pairs[] = {{"GrpTRES", "cpu=4,mem=-1"}, {"QosLevel+", "long"}, {"MaxJobs", "4"}};
    const struct api_account sent = {
        .name = "a", .shares = API_UNSET, .priority = API_UNSET, .raw_usage = API_UNSET, .limits = {pairs, 3}};
    struct api_account got;
    struct buf text = {0};
    assert_int_equal(wire_request(&api_account_shape, &sent, &text, &e), 0);
    assert_string_equal(text.text,
                        "{\"name\":\"a\",\"GrpTRES\":\"cpu=4,mem=-1\",\"QosLevel+\":\"long\",\"MaxJobs\":\"4\"}");
    assert_int_equal(wire_read_text(&api_account_shape, (struct str){text.text, text.length}, &arena, &got, &e), 0);
    assert_int_equal(got.limits.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(((struct wire_pair *)got.limits.items)[i].name, pairs[i].name);
        assert_string_equal(((struct wire_pair *)got.limits.items)[i].value, pairs[i].value);
    }
    assert_false(wire_is_empty(&api_account_change_shape, &(struct api_account){.limits = {pairs, 1}}));
    pairs[0].value = "\xff";
    assert_int_equal(wire_request(&api_account_shape, &sent, &text, &e), -1);
    assert_string_equal(e.field, "GrpTRES");
    buf_release(&text);
    arena_release(&arena);
}

static void submission_round_trip(void **unused)
{
    (void)unused;
    struct arena arena = {0};
    struct err e = {0};
    struct str arguments[] = {{"a b", 3}, {"", 0}, {"\xff\xfe", 2}, {"\xc3\xa9\"\\\n", 5}};
    struct str environment[] = {{"A=", 2}};
    const struct api_submit submit = {
        .job = *job_text("account=physics|name=\xe2\x82\xac|directory=/home/\xe9|command=run it|cpus=65536|"
                         "mem_mib=1099511627776|time_limit_s=1|array=0-9%%2|held=yes"),
        .script = {"#!/bin/sh\n\0\xff", 12},
        .script_name = "\xffx",
        .arguments = {arguments, 4},
        .environment = {environment, 1}};
    struct api_submit got;
    struct buf text = {0};
    assert_int_equal(wire_request(&api_submit_shape, &submit, &text, &e), 0);
    assert_null(strstr(text.text, "\"out\""));
    assert_null(strstr(text.text, "null"));
    if (wire_read_text(&api_submit_shape, (struct str){text.text, text.length}, &arena, &got, &e) != 0)
        fail_msg("%s", ERR_SENTENCE(&e));
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        assert_int_equal(got.job.is_given[i], submit.job.is_given[i]);
        if (submit.job.is_given[i])
            assert_true(field_equal(field_at(&job_fields, i), &got.job.value[i], &submit.job.value[i]));
    }
    assert_string_equal(got.job.value[JOB_FIELD_DIRECTORY].text, "/home/\xe9");
    assert_string_equal(got.script_name, submit.script_name);
    assert_null(got.job.value[JOB_FIELD_OUT_PATTERN].text);
    assert_int_equal(got.job.value[JOB_FIELD_MEM_MIB].number, INT64_C(1) << 40);
    assert_int_equal(got.script.length, 12);
    assert_memory_equal(got.script.text, submit.script.text, 12);
    assert_int_equal(got.arguments.count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_true(str_equal(((struct str *)got.arguments.items)[i], arguments[i]));
    assert_string_equal(written(&api_submit_shape, &got), text.text);
    buf_release(&text);
    arena_release(&arena);
}

/* A field that is not given differs from one that is given as 0. */
static void absent_fields_of_updates(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct api_update update;
    (void)unused;
    assert_int_equal(wire_read_text(&api_update_shape, str("{}"), &arena, &update, &e), 0);
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        assert_false(update.job.is_given[i]);
        assert_true(field_is_absent(field_at(&job_fields, i), &update.job.value[i]));
    }
    assert_true(wire_is_empty(&api_update_shape, &update));
    assert_string_equal(written(&api_update_shape, &update), "{}");
    update.job = *job_text("gpus=0|array_limit=0");
    assert_false(wire_is_empty(&api_update_shape, &update));
    assert_string_equal(written(&api_update_shape, &update), "{\"array_limit\":0,\"gpus\":0}");
    update.job = *job_with(&update.job, "slots_max=0|nice=0|site=0|posix_priority=0|job_share=0|override_tickets=0|"
                                        "set_priority=auto|project=");
    assert_string_equal(written(&api_update_shape, &update),
                        "{\"array_limit\":0,\"gpus\":0,\"slots_max\":0,\"project\":\"\",\"nice\":0,\"site\":0,"
                        "\"set_priority\":\"auto\",\"posix_priority\":0,\"job_share\":0,\"override_tickets\":0}");
    struct api_update got;
    assert_int_equal(wire_read_text(&api_update_shape, str(written(&api_update_shape, &update)), &arena, &got, &e), 0);
    assert_memory_equal(got.job.is_given, update.job.is_given, sizeof got.job.is_given);
    assert_int_equal(got.job.value[JOB_FIELD_SET_PRIORITY].number, FIELD_SPECIAL);

    /* A nullable field without a value: null, or the word for it. */
    const char *none = "{\"begin_us\":null,\"deadline_us\":\"none\",\"set_priority\":null}";
    assert_int_equal(wire_read_text(&api_update_shape, str(none), &arena, &update, &e), 0);
    assert_true(update.job.is_given[JOB_FIELD_BEGIN] && update.job.is_given[JOB_FIELD_DEADLINE]);
    assert_true(field_is_absent(job_field_at(JOB_FIELD_BEGIN), &update.job.value[JOB_FIELD_BEGIN]));
    assert_int_equal(update.job.value[JOB_FIELD_DEADLINE].number, FIELD_SPECIAL);
    assert_string_equal(written(&api_update_shape, &update),
                        "{\"begin_us\":null,\"deadline_us\":\"none\",\"set_priority\":null}");
    assert_false(wire_is_empty(&api_update_shape, &update));
    arena_release(&arena);
}

static void absent_fields(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct api_account account;
    struct job_row row;
    (void)unused;
    assert_int_equal(wire_read_text(&api_account_shape, str("{\"name\":\"a\"}"), &arena, &account, &e), 0);
    assert_int_equal(account.shares, API_UNSET);
    assert_string_equal(written(&api_account_shape, &account), "{\"name\":\"a\"}");
    assert_int_equal(wire_read_text(&api_account_shape, str("{\"name\":\"a\",\"shares\":0}"), &arena, &account, &e), 0);
    assert_string_equal(written(&api_account_shape, &account), "{\"name\":\"a\",\"shares\":0}");
    account.shares = FIELD_SPECIAL;
    assert_string_equal(written(&api_account_shape, &account), "{\"name\":\"a\",\"shares\":\"parent\"}");
    assert_int_equal(
        wire_read_text(&api_account_shape, str(written(&api_account_shape, &account)), &arena, &account, &e), 0);
    assert_int_equal(account.shares, FIELD_SPECIAL);
    account.shares = API_UNSET;
    account.raw_usage = API_UNSET;
    account.priority = FIELD_SPECIAL;
    assert_string_equal(written(&api_account_shape, &account), "{\"name\":\"a\",\"priority\":\"parent\"}");
    assert_false(wire_is_empty(&api_account_change_shape, &account));
    account.priority = API_UNSET;
    assert_true(wire_is_empty(&api_account_change_shape, &account));
    assert_int_equal(wire_read_text(&api_account_change_shape, str("{\"raw_usage\":0}"), &arena, &account, &e), 0);
    assert_string_equal(written(&api_account_change_shape, &account), "{\"raw_usage\":0}");
    assert_int_equal(wire_read_text(&api_account_change_shape, str("{\"raw_usage\":5}"), &arena, &account, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "raw_usage: 5 is not 0, the only accepted value");

    assert_int_equal(wire_read_record(&job_fields, str("{}"), &arena, row.value, &e), 0);
    assert_int_equal(job_row_number(&row, JOB_FIELD_TASK_ID), FIELD_ABSENT);
    assert_int_equal(job_row_number(&row, JOB_FIELD_EXIT_STATUS), FIELD_ABSENT);
    assert_int_equal(job_row_number_or(&row, JOB_FIELD_EXIT_STATUS, -1), -1);
    assert_true(isnan(row.value[JOB_FIELD_FAIR_SHARE].real));
    assert_null(job_row_text(&row, JOB_FIELD_ARRAY_TASKS));
    assert_string_equal(job_row_text(&row, JOB_FIELD_NAME), "");
    arena_release(&arena);
}

static void replies_have_null(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct share_values root, got;
    const char *text =
        "{\"account\":\"root\",\"user\":null,\"partition\":null,\"parent_account\":null,\"depth\":0,"
        "\"raw_shares\":null,\"norm_shares\":0,\"raw_usage\":0.1,\"norm_usage\":null,\"effective_usage\":0,"
        "\"fair_share\":null,\"level_fs\":\"inf\",\"pending\":100000000000,\"running\":0,\"running_cpus\":0,"
        "\"tres_raw\":null}";
    (void)unused;
    for (uint32_t i = 0; i < SHARE_FIELD_COUNT; i++) root.value[i] = field_nothing(field_at(&share_fields, i));
    root.value[SHARE_FIELD_ACCOUNT] = field_text("root");
    root.value[SHARE_FIELD_NORM_SHARES] = root.value[SHARE_FIELD_EFFECTIVE_USAGE] = field_real(0.0);
    root.value[SHARE_FIELD_RAW_USAGE] = field_real(0.1);
    root.value[SHARE_FIELD_LEVEL_FS] = field_real((double)INFINITY);
    root.value[SHARE_FIELD_PENDING] = field_number(INT64_C(100000000000));
    root.value[SHARE_FIELD_RUNNING] = root.value[SHARE_FIELD_RUNNING_CPUS] = field_number(0);
    assert_string_equal(written_record(&share_fields, root.value), text);
    assert_int_equal(wire_read_record(&share_fields, str(text), &arena, got.value, &e), 0);
    assert_true(isinf(got.value[SHARE_FIELD_LEVEL_FS].real) && isnan(got.value[SHARE_FIELD_FAIR_SHARE].real));
    assert_null(got.value[SHARE_FIELD_USER].text);
    assert_string_equal(written_record(&share_fields, got.value), text);
    arena_release(&arena);
}

static void lists_have_a_row_a_line(void **unused)
{
    static const char *const texts[] = {"a", "1", "2", "x", "g", "z", "b", "3", "4", "y", "h", ""};
    struct arena arena = {0};
    struct err e = {0};
    struct field_value rows[COUNT(texts)];
    const struct api_listing list = {{rows, 2}};
    struct api_listing got;
    const char *text =
        "{\"settings\":[\n{\"name\":\"a\",\"value\":\"1\",\"default\":\"2\",\"help\":\"x\",\"group\":\"g\","
        "\"accepted\":\"z\"},\n{\"name\":\"b\",\"value\":\"3\",\"default\":\"4\",\"help\":\"y\",\"group\":\"h\","
        "\"accepted\":\"\"}\n]}";
    (void)unused;
    assert_int_equal(COUNT(texts), 2 * SETTING_FIELD_COUNT);
    for (size_t i = 0; i < COUNT(texts); i++) rows[i] = field_text(texts[i]);
    assert_string_equal(written(&api_setting_list_shape, &list), text);
    assert_int_equal(wire_read_text(&api_setting_list_shape, str(text), &arena, &got, &e), 0);
    assert_int_equal(got.rows.count, 2);
    const struct field_value *second = (const struct field_value *)got.rows.items + SETTING_FIELD_COUNT;
    assert_string_equal(second[SETTING_FIELD_DEFAULT].text, "4");
    assert_string_equal(written(&api_setting_list_shape, &got), text);
    arena_release(&arena);
}

/* Values of objects are as people write them: durations and memory are text, other numbers are numbers. */
static void written_records(void **unused)
{
    const struct field_table *table = &object_classes[OBJECT_PARTITION].record;
    struct arena arena = {0};
    struct err e = {0};
    struct field_value values[OBJECT_RECORD_MAX], got[OBJECT_RECORD_MAX];
    (void)unused;
    const struct object fast = object_defaults(OBJECT_PARTITION, "fast");
    values[OBJECT_RECORD_NAME] = field_text("fast");
    memcpy(values + OBJECT_RECORD_FIELDS, fast.value, PARTITION_FIELD_COUNT * sizeof *values);
    values[OBJECT_RECORD_FIELDS + PARTITION_CLOSED_UNTIL] = field_number(5);
    values[OBJECT_RECORD_FIELDS + PARTITION_IS_DEFAULT] = field_number(true);
    values[OBJECT_RECORD_FIELDS + PARTITION_RECORD_COUNT] = field_number(7);
    const char *unlimited =
        "{\"name\":\"fast\",\"PriorityJobFactor\":1,\"PriorityTier\":1,\"MaxTime\":\"UNLIMITED\","
        "\"TRESBillingWeights\":\"\",\"fshare\":0,\"oticket\":0,\"hosts\":\"\",\"slots\":\"AUTO\",\"seq_no\":\"0\",\"load_thresholds\":\"NONE\","
        "\"pe_list\":\"NONE\",\"complex_values\":\"NONE\",\"user_lists\":\"NONE\",\"xuser_lists\":\"NONE\",\"state\":\"UP\",\"calendar\":\"NONE\",\"QOS\":\"\","
        "\"DefaultTime\":\"NONE\",\"MinNodes\":0,\"MaxNodes\":\"UNLIMITED\",\"MaxCPUsPerNode\":\"UNLIMITED\",\"MaxMemPerNode\":\"UNLIMITED\",\"DefMemPerCPU\":\"UNLIMITED\",\"AllowAccounts\":\"ALL\",\"DenyAccounts\":\"NONE\",\"AllowQos\":\"ALL\",\"DenyQos\":\"NONE\","
        "\"closed_until_us\":5,\"default\":true,\"created_us\":7}";
    assert_string_equal(written_record(table, values), unlimited);
    assert_int_equal(wire_read_record(table, str(unlimited), &arena, got, &e), 0);
    assert_int_equal(got[OBJECT_RECORD_FIELDS + PARTITION_MAX_TIME].number, FIELD_SPECIAL);
    values[OBJECT_RECORD_FIELDS + PARTITION_MAX_TIME] = field_number(7200);
    assert_non_null(strstr(written_record(table, values), "\"MaxTime\":\"120\""));
    assert_int_equal(wire_read_record(table, str(written_record(table, values)), &arena, got, &e), 0);
    assert_int_equal(got[OBJECT_RECORD_FIELDS + PARTITION_MAX_TIME].number, 7200);
    assert_int_equal(got[OBJECT_RECORD_FIELDS + PARTITION_RECORD_COUNT].number, 7);
    arena_release(&arena);
}

/* Lines of NAME=VALUE are an object in JSON. */
static void pairs_are_objects(void **unused)
{
    static const struct field rows[] = {{.name = "load", .type = FIELD_TEXT, .is_pairs = true, .is_nullable = true}};
    const struct field_table table = {.name = "T", .help = "t", .rows = rows, .row_size = sizeof *rows, .count = 1};
    static const char *const good[][2] = {{"", "{\"load\":{}}"},
                                          {"a=1", "{\"load\":{\"a\":\"1\"}}"},
                                          {"a=1,2=\"\nb=", "{\"load\":{\"a\":\"1,2=\\\"\",\"b\":\"\"}}"}};
    static const char *const bad[] = {"{\"load\":\"a=1\"}", "{\"load\":{\"a\":1}}", "{\"load\":[\"a\"]}"};
    struct arena arena = {0};
    struct err e = {0};
    struct field_value value = field_absent(), got;
    (void)unused;
    assert_string_equal(written_record(&table, &value), "{\"load\":null}");
    for (size_t i = 0; i < COUNT(good); i++) {
        value = field_text(good[i][0]);
        assert_string_equal(written_record(&table, &value), good[i][1]);
        assert_int_equal(wire_read_record(&table, str(good[i][1]), &arena, &got, &e), 0);
        assert_string_equal(got.text, good[i][0]);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(wire_read_record(&table, str(bad[i]), &arena, &got, &e), -1);
    arena_release(&arena);
}

/* --- members from a table of fields ------------------------------------------------------------------------------- */

static const struct field every_type[] = {
    {.name = "number", .type = FIELD_NUMBER, .min = 1, .max = 9, .special = "auto"},
    {.name = "real", .type = FIELD_REAL, .min = 0, .max = 1},
    {.name = "bool", .type = FIELD_BOOL, .max = 1},
    {.name = "choice", .type = FIELD_CHOICE, .choices = "merge,slurm"},
    {.name = "text", .type = FIELD_TEXT, .max = 3},
    {.name = "bytes", .type = FIELD_BYTES, .max = 3},
    {.name = "seconds", .type = FIELD_SECONDS, .min = 1, .max = 86400},
    {.name = "minutes", .type = FIELD_MINUTES, .min = 60, .max = 86400, .special = "UNLIMITED"},
    {.name = "hours", .type = FIELD_HOURS, .max = 86400},
    {.name = "memory", .type = FIELD_MEMORY, .min = 1, .max = 1024},
    {.name = "time", .type = FIELD_TIME, .min = 1, .max = 1e15, .is_nullable = true},
};
enum { EVERY_TYPE = COUNT(every_type) };

struct every {
    struct field_value value[EVERY_TYPE];
    bool is_given[EVERY_TYPE];
};

static const char *name_of_every(uint32_t field)
{
    return every_type[field].name;
}

#define EVERY_SHAPE(table_)                                                                                          \
    {                                                                                                                \
        .name = "Every", .fields = (const struct wire_field[]){{0}}, .size = sizeof(struct every), .table_fields = { \
            .table = (table_),                                                                                       \
            .values_offset = offsetof(struct every, value),                                                          \
            .name = name_of_every,                                                                                   \
            .given_offset = offsetof(struct every, is_given)                                                         \
        }                                                                                                            \
    }

static const struct field_table exact_table = {
    .name = "Every", .rows = every_type, .row_size = sizeof every_type[0], .count = EVERY_TYPE};
static const struct field_table written_table = {
    .name = "Every", .rows = every_type, .row_size = sizeof every_type[0], .count = EVERY_TYPE, .is_written = true};
static const struct wire_shape exact_shape = EVERY_SHAPE(&exact_table), written_shape = EVERY_SHAPE(&written_table);

/* A value is the same after it is written and read, as a request and as a record. */
static void round_trip_of_every_type(void **unused)
{
    static const struct {
        const struct wire_shape *shape;
        const char *text;
    } rows[] = {
        {&exact_shape, "{\"number\":9,\"real\":0.5,\"bool\":true,\"choice\":\"slurm\",\"text\":\"a\\\"\","
                       "\"bytes\":{\"base64\":\"//8=\"},\"seconds\":86400,\"minutes\":\"UNLIMITED\",\"hours\":3600,"
                       "\"memory\":1024,\"time\":1000000000000000}"},
        {&exact_shape, "{\"number\":\"auto\",\"real\":0,\"bool\":false,\"choice\":\"merge\",\"text\":\"\","
                       "\"bytes\":\"\",\"seconds\":1,\"minutes\":120,\"hours\":0,\"memory\":1,\"time\":null}"},
        {&written_shape, "{\"number\":1,\"real\":1,\"bool\":true,\"choice\":\"slurm\",\"text\":\"\\u0001\","
                         "\"bytes\":\"\\n\",\"seconds\":\"90\",\"minutes\":\"2\",\"hours\":\"24\","
                         "\"memory\":\"512\",\"time\":5}"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct field_table *table = rows[i].shape->table_fields.table;
        struct arena arena = {0};
        struct err e = {0};
        struct every got, record;
        /* Requests refuse control characters; replies may have them. */
        bool is_refused = strstr(rows[i].text, "u0001") != NULL;
        int status = wire_read_text(rows[i].shape, str(rows[i].text), &arena, &got, &e);
        if (status != (is_refused ? -1 : 0)) fail_msg("%s", ERR_SENTENCE(&e));
        if (!is_refused) assert_string_equal(written(rows[i].shape, &got), rows[i].text);
        assert_int_equal(wire_read_record(table, str(rows[i].text), &arena, record.value, &e), 0);
        assert_string_equal(written_record(table, record.value), rows[i].text);
        arena_release(&arena);
    }
}

/* One damaged row must not hide all others of a listing. */
static void numbers_of_replies_may_be_out_of_range(void **unused)
{
    static const char text[] = "{\"cpus\":0,\"time_limit_s\":-7,\"submit_us\":0}";
    struct arena arena = {0};
    struct job_row row;
    struct err e = {0};
    (void)unused;
    assert_int_equal(wire_read_record(&job_fields, str(text), &arena, row.value, &e), 0);
    assert_int_equal(job_row_number(&row, JOB_FIELD_CPUS), 0);
    assert_int_equal(job_row_number(&row, JOB_FIELD_TIME_LIMIT), -7);
    assert_int_equal(job_row_number(&row, JOB_FIELD_SUBMIT), 0);
    assert_int_equal(wire_read_record(&job_fields, str("{\"cpus\":0.5}"), &arena, row.value, &e), -1);
    assert_int_equal(wire_read_record(&job_fields, str("{\"cpus\":-9223372036854775808}"), &arena, row.value, &e), -1);
    arena_release(&arena);
}

/* A quantity as people write it means the same as a JSON number and as text. */
static void written_numbers_have_one_unit(void **unused)
{
    static const char *const rows[][2] = {
        {"{\"minutes\":120,\"hours\":24,\"memory\":512,\"seconds\":90}",
         "{\"minutes\":\"120\",\"hours\":\"24\",\"memory\":\"512\",\"seconds\":\"90\"}"},
        {"{\"minutes\":\"0:90\"}", "{\"minutes\":2}"}, /* whole minutes, rounded up */
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct err e = {0};
        struct every a, b;
        assert_int_equal(wire_read_text(&written_shape, str(rows[i][0]), &arena, &a, &e), 0);
        assert_int_equal(wire_read_text(&written_shape, str(rows[i][1]), &arena, &b, &e), 0);
        for (size_t f = 0; f < EVERY_TYPE; f++) {
            assert_int_equal(a.is_given[f], b.is_given[f]);
            assert_true(field_equal(&every_type[f], &a.value[f], &b.value[f]));
        }
        arena_release(&arena);
    }
}

/* Requests are refused if the table does not accept a value. */
static void every_type_is_checked(void **unused)
{
    static const struct {
        const struct wire_shape *shape;
        const char *text, *error;
    } rows[] = {
        {&exact_shape, "{\"number\":0}", "number: 0 is not a whole number from 1 to 9, or 'auto'"},
        {&exact_shape, "{\"number\":\"AUTO\"}", "number: 'AUTO' is not a whole number from 1 to 9, or 'auto'"},
        {&exact_shape, "{\"real\":1.5}", "real: 1.5 is not a number from 0 to 1"},
        {&exact_shape, "{\"real\":\"inf\"}", "real: inf is not a number from 0 to 1"},
        {&exact_shape, "{\"real\":\"half\"}", "real: 'half' is not a number"},
        {&exact_shape, "{\"bool\":1}", "bool: 1 is not true or false"},
        {&exact_shape, "{\"choice\":\"Merge\"}", "choice: 'Merge' is not one of merge,slurm"},
        {&exact_shape, "{\"choice\":0}", "choice: 0 is not one of merge,slurm"},
        {&exact_shape, "{\"text\":\"long\"}", "text: 'long' has 4 bytes; 0 to 3 are accepted"},
        {&exact_shape, "{\"bytes\":\"long\"}", "bytes: 'long' has 4 bytes; 0 to 3 are accepted"},
        {&exact_shape, "{\"seconds\":\"90\"}", "seconds: '90' is not a whole number from 1 to 86400"},
        {&exact_shape, "{\"memory\":0}", "memory: 0 is not a whole number from 1 to 1024"},
        {&exact_shape, "{\"time\":0}", "time: 0 is not a whole number from 1 to 1000000000000000"},
        {&exact_shape, "{\"text\":null}", "text: null is not text"},
        {&written_shape, "{\"seconds\":\"0\"}",
         "seconds: '0' is not a duration in seconds (or 90m, 1.5h, D-H:M:S) from 1 to 86400"},
        {&written_shape, "{\"minutes\":\"x\"}", NULL},
        {&written_shape, "{\"memory\":\"2G\"}", NULL},
        {&written_shape, "{\"hours\":25}", "hours: '25' is not a duration in hours (or 90m, 2d) from 0 to 24"},
        {&written_shape, "{\"hours\":[24]}", "hours: a list is not text, a number, true or false"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct err e = {0};
        struct every got;
        if (wire_read_text(rows[i].shape, str(rows[i].text), &arena, &got, &e) == 0) fail_msg("%s", rows[i].text);
        assert_int_equal(e.code, ERR_INPUT);
        if (rows[i].error != NULL) assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        arena_release(&arena);
    }
}

/* Replies may have unknown members, because a client may be older than the daemon. Requests may not. */
static void replies_may_have_more(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct api_submitted submitted;
    struct api_count count;
    (void)unused;
    assert_int_equal(
        wire_read_text(&api_submitted_shape, str("{\"job_id\":5,\"new\":{\"a\":[]}}"), &arena, &submitted, &e), 0);
    assert_int_equal(submitted.job_id, 5);
    assert_int_equal(wire_read_text(&api_count_shape, str("{\"new\":1}"), &arena, &count, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
    arena_release(&arena);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static const struct {
    const struct wire_shape *shape;
    const char *text, *error;
} refused[] = {
    {&api_submit_shape, "", "invalid JSON: line 1, column 0: '[' or '{' expected near end of file"},
    {&api_submit_shape, "{\"command\":}", "invalid JSON: line 1, column 12: unexpected token near '}'"},
    {&api_submit_shape, "{} {}", "invalid JSON: line 1, column 4: end of file expected near '{'"},
    {&api_submit_shape, "[1]", "Submit: a list is not an object"},
    {&api_submit_shape, "{\"command\":\"c\"}", "directory: missing; absolute path of the directory it runs in"},
    {&api_submit_shape, "{\"command\":null,\"directory\":\"/\"}", "command: null is not text"},
    {&api_submit_shape, "{\"command\":{},\"directory\":\"/\"}", "command: an object is not text"},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":7}", "directory: 7 is not text or {\"base64\":\"...\"}"},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":{\"base64\":\"YQ==\",\"b\":1}}",
     "directory: an object is not text or {\"base64\":\"...\"}"},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":{\"base64\":\"YR==\"}}",
     "directory: 'YR==' is not base64 (RFC 4648, with padding)"},
    {&api_update_shape, "{\"cpus\":true}", "cpus: true is not a whole number from 1 to 65536"},
    {&api_update_shape, "{\"cpus\":-1}", "cpus: -1 is not a whole number from 1 to 65536"},
    {&api_update_shape, "{\"cpus\":\"4\"}", "cpus: '4' is not a whole number from 1 to 65536"},
    {&api_update_shape, "{\"cpus\":4.5}", "cpus: 4.5 is not a whole number from 1 to 65536"},
    {&api_update_shape, "{\"cpus\":4.0}", "cpus: 4.0 is not a whole number from 1 to 65536"},
    {&api_update_shape, "{\"cpus\":-4e0}", "cpus: -4.0 is not a whole number from 1 to 65536"},
    {&api_update_shape, "{\"time_limit_s\":9223372036854775807}",
     "time_limit_s: 9223372036854775807 is not a whole number from 1 to 316224000"},
    {&api_update_shape, "{\"colo\\nur\":1}", NULL}, /* its sentence: below */
    {&api_update_shape, "{\"directory\":\"/\"}", NULL},
    {&api_update_shape, "{\"state\":\"PENDING\"}", NULL},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":\"/\",\"array_limit\":5}", NULL},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":\"tmp\"}", "directory: 'tmp' is not an absolute path"},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":\"\"}", "directory: '' has 0 bytes; 1 to 4095 are accepted"},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":\"/\",\"environment\":[\"A=\",7]}",
     "environment[1]: 7 is not text or {\"base64\":\"...\"}"},
    {&api_submit_shape, "{\"command\":\"\",\"directory\":\"/\",\"environment\":[{\"base64\":\"QQBC\"}]}",
     "environment[0]: has a zero byte, which is not accepted"},
    {&api_update_shape, "{\"name\":\"a\\nb\"}", "name: 'a?b' is not printable UTF-8"},
    {&api_update_shape, "{\"begin_us\":0}",
     "begin_us: 0 is not a whole number from 1 to 253402300799000000, or 'none'"},
    {&api_update_shape, "{\"nice\":\"5\"}", "nice: '5' is not a whole number from -2147483645 to 2147483645"},
    {&api_update_shape, "{\"nice\":null}", "nice: null is not a whole number from -2147483645 to 2147483645"},
    {&api_update_shape, "{\"set_priority\":\"most\"}",
     "set_priority: 'most' is not a whole number from 1 to 4294967294, or 'auto'"},
    {&api_update_shape, "{\"set_priority\":-1}",
     "set_priority: -1 is not a whole number from 1 to 4294967294, or 'auto'"},
    {&api_update_shape, "{\"name\":\"a\",\"name\":\"b\"}", NULL},
    {&api_update_shape, "{\"name\":\"\\u0000\"}", NULL},
    {&api_jobs_shape, "{\"ids\":\"5\"}", "ids: '5' is not a list"},
    {&api_jobs_shape, "{\"ids\":[\"5\",[]]}", "ids[1]: a list is not text"},
    {&api_jobs_shape, "{\"all\":1}", "all: 1 is not true or false"},
    {&api_account_shape, "{\"name\":\"a\",\"shares\":\"most\"}",
     "shares: 'most' is not a whole number from 0 to 2147483646, or 'parent'"},
    {&api_account_shape, "{\"name\":\"a\",\"shares\":2147483647}",
     "shares: 2147483647 is not a whole number from 0 to 2147483646, or 'parent'"},
    {&api_account_shape, "{\"name\":\"a\",\"parent\":12345678901234567890}", NULL},
    {&api_account_shape,
     "{\"name\":[\""
     "x\xff"
     "\"]}",
     NULL},
};

static void refusals_have_messages(void **unused)
{
    union {
        struct api_submit submit;
        struct api_status status;
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

/* The names that a body may have: of an update, those of the fields that it may change, and no others. */
static void an_unknown_member_is_refused_with_all_that_there_are(void **unused)
{
    (void)unused;
    struct api_update update;
    struct arena arena = {0};
    struct err e = {0};
    struct buf expected = {0};
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_is_settable(f, true))
            buf_format(&expected, "%s%s", expected.length > 0 ? ", " : "'colo?ur' is not a field; the fields are: ",
                       job_field_at(f)->name);
    }
    assert_int_equal(wire_read_text(&api_update_shape, str("{\"colo\\nur\":1}"), &arena, &update, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), expected.text);
    assert_non_null(strstr(expected.text, " array_limit, account, name, comment, "));
    assert_string_equal(e.accepted, strstr(expected.text, "array_limit"));
    assert_string_equal(e.reason, "");
    buf_release(&expected);
    arena_release(&arena);
}

static void requests_are_utf8(void **unused)
{
    struct err e = {0};
    struct buf text = {0};
    const char *ids[] = {"5", "\xff"};
    const struct api_jobs jobs = {.ids = {ids, 2}};
    const struct api_account account = {.name = "caf\xe9", .shares = 1};
    (void)unused;
    assert_int_equal(wire_request(&api_account_shape, &account, &text, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "name: 'caf?' is not UTF-8 text");
    assert_int_equal(wire_request(&api_jobs_shape, &jobs, &text, &e), -1);
    struct api_submit submit = {.job = *job_text("directory=/\xff|command=x")};
    submit.job.value[JOB_FIELD_NAME] = field_text("\xff");
    submit.job.is_given[JOB_FIELD_NAME] = true;
    assert_int_equal(wire_request(&api_submit_shape, &submit, &text, &e), -1);
    assert_string_equal(ERR_SENTENCE(&e), "name: '?' is not UTF-8 text");
    assert_int_equal(e.code, ERR_INPUT);
    assert_int_equal(text.length, 0);
    buf_release(&text);
}

/* A request with too many values is refused before it is parsed. */
static void too_many_values(void **unused)
{
    struct arena arena = {0};
    struct err e = {0};
    struct buf text = {0};
    struct api_jobs jobs;
    (void)unused;
    buf_add_text(&text, "{\"ids\":[\"5\"");
    for (uint32_t i = 0; i < WIRE_VALUES_MAX; i++) buf_add_text(&text, ",\"5\"");
    buf_add_text(&text, "]}");
    assert_int_equal(wire_read_text(&api_jobs_shape, (struct str){text.text, text.length}, &arena, &jobs, &e), -1);
    assert_int_equal(e.code, ERR_TOO_LARGE);

    /* Commas in texts do not count. */
    buf_clear(&text);
    buf_add_text(&text, "{\"ids\":[\"\\\"");
    memset(buf_room(&text, 3 * WIRE_VALUES_MAX), ',', 3 * WIRE_VALUES_MAX);
    text.length += 3 * WIRE_VALUES_MAX;
    buf_add_text(&text, "\"]}");
    assert_int_equal(wire_read_text(&api_jobs_shape, (struct str){text.text, text.length}, &arena, &jobs, &e), 0);
    buf_release(&text);
    arena_release(&arena);
}

/* --- queries, settings, base64 ------------------------------------------------------------------------------------ */

static void queries(void **unused)
{
    static const struct {
        const char *name, *text, *error;
    } bad[] = {
        {"which", "dead", "which: 'dead' is not one of live,ended,all"},
        {"limit", "-5", "limit: -5 is not a whole number from 1 to 4294967295"},
        {"limit", "1e3", "limit: '1e3' is not a whole number from 1 to 4294967295"},
        {"user", "\xff", "user: '?' is not UTF-8 text"},
        {"colour", "red",
         "'colour' is not a field; the fields are: which, id, account, user, state, since_us, until_us, order, limit, "
         "start, format"},
    };
    struct arena arena = {0};
    struct err e = {0};
    struct api_jobs_query query;
    (void)unused;
    wire_clear(&api_jobs_query_shape, &query);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(wire_read_query(&api_jobs_query_shape, bad[i].name, bad[i].text, &arena, &query, &e), -1);
        assert_string_equal(ERR_SENTENCE(&e), bad[i].error);
    }
    assert_int_equal(wire_read_query(&api_jobs_query_shape, "id", "5,6_1", &arena, &query, &e), 0);
    assert_int_equal(query.id.count, 2);
    assert_string_equal(((const char **)query.id.items)[1], "6_1");
    assert_int_equal(wire_read_query(&api_jobs_query_shape, "since_us", "1700000000000000", &arena, &query, &e), 0);
    assert_int_equal(query.since_us, 1700000000000000);
    assert_int_equal(wire_read_query(&api_jobs_query_shape, "order", "newest", &arena, &query, &e), 0);
    assert_string_equal(query.order, "newest");
    arena_release(&arena);
}

static void pairs(void **unused)
{
    static const struct {
        const char *body, *error;
    } bad[] = {
        {"{}", "nothing to change: give at least one member, such as {\"NAME\":\"VALUE\"}"},
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
        cmocka_unit_test(submission_round_trip),
        cmocka_unit_test(limits_round_trip),
        cmocka_unit_test(absent_fields_of_updates),
        cmocka_unit_test(absent_fields),
        cmocka_unit_test(replies_have_null),
        cmocka_unit_test(lists_have_a_row_a_line),
        cmocka_unit_test(written_records),
        cmocka_unit_test(pairs_are_objects),
        cmocka_unit_test(round_trip_of_every_type),
        cmocka_unit_test(numbers_of_replies_may_be_out_of_range),
        cmocka_unit_test(written_numbers_have_one_unit),
        cmocka_unit_test(every_type_is_checked),
        cmocka_unit_test(replies_may_have_more),
        cmocka_unit_test(refusals_have_messages),
        cmocka_unit_test(an_unknown_member_is_refused_with_all_that_there_are),
        cmocka_unit_test(requests_are_utf8),
        cmocka_unit_test(too_many_values),
        cmocka_unit_test(queries),
        cmocka_unit_test(pairs),
        cmocka_unit_test(base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
