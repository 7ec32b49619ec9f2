/* What is kept of jobs that could run or never could. */
#include "policy_world.h"

#include "engine/engine.h"
#include "engine/never_runs.h"
#include "engine/priorities.h"

/* A question adds the demands that it asks about, and drops none: another one may refer to them. */
static void a_question_drops_no_demands(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 16000, 0);
    world_settings(&w, "AccountingStorageEnforce=associations,limits,qos,safe");
    world_user(&w, "physics", 1, "ann");
    uint32_t first = world_take(&w, world_job("ann"));
    const struct never_runs *never = never_runs_kept(&w.s);
    const uint32_t max = NEVER_RUNS_DEMANDS_MAX + 2;
    struct job other = w.s.jobs.items[state_find_job(&w.s, first)];
    for (uint32_t i = 0; i < max; i++) {
        other.time_limit_s++;
        (void)job_demand(&never_runs_kept(&w.s)->demands, &other, other.partitions[0]);
    }
    assert_true(never->demands.list.count >= max);
    (void)job_pending_reason(&w.s, first, 1.0, w.now_us);
    assert_true(never == never_runs_kept(&w.s) && never->demands.list.count >= max);
    engine_forget(&w.s);
    assert_int_equal(never_runs_kept(&w.s)->demands.list.count, 0);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_drops_no_demands),
    };
    return cmocka_run_group_tests_name("jobs that never run", tests, NULL, NULL);
}
