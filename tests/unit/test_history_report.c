/* Sums over ended jobs, and the shares that were promised. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "cli/history_report.h"
#include "cli/share_promise.h"
#include "fields/job_fields.h"
#include "fields/job_state.h"

static int64_t at(int64_t s)
{
    return (INT64_C(1764000000) + s) * US_PER_S; /* Monday, 24 November 2025, 16:00 UTC */
}

/* begin_s, start_s FIELD_ABSENT: none. Each job was also suspended for 7 s, which are no use. */
static void add(struct history_report *r, const char *user, int64_t begin_s, int64_t start_s, int64_t end_s,
                double billing)
{
    struct field_value row[JOB_FIELD_COUNT];
    for (uint32_t f = 0; f < JOB_FIELD_COUNT; f++) row[f] = field_text("");
    row[JOB_FIELD_USER] = field_text(user);
    row[JOB_FIELD_JOB_ID] = field_number(1);
    row[JOB_FIELD_TASK_ID] = field_absent();
    row[JOB_FIELD_RESTARTS] = field_number(0);
    row[JOB_FIELD_STATE] = field_number(start_s != FIELD_ABSENT ? JOB_COMPLETED : JOB_CANCELLED);
    row[JOB_FIELD_SUBMIT] = field_number(at(0));
    row[JOB_FIELD_BEGIN] = begin_s != FIELD_ABSENT ? field_number(at(begin_s)) : field_absent();
    row[JOB_FIELD_START] = start_s != FIELD_ABSENT ? field_number(at(start_s)) : field_absent();
    row[JOB_FIELD_END] = field_number(at(end_s + 7));
    row[JOB_FIELD_SUSPENDED] = field_number(7 * US_PER_S);
    row[JOB_FIELD_SUSPENDED_FROM] = field_absent();
    row[JOB_FIELD_TRES] = field_text(start_s != FIELD_ABSENT ? "cpu=2,mem=2048,node=1,billing=9,gres/gpu=3" : "");
    row[JOB_FIELD_CPU_TIME] = field_number(start_s != FIELD_ABSENT ? (end_s - start_s) * US_PER_S : 0);
    row[JOB_FIELD_MAX_RSS] = field_number(1024 * 1024);
    row[JOB_FIELD_BILLING] = start_s != FIELD_ABSENT ? field_real(billing) : field_absent();
    history_report_add(r, row);
}

static void test_sums(void **unused)
{
    struct arena arena = {0};
    struct history_report r = {.key = REPORT_BY_USER, .arena = &arena};
    struct field_value out[REPORT_FIELD_COUNT];
    (void)unused;
    add(&r, "ben", FIELD_ABSENT, 100, 100 + 3600, 1);
    add(&r, "ann", FIELD_ABSENT, 10, 10 + 3600, 2);
    add(&r, "ann", 50, 80, 80 + 1800, 2); /* waited from its begin */
    add(&r, "ann", FIELD_ABSENT, FIELD_ABSENT, 70, 0);
    add(&r, "ann", FIELD_ABSENT, 40, 40 + 1800, 2);
    history_report_sort(&r);
    assert_int_equal(r.groups.count, 2);
    history_report_row(&r, &r.groups.items[0], 0.25, out);
    assert_string_equal(out[REPORT_KEY].text, "ann");
    assert_int_equal(out[REPORT_JOBS].number, 4);
    assert_int_equal(out[REPORT_COMPLETED].number, 3);
    assert_int_equal(out[REPORT_WAIT_MEDIAN].number, 30);
    assert_int_equal(out[REPORT_WAIT_MEAN].number, 26);
    assert_int_equal(out[REPORT_WAIT_MAX].number, 40);
    assert_float_equal((float)out[REPORT_CPU_HOURS].real, 4.0F, 1e-6F);
    assert_float_equal((float)out[REPORT_GPU_HOURS].real, 6.0F, 1e-6F);
    assert_float_equal((float)out[REPORT_MEM_HOURS].real, 4.0F, 1e-6F);
    assert_float_equal((float)out[REPORT_BILLING_HOURS].real, 4.0F, 1e-6F);
    assert_float_equal((float)out[REPORT_CPU_PERCENT].real, 50.0F, 1e-6F);
    assert_float_equal((float)out[REPORT_MEM_PERCENT].real, 50.0F, 1e-6F);
    assert_float_equal((float)out[REPORT_PROMISED].real, 25.0F, 1e-6F);
    assert_float_equal((float)out[REPORT_RECEIVED].real, 80.0F, 1e-6F);
    history_report_row(&r, &r.groups.items[1], NAN, out);
    assert_string_equal(out[REPORT_KEY].text, "ben");
    assert_int_equal(out[REPORT_WAIT_MEDIAN].number, 100);
    assert_int_equal(out[REPORT_PROMISED].number, FIELD_ABSENT);
    assert_float_equal((float)out[REPORT_RECEIVED].real, 20.0F, 1e-6F);
    history_report_release(&r);
    arena_release(&arena);
}

struct attempt {
    int64_t job, task, restarts;
    enum job_state state;
    const char *detail;
    int64_t begin_s, start_s, end_s;
};

static void add_attempt(struct history_report *r, const struct attempt *a)
{
    struct field_value row[JOB_FIELD_COUNT];
    for (uint32_t f = 0; f < JOB_FIELD_COUNT; f++) row[f] = field_absent();
    row[JOB_FIELD_USER] = field_text("ann");
    row[JOB_FIELD_DETAIL] = a->detail != NULL ? field_text(a->detail) : field_absent();
    row[JOB_FIELD_JOB_ID] = field_number(a->job);
    row[JOB_FIELD_TASK_ID] = a->task != FIELD_ABSENT ? field_number(a->task) : field_absent();
    row[JOB_FIELD_RESTARTS] = field_number(a->restarts);
    row[JOB_FIELD_STATE] = field_number(a->state);
    row[JOB_FIELD_SUBMIT] = field_number(at(0));
    row[JOB_FIELD_BEGIN] = a->begin_s != FIELD_ABSENT ? field_number(at(a->begin_s)) : field_absent();
    row[JOB_FIELD_START] = field_number(at(a->start_s));
    row[JOB_FIELD_END] = field_number(at(a->end_s));
    history_report_add(r, row);
}

