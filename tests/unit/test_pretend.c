/* The pretend executor: examples, and a comparison with a slow model that keeps its launches in one list. */
#include <string.h>

#include "base/rng.h"
#include "dies.h"
#include "exec/executor.h"

static void start(struct executor *x, uint64_t id, int64_t limit_us)
{
    executor_start(x, &(struct launch){.id = id, .time_limit_us = limit_us});
}

static struct executor_reports fetch(struct executor *x)
{
    struct executor_reports reports = {0};
    executor_ready(x, &reports);
    return reports;
}

static void assert_report(struct executor *x, uint64_t id, enum launch_phase phase, enum launch_end end, int64_t at_us)
{
    struct executor_reports r = fetch(x);
    assert_int_equal(r.list.count, 1);
    const struct launch_record *record = &r.list.items[0].record;
    assert_int_equal(r.list.items[0].kind, EXECUTOR_RECORD);
    assert_true(record->id == id && record->phase == phase && record->end == end && record->at_us == at_us);
    array_release(&r.list);
}

static void assert_no_report(struct executor *x)
{
    struct executor_reports r = fetch(x);
    assert_int_equal(r.list.count, 0);
    array_release(&r.list);
}

static struct executor *open_pretend(int64_t now_us, int64_t run_us)
{
    struct executor *x = executor_open_pretend(now_us, run_us);
    struct executor_reports r = fetch(x);
    assert_int_equal(r.list.count, 1);
    assert_int_equal(r.list.items[0].kind, EXECUTOR_SYNCED);
    array_release(&r.list);
    assert_int_equal(executor_descriptor(x), -1);
    assert_false(executor_wants_write(x));
    return x;
}

static void test_a_launch_is_known_until_it_is_acknowledged(void **state)
{
    (void)state;
    struct executor *x = open_pretend(100, 50);
    start(x, 1, 0);
    assert_report(x, 1, LAUNCH_STARTED, LAUNCH_EXITED, 100);
    start(x, 1, 0); /* known: reported again */
    assert_report(x, 1, LAUNCH_STARTED, LAUNCH_EXITED, 100);
    executor_acknowledge(x, 1); /* it runs, so it stays known */
    executor_pretend_advance(x, 149);
    assert_no_report(x);
    executor_pretend_advance(x, 120); /* a time in the past has no effect */
    executor_pretend_advance(x, 1000);
    assert_report(x, 1, LAUNCH_ENDED, LAUNCH_EXITED, 150);
    start(x, 1, 0);
    assert_report(x, 1, LAUNCH_ENDED, LAUNCH_EXITED, 150);
    executor_acknowledge(x, 1);
    executor_end(x, 1, 0);
    executor_pretend_advance(x, 2000);
    assert_no_report(x);
    executor_close(x);
}

static void test_a_launch_ends_at_its_limit_or_by_order(void **state)
{
    (void)state;
    struct executor *x = open_pretend(0, 50);
    start(x, 1, 49);
    assert_report(x, 1, LAUNCH_STARTED, LAUNCH_EXITED, 0);
    executor_pretend_advance(x, 60);
    assert_report(x, 1, LAUNCH_ENDED, LAUNCH_TIMED_OUT, 49);
    start(x, 2, 50); /* a limit equal to its run time: it exits by itself */
    assert_report(x, 2, LAUNCH_STARTED, LAUNCH_EXITED, 60);
    executor_pretend_advance(x, 110);
    assert_report(x, 2, LAUNCH_ENDED, LAUNCH_EXITED, 110);
    start(x, 3, 0);
    assert_report(x, 3, LAUNCH_STARTED, LAUNCH_EXITED, 110);
    executor_pretend_advance(x, 120);
    executor_end(x, 3, 1000);
    assert_report(x, 3, LAUNCH_ENDED, LAUNCH_CANCELLED, 120);
    executor_end(x, 3, 0);
    executor_end(x, 99, 0);
    executor_acknowledge(x, 99);
    executor_pretend_advance(x, 1000);
    assert_no_report(x);
    executor_close(x);
}

