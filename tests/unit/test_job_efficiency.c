/* What a job used of what it asked for, and the advice that follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "cli/job_efficiency.h"
#include "fields/job_fields.h"
#include "fields/job_state.h"
#include "fields/limits.h"

enum { ROWS_MAX = 3 };

/* A task: started at 0, unless it waits; elapsed_s FIELD_ABSENT: it runs. */
struct task {
    int64_t state, elapsed_s, cpu_ms, peak_mib;
    const char *tres;
};

/* Each that has ended was also suspended for 7 s, which do not count. */
static struct wire_list make_rows(struct field_value rows[][JOB_FIELD_COUNT], const struct task *tasks, uint32_t count,
                                  int64_t cpus, int64_t mem_mib, int64_t limit_s)
{
    for (uint32_t i = 0; i < count; i++) {
        struct field_value *row = rows[i];
        for (uint32_t f = 0; f < JOB_FIELD_COUNT; f++) row[f] = field_text("");
        row[JOB_FIELD_NAME] = field_text("train");
        row[JOB_FIELD_OUT_PATH] = field_text("/tmp/out");
        row[JOB_FIELD_STATE] = field_number(tasks[i].state);
        row[JOB_FIELD_CPUS] = field_number(cpus);
        row[JOB_FIELD_MEM_MIB] = field_number(mem_mib);
        row[JOB_FIELD_TIME_LIMIT] = field_number(limit_s);
        row[JOB_FIELD_TRES] = field_text(tasks[i].tres);
        row[JOB_FIELD_CPU_TIME] = field_number(tasks[i].cpu_ms * 1000);
        row[JOB_FIELD_MAX_RSS] = field_number(tasks[i].peak_mib * 1024);
        bool waits = tasks[i].state == JOB_PENDING, runs = tasks[i].elapsed_s == FIELD_ABSENT;
        row[JOB_FIELD_START] = waits ? field_absent() : field_number(0);
        row[JOB_FIELD_END] = waits || runs ? field_absent() : field_number((tasks[i].elapsed_s + 7) * US_PER_S);
        row[JOB_FIELD_SUSPENDED] = field_number(waits || runs ? 0 : 7 * US_PER_S);
        row[JOB_FIELD_SUSPENDED_FROM] = field_absent();
    }
    return (struct wire_list){.items = rows, .count = count};
}

static const struct {
    int64_t cpus, mem_mib, limit_s;
    struct task tasks[ROWS_MAX];
    uint32_t count;
    double cpu_percent, mem_percent, time_percent;
    const char *advice;
} cases[] = {
    /* The request fits. */
    {2, 1000, 1000, {{JOB_COMPLETED, 600, 1100000, 700, ""}}, 1, 91.6667, 70, 60, NULL},
    /* One CPU of two, a quarter of the memory, a tenth of the time. */
    {2, 1024, 6000, {{JOB_COMPLETED, 600, 500000, 256, ""}}, 1, 41.6667, 25, 10, "-n 1 --mem 320M -t 00:16:00"},
    /* The largest task counts, and the sums of CPU time. */
    {1,
     1000,
     600,
     {{JOB_COMPLETED, 400, 400000, 10, ""}, {JOB_FAILED, 200, 0, 900, ""}},
     2,
     66.6667,
     90,
     66.6667,
     NULL},
    /* Too little memory, too little time. */
    {1, 1000, 600, {{JOB_OUT_OF_MEMORY, 500, 500000, 1000, ""}}, 1, 100, 100, 83.3333, "--mem 2000M"},
    {1, 100, 600, {{JOB_TIMEOUT, 600, 600000, 90, ""}}, 1, 100, 90, 100, "-t 00:20:00"},
    /* A failed job says nothing about what it would need. */
    {4, 4000, 6000, {{JOB_FAILED, 10, 10, 1, ""}}, 1, 0.025, 0.025, 0.166667, NULL},
    /* A job that runs has used something; those that wait have not. */
    {1, 1000, 1000, {{JOB_RUNNING, FIELD_ABSENT, 50000, 100, ""}, {JOB_PENDING, 0, 0, 0, ""}}, 2, 50, 10, 10, NULL},
    /* The CPUs that it got are those of the allocation. */
    {1, 1000, 1000, {{JOB_COMPLETED, 100, 400000, 900, "cpu=4,mem=1000,node=1"}}, 1, 100, 90, 10, "-t 00:04:00"},
    /* No limit to shorten. */
    {1, 1000, TIME_LIMIT_S_MAX, {{JOB_COMPLETED, 100, 100000, 900, ""}}, 1, 100, 90, 0, NULL},
};

static void test_cases(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct field_value rows[ROWS_MAX][JOB_FIELD_COUNT], out[EFFICIENCY_COUNT];
        struct arena arena = {0};
        struct err e;
        struct wire_list list =
            make_rows(rows, cases[i].tasks, cases[i].count, cases[i].cpus, cases[i].mem_mib, cases[i].limit_s);
        assert_int_equal(job_efficiency_compute("5", &list, 100 * US_PER_S, &arena, out, &e), 0);
        assert_float_equal((float)out[EFFICIENCY_CPU_PERCENT].real, (float)cases[i].cpu_percent, 1e-3F);
        assert_float_equal((float)out[EFFICIENCY_MEM_PERCENT].real, (float)cases[i].mem_percent, 1e-3F);
        assert_float_equal((float)out[EFFICIENCY_TIME_PERCENT].real, (float)cases[i].time_percent, 1e-3F);
        if (cases[i].advice == NULL)
            assert_int_equal(out[EFFICIENCY_ADVICE].number, FIELD_ABSENT);
        else
            assert_string_equal(out[EFFICIENCY_ADVICE].text, cases[i].advice);
        arena_release(&arena);
    }
}

static void test_refusals(void **unused)
{
    static const struct task waiting = {JOB_PENDING, 0, 0, 0, ""};
    struct field_value rows[ROWS_MAX][JOB_FIELD_COUNT], out[EFFICIENCY_COUNT];
    struct arena arena = {0};
    struct err e;
    (void)unused;
    struct wire_list list = make_rows(rows, &waiting, 1, 1, 1, 60);
    assert_int_equal(job_efficiency_compute("5", &list, 0, &arena, out, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    rows[0][JOB_FIELD_OUT_PATH] = field_text("");
    assert_int_equal(job_efficiency_compute("5", &list, 0, &arena, out, &e), -1);
    assert_int_equal(e.code, ERR_DENIED);
    list.count = 0;
    assert_int_equal(job_efficiency_compute("5", &list, 0, &arena, out, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
