/* Without `safe`, the running jobs of an association end when its usage has reached GrpTRESMins. */
#include "engine_world.h"

#include "engine/limit_end.h"

/* Account phys with a limit of TRES-minutes; usage does not decay. */
static void furnish_with(struct world *w, uint32_t cpus, const char *minutes, const char *enforced)
{
    const struct event_pair limit = {"GrpTRESMins", minutes};
    struct event event = {
        .kind = EVENT_ACCOUNT_MODIFY,
        .account = {.name = "phys", .shares = SHARES_UNSET, .priority = PRIORITY_UNSET, .pairs = &limit, .count = 1}};
    world_init(w, cpus, 100000, 0);
    world_set(w, "halflife_s", "0");
    world_set(w, "AccountingStorageEnforce", enforced);
    world_user(w, "phys", 1, "ann");
    world_user(w, "chem", 1, "cat");
    assert_int_equal(world_apply(w, event, NULL), 0);
    world_pass(w);
}

static void furnish(struct world *w, const char *enforced)
{
    furnish_with(w, 8, "cpu=1", enforced);
}

/* Starts a job on an idle cluster; no event follows. Returns its id. */
static uint32_t start(struct world *w, const char *user, uint32_t cpus)
{
    uint32_t id = world_submit(w, user, NULL, cpus);
    assert_int_equal(world_pass(w), 1);
    world_started(w, world_task(w, id, 0)->launch_id);
    return id;
}

/* Runs the passes that are due until then. Returns the number of tasks that they ended. */
static uint32_t pass_until(struct world *w, int64_t until_us)
{
    uint32_t ended = 0;
    for (int64_t due_us = state_next_due_us(&w->s); due_us != 0 && due_us <= until_us;
         due_us = state_next_due_us(&w->s)) {
        if (due_us > w->now_us) w->now_us = due_us;
        world_pass(w);
        for (uint32_t i = 0; i < w->out.decisions.count; i++) ended += w->out.decisions.items[i].kind == DECIDE_END;
    }
    w->now_us = until_us;
    return ended;
}

static void the_last_job_that_started_is_looked_at(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w, "associations,limits,qos");
    uint32_t id = start(&w, "ann", 4);
    int64_t start_us = w.now_us;
    assert_int_equal(pass_until(&w, start_us + 14 * SECOND), 0);
    assert_int_equal(pass_until(&w, start_us + (15 + LIMIT_END_S) * SECOND), 1);
    const struct task *k = world_task(&w, id, 0);
    assert_int_equal(k->state, JOB_COMPLETING);
    world_ended(&w, k->launch_id, JOB_CANCELLED, start_us);
    assert_int_equal(w.s.tasks.items[0].state, JOB_TIMEOUT);
    assert_int_equal(pass_until(&w, w.now_us + 100 * SECOND), 0);
    assert_int_equal(state_next_due_us(&w.s), 0); /* no jobs, no looks */
    world_release(&w);
}

static void other_accounts_go_on(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w, "associations,limits,qos");
    start(&w, "cat", 4);
    assert_int_equal(pass_until(&w, w.now_us + 100 * SECOND), 0);
    world_release(&w);
}

static void safe_ends_nothing(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w, "associations,limits,qos,safe");
    world_object(&w, OBJECT_QOS, "free", "usage_factor=0.5");
    uint32_t id = 0;
    struct event event = world_submission("ann", NULL, 1);
    event.submit = job_with(event.submit, "time_limit_s=60|qos=free");
    assert_int_equal(world_apply(&w, event, &id), 0);
    assert_int_equal(world_pass(&w), 1);
    world_started(&w, world_task(&w, id, 0)->launch_id);
    assert_int_equal(pass_until(&w, w.now_us + 300 * SECOND), 0);
    world_release(&w);
}