static void assert_usage(const struct executor_report *report, const struct launch_usage *expected)
{
    const struct launch_usage *got = &report->usage;
    assert_int_equal(report->kind, EXECUTOR_USAGE);
    assert_true(got->id == expected->id && got->at_us == expected->at_us && got->cpu_us == expected->cpu_us);
    assert_true(got->mem_kib == expected->mem_kib && got->io_bytes == expected->io_bytes);
}

static void test_running_launches_are_measured(void **state)
{
    (void)state;
    struct idset_range three_cpus[] = {{4, 5}, {9, 9}};
    struct launch first = {.id = 1, .cpus.ranges = {.items = three_cpus, .count = 2}, .mem_mib = 100};
    struct executor *x = open_pretend(1000, 50);
    executor_measure(x);
    assert_no_report(x);
    executor_start(x, &first);
    executor_pretend_advance(x, 1030);
    executor_start(x, &(struct launch){.id = 2, .mem_mib = UINT64_MAX});
    executor_pretend_advance(x, 1040);
    executor_measure(x);
    struct executor_reports r = fetch(x);
    assert_int_equal(r.list.count, 4);
    assert_usage(&r.list.items[2], &(struct launch_usage){1, 1040, 3 * 40, 100 * 1024, 0});
    assert_usage(&r.list.items[3], &(struct launch_usage){2, 1040, 10, INT64_MAX, 0});
    array_release(&r.list);
    executor_pretend_advance(x, 1060); /* the first one ends, with its final usage */
    executor_measure(x);
    r = fetch(x);
    assert_int_equal(r.list.count, 2);
    const struct launch_record *record = &r.list.items[0].record;
    assert_true(record->id == 1 && record->phase == LAUNCH_ENDED && record->cpu_us == 3 * 50);
    assert_true(record->max_rss_kib == 100 * 1024 && record->io_bytes == 0);
    assert_usage(&r.list.items[1], &(struct launch_usage){2, 1060, 30, INT64_MAX, 0});
    array_release(&r.list);
    executor_close(x);
}

static void take_one(struct executor *x, struct launch_record *out)
{
    struct executor_reports r = fetch(x);
    assert_int_equal(r.list.count, 1);
    assert_int_equal(r.list.items[0].kind, EXECUTOR_RECORD);
    *out = r.list.items[0].record;
    array_release(&r.list);
}

static void test_plans(void **state)
{
    (void)state;
    const struct executor_plan plan = {.started_us = 70, .run_us = 50, .exit_status = 3, .cpus = 1.5, .mem_kib = 9};
    const struct executor_plan limited = {.started_us = 100, .run_us = 50, .time_limit_us = 20, .exit_status = 3};
    const struct executor_plan over = {.started_us = 10, .run_us = 50};
    struct launch_record r;
    struct executor *x = executor_open_plans(100, 5);
    executor_pretend_start(x, 1, &plan); /* resumed */
    assert_report(x, 1, LAUNCH_STARTED, LAUNCH_EXITED, 70);
    executor_pretend_synced(x);
    assert_int_equal(executor_pretend_next_us(x), 100);
    struct executor_reports synced = fetch(x);
    assert_int_equal(synced.list.items[0].kind, EXECUTOR_SYNCED);
    array_release(&synced.list);
    assert_int_equal(executor_pretend_next_us(x), 120);
    executor_pretend_advance(x, 130);
    take_one(x, &r);
    assert_true(r.phase == LAUNCH_ENDED && r.at_us == 120 && r.end == LAUNCH_EXITED && r.exit_status == 3);
    assert_true(r.cpu_us == 75 && r.max_rss_kib == 9);
    executor_pretend_start(x, 2, &limited);
    assert_report(x, 2, LAUNCH_STARTED, LAUNCH_EXITED, 100);
    executor_pretend_advance(x, 140);
    take_one(x, &r); /* the limit had passed when it was resumed */
    assert_true(r.at_us == 130 && r.end == LAUNCH_TIMED_OUT && r.exit_status == 0);
    executor_pretend_start(x, 3, &over);
    assert_report(x, 3, LAUNCH_STARTED, LAUNCH_EXITED, 10);
    executor_pretend_advance(x, 140);
    assert_report(x, 3, LAUNCH_ENDED, LAUNCH_EXITED, 140); /* not before it was resumed */
    assert_int_equal(executor_pretend_next_us(x), 0);
    executor_close(x);
}