/* The rows have the submission and the begin that their job has now. */
static void test_attempts(void **unused)
{
    static const struct attempt attempts[] = {
        {1, FIELD_ABSENT, 0, JOB_REQUEUED, "COMPLETED, then requeued by request", 5000, 30, 40}, /* 30 */
        {2, 1, 0, JOB_REQUEUED, "requeued", FIELD_ABSENT, 50, 60},                               /* 50 */
        {2, 2, 0, JOB_COMPLETED, NULL, FIELD_ABSENT, 55, 70},                                    /* 55 */
        {2, 1, 1, JOB_REQUEUED, "requeued", FIELD_ABSENT, 62, 80},                               /* 2 */
        {2, 1, 2, JOB_FAILED, NULL, FIELD_ABSENT, 93, 99},                                       /* 13 */
        {1, FIELD_ABSENT, 1, JOB_REQUEUED, "FAILED, then requeued by request", 5000, 100, 200},  /* 60 */
        {3, FIELD_ABSENT, 4, JOB_COMPLETED, NULL, 150, 200, 300},                                /* not known */
        {1, FIELD_ABSENT, 2, JOB_COMPLETED, NULL, 5000, 5007, 5100},                             /* 7 */
    };
    struct arena arena = {0};
    struct history_report r = {.key = REPORT_BY_USER, .arena = &arena};
    struct field_value out[REPORT_FIELD_COUNT];
    (void)unused;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) add_attempt(&r, &attempts[i]);
    history_report_row(&r, &r.groups.items[0], NAN, out);
    assert_int_equal(out[REPORT_JOBS].number, 8);
    assert_int_equal(out[REPORT_COMPLETED].number, 4);
    assert_int_equal(out[REPORT_WAIT_MEDIAN].number, 30);
    assert_int_equal(out[REPORT_WAIT_MEAN].number, 31);
    assert_int_equal(out[REPORT_WAIT_MAX].number, 60);
    history_report_release(&r);
    arena_release(&arena);
}

static void test_dates(void **unused)
{
    static const struct {
        enum report_key key;
        int64_t end_s;
        const char *expected;
    } rows[] = {
        {REPORT_BY_DAY, 0, "2025-11-24"},       {REPORT_BY_DAY, 28799, "2025-11-24"},
        {REPORT_BY_DAY, 28800, "2025-11-25"},   {REPORT_BY_WEEK, 0, "2025-11-24"},
        {REPORT_BY_WEEK, -86400, "2025-11-17"}, {REPORT_BY_WEEK, 6 * 86400, "2025-11-24"},
        {REPORT_BY_MONTH, 0, "2025-11"},        {REPORT_BY_MONTH, 7 * 86400, "2025-12"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena = {0};
        struct history_report r = {.key = rows[i].key, .arena = &arena};
        add(&r, "ann", FIELD_ABSENT, rows[i].end_s - 8, rows[i].end_s - 7, 1);
        assert_string_equal(r.groups.items[0].key, rows[i].expected);
        history_report_release(&r);
        arena_release(&arena);
    }
}

static void add_share(struct share_promise *p, int64_t depth, const char *account, const char *user, int64_t shares)
{
    struct field_value row[SHARE_FIELD_COUNT];
    for (uint32_t f = 0; f < SHARE_FIELD_COUNT; f++) row[f] = field_absent();
    row[SHARE_FIELD_DEPTH] = field_number(depth);
    row[SHARE_FIELD_ACCOUNT] = field_text(account);
    row[SHARE_FIELD_USER] = field_text(user);
    row[SHARE_FIELD_RAW_SHARES] = depth > 0 ? field_number(shares) : field_absent();
    share_promise_add(p, row);
}

static void test_promises(void **unused)
{
    struct arena arena = {0};
    struct share_promise p = {.arena = &arena};
    (void)unused;
    add_share(&p, 0, "root", NULL, 0);
    add_share(&p, 1, "physics", NULL, 60);
    add_share(&p, 2, "physics", "ann", 1);
    add_share(&p, 2, "physics", "ben", 3);
    add_share(&p, 1, "pool", NULL, FIELD_SPECIAL); /* its users compete with the accounts */
    add_share(&p, 2, "pool", "cy", 20);
    add_share(&p, 1, "teaching", NULL, 20);
    add_share(&p, 2, "teaching", "ann", 5);
    share_promise_finish(&p);
    assert_float_equal((float)share_promise_of_account(&p, "physics"), 0.6F, 1e-6F);
    assert_float_equal((float)share_promise_of_account(&p, "teaching"), 0.2F, 1e-6F);
    assert_float_equal((float)share_promise_of_account(&p, "pool"), 0, 1e-6F);
    assert_float_equal((float)share_promise_of_user(&p, "cy"), 0.2F, 1e-6F);
    assert_float_equal((float)share_promise_of_user(&p, "ben"), 0.45F, 1e-6F);
    assert_float_equal((float)share_promise_of_user(&p, "ann"), 0.35F, 1e-6F);
    assert_float_equal((float)share_promise_of_user(&p, "dan"), 0, 1e-6F);
    share_promise_release(&p);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_attempts),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_promises),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
