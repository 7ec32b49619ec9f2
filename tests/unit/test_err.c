/* Errors as values: filling, truncation and names. */
#include <string.h>

#include "base/ensure.h"
#include "base/err.h"
#include "dies.h"

/* One row for each way to fill an error, with its sentence. */
static void test_sentences(void **state)
{
    (void)state;
    struct err e;
#define ASSERT_SENTENCE(filled, sentence)                \
    do {                                                 \
        assert_int_equal((filled), -1);                  \
        assert_string_equal(ERR_SENTENCE(&e), sentence); \
    } while (0)
    ASSERT_SENTENCE(err_set(&e, ERR_IO, "%s: %s", "/tmp/x", "no space"), "/tmp/x: no space");
    ASSERT_SENTENCE(err_field(&e, ERR_INPUT, "parent", "only accounts have one"), "parent: only accounts have one");
    ASSERT_SENTENCE(err_value(&e, "nice", str("abc"), "a whole number from %d to %d", 0, 4),
                    "nice: 'abc' is not a whole number from 0 to 4");
    ASSERT_SENTENCE(err_of(&e, "job", str("5")), "job 5: nice: 'abc' is not a whole number from 0 to 4");
    ASSERT_SENTENCE(err_of(&e, "user", str("ann")), "job 5: nice: 'abc' is not a whole number from 0 to 4");
    ASSERT_SENTENCE(err_number(&e, "nice", -7, "a whole number from %d to %d", 0, 4),
                    "nice: -7 is not a whole number from 0 to 4");
    ASSERT_SENTENCE(err_value_reason(&e, "array", str("9-1"), "ends before it begins"),
                    "array: '9-1' ends before it begins");
    ASSERT_SENTENCE(err_unknown_field(&e, "jobs[0]", str("colour"), "id, user"),
                    "jobs[0]: 'colour' is not a field; the fields are: id, user");
    assert_false(err_has_near_fields(&e));
    ASSERT_SENTENCE(err_unknown_field(&e, "-o", str("Usr"), "id, user, mem"),
                    "-o: 'Usr' is not a field; did you mean 'user'?");
    assert_true(err_has_near_fields(&e));
    ASSERT_SENTENCE(err_unknown_field(&e, "-o", str("limit"), "id, array_limit, time_limit_s"),
                    "-o: 'limit' is not a field; did you mean 'array_limit' or 'time_limit_s'?");
    ASSERT_SENTENCE(err_unknown_field(&e, "jobs[0]", str("colour"), "id, user"),
                    "jobs[0]: 'colour' is not a field; the fields are: id, user");
    assert_string_equal(e.accepted, "id, user");
    assert_string_equal(e.reason, "");
    ASSERT_SENTENCE(err_exceeds(&e, "cpus", 8, "the host's %u CPUs", 4), "cpus: 8 exceeds the host's 4 CPUs");
    ASSERT_SENTENCE(err_subject(&e, ERR_CONFLICT, "job", str("5_3"), "has started"), "job 5_3 has started");
    ASSERT_SENTENCE(err_not_found(&e, "partition", str("fst")), "no partition 'fst'");
    ASSERT_SENTENCE(err_exists(&e, "account", str("physics")), "account 'physics' already exists");
    ASSERT_SENTENCE(err_prefix(&e, "%s:%d", "conf", 3), "conf:3: account 'physics' already exists");
    ASSERT_SENTENCE(err_prefix(&e, "outer"), "outer: conf:3: account 'physics' already exists");
#undef ASSERT_SENTENCE
    assert_int_equal(err_set(NULL, ERR_INPUT, "unused"), -1);
    assert_int_equal(err_value(NULL, "a", str("b"), "c"), -1);
    assert_int_equal(err_prefix(NULL, "unused"), -1);
    assert_int_equal(err_in(NULL, "unused"), -1);
    assert_int_equal(err_of(NULL, "a", str("b")), -1);
}

static void test_paths(void **state)
{
    (void)state;
    struct err e;
    err_number(&e, "slots", 0, "a whole number from 1 up");
    assert_int_equal(err_in(&e, "jobs[%d]", 3), -1);
    assert_string_equal(ERR_SENTENCE(&e), "jobs[3].slots: 0 is not a whole number from 1 up");
    err_field(&e, ERR_INPUT, "[2]", "is not a name");
    err_in(&e, "hosts");
    assert_string_equal(ERR_SENTENCE(&e), "hosts[2]: is not a name");
    err_set(&e, ERR_INPUT, "more than one");
    err_in(&e, "jobs");
    assert_string_equal(ERR_SENTENCE(&e), "jobs: more than one");
}