static void test_an_order_to_end_takes_a_moment(void **state)
{
    (void)state;
    const struct executor_plan plan = {.started_us = 100, .run_us = 50};
    struct launch_record r;
    struct executor *x = executor_open_plans(100, 5);
    executor_pretend_start(x, 1, &plan);
    assert_report(x, 1, LAUNCH_STARTED, LAUNCH_EXITED, 100);
    executor_pretend_advance(x, 110);
    executor_end(x, 1, 0);
    assert_report(x, 1, LAUNCH_COMPLETING, LAUNCH_EXITED, 110);
    executor_end(x, 1, 0); /* it is ending */
    assert_no_report(x);
    executor_pretend_advance(x, 114);
    assert_no_report(x);
    executor_pretend_advance(x, 115);
    assert_report(x, 1, LAUNCH_ENDED, LAUNCH_CANCELLED, 115);
    executor_pretend_start(x, 2, &plan);
    assert_report(x, 2, LAUNCH_STARTED, LAUNCH_EXITED, 100);
    executor_pretend_advance(x, 147);
    executor_end(x, 2, 0); /* it ends by itself before that */
    executor_pretend_advance(x, 150);
    assert_report(x, 2, LAUNCH_ENDED, LAUNCH_EXITED, 150);
    const struct executor_plan third = {.started_us = 150, .run_us = 50};
    executor_pretend_start(x, 3, &third);
    assert_report(x, 3, LAUNCH_STARTED, LAUNCH_EXITED, 150);
    executor_pretend_advance(x, 160);
    executor_pretend_lose(x, 3, "host n1 failed");
    executor_pretend_lose(x, 3, "twice");
    executor_pretend_lose(x, 99, "unknown");
    take_one(x, &r);
    assert_true(r.at_us == 160 && r.end == LAUNCH_LOST);
    assert_string_equal(r.detail, "host n1 failed");
    executor_close(x);
}

static void test_a_time_limit_is_replaced(void **state)
{
    (void)state;
    struct executor *x = open_pretend(0, 50);
    start(x, 1, 20);
    assert_report(x, 1, LAUNCH_STARTED, LAUNCH_EXITED, 0);
    executor_set_time_limit(x, 1, 40);
    assert_int_equal(executor_pretend_next_us(x), 40);
    executor_pretend_advance(x, 30);
    assert_no_report(x);
    executor_set_time_limit(x, 1, 35); /* it counts from the start */
    executor_pretend_advance(x, 36);
    assert_report(x, 1, LAUNCH_ENDED, LAUNCH_TIMED_OUT, 35);
    executor_set_time_limit(x, 1, 100); /* too late */
    executor_set_time_limit(x, 99, 100);
    start(x, 2, 20);
    assert_report(x, 2, LAUNCH_STARTED, LAUNCH_EXITED, 36);
    executor_set_time_limit(x, 2, 0); /* none: it ends by itself */
    executor_pretend_advance(x, 100);
    assert_report(x, 2, LAUNCH_ENDED, LAUNCH_EXITED, 86);
    start(x, 3, 0);
    assert_report(x, 3, LAUNCH_STARTED, LAUNCH_EXITED, 100);
    executor_pretend_advance(x, 130);
    executor_set_time_limit(x, 3, 10); /* it has passed: the end is now, not in the past */
    assert_int_equal(executor_pretend_next_us(x), 130);
    executor_pretend_advance(x, 130);
    assert_report(x, 3, LAUNCH_ENDED, LAUNCH_TIMED_OUT, 130);
    executor_close(x);
}

static void test_no_time_limit_delays_an_order_to_end(void **state)
{
    (void)state;
    const struct executor_plan plan = {.started_us = 100, .run_us = 50};
    struct executor *x = executor_open_plans(100, 5);
    executor_pretend_start(x, 1, &plan);
    assert_report(x, 1, LAUNCH_STARTED, LAUNCH_EXITED, 100);
    executor_end(x, 1, 0);
    assert_report(x, 1, LAUNCH_COMPLETING, LAUNCH_EXITED, 100);
    executor_set_time_limit(x, 1, 2);
    executor_set_time_limit(x, 1, 1000);
    executor_pretend_advance(x, 105);
    assert_report(x, 1, LAUNCH_ENDED, LAUNCH_CANCELLED, 105);
    executor_close(x);
}

