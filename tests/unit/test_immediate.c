/* Immediate jobs start in time, or are cancelled with the reason. */
#include "engine_world.h"

#include "engine/immediate.h"

/* One CPU. */
static void build(struct world *w)
{
    world_init(w, 1, 1000, 0);
    world_user(w, "phys", 1, "ann");
}

static uint32_t submit(struct world *w, uint32_t seconds)
{
    uint32_t id = 0;
    struct event event = world_submission("ann", NULL, 1);
    event.submit = job_with(event.submit, "immediate_s=%u", seconds);
    assert_int_equal(world_apply(w, event, &id), 0);
    return id;
}

/* A job that has the CPU. */
static uint64_t fill(struct world *w)
{
    uint32_t id = world_submit(w, "ann", NULL, 1);
    assert_int_equal(world_pass(w), 1);
    uint64_t launch_id = world_task(w, id, 0)->launch_id;
    world_started(w, launch_id);
    return launch_id;
}

/* Ended rows stay in memory until engine_forget. */
static struct job *row_of(struct world *w, uint32_t id)
{
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        if (w->s.jobs.items[i].id == id) return &w->s.jobs.items[i];
    }
    fail_msg("no job %u", id);
    return NULL;
}

static void assert_waits(struct world *w, uint32_t id)
{
    assert_int_equal(row_of(w, id)->ended_us, 0);
    assert_int_equal(idset_count(&row_of(w, id)->pending), 1);
}

/* reason NULL: any. */
static void assert_cancelled(struct world *w, uint32_t id, const char *reason)
{
    const struct job *j = row_of(w, id);
    assert_true(j->ended_us != 0 && idset_count(&j->cancelled) == 1);
    assert_non_null(job_rare(j)->cancel_reason);
    if (reason != NULL) assert_string_equal(job_rare(j)->cancel_reason, reason);
}

static void at_once_is_the_first_pass(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint32_t first = submit(&w, 0);
    assert_int_equal(world_pass(&w), 1);
    uint32_t second = submit(&w, 0);
    assert_waits(&w, second);
    assert_int_equal(world_pass(&w), 0);
    assert_cancelled(&w, second, "did not start at once (Resources)");
    world_started(&w, world_task(&w, first, 0)->launch_id);
    assert_int_equal(state_next_due_us(&w.s), 0);
    world_release(&w);
}

/* Nothing else happens at the end of the time: state_next_due_us says when to look. */
static void within_seconds_is_looked_at_in_time(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint64_t launch_id = fill(&w);
    uint32_t early = submit(&w, 5), late = submit(&w, 60);
    int64_t submit_us = w.now_us;
    (void)world_pass(&w);
    assert_waits(&w, early);
    assert_int_equal(state_next_due_us(&w.s), submit_us + 5 * SECOND);
    w.now_us = submit_us + 5 * SECOND - 1;
    (void)world_pass(&w);
    assert_waits(&w, early);
    w.now_us++;
    (void)world_pass(&w);
    assert_cancelled(&w, early, "did not start within 5 s (Resources)");
    assert_waits(&w, late);
    assert_int_equal(state_next_due_us(&w.s), submit_us + 60 * SECOND);
    world_ended(&w, launch_id, JOB_COMPLETED, submit_us);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, late, 0));
    world_release(&w);
}

/* Also where the CPU is free by then, as when the daemon was down. */
static void a_late_pass_starts_none(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t seconds, late_s;
        bool starts;
    } rows[] = {{0, IMMEDIATE_PASS_MAX_S - 1, true}, {0, IMMEDIATE_PASS_MAX_S, false}, {30, 29, true}, {30, 30, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        build(&w);
        uint32_t id = submit(&w, rows[i].seconds);
        w.now_us += rows[i].late_s * SECOND;
        assert_int_equal(world_pass(&w), rows[i].starts);
        if (!rows[i].starts) assert_cancelled(&w, id, NULL);
        world_release(&w);
    }
}

/* What was submitted since the plan was made is decided in the next pass. */
static void a_plan_decides_only_about_the_jobs_that_it_knows(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    (void)fill(&w);
    uint32_t known = submit(&w, 0), unknown = submit(&w, 0);
    const struct ticket_plan plan = {.job_ids = &known, .job_count = 1};
    struct apply_context c = {.s = &w.s, .now_us = w.now_us, .outcome = &w.out, .result = &w.result, .e = &w.e};
    immediate_cancel_refused(&c, &plan);
    assert_cancelled(&w, known, "did not start at once (Resources)");
    assert_waits(&w, unknown);
    immediate_cancel_refused(&c, NULL);
    assert_cancelled(&w, unknown, "did not start at once (Resources)");
    world_release(&w);
}

/* A machine that could not start the task gives it back. */
static void a_withdrawn_start_is_none(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint32_t id = submit(&w, 20);
    assert_int_equal(world_pass(&w), 1);
    world_ended(&w, world_task(&w, id, 0)->launch_id, JOB_PENDING, 0);
    assert_waits(&w, id);
    w.now_us += 20 * SECOND;
    assert_int_equal(world_pass(&w), 0);
    assert_cancelled(&w, id, NULL);
    world_release(&w);
}

/* The list in memory no longer has the job, but that of a state that is loaded would. */
static void a_requeued_job_waits_as_any_other(void **unused)
{
    (void)unused;
    struct world w;
    build(&w);
    uint64_t launch_id = fill(&w);
    uint32_t id = submit(&w, 0);
    (void)world_pass(&w);
    assert_cancelled(&w, id, NULL);
    const struct job_ref ref = {id, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_REQUEUE, .jobs = {&ref, 1, false}}, NULL), 0);
    assert_false(state_is_undecided(row_of(&w, id)));
    assert_null(job_rare(row_of(&w, id))->cancel_reason);
    w.now_us += 1000 * SECOND;
    (void)world_pass(&w);
    assert_waits(&w, id);
    world_ended(&w, launch_id, JOB_COMPLETED, w.now_us);
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_once_is_the_first_pass), cmocka_unit_test(within_seconds_is_looked_at_in_time),
        cmocka_unit_test(a_late_pass_starts_none),   cmocka_unit_test(a_plan_decides_only_about_the_jobs_that_it_knows),
        cmocka_unit_test(a_withdrawn_start_is_none), cmocka_unit_test(a_requeued_job_waits_as_any_other),
    };
    return cmocka_run_group_tests_name("immediate jobs", tests, NULL, NULL);
}