/* The parts of an error, for programs. */
static void test_data(void **state)
{
    (void)state;
    struct err e;
    err_value(&e, "MaxTime", str("x"), "a duration in minutes");
    err_of(&e, "partition", str("fast"));
    assert_int_equal(e.code, ERR_INPUT);
    assert_string_equal(e.subject, "partition");
    assert_string_equal(e.name, "fast");
    assert_string_equal(e.field, "MaxTime");
    assert_string_equal(e.value, "x");
    assert_string_equal(e.accepted, "a duration in minutes");
    assert_string_equal(e.reason, "");
    assert_false(err_is_not_found(&e, "partition"));
    err_not_found(&e, "partition", str("fst"));
    assert_true(err_is_not_found(&e, "partition"));
    assert_false(err_is_not_found(&e, "qos"));
}

/* Input is shown on one line, truncated, but never inside a character. */
static void test_values_are_shown(void **state)
{
    (void)state;
    static const struct {
        const char *value, *shown;
    } rows[] = {
        {"", ""},
        {"a\nb\033[1m", "a?b?[1m"},
        {"\xff\xfe", "??"},
        {"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
        {"0123456789012345678901234567890123456789012345678901234567890",
         "012345678901234567890123456789012345678901234567890123456789..."},
        {"01234567890123456789012345678901234567890123456789012345678\xc3\xa9",
         "01234567890123456789012345678901234567890123456789012345678..."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e;
        err_value(&e, "f", str(rows[i].value), "x");
        assert_string_equal(e.value, rows[i].shown);
        err_not_found(&e, "f", str(rows[i].value));
        assert_string_equal(e.name, rows[i].shown);
    }
}

static void test_long_text_is_cut(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_INPUT, "%*s", 1000, "x");
    assert_int_equal(strlen(e.reason), sizeof e.reason - 1);
    err_prefix(&e, "%*s", 1000, "y");
    assert_int_equal(strlen(e.where), sizeof e.where - 1);
    err_prefix(&e, "z");
    assert_memory_equal(e.where, "z:   ", 5);
    assert_int_equal(strlen(e.where), sizeof e.where - 1);
    assert_in_range(strlen(ERR_SENTENCE(&e)), sizeof e.reason, ERR_SENTENCE_SIZE - 1);
    err_value(&e, "f", str("v"), "%*s", 1000, "x");
    for (int i = 0; i < 50; i++) err_in(&e, "element[%d]", i);
    assert_int_equal(strlen(e.field), sizeof e.field - 1);
    assert_in_range(strlen(ERR_SENTENCE(&e)), sizeof e.accepted, ERR_SENTENCE_SIZE - 1);
}

static void test_sentences_are_one_line(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_INTERNAL, "job 5: no partition '%s'", "a\nb\x1b[31m\xff");
    err_prefix(&e, "%s", "/tmp/\n");
    assert_string_equal(ERR_SENTENCE(&e), "/tmp/?: job 5: no partition 'a?b?[31m?'");
}

static void test_names(void **state)
{
    (void)state;
    for (int code = ERR_USAGE; code < ERR_COUNT; code++) {
        assert_int_equal(err_from_name(err_name((enum err_code)code)), code);
        assert_in_range(err_http_status((enum err_code)code), 400, 599);
        assert_in_range(err_exit_status((enum err_code)code), 1, 2);
    }
    assert_string_equal(err_name(ERR_NONE), "none");
    assert_int_equal(err_http_status(ERR_NONE), 200);
    assert_int_equal(err_exit_status(ERR_NONE), 0);
    assert_int_equal(err_http_status(ERR_NOT_FOUND), 404);
    assert_int_equal(err_from_name("no such name"), ERR_INTERNAL);
    assert_int_equal(err_from_name("none"), ERR_INTERNAL);
    assert_int_equal(err_from_name(""), ERR_INTERNAL);
}

static void no_error(void)
{
    struct err e;
    err_set(&e, ERR_NONE, "no error");
}

static void unknown_name(void)
{
    err_name(ERR_COUNT);
}

/* The message on standard error has the facts that a bug report needs. */
static void test_ensure_message(void **state)
{
    (void)state;
    int ends[2], status;
    char message[300];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        ensure_failed("a == b", "file.c", 1203, "function");
    }
    close(ends[1]);
    ssize_t length = 0, got;
    while ((got = read(ends[0], message + length, sizeof message - 1 - (size_t)length)) > 0) length += got;
    message[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_string_equal(message, "file.c:1203: function: broken invariant: a == b\n");
}

static void test_preconditions_of_err(void **state)
{
    (void)state;
    assert_true(dies(no_error));
    assert_true(dies(unknown_name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_values_are_shown),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_sentences_are_one_line),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_ensure_message),
        cmocka_unit_test(test_preconditions_of_err),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
