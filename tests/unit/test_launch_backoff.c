/* Launches that the machine cannot start: their tasks are pending again as if nothing had happened, and one probe at a
 * time finds out when the machine can start jobs again. */
#include "engine_world.h"

#include "engine/priorities.h"

#include <math.h>

enum { CPUS = 8, JOBS = 5 };

/* The launch could not be started. */
static void fail_launch(struct world *w, uint64_t launch_id, const char *detail)
{
    struct event event = {.kind = EVENT_ENDED,
                          .record = {.launch_id = launch_id, .at_us = w->now_us, .end = JOB_PENDING, .detail = detail}};
    outcome_clear(&w->out);
    assert_int_equal(world_apply(w, event, NULL), 0);
}

/* The launch that the last pass has sent. */
static uint64_t sent(const struct world *w)
{
    uint64_t id = 0;
    for (uint32_t i = 0; i < w->out.decisions.count; i++) {
        if (w->out.decisions.items[i].kind == DECIDE_START) id = w->out.decisions.items[i].launch_id;
    }
    return id;
}

static uint32_t job_of(const struct world *w, uint64_t launch_id)
{
    return w->s.tasks.items[map_get_u64(&w->s.task_by_launch, launch_id)].job_id;
}

static void world_of_jobs(struct world *w, uint32_t count)
{
    world_init(w, CPUS, 100000, 0);
    for (uint32_t i = 0; i < count; i++) (void)world_submit(w, "ann", NULL, 1);
}

/* Waits until the pass is due that the last one wants, and runs it. Returns the seconds until then. */
static int64_t wait_for_pass(struct world *w, uint32_t *out_starts)
{
    int64_t due_us = state_next_due_us(&w->s), from_us = w->now_us;
    assert_true(due_us != 0);
    if (due_us > w->now_us) w->now_us = due_us;
    *out_starts = world_pass(w);
    return (w->now_us - from_us) / SECOND;
}

/* A text says for people and for the log that launches have stopped, so it is never empty. */
static void a_failure_without_a_reason_has_a_text(void **unused)
{
    static const char *const details[] = {NULL, ""};
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        world_of_jobs(&w, 1);
        assert_int_equal(world_pass(&w), 1);
        fail_launch(&w, sent(&w), details[i]);
        assert_true(launch_backoff_is_waiting(&w.s.launch_backoff));
        assert_string_equal(w.s.launch_backoff.detail, "the launcher gave no reason");
        world_release(&w);
    }
}

/* Other jobs may rely on a start that was reported, also if the machine could not go on with it then. */
static void a_reported_start_meets_conditions_for_good(void **unused)
{
    (void)unused;
    struct world w;
    world_of_jobs(&w, 1);
    assert_int_equal(world_pass(&w), 1);
    uint64_t launch_id = sent(&w);
    struct event after = world_submission("ann", NULL, 1);
    after.submit = job_with(after.submit, "dependency=after:1");
    assert_int_equal(world_apply(&w, after, NULL), 0);
    assert_non_null(w.s.jobs.items[1].dependency);
    world_started(&w, launch_id);
    fail_launch(&w, launch_id, "no space");
    assert_true(idset_has(&w.s.jobs.items[0].pending, 0));
    assert_null(w.s.jobs.items[1].dependency);
    world_release(&w);
}

static void a_task_that_was_not_started_is_pending_as_before(void **unused)
{
    (void)unused;
    struct world w;
    world_of_jobs(&w, 1);
    const struct job before = w.s.jobs.items[0];
    assert_int_equal(world_pass(&w), 1);
    uint64_t launch_id = sent(&w);
    fail_launch(&w, launch_id, "no space");
    const struct job *j = &w.s.jobs.items[0];
    assert_int_equal(idset_count(&j->pending), 1);
    assert_int_equal(j->live_tasks, 0);
    assert_int_equal(j->restarted.count, 0);
    assert_true(j->begin_us == before.begin_us && j->accrue_us == before.accrue_us && j->ended_us == 0);
    assert_true(w.s.tasks.items[0].is_withdrawn);
    assert_true(w.s.assocs.items[j->assoc].usage == 0.0);
    assert_int_equal(w.out.decisions.count, 1);
    assert_int_equal(w.out.decisions.items[0].kind, DECIDE_ACKNOWLEDGE);
    assert_int_equal(job_pending_reason(&w.s, j->id, (double)NAN, w.now_us), PENDING_LAUNCH_FAILURE);
    assert_string_equal(w.s.launch_backoff.detail, "no space");
    fail_launch(&w, launch_id, "no space"); /* the report is repeated after a reconnection */
    assert_int_equal(idset_count(&w.s.jobs.items[0].pending), 1);
    world_release(&w);
}

