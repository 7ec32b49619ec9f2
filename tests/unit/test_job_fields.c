/* The table of job fields: names, columns and options belong to one field each; who may set a field, and until when;
 * words of states and pending reasons; parsing and formatting of job ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fields/job_fields.h"
#include "fields/job_id.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* --- the table ---------------------------------------------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void names_belong_to_one_field(void **unused)
{
    (void)unused;
    assert_int_equal(job_fields.count, JOB_FIELD_COUNT);
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct job_field_row *a = &job_field_rows[i];
        if (a->field.name == NULL) fail_msg("field %u has no row", i);
        assert_ptr_equal(field_at(&job_fields, i), job_field_at((enum job_field)i));
        assert_int_equal(field_find(&job_fields, str(a->field.name)), i);
        for (uint32_t k = 0; k < i; k++) {
            const struct job_field_row *b = &job_field_rows[k];
            if (a->home == b->home && same(a->column, b->column)) fail_msg("column %s", a->column);
            if (same(a->option, b->option)) fail_msg("option --%s", a->option);
            if (a->letter != 0 && a->letter == b->letter) fail_msg("option -%c", a->letter);
            if (same(a->document_key, b->document_key)) fail_msg("key %s", a->document_key);
        }
    }
}

/* Stored fields have a column, computed ones have none, and only stored fields are in the hash. */
static void homes_and_columns_agree(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct job_field_row *row = &job_field_rows[i];
        const char *name = row->field.name;
        bool is_stored = row->home != JOB_HOME_LISTING;
        if (i == JOB_FIELD_DEPENDENCY) continue; /* stored as rows of a table of its own */
        if (is_stored != (row->column != NULL)) fail_msg("%s: home and column", name);
        if (!is_stored && (row->is_decisive || row->is_constant || row->empty_is_null))
            fail_msg("%s is not stored", name);
        if (row->empty_is_null && row->field.is_nullable) fail_msg("%s: both 0 and no value would be NULL", name);
        /* A column that is written once belongs to a field that no update changes. */
        if (row->is_constant && job_field_is_settable((enum job_field)i, true)) fail_msg("%s is constant", name);
    }
}

/* Only fields that a submission or an update may have, have options; those of a submission, and facts about a job, keys
 * of documents. */
static void options_can_be_set(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct job_field_row *row = &job_field_rows[i];
        const char *name = row->field.name;
        bool in_submission = job_field_is_settable((enum job_field)i, false);
        bool in_update = job_field_is_settable((enum job_field)i, true);
        if (row->option != NULL && !in_submission && !in_update) fail_msg("%s has an option", name);
        bool is_of_decisions = i == JOB_FIELD_IS_TIME_EXEMPT || i == JOB_FIELD_LACKS_TIME_LIMIT ||
                               i == JOB_FIELD_HAS_DEFAULT_TIME || i == JOB_FIELD_DELAYED_TASKS;
        if (row->document_key != NULL && !in_submission && !is_of_decisions) fail_msg("%s has a key", name);
        if (row->option == NULL && (row->letter != 0 || row->argument != NULL || row->option_help != NULL))
            fail_msg("%s has no option to describe", name);
        bool has_argument = row->field.type != FIELD_BOOL || row->argument_default != NULL;
        if (row->option != NULL && (row->argument != NULL) != has_argument) fail_msg("--%s: its argument", row->option);
        if (row->argument_default != NULL) {
            struct arena arena = {0};
            struct field_value value;
            assert_int_equal(field_parse(&row->field, str(row->argument_default), &arena, &value, NULL), 0);
            arena_release(&arena);
        }
    }
}

