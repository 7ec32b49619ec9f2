/* How long pretend jobs run. */
#include "base/quantity.h"
#include "dies.h"
#include "pretend/pretend_job.h"

enum { LIMIT_S = 1000 };
static const struct pretend_rules rules = {.of_limit = 0.5, .spread = 0.2, .seed = 1};

static struct pretend_run run_of(const char *comment, const char *script, const char *const *words)
{
    struct str arguments[8];
    struct pretend_job job = {
        .job_id = 5, .comment = comment, .script = str(script), .arguments = arguments, .time_limit_s = LIMIT_S};
    for (; words != NULL && words[job.argument_count] != NULL; job.argument_count++)
        arguments[job.argument_count] = str(words[job.argument_count]);
    return pretend_job_run(&rules, &job);
}

static void test_comments(void **state)
{
    static const struct {
        const char *comment;
        double run_s; /* 0: drawn */
        int exit_status;
    } rows[] = {
        {"run=90", 90, 0},    {"run=1:30:0", 5400, 0},  {"first try, run=2:30,exit=3", 150, 3},
        {"fail run=7", 7, 1}, {"exit=256 run=1", 1, 0}, {"run=0", 0.0, 0},
        {"run=soon", 0, 0},   {"rerun=90", 0, 0},       {NULL, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct pretend_run run = run_of(rows[i].comment, "", NULL);
        assert_int_equal(run.exit_status, rows[i].exit_status);
        if (rows[i].run_s > 0) assert_int_equal(run.run_us, (int64_t)(rows[i].run_s * 1e6));
    }
    assert_int_equal(run_of("run=0", "", NULL).run_us, 0);
}

static void test_commands(void **state)
{
    static const struct {
        const char *script;
        const char *words[4];
        int64_t run_us; /* -1: drawn */
    } rows[] = {
        {"", {"/usr/bin/sleep", "30"}, 30000000},
        {"", {"sleep", "1.5m", "2"}, 92000000},
        {"", {"sleep", "1d"}, 86400000000},
        {"", {"sleep"}, -1},
        {"", {"sleep", "x"}, -1},
        {"", {"sleep", "inf"}, -1},
        {"", {"mysleep", "30"}, -1},
        {"#!/bin/sh\n# a comment\n\n  sleep 20\n", {NULL}, 20000000},
        {"#!/bin/sh\nsleep 20\nsleep 30\n", {NULL}, -1},
        {"#!/bin/sh\n", {"sleep", "30"}, -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct pretend_run run = run_of(NULL, rows[i].script, rows[i].words);
        if (rows[i].run_us >= 0) assert_int_equal(run.run_us, rows[i].run_us);
        if (rows[i].run_us < 0) assert_true(run.run_us >= 400 * US_PER_S && run.run_us <= 600 * US_PER_S);
    }
    static const char *const words[] = {"sleep", "30", NULL};
    assert_int_equal(run_of("run=4", "", words).run_us, 4000000); /* the comment comes first */
}

/* Between the bounds, with their mean, and the same again. */
static void test_what_is_drawn(void **state)
{
    enum { JOBS = 2000 };
    const struct pretend_rules failing = {.of_limit = 0.9, .spread = 1.0, .fail_percent = 10.0, .seed = 3};
    double sum = 0.0;
    int failed = 0;
    (void)state;
    for (uint32_t i = 1; i <= JOBS; i++) {
        const struct pretend_job job = {.job_id = i, .task_id = i % 3, .time_limit_s = LIMIT_S};
        const struct pretend_run a = pretend_job_run(&rules, &job), b = pretend_job_run(&rules, &job);
        assert_int_equal(a.run_us, b.run_us);
        assert_true(a.run_us >= 400 * US_PER_S && a.run_us <= 600 * US_PER_S);
        assert_true(a.cpu_part > 0.0 && a.cpu_part <= 1.0 && a.mem_part > 0.0 && a.mem_part <= 1.0);
        assert_int_equal(a.exit_status, 0);
        sum += (double)a.run_us / 1e6;
        const struct pretend_run c = pretend_job_run(&failing, &job);
        assert_true(c.run_us >= US_PER_S && c.run_us <= LIMIT_S * US_PER_S);
        failed += c.exit_status == 1;
    }
    assert_true(sum / JOBS > 495 && sum / JOBS < 505);
    assert_true(failed > JOBS / 15 && failed < JOBS / 7);
    const struct pretend_job one = {.job_id = 1, .time_limit_s = LIMIT_S},
                             other = {.job_id = 2, .time_limit_s = LIMIT_S};
    const struct pretend_job task = {.job_id = 1, .task_id = 1, .time_limit_s = LIMIT_S};
    assert_true(pretend_job_run(&rules, &one).run_us != pretend_job_run(&rules, &other).run_us);
    assert_true(pretend_job_run(&rules, &one).run_us != pretend_job_run(&rules, &task).run_us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_what_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