static void one_launch_probes_for_all_after_doubled_waits(void **unused)
{
    (void)unused;
    static const int64_t waits_s[] = {1, 2, 4, 8, 16, 32, 60, 60};
    struct world w;
    uint32_t starts;
    world_of_jobs(&w, JOBS);
    assert_int_equal(world_pass(&w), JOBS);
    for (uint64_t id = 1; id <= JOBS; id++) fail_launch(&w, id, "no space");
    for (size_t i = 0; i < sizeof waits_s / sizeof *waits_s; i++) {
        assert_int_equal(world_pass(&w), 0);
        assert_int_equal(wait_for_pass(&w, &starts), waits_s[i]);
        assert_int_equal(starts, 1);
        uint64_t probe = sent(&w);
        w.s.pass_is_due = true;
        assert_int_equal(world_pass(&w), 0); /* while the probe is under way */
        assert_int_equal(state_next_due_us(&w.s), 0);
        fail_launch(&w, probe, "no space");
    }
    assert_int_equal(world_pass(&w), 0);
    (void)wait_for_pass(&w, &starts);
    world_started(&w, sent(&w));
    assert_false(launch_backoff_is_waiting(&w.s.launch_backoff));
    assert_int_equal(world_pass(&w), JOBS - 1);
    world_release(&w);
}

/* They were sent before the shortage was known. */
static void launches_that_are_under_way_change_nothing(void **unused)
{
    (void)unused;
    struct world w;
    world_of_jobs(&w, JOBS);
    assert_int_equal(world_pass(&w), JOBS);
    fail_launch(&w, 1, "no space");
    int64_t retry_us = w.s.launch_backoff.retry_us;
    w.now_us += SECOND / 2;
    fail_launch(&w, 2, "no descriptors");
    world_started(&w, 3);
    assert_true(w.s.launch_backoff.retry_us == retry_us && w.s.launch_backoff.wait_us == SECOND);
    assert_string_equal(w.s.launch_backoff.detail, "no space");
    world_release(&w);
}

/* The shortage may be of that job alone. */
static void the_next_probe_is_of_another_job(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t starts;
    world_of_jobs(&w, 3);
    assert_int_equal(world_pass(&w), 3);
    for (uint64_t id = 1; id <= 3; id++) fail_launch(&w, id, "no space");
    assert_int_equal(world_pass(&w), 0);
    (void)wait_for_pass(&w, &starts);
    uint32_t first = job_of(&w, sent(&w));
    fail_launch(&w, sent(&w), "no space");
    assert_int_equal(world_pass(&w), 0);
    (void)wait_for_pass(&w, &starts);
    assert_int_equal(starts, 1);
    assert_int_not_equal(job_of(&w, sent(&w)), first);
    world_release(&w);
}

static void the_only_job_is_probed_again(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t starts = 0;
    world_of_jobs(&w, 1);
    assert_int_equal(world_pass(&w), 1);
    fail_launch(&w, 1, "no space");
    assert_int_equal(world_pass(&w), 0);
    (void)wait_for_pass(&w, &starts);
    fail_launch(&w, sent(&w), "no space");
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(wait_for_pass(&w, &starts), 2);
    if (starts == 0) assert_int_equal(wait_for_pass(&w, &starts), 0);
    assert_int_equal(starts, 1);
    world_release(&w);
}

/* It ends without a start, so it says nothing about the machine. */
static void a_cancelled_probe_is_followed_by_another_one(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t starts;
    world_of_jobs(&w, 2);
    assert_int_equal(world_pass(&w), 2);
    for (uint64_t id = 1; id <= 2; id++) fail_launch(&w, id, "no space");
    assert_int_equal(world_pass(&w), 0);
    (void)wait_for_pass(&w, &starts);
    world_ended(&w, sent(&w), JOB_CANCELLED, 0);
    assert_true(launch_backoff_is_waiting(&w.s.launch_backoff));
    assert_int_equal(world_pass(&w), 1);
    world_release(&w);
}

