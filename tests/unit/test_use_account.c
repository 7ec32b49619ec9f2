/* Accounts of two samples of processes. */
#include "dies.h"

#include "base/quantity.h"
#include "daemon/use_account.h"

/* A process in both samples; cpu_us and children_us: -1 it is not there. */
struct process_row {
    int32_t pid, parent;
    uint32_t uid;
    uint64_t launch_id;
    int64_t started_s;
    double cpu_before_s, children_before_s, cpu_s, children_s;
    uint64_t gpus;
};

static struct process_sample sample_of(const struct process_row *r, bool is_later)
{
    return (struct process_sample){
        .pid = r->pid,
        .parent = r->parent,
        .uid = r->uid,
        .launch_id = r->launch_id,
        .started_us = r->started_s * US_PER_S,
        .cpu_us = (int64_t)((is_later ? r->cpu_s : r->cpu_before_s) * 1e6),
        .children_cpu_us = (int64_t)((is_later ? r->children_s : r->children_before_s) * 1e6),
        .mem_kib = 1024,
        .gpus = r->gpus,
    };
}

/* The samples were taken at 100 s and at 110 s. */
static void make(const struct process_row *rows, size_t count, struct use_account *out)
{
    struct use_sample before = {.end.at_us = 100 * US_PER_S}, now = {.end.at_us = 110 * US_PER_S};
    for (size_t i = 0; i < count; i++) {
        struct process_sample earlier = sample_of(&rows[i], false), later = sample_of(&rows[i], true);
        if (rows[i].cpu_before_s >= 0) use_sample_add(&before, &earlier);
        if (rows[i].cpu_s >= 0) use_sample_add(&now, &later);
    }
    use_account_make(&before, &now, out);
    use_sample_release(&before);
    use_sample_release(&now);
}

static double cpus_of(const struct use_account *a, uint64_t launch_id, uint32_t uid)
{
    uint32_t index = map_get_u64(launch_id != 0 ? &a->launches : &a->outside, launch_id != 0 ? launch_id : uid);
    return index != NONE ? a->parts.items[index].cpus : -1.0;
}

static void test_cpu_time_goes_to_jobs_and_users(void **state)
{
    (void)state;
    static const struct process_row rows[] = {
        {.pid = 10,
         .parent = 1,
         .uid = 0,
         .launch_id = 7,
         .started_s = 90,
         .cpu_before_s = 1,
         .cpu_s = 2}, /* a keeper */
        {.pid = 11, .parent = 10, .uid = 5, .launch_id = 7, .started_s = 90, .cpu_before_s = 5, .cpu_s = 15, .gpus = 2},
        {.pid = 20,
         .parent = 1,
         .uid = 5,
         .started_s = 1,
         .cpu_before_s = 100,
         .cpu_s = 120,
         .gpus = 1},                                                                           /* two threads */
        {.pid = 21, .parent = 20, .uid = 5, .started_s = 105, .cpu_before_s = -1, .cpu_s = 5}, /* a new one */
        {.pid = 22, .parent = 20, .uid = 5, .started_s = 3, .cpu_before_s = -1, .cpu_s = 50},  /* missed at first */
        {.pid = 30, .parent = 1, .uid = 6, .started_s = 1, .cpu_before_s = 9, .cpu_s = 9},
    };
    struct use_account a;
    make(rows, COUNT(rows), &a);
    assert_float_equal(cpus_of(&a, 7, 0), 1.1, 1e-9);
    assert_float_equal(cpus_of(&a, 0, 5), 2.5, 1e-9);
    assert_float_equal(cpus_of(&a, 0, 6), 0.0, 1e-9);
    assert_float_equal(cpus_of(&a, 0, 0), -1.0, 1e-9); /* the keeper is the job's */
    assert_int_equal(a.parts.count, 3);
    assert_int_equal(a.parts.items[map_get_u64(&a.launches, 7)].uid, 5);
    assert_int_equal(a.parts.items[map_get_u64(&a.launches, 7)].gpus, 2);
    assert_int_equal(a.parts.items[map_get_u64(&a.outside, 5)].gpus, 1);
    assert_int_equal(a.parts.items[map_get_u64(&a.outside, 5)].process_count, 3);
    assert_int_equal(a.parts.items[map_get_u64(&a.outside, 5)].mem_kib, 3 * 1024);
    assert_float_equal(a.cpus.items[2], 2.0, 1e-9);
    assert_float_equal(a.interval_s, 10.0, 1e-9);
    use_account_release(&a);
}

