/* Errors as values: how they are filled, cut and named. */
#include <string.h>

#include "base/ensure.h"
#include "base/err.h"
#include "dies.h"

static void test_set(void **state)
{
    (void)state;
    struct err e = {0};
    assert_int_equal(err_set(&e, ERR_NOT_FOUND, "job %d is not known", 5), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_string_equal(e.text, "job 5 is not known");
    assert_int_equal(err_prefix(&e, "line %d", 7), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_string_equal(e.text, "line 7: job 5 is not known");
    assert_int_equal(err_set(NULL, ERR_INPUT, "nobody listens"), -1);
    assert_int_equal(err_prefix(NULL, "nobody"), -1);
}

static void test_long_text_is_cut(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, ERR_INPUT, "%*s", 1000, "x");
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    err_prefix(&e, "prefix");
    assert_memory_equal(e.text, "prefix:  ", 9);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    err_prefix(&e, "%*s", 1000, "x");
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
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
    err_set(&e, ERR_NONE, "nothing");
}

static void unknown_name(void)
{
    err_name(ERR_COUNT);
}

/* What it says reaches standard error, and holds what a report of a bug needs. */
static void test_ensure_speaks(void **state)
{
    (void)state;
    int ends[2], status;
    char said[300];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        ensure_failed("a == b", "place.c", 1203, "function");
    }
    close(ends[1]);
    ssize_t length = 0, got;
    while ((got = read(ends[0], said + length, sizeof said - 1 - (size_t)length)) > 0) length += got;
    said[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_string_equal(said, "place.c:1203: function: broken invariant: a == b\n");
}

static void test_our_own_mistakes(void **state)
{
    (void)state;
    assert_true(dies(no_error));
    assert_true(dies(unknown_name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),           cmocka_unit_test(test_long_text_is_cut), cmocka_unit_test(test_names),
        cmocka_unit_test(test_ensure_speaks), cmocka_unit_test(test_our_own_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