static void required_and_later_fields(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct job_field_row *row = &job_field_rows[i];
        bool is_required = i == JOB_FIELD_NAME || i == JOB_FIELD_COMMAND || i == JOB_FIELD_DIRECTORY;
        bool is_of_end = i == JOB_FIELD_EXIT_STATUS || i == JOB_FIELD_SIGNAL;
        assert_int_equal(row->is_required, is_required);
        assert_int_equal(row->since == JOB_SINCE_END, is_of_end);
        assert_int_equal(row->since == JOB_SINCE_START, i == JOB_FIELD_BILLING);
        if (is_required) assert_true(job_field_is_settable((enum job_field)i, false) && !row->field.is_nullable);
        if (row->since != JOB_SINCE_SUBMISSION) assert_true(row->home == JOB_HOME_TASK && row->field.is_nullable);
    }
}

static const struct {
    enum job_field field;
    bool in_submission, in_update;
    enum job_field_setter setter;
    enum job_field_until until;
} settable[] = {
    {JOB_FIELD_NAME, true, true, JOB_SET_BY_USER, JOB_UNTIL_ENDED},
    {JOB_FIELD_CPUS, true, true, JOB_SET_BY_USER, JOB_UNTIL_STARTED},
    {JOB_FIELD_TIME_LIMIT, true, true, JOB_LOWERED_ONCE_STARTED, JOB_UNTIL_ENDED},
    {JOB_FIELD_BEGIN, true, true, JOB_SET_BY_USER, JOB_UNTIL_ALL_STARTED},
    {JOB_FIELD_NICE, true, true, JOB_RAISED_BY_USER, JOB_UNTIL_ENDED},
    {JOB_FIELD_POSIX_PRIORITY, true, true, JOB_LOWERED_BY_USER, JOB_UNTIL_ENDED},
    {JOB_FIELD_SITE, true, true, JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED},
    {JOB_FIELD_SET_PRIORITY, true, true, JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED},
    {JOB_FIELD_OVERRIDE_TICKETS, true, true, JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED},
    {JOB_FIELD_COMMENT, true, true, JOB_SET_BY_USER, JOB_UNTIL_ENDED},
    {JOB_FIELD_ADMIN_COMMENT, true, true, JOB_SET_BY_OPERATOR, JOB_UNTIL_ENDED},
    {JOB_FIELD_ARRAY, true, false, JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED},
    {JOB_FIELD_ARRAY_LIMIT, false, true, JOB_SET_BY_USER, JOB_UNTIL_ENDED},
    {JOB_FIELD_DIRECTORY, true, false, JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED},
    {JOB_FIELD_ACCOUNT, true, true, JOB_SET_BY_USER, JOB_UNTIL_STARTED},
    {JOB_FIELD_HELD, true, false, JOB_SET_BY_USER, JOB_UNTIL_SUBMITTED},
    {JOB_FIELD_PARTITIONS, true, true, JOB_SET_BY_USER, JOB_UNTIL_STARTED},
};

static const enum job_field made_by_the_instance[] = {
    JOB_FIELD_ID,       JOB_FIELD_JOB_ID, JOB_FIELD_USER,      JOB_FIELD_UID,    JOB_FIELD_STATE,
    JOB_FIELD_SUBMIT,   JOB_FIELD_START,  JOB_FIELD_END,       JOB_FIELD_REASON, JOB_FIELD_PARTITION,
    JOB_FIELD_OUT_PATH, JOB_FIELD_TRES,   JOB_FIELD_LAUNCH_ID, JOB_FIELD_ACCRUE, JOB_FIELD_FAIR_SHARE,
};

static void setters_and_last_times_of_fields(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(settable); i++) {
        enum job_field f = settable[i].field;
        const char *name = job_field_at(f)->name;
        if (job_field_is_settable(f, false) != settable[i].in_submission) fail_msg("submission: %s", name);
        if (job_field_is_settable(f, true) != settable[i].in_update) fail_msg("update: %s", name);
        if (job_field_rows[f].setter != settable[i].setter) fail_msg("setter: %s", name);
        if (job_field_rows[f].until != settable[i].until) fail_msg("until: %s", name);
    }
    for (size_t i = 0; i < COUNT(made_by_the_instance); i++) {
        enum job_field f = made_by_the_instance[i];
        if (job_field_is_settable(f, false) || job_field_is_settable(f, true)) fail_msg("%s", job_field_at(f)->name);
        assert_null(job_field_rows[f].option);
    }
}