/* Each row: a parent, and a child that ends between the samples. */
static void test_what_ended_counts_once(void **state)
{
    (void)state;
    static const struct {
        struct process_row processes[3];
        double expected;
    } rows[] = {
        /* The parent has waited for it: 30 s before the first sample are not of this interval. */
        {{{.pid = 2, .uid = 5, .cpu_before_s = 1, .cpu_s = 1, .children_s = 34},
          {.pid = 3, .parent = 2, .uid = 5, .cpu_before_s = 30, .cpu_s = -1}},
         0.4},
        /* The parent belongs to another user: nothing is taken from the others. */
        {{{.pid = 2, .uid = 9, .cpu_before_s = 1, .cpu_s = 1, .children_s = 34},
          {.pid = 3, .parent = 2, .uid = 5, .cpu_before_s = 30, .cpu_s = -1},
          {.pid = 4, .parent = 2, .uid = 5, .cpu_before_s = 3, .cpu_s = 8}},
         0.5},
        /* Its parent is gone, too: the grandparent has both. */
        {{{.pid = 2, .uid = 5, .cpu_before_s = 0, .cpu_s = 0, .children_s = 42},
          {.pid = 3, .parent = 2, .uid = 5, .cpu_before_s = 10, .cpu_s = -1},
          {.pid = 4, .parent = 3, .uid = 5, .cpu_before_s = 30, .cpu_s = -1}},
         0.2},
        /* Not waited for, because the parent ignores its end: never below 0. */
        {{{.pid = 2, .uid = 5, .cpu_before_s = 1, .cpu_s = 1},
          {.pid = 3, .parent = 2, .uid = 5, .cpu_before_s = 30, .cpu_s = -1}},
         0.0},
        /* The pid was given again: another process, that is 5 s old. */
        {{{.pid = 2, .uid = 5, .started_s = 105, .cpu_before_s = -1, .cpu_s = 5},
          {.pid = 3, .parent = 3, .uid = 5, .cpu_before_s = 1, .cpu_s = -1}},
         0.5},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct use_account a;
        make(rows[i].processes, COUNT(rows[i].processes), &a);
        assert_float_equal(cpus_of(&a, 0, 5), rows[i].expected, 1e-9);
        use_account_release(&a);
    }
}

static void test_odd_samples_do_no_harm(void **state)
{
    (void)state;
    struct use_sample before = {0}, now = {0};
    struct use_account a;
    use_sample_add(&now, &(struct process_sample){.pid = -1, .cpu_us = 1});
    use_sample_add(&now, &(struct process_sample){.pid = 0, .cpu_us = 1});
    use_account_make(&before, &now, &a); /* at the same time */
    assert_int_equal(a.parts.count, 0);
    use_account_release(&a);
    /* Parents in a circle. */
    use_sample_add(&before, &(struct process_sample){.pid = 5, .parent = 6, .cpu_us = INT64_MAX});
    use_sample_add(&before, &(struct process_sample){.pid = 6, .parent = 5, .cpu_us = INT64_MAX});
    use_sample_add(&now,
                   &(struct process_sample){.pid = 7, .started_us = 1, .cpu_us = INT64_MAX, .mem_kib = INT64_MAX});
    use_sample_add(&now, &(struct process_sample){.pid = 8, .started_us = 1, .cpu_us = 1, .mem_kib = INT64_MAX});
    use_account_make(&before, &now, &a);
    assert_int_equal(a.parts.count, 1);
    assert_true(a.parts.items[0].mem_kib == INT64_MAX && a.parts.items[0].cpus > 0.0);
    use_account_release(&a);
    use_sample_clear(&now);
    assert_true(now.list.count == 0 && now.end.at_us == 0);
    use_sample_release(&before);
    use_sample_release(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_time_goes_to_jobs_and_users),
        cmocka_unit_test(test_what_ended_counts_once),
        cmocka_unit_test(test_odd_samples_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
