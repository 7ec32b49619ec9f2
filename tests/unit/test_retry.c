/* Retries in the engine: which ends are failures, how often and when a task starts again, and how it ends. */
#include "engine/state_rows.h"
#include "engine_world.h"

static struct world w;

static void open_world(void)
{
    world_init(&w, 8, 8000, 0);
    world_set(&w, "requeue_delay_s", "0");
}

static uint32_t submit(const char *fields)
{
    uint32_t id = 0;
    struct event event = {
        .kind = EVENT_SUBMIT,
        .actor = {1000, 1000, "ann", ROLE_USER},
        .submit = job_text("name=a|directory=/home/x|command=true|cpus=1|mem_mib=1|time_limit_s=60|%s", fields)};
    if (world_apply(&w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w.e));
    return id;
}

/* NULL: it has ended. */
static const struct job *job_of(uint32_t id)
{
    uint32_t index = state_find_job(&w.s, id);
    return index != NONE ? &w.s.jobs.items[index] : NULL;
}

static void pass(void)
{
    w.s.pass_is_due = true;
    (void)world_pass(&w);
}

struct end {
    enum job_state state;
    int32_t exit_status;
    int signal;
};

/* The task's row as it is after its end, which stays in memory until engine_forget. */
static struct task end_task(uint32_t id, uint32_t task, struct end end)
{
    const struct task *k = world_task(&w, id, task);
    assert_non_null(k);
    uint64_t launch_id = k->launch_id;
    struct event event = {.kind = EVENT_ENDED,
                          .record = {.launch_id = launch_id,
                                     .at_us = w.now_us,
                                     .started_us = w.now_us,
                                     .end = end.state,
                                     .exit_status = end.exit_status,
                                     .signal = end.signal}};
    assert_int_equal(world_apply(&w, event, NULL), 0);
    for (uint32_t i = 0; i < w.s.tasks.count; i++) {
        if (w.s.tasks.items[i].launch_id == launch_id) return w.s.tasks.items[i];
    }
    fail_msg("launch %llu has no row", (unsigned long long)launch_id);
    return (struct task){0};
}

static const struct end failure = {JOB_FAILED, 1, 0};

static void a_failure_is_retried_so_often_and_then_has_failed(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("retry=2");
    static const char *const details[] = {"retry 1 of 2 follows", "retry 2 of 2 follows", "no retry is left of 2"};
    for (uint32_t i = 0; i < 3; i++) {
        pass();
        struct task k = end_task(id, 0, failure);
        assert_int_equal(k.state, i < 2 ? JOB_REQUEUED : JOB_FAILED);
        assert_int_equal(k.restarts, i);
        assert_string_equal(k.detail, details[i]);
    }
    assert_null(job_of(id));
    world_release(&w);
}

static void success_ends_the_retries(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("retry=2");
    pass();
    (void)end_task(id, 0, failure);
    pass();
    struct task k = end_task(id, 0, (struct end){JOB_COMPLETED, 0, 0});
    assert_int_equal(k.state, JOB_COMPLETED);
    assert_string_equal(k.detail, "");
    assert_null(job_of(id));
    world_release(&w);
}