static void paths_are_checked(void **unused)
{
    static const struct {
        enum job_field field;
        const char *text, *error; /* error NULL: it is accepted */
    } rows[] = {
        {JOB_FIELD_DIRECTORY, "/", NULL},
        {JOB_FIELD_DIRECTORY, "/home/\xff", NULL},
        {JOB_FIELD_DIRECTORY, "tmp", "directory: 'tmp' is not an absolute path"},
        {JOB_FIELD_DIRECTORY, "/a\nb", "directory: '/a?b' has a control character at byte 3"},
        {JOB_FIELD_DIRECTORY, "", "directory: '' has 0 bytes; 1 to 4095 are accepted"},
        {JOB_FIELD_OUT_PATTERN, "%x-%j.out", NULL},
        {JOB_FIELD_OUT_PATTERN, "a\x7f", "out: 'a?' has a control character at byte 2"},
        {JOB_FIELD_NAME, "two words", NULL},
        {JOB_FIELD_NAME, "", "name: '' has 0 bytes; 1 to 128 are accepted"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena arena = {0};
        struct field_value value;
        struct err e = {0};
        int status = field_parse(job_field_at(rows[i].field), str(rows[i].text), &arena, &value, &e);
        assert_int_equal(status, rows[i].error != NULL ? -1 : 0);
        if (rows[i].error != NULL) assert_string_equal(ERR_SENTENCE(&e), rows[i].error);
        arena_release(&arena);
    }
}

static void states_have_words(void **unused)
{
    const struct field *f = job_field_at(JOB_FIELD_STATE);
    (void)unused;
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        assert_int_equal(field_choice_index(f->choices, str(job_state_name((enum job_state)s))), s);
        assert_int_equal(job_state_from_name(job_state_name((enum job_state)s)), s);
    }
    assert_int_equal(field_choice_index(f->choices, str("HELD")), JOB_HELD);
    assert_int_equal(field_choice_index(f->choices, str("UNKNOWN")), JOB_UNKNOWN);
    assert_string_equal(job_state_name((enum job_state)JOB_UNKNOWN), "UNKNOWN");
    assert_int_equal(job_state_from_name("HELD"), JOB_STATE_COUNT); /* a pending job; only listings distinguish it */
    assert_int_equal(field_choice_index(job_state_names, str("HELD")), -1);
}

/* In the order of the words, so that a listing sorted by the reason is in that order. */
static void pending_reasons_have_words(void **unused)
{
    const struct field *f = job_field_at(JOB_FIELD_REASON);
    (void)unused;
    assert_int_equal(f->type, FIELD_CHOICE);
    assert_string_equal(f->choices, pending_reason_names);
    for (int r = 0; r < PENDING_REASON_COUNT; r++) {
        const char *word = pending_reason_name((enum pending_reason)r);
        assert_int_equal(field_choice_index(f->choices, str(word)), r);
        if (r > PENDING_NONE + 1) assert_true(strcmp(pending_reason_name((enum pending_reason)(r - 1)), word) < 0);
    }
    assert_string_equal(pending_reason_name(PENDING_NONE), "None");
    assert_int_equal(field_nothing(f).number, PENDING_NONE);
}

/* --- ids ---------------------------------------------------------------------------------------------------------- */