/* The billing of the first job was 0 at its start, so it adds nothing, whatever a job would be billed by now. */
static void a_task_counts_by_what_it_is_charged_with(void **unused)
{
    (void)unused;
    struct world w;
    furnish_with(&w, 8, "billing=1", "associations,limits,qos");
    world_object(&w, OBJECT_PARTITION, "main", "TRESBillingWeights=CPU=0");
    uint32_t free = start(&w, "ann", 4);
    world_object(&w, OBJECT_PARTITION, "main", "TRESBillingWeights=CPU=1.0");
    uint32_t billed = start(&w, "ann", 4);
    assert_int_equal(pass_until(&w, w.now_us + (15 + LIMIT_END_S) * SECOND), 1);
    assert_int_equal(world_task(&w, free, 0)->state, JOB_RUNNING);
    assert_int_equal(world_task(&w, billed, 0)->state, JOB_COMPLETING);
    world_release(&w);
}

/* A task that ends by itself after the order is what it ended as, and says nothing of the limit. */
static void a_task_that_ends_by_itself_names_no_limit(void **unused)
{
    (void)unused;
    struct world w;
    furnish_with(&w, 8, "billing=1", "associations,limits,qos");
    uint32_t id = start(&w, "ann", 4);
    assert_int_equal(pass_until(&w, w.now_us + (15 + LIMIT_END_S) * SECOND), 1);
    const struct task *k = world_task(&w, id, 0);
    assert_true(k->is_over_limit && k->detail[0] != '\0');
    world_ended(&w, k->launch_id, JOB_COMPLETED, k->start_us);
    assert_int_equal(w.s.tasks.items[0].state, JOB_COMPLETED);
    assert_false(w.s.tasks.items[0].is_over_limit);
    assert_string_equal(w.s.tasks.items[0].detail, "");
    world_release(&w);
}

/* No turn ends more than LIMIT_END_TASKS_MAX, and the next ones end the others. */
static void many_tasks_end_in_several_turns(void **unused)
{
    (void)unused;
    enum { TASKS = 2 * LIMIT_END_TASKS_MAX + 10 };
    struct world w;
    furnish_with(&w, TASKS, "cpu=1000000", "associations,limits,qos");
    struct event event = world_submission("ann", NULL, 1);
    event.submit = job_with(event.submit, "array=1-%d", TASKS);
    assert_int_equal(world_apply(&w, event, NULL), 0);
    assert_int_equal(world_pass(&w), TASKS);
    for (uint32_t i = 0; i < TASKS; i++) world_started(&w, w.s.tasks.items[i].launch_id);
    const struct event_pair limit = {"GrpTRESMins", "cpu=1"};
    const struct event less = {
        .kind = EVENT_ACCOUNT_MODIFY,
        .account = {.name = "phys", .shares = SHARES_UNSET, .priority = PRIORITY_UNSET, .pairs = &limit, .count = 1}};
    assert_int_equal(world_apply(&w, less, NULL), 0);
    w.now_us += 2 * LIMIT_END_S * SECOND;
    static const uint32_t expected[] = {LIMIT_END_TASKS_MAX, LIMIT_END_TASKS_MAX, 10};
    for (size_t turn = 0; turn < sizeof expected / sizeof *expected; turn++) {
        uint32_t ended = 0;
        world_pass(&w);
        for (uint32_t i = 0; i < w.out.decisions.count; i++) ended += w.out.decisions.items[i].kind == DECIDE_END;
        assert_int_equal(ended, expected[turn]);
        int64_t due_us = state_next_due_us(&w.s), wait_us = turn < 2 ? LIMIT_END_PAUSE_MS * 1000 : LIMIT_END_S * SECOND;
        assert_true(due_us <= w.now_us + wait_us && due_us > w.now_us);
        w.now_us = due_us;
    }
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_job_that_started_is_looked_at),
        cmocka_unit_test(other_accounts_go_on),
        cmocka_unit_test(safe_ends_nothing),
        cmocka_unit_test(a_task_counts_by_what_it_is_charged_with),
        cmocka_unit_test(a_task_that_ends_by_itself_names_no_limit),
        cmocka_unit_test(many_tasks_end_in_several_turns),
    };
    return cmocka_run_group_tests_name("engine: limit end", tests, NULL, NULL);
}