/* --- comparison with a model -------------------------------------------------------------------------------------- */

enum { ID_COUNT = 300, STEP_COUNT = 20000 };

struct model {
    int64_t now_us;
    struct {
        bool is_known, is_running;
        int64_t started_us, ends_us;
        enum launch_end end;
    } launch[ID_COUNT];
};

static void model_limit(struct model *m, uint64_t id, int64_t run_us, int64_t limit_us)
{
    bool hits_limit = limit_us > 0 && limit_us < run_us;
    int64_t ends_us = m->launch[id].started_us + (hits_limit ? limit_us : run_us);
    m->launch[id].ends_us = ends_us > m->now_us ? ends_us : m->now_us;
    m->launch[id].end = hits_limit ? LAUNCH_TIMED_OUT : LAUNCH_EXITED;
}

static void model_start(struct model *m, uint64_t id, int64_t run_us, int64_t limit_us)
{
    if (m->launch[id].is_known) return;
    m->launch[id].is_known = m->launch[id].is_running = true;
    m->launch[id].started_us = m->now_us;
    model_limit(m, id, run_us, limit_us);
}

/* The id of the next launch that ends up to now_us: by time, then by id; 0 if there is none. */
static uint64_t model_next_end(const struct model *m, int64_t now_us)
{
    uint64_t best = 0;
    for (uint64_t id = 1; id < ID_COUNT; id++) {
        if (!m->launch[id].is_running || m->launch[id].ends_us > now_us) continue;
        if (best == 0 || m->launch[id].ends_us < m->launch[best].ends_us) best = id;
    }
    return best;
}

static void compare_ends(struct executor *x, struct model *m, int64_t now_us)
{
    executor_pretend_advance(x, now_us);
    m->now_us = now_us;
    struct executor_reports r = fetch(x);
    for (uint32_t i = 0; i < r.list.count; i++) {
        const struct launch_record *record = &r.list.items[i].record;
        if (record->phase != LAUNCH_ENDED || !m->launch[record->id].is_running)
            continue; /* started, repeated or cancelled */
        uint64_t id = model_next_end(m, now_us);
        assert_true(record->id == id && record->at_us == m->launch[id].ends_us && record->end == m->launch[id].end);
        m->launch[id].is_running = false;
    }
    assert_int_equal(model_next_end(m, now_us), 0);
    array_release(&r.list);
}

static void test_ends_match_the_model(void **state)
{
    (void)state;
    static struct model m;
    struct rng rng = {.state = 5};
    struct executor *x = open_pretend(0, 40);
    for (int step = 0; step < repeats(STEP_COUNT); step++) {
        uint64_t id = 1 + rng_below(&rng, ID_COUNT - 1);
        switch (rng_below(&rng, 6)) {
        case 0:
        case 1: {
            int64_t limit_us = (int64_t)rng_below(&rng, 80);
            start(x, id, limit_us);
            model_start(&m, id, 40, limit_us);
            break;
        }
        case 2:
            executor_end(x, id, 0);
            m.launch[id].is_running = false;
            break;
        case 3:
            executor_acknowledge(x, id);
            if (!m.launch[id].is_running) m.launch[id].is_known = false;
            break;
        case 4: {
            int64_t limit_us = (int64_t)rng_below(&rng, 60);
            executor_set_time_limit(x, id, limit_us);
            if (m.launch[id].is_running) model_limit(&m, id, 40, limit_us);
            break;
        }
        default: compare_ends(x, &m, m.now_us + (int64_t)rng_below(&rng, 12));
        }
    }
    compare_ends(x, &m, m.now_us + 100);
    executor_close(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_launch_is_known_until_it_is_acknowledged),
        cmocka_unit_test(test_a_launch_ends_at_its_limit_or_by_order),
        cmocka_unit_test(test_running_launches_are_measured),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_an_order_to_end_takes_a_moment),
        cmocka_unit_test(test_a_time_limit_is_replaced),
        cmocka_unit_test(test_no_time_limit_delays_an_order_to_end),
        cmocka_unit_test(test_ends_match_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