static void ids_are_read(void **unused)
{
    static const struct {
        const char *text;
        uint32_t job_id, task_id;
    } rows[] = {{"1", 1, NONE},
                {"4294967293", 4294967293, NONE},
                {"7_0", 7, 0},
                {"7_4294967294", 7, 4294967294},
                {"4294967293_4294967294", 4294967293, 4294967294}};
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[JOB_ID_TEXT_SIZE];
        uint32_t job, task;
        struct err e = {0};
        assert_int_equal(job_id_parse(str(rows[i].text), "id", &job, &task, &e), 0);
        assert_int_equal(job, rows[i].job_id);
        assert_int_equal(task, rows[i].task_id);
        assert_int_equal(job_id_format(text, job, task), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

static void other_texts_are_not_ids(void **unused)
{
    static const char *const bad[] = {"",      "0",  "_",  "5_",         "_5",         "5_x",
                                      "x",     "-1", "+1", "4294967294", "4294967295", "5_4294967295",
                                      "1_2_3", " 5", "5 ", "5_[1-3]",    "5_-1",       "99999999999999999999"};
    (void)unused;
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint32_t job = 77, task = 78;
        struct err e = {0};
        if (job_id_parse(str(bad[i]), "ids", &job, &task, &e) != -1) fail_msg("'%s'", bad[i]);
        assert_int_equal(e.code, ERR_INPUT);
        assert_string_equal(e.field, "ids");
        assert_string_equal(e.value, bad[i]);
        assert_int_equal(job, 77);
        assert_int_equal(task, 78);
        assert_int_equal(job_id_parse(str(bad[i]), "ids", &job, &task, NULL), -1);
    }
}

/* The form in listings. */
static void ids_are_written(void **unused)
{
    static const struct {
        struct job_id_parts id;
        const char *text;
    } rows[] = {
        {{5, NONE, false, "", 0}, "5"},
        {{5, 0, false, "", 0}, "5"}, /* not an array: its task has no number */
        {{5, 3, true, "", 0}, "5_3"},
        {{5, 0, true, "3-9", 2}, "5_0"},
        {{5, NONE, true, "3-9", 0}, "5_[3-9]"},
        {{5, NONE, true, "3-9", 2}, "5_[3-9%2]"},
        {{4294967293, NONE, true, "0-4294967294:2", 4000000}, "4294967293_[0-4294967294:2%4000000]"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = {0};
        buf_add_text(&out, "> ");
        job_id_write(&rows[i].id, &out);
        assert_string_equal(out.text + 2, rows[i].text);
        buf_release(&out);
    }
}

/* The form for people: the tasks of a large set are cut after a comma. */
static void long_sets_of_tasks_are_shortened(void **unused)
{
    static const struct {
        const char *id;
        size_t tasks_max;
        const char *text;
    } rows[] = {
        {"", 8, ""},
        {"5", 8, "5"},
        {"5_3", 8, "5_3"},
        {"4294967293_1", 8, "4294967293_1"}, /* no set, however long */
        {"5_[0,2,4,6]", 8, "5_[0-6:2]"},
        {"5_[1,3,5,7,9%2]", 8, "5_[1-9:2%2]"},
        {"5_[0,2,4]", 8, "5_[0,2,4]"},
        {"5_[0,2,4,66]", 8, "5_[0,2,4,66]"},
        {"5_[0,2,4,666]", 8, "5_[0,2,...]"},
        {"5_[0,2,4,666%20]", 8, "5_[0,2,...%20]"},
        {"5_[10-19,30-39]", 8, "5_[...]"},
        {"5_[10-19,30-39]", 9, "5_[10-19,...]"},
        {"5_[10-19,30-39]", 0, "5_[...]"},
        {"10-19,30-39", 9, "10-19,..."}, /* the tasks alone */
        {"0,2,4,6", 7, "0-6:2"},
        {"5_[0,2,4,666", 8, "5_[0,2,..."},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = {0};
        buf_add_text(&out, "> ");
        job_id_write_short(str(rows[i].id), rows[i].tasks_max, &out);
        assert_string_equal(out.text + 2, rows[i].text);
        buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_belong_to_one_field),
        cmocka_unit_test(homes_and_columns_agree),
        cmocka_unit_test(options_can_be_set),
        cmocka_unit_test(required_and_later_fields),
        cmocka_unit_test(setters_and_last_times_of_fields),
        cmocka_unit_test(paths_are_checked),
        cmocka_unit_test(states_have_words),
        cmocka_unit_test(pending_reasons_have_words),
        cmocka_unit_test(ids_are_read),
        cmocka_unit_test(other_texts_are_not_ids),
        cmocka_unit_test(ids_are_written),
        cmocka_unit_test(long_sets_of_tasks_are_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
