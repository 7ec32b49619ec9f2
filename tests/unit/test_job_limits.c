/* Limits of numbers of jobs and tasks: maxujobs, max_u_jobs, max_jobs, max_aj_instances, max_aj_tasks. */
#include "policy_world.h"

#include "engine/schedule.h"

static uint32_t take_array(struct world *w, const char *user, const char *array)
{
    struct event job = world_job(user);
    job.submit = job_with(job.submit, "array=%s", array);
    return world_take(w, job);
}

/* Each task counts, in all accounts of the user. */
static void maxujobs_limits_running_tasks_of_a_user(void **unused)
{
    (void)unused;
    static const char *const models[] = {"priority/multifactor", "priority/tickets", "priority/basic"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct world w;
        char expected[TEXT_MAX], settings[TEXT_MAX];
        world_init(&w, 8, 100000, 0);
        snprintf(settings, sizeof settings, "PriorityType=%s maxujobs=3", models[i]);
        world_settings(&w, settings);
        world_user(&w, "other", 1, "ann");
        uint32_t first = world_take(&w, world_job("ann"));
        struct event job = world_job("ann");
        job.submit = job_with(job.submit, "account=other");
        uint32_t second = world_take(&w, job);
        uint32_t array = take_array(&w, "ann", "1-4");
        uint32_t third = world_take(&w, world_job("ann")), bob = world_take(&w, world_job("bob"));
        snprintf(expected, sizeof expected, "%u %u %u %u", first, second, array, bob);
        assert_string_equal(world_starts(&w), expected);
        world_end(&w, second, 0);
        snprintf(expected, sizeof expected, "%u", array);
        assert_string_equal(world_starts(&w), expected);
        world_settings(&w, "maxujobs=0");
        snprintf(expected, sizeof expected, "%u %u %u", array, array, third);
        assert_string_equal(world_starts(&w), expected);
        world_release(&w);
    }
}

/* Nothing is known of when a job starts whose user has as many running tasks as are allowed. */
static void maxujobs_leaves_no_estimate(void **unused)
{
    (void)unused;
    struct world w;
    struct schedule p;
    world_init(&w, 8, 100000, 0);
    world_settings(&w, "maxujobs=2");
    uint32_t array = take_array(&w, "ann", "1-3"), bob;
    (void)world_starts(&w);
    (void)world_take(&w, world_job("ann"));
    bob = world_take(&w, world_job("bob"));
    assert_int_equal(schedule_make(&w.s, w.now_us, SCHEDULE_WITH_ESTIMATES, &p, NULL), 0);
    assert_int_equal(p.rows.count, 5);
    for (uint32_t i = 0; i < p.rows.count; i++) {
        const struct schedule_row *row = &p.rows.items[i];
        bool is_waiting = row->state == SCHEDULE_WAITING;
        uint32_t id = w.s.jobs.items[row->job].id;
        assert_int_equal(is_waiting, id != bob && row->state != SCHEDULE_RUNNING);
        if (row->state == SCHEDULE_RUNNING) assert_int_equal(id, array);
        if (is_waiting) assert_int_equal(row->start_us, 0);
    }
    schedule_release(&p);
    world_release(&w);
}

static void max_aj_instances_limits_running_tasks_of_an_array(void **unused)
{
    (void)unused;
    struct world w;
    char expected[TEXT_MAX];
    world_init(&w, 8, 100000, 0);
    world_settings(&w, "max_aj_instances=2");
    uint32_t array = take_array(&w, "ann", "1-4"), lower = take_array(&w, "ann", "1-4%1");
    uint32_t higher = take_array(&w, "ann", "1-4%3"), plain = world_take(&w, world_job("ann"));
    snprintf(expected, sizeof expected, "%u %u %u %u %u %u", array, array, lower, higher, higher, plain);
    assert_string_equal(world_starts(&w), expected);
    world_release(&w);
}

static void submissions_beyond_a_maximum_are_refused(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 1, 100000, 0);
    world_settings(&w, "max_u_jobs=2 max_jobs=4 max_aj_tasks=5");
    struct event ann = world_job("ann"), array = world_job("ann");
    array.submit = job_with(array.submit, "array=1-5");
    (void)world_take(&w, array);
    (void)world_take(&w, ann);
    world_refuses(&w, ann, ERR_TOO_LARGE,
                  "user 'ann' has 2 jobs pending or running; 2 at most are accepted (max_u_jobs)");
    (void)world_take(&w, world_job("bob"));
    (void)world_take(&w, world_job("bob"));
    world_refuses(&w, world_job("zoe"), ERR_TOO_LARGE, "4 jobs are pending or running; the maximum is 4 (max_jobs)");
    world_settings(&w, "max_jobs=1");
    world_refuses(&w, world_job("zoe"), ERR_TOO_LARGE, "4 jobs are pending or running; the maximum is 1 (max_jobs)");
    world_settings(&w, "max_jobs=4");
    array.submit = job_with(array.submit, "array=1-6");
    world_settings(&w, "max_jobs=0 max_u_jobs=0");
    world_refuses(&w, array, ERR_TOO_LARGE, "has 6 tasks; 1 to 5 are accepted (max_array_tasks)");
    (void)world_take(&w, ann);
    world_settings(&w, "max_u_jobs=3");
    world_refuses(&w, ann, ERR_TOO_LARGE, "has 3 jobs");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maxujobs_limits_running_tasks_of_a_user),
        cmocka_unit_test(maxujobs_leaves_no_estimate),
        cmocka_unit_test(max_aj_instances_limits_running_tasks_of_an_array),
        cmocka_unit_test(submissions_beyond_a_maximum_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
