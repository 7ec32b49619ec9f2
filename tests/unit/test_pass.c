/* The pass: the order of the queue, what fits, and every rule that keeps a job waiting. */
#include "engine_world.h"

#include "sched/pass.h"

/* --- the queue of sched/pass.h ------------------------------------------------------------------------------------ */

struct queue_world {
    struct host host;
    struct pool pool;
    struct arena cycle;
    struct pass_starts starts;
};

static void queue_init(struct queue_world *w, struct capacity has, uint32_t resources)
{
    memset(w, 0, sizeof *w);
    host_init(&w->host, has);
    pool_init(&w->pool, resources, &w->cycle);
}

static void queue_release(struct queue_world *w)
{
    for (uint32_t i = 0; i < w->starts.list.count; i++) placement_release(&w->starts.list.items[i].placement);
    array_release(&w->starts.list);
    arena_release(&w->cycle);
    host_release(&w->host);
}

static void the_highest_order_first_then_the_place(void **unused)
{
    (void)unused;
    struct pass_job jobs[] = {
        {.job = 10, .tasks = 1, .request = {.cpus = 1, .mem_mib = 1}},
        {.job = 11, .tasks = 1, .request = {.cpus = 4, .mem_mib = 1}}, /* never fits beside the others */
        {.job = 12, .tasks = 5, .request = {.cpus = 1, .mem_mib = 30}},
        {.job = 13, .tasks = 1, .request = {.cpus = 1, .mem_mib = 1}},
    };
    const struct candidate candidates[] = {
        {.job = 0, .tasks = 1, .order = pass_order_real(-0.5)},
        {.job = 1, .tasks = 1, .order = pass_order_real(-0.5)},
        {.job = 2, .tasks = 9, .order = pass_order_real(0.9)},
        {.job = 3, .tasks = 1, .order = pass_order_real(-0.5)},
    };
    const uint32_t expected[] = {12, 12, 12, 10};
    struct queue_world w;
    queue_init(&w, (struct capacity){.cpus = 4, .mem_mib = 100}, 0);
    pass_run(&w.host, &w.pool, &(struct pass_queue){jobs, 4, candidates, 4}, &w.cycle, &w.starts);
    assert_int_equal(w.starts.list.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(w.starts.list.items[i].job, expected[i]);
        assert_int_equal(idset_first(&w.starts.list.items[i].placement.cpus), i);
    }
    queue_release(&w);
}

static void a_tier_comes_before_any_priority(void **unused)
{
    (void)unused;
    assert_true(pass_order_whole(2, 0) > pass_order_whole(1, UINT32_MAX));
    assert_true(pass_order_whole(1, 2) > pass_order_whole(1, 1));
    assert_true(pass_order_real(-1.0) < pass_order_real(0.0) && pass_order_real(0.25) < pass_order_real(3.0));
}

static void a_job_starts_once_where_it_comes_first(void **unused)
{
    (void)unused;
    struct pass_job jobs[] = {{.job = 0, .tasks = 1, .request = {.cpus = 1}},
                              {.job = 1, .tasks = 3, .request = {.cpus = 1}}};
    const struct candidate candidates[] = {
        {.job = 0, .partition = 7, .tasks = 1, .order = 3},
        {.job = 0, .partition = 8, .tasks = 1, .order = 9},
        {.job = 1, .partition = 7, .tasks = 1, .order = 8},
        {.job = 1, .partition = 8, .tasks = UINT32_MAX, .order = 1},
    };
    const uint32_t expected[][2] = {{0, 8}, {1, 7}, {1, 8}, {1, 8}};
    struct queue_world w;
    queue_init(&w, (struct capacity){.cpus = 9}, 0);
    pass_run(&w.host, &w.pool, &(struct pass_queue){jobs, 2, candidates, 4}, &w.cycle, &w.starts);
    assert_int_equal(w.starts.list.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(w.starts.list.items[i].job, expected[i][0]);
        assert_int_equal(w.starts.list.items[i].partition, expected[i][1]);
    }
    assert_int_equal(w.host.free_cpu_count, 5);
    queue_release(&w);
}

static void a_range_of_slots_takes_what_is_free(void **unused)
{
    (void)unused;
    const struct pool_need needs[] = {{.resource = 0, .amount = 2}};
    struct pass_job jobs[] = {
        {.job = 0, .tasks = 1, .request = {.cpus = 2}, .slots_most = 8, .needs = needs, .need_count = 1},
        {.job = 1, .tasks = 2, .request = {.cpus = 1}, .slots_most = 4},
        {.job = 2, .tasks = 1, .request = {.cpus = 1}, .needs = needs, .need_count = 1},
    };
    const struct candidate candidates[] = {
        {.job = 0, .tasks = 1, .order = 3}, {.job = 1, .tasks = 2, .order = 2}, {.job = 2, .tasks = 1, .order = 1}};
    const uint32_t expected[][2] = {{0, 3}, {1, 4}, {1, 1}};
    struct queue_world w;
    queue_init(&w, (struct capacity){.cpus = 8}, 1);
    w.pool.free[0] = 7;
    pass_run(&w.host, &w.pool, &(struct pass_queue){jobs, 3, candidates, 3}, &w.cycle, &w.starts);
    assert_int_equal(w.starts.list.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(w.starts.list.items[i].job, expected[i][0]);
        assert_int_equal(idset_count(&w.starts.list.items[i].placement.cpus), expected[i][1]);
    }
    queue_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_order_first_then_the_place),
        cmocka_unit_test(a_tier_comes_before_any_priority),
        cmocka_unit_test(a_job_starts_once_where_it_comes_first),
        cmocka_unit_test(a_range_of_slots_takes_what_is_free),
    };
    return cmocka_run_group_tests_name("pass", tests, NULL, NULL);
}