static void a_rule_says_which_ends_are_failures(void **unused)
{
    (void)unused;
    static const struct {
        const char *fields;
        struct end end;
        bool is_retried;
    } rows[] = {
        {"retry=1", {JOB_FAILED, 3, 0}, true},
        {"retry=1", {JOB_FAILED, 0, 11}, true},
        {"retry=1", {JOB_OUT_OF_MEMORY, 0, 9}, true},
        {"retry=1", {JOB_OUT_OF_MEMORY, 0, 0}, true},
        {"retry=1", {JOB_TIMEOUT, 0, 15}, false},
        {"retry=1", {JOB_CANCELLED, 0, 15}, false},
        {"retry=1", {JOB_NODE_FAIL, 0, 0}, false}, /* which is for requeue to say */
        {"retry=0", {JOB_FAILED, 3, 0}, false},
        {"retry=1:exit=1,137", {JOB_FAILED, 1, 0}, true},
        {"retry=1:exit=1,137", {JOB_FAILED, 2, 0}, false},
        {"retry=1:exit=1,137", {JOB_FAILED, 137, 0}, true},
        {"retry=1:exit=1,137", {JOB_FAILED, 0, 9}, true},
        {"retry=1:exit=1,137", {JOB_FAILED, 0, 15}, false},
        {"retry=1:exit=1,137", {JOB_OUT_OF_MEMORY, 0, 9}, true},
        {"retry=1:exit=1", {JOB_OUT_OF_MEMORY, 0, 0}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_world();
        uint32_t id = submit(rows[i].fields);
        pass();
        struct task k = end_task(id, 0, rows[i].end);
        if ((k.state == JOB_REQUEUED) != rows[i].is_retried) fail_msg("row %zu: state %d", i, (int)k.state);
        assert_int_equal(job_of(id) != NULL, rows[i].is_retried);
        world_release(&w);
    }
}

/* A plain job has a begin, so its reason is BeginTime; the delay doubles. */
static void a_job_waits_for_its_backoff(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("retry=3:backoff=5m");
    int64_t delay_us = 300 * SECOND;
    for (int i = 0; i < 3; i++, delay_us *= 2) {
        pass();
        (void)end_task(id, 0, failure);
        assert_true(job_of(id)->begin_us == w.now_us + delay_us);
        assert_false(job_of(id)->is_held);
        w.now_us += delay_us - SECOND;
        pass();
        assert_null(world_task(&w, id, 0));
        w.now_us += SECOND;
    }
    pass();
    assert_non_null(world_task(&w, id, 0));
    world_release(&w);
}

static void without_a_backoff_it_waits_as_any_requeued_job(void **unused)
{
    (void)unused;
    open_world();
    world_set(&w, "requeue_delay_s", "60");
    uint32_t id = submit("retry=1"), other = submit("retry=1:backoff=0s");
    pass();
    (void)end_task(id, 0, failure);
    (void)end_task(other, 0, failure);
    assert_true(job_of(id)->begin_us == w.now_us + 60 * SECOND);
    pass();
    assert_null(world_task(&w, id, 0));
    assert_non_null(world_task(&w, other, 0));
    world_release(&w);
}

static void tasks_of_an_array_are_retried_each_by_itself(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("array=0-1|retry=2:backoff=10s");
    pass();
    (void)end_task(id, 0, failure);
    pass();
    assert_null(world_task(&w, id, 0));
    assert_non_null(world_task(&w, id, 1));
    w.now_us += 10 * SECOND;
    pass();
    assert_int_equal(world_task(&w, id, 0)->restarts, 1);
    (void)end_task(id, 0, failure);
    struct task k = end_task(id, 1, failure);
    assert_int_equal(k.restarts, 0);
    w.now_us += 10 * SECOND;
    pass();
    assert_null(world_task(&w, id, 0)); /* its second delay is 20 s */
    assert_non_null(world_task(&w, id, 1));
    w.now_us += 10 * SECOND;
    pass();
    assert_int_equal(end_task(id, 0, failure).state, JOB_FAILED);
    world_release(&w);
}

/* The maximum of requeues holds a job that asks to be requeued, and not one that fails. */
static void exit_statuses_of_requeue_exit_are_no_failures(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("retry=1|requeue_exit=99|max_requeue=2");
    for (int i = 0; i < 3; i++) {
        pass();
        assert_int_equal(end_task(id, 0, (struct end){JOB_FAILED, 99, 0}).state, JOB_REQUEUED);
    }
    assert_true(job_of(id)->is_held_by_operator);
    world_release(&w);
    open_world();
    id = submit("retry=7|requeue_exit=99|max_requeue=2");
    for (int i = 0; i < 7; i++) {
        pass();
        assert_int_equal(end_task(id, 0, failure).state, JOB_REQUEUED);
        assert_false(job_of(id)->is_held);
    }
    pass();
    assert_int_equal(end_task(id, 0, failure).state, JOB_FAILED);
    world_release(&w);
}

static void a_cancelled_job_is_not_retried(void **unused)
{
    (void)unused;
    open_world();
    uint32_t id = submit("retry=3");
    pass();
    const struct job_ref ref = {id, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {.refs = &ref, .count = 1}}, NULL),
                     0);
    (void)end_task(id, 0, failure);
    assert_null(job_of(id));
    world_release(&w);
}

static void a_job_that_forbids_requeues_has_no_retries(void **unused)
{
    (void)unused;
    open_world();
    struct event event = {.kind = EVENT_SUBMIT,
                          .actor = {1000, 1000, "ann", ROLE_USER},
                          .submit = job_text("name=a|directory=/|command=true|requeue=false|retry=2")};
    world_refuses(&w, event, ERR_INPUT, "retry: '2' requeues the job, which requeue=no forbids");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_retried_so_often_and_then_has_failed),
        cmocka_unit_test(success_ends_the_retries),
        cmocka_unit_test(a_rule_says_which_ends_are_failures),
        cmocka_unit_test(a_job_waits_for_its_backoff),
        cmocka_unit_test(without_a_backoff_it_waits_as_any_requeued_job),
        cmocka_unit_test(tasks_of_an_array_are_retried_each_by_itself),
        cmocka_unit_test(exit_statuses_of_requeue_exit_are_no_failures),
        cmocka_unit_test(a_cancelled_job_is_not_retried),
        cmocka_unit_test(a_job_that_forbids_requeues_has_no_retries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