static void a_cancelled_task_that_was_not_started_ends(void **unused)
{
    (void)unused;
    struct world w;
    world_of_jobs(&w, 1);
    assert_int_equal(world_pass(&w), 1);
    struct job_ref ref = {1, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
    fail_launch(&w, 1, "no space");
    assert_int_equal(w.s.tasks.items[0].state, JOB_CANCELLED);
    assert_true(w.s.jobs.items[0].ended_us != 0);
    world_release(&w);
}

/* The program could not be executed after the start had been reported. What was charged meanwhile stays charged, so the
 * attempt keeps its row. */
static void an_attempt_that_was_charged_counts(void **unused)
{
    (void)unused;
    for (int is_charged = 0; is_charged <= 1; is_charged++) {
        struct world w;
        world_of_jobs(&w, 1);
        assert_int_equal(world_pass(&w), 1);
        world_started(&w, 1);
        w.now_us += SECOND;
        if (is_charged) world_set(&w, "PriorityDecayHalfLife", "1-0");
        fail_launch(&w, 1, "no memory");
        assert_int_equal(w.s.tasks.items[0].state, JOB_REQUEUED);
        assert_int_equal(w.s.tasks.items[0].is_withdrawn, !is_charged);
        assert_int_equal(w.s.jobs.items[0].restarted.count, is_charged);
        assert_int_equal(idset_count(&w.s.jobs.items[0].pending), 1);
        world_release(&w);
    }
}

/* What a launch that never began lets start: nothing. An array has begun once all its tasks have. */
static void jobs_wait_for_a_begin_not_for_a_launch(void **unused)
{
    (void)unused;
    static const char *const arrays[] = {"", "array=0-1"};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        uint32_t first = 0, second = 0, third = 0;
        world_init(&w, CPUS, 100000, 0);
        struct event job = world_submission("ann", NULL, 1);
        job.submit = job_with(job.submit, "%s", arrays[i]);
        assert_int_equal(world_apply(&w, job, &first), 0);
        job = world_submission("ann", NULL, 1);
        job.submit = job_with(job.submit, "dependency=after:%u", first);
        assert_int_equal(world_apply(&w, job, &second), 0);
        job.submit = job_with(world_submission("ann", NULL, 1).submit, "dependency=after:%u+1", first);
        assert_int_equal(world_apply(&w, job, &third), 0);
        uint32_t tasks = 1 + (uint32_t)i, starts = 0;
        assert_int_equal(world_pass(&w), tasks);
        for (uint32_t k = 0; k < tasks; k++) fail_launch(&w, 1 + k, "no space");
        for (int k = 0; k < 2 && starts == 0; k++)
            (void)wait_for_pass(&w, &starts); /* first it looks for another job */
        assert_int_equal(starts, 1);
        assert_int_equal(job_of(&w, sent(&w)), first);
        world_started(&w, sent(&w));
        if (tasks == 2) {
            assert_int_equal(world_pass(&w), 1);
            assert_int_equal(job_of(&w, sent(&w)), first);
            world_started(&w, sent(&w));
        }
        int64_t begin_us = w.now_us;
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(job_of(&w, sent(&w)), second);
        world_started(&w, sent(&w));
        w.now_us = begin_us + 60 * SECOND;
        assert_int_equal(world_pass(&w), 1);
        assert_int_equal(job_of(&w, sent(&w)), third);
        world_release(&w);
    }
}

/* One task of an array is cancelled before it begins: the other one's begin is enough. */
static void a_cancelled_launch_is_not_waited_for(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t first = 0, second = 0;
    world_init(&w, CPUS, 100000, 0);
    struct event job = world_submission("ann", NULL, 1);
    job.submit = job_with(job.submit, "array=0-1");
    assert_int_equal(world_apply(&w, job, &first), 0);
    job.submit = job_with(world_submission("ann", NULL, 1).submit, "dependency=after:%u", first);
    assert_int_equal(world_apply(&w, job, &second), 0);
    assert_int_equal(world_pass(&w), 2);
    world_started(&w, 1);
    assert_int_equal(world_pass(&w), 0);
    const struct job_ref ref = {first, 1};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {.refs = &ref, .count = 1}}, NULL),
                     0);
    world_ended(&w, 2, JOB_CANCELLED, 0);
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(job_of(&w, sent(&w)), second);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_that_was_not_started_is_pending_as_before),
        cmocka_unit_test(a_failure_without_a_reason_has_a_text),
        cmocka_unit_test(a_reported_start_meets_conditions_for_good),
        cmocka_unit_test(one_launch_probes_for_all_after_doubled_waits),
        cmocka_unit_test(launches_that_are_under_way_change_nothing),
        cmocka_unit_test(the_next_probe_is_of_another_job),
        cmocka_unit_test(the_only_job_is_probed_again),
        cmocka_unit_test(a_cancelled_probe_is_followed_by_another_one),
        cmocka_unit_test(a_cancelled_task_that_was_not_started_ends),
        cmocka_unit_test(an_attempt_that_was_charged_counts),
        cmocka_unit_test(jobs_wait_for_a_begin_not_for_a_launch),
        cmocka_unit_test(a_cancelled_launch_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
