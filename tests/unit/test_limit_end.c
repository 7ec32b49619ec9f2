/* Without `safe`, the running jobs of an association end when its usage has reached GrpTRESMins. */
#include "engine_world.h"

#include "engine/limit_end.h"

/* Account phys with a limit of one CPU-minute; usage does not decay. */
static void furnish(struct world *w, const char *enforced)
{
    static const struct event_pair limit = {"GrpTRESMins", "cpu=1"};
    struct event event = {
        .kind = EVENT_ACCOUNT_MODIFY,
        .account = {.name = "phys", .shares = SHARES_UNSET, .priority = PRIORITY_UNSET, .pairs = &limit, .count = 1}};
    world_init(w, 8, 1000, 0);
    world_set(w, "halflife_s", "0");
    world_set(w, "AccountingStorageEnforce", enforced);
    world_user(w, "phys", 1, "ann");
    world_user(w, "chem", 1, "cat");
    assert_int_equal(world_apply(w, event, NULL), 0);
    world_pass(w);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_job_that_started_is_looked_at),
        cmocka_unit_test(other_accounts_go_on),
        cmocka_unit_test(safe_ends_nothing),
    };
    return cmocka_run_group_tests_name("engine: limit end", tests, NULL, NULL);
}
