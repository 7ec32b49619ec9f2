/* Holds of single tasks of an array (engine/job_hold.c): who may release them, and what stays held. */
#include "engine_world.h"

#include "engine/job_waits.h"
#include "engine/task_delays.h"

enum { TASKS = 6 };

static const struct actor ANN = {.role = ROLE_USER, .user = "ann"}, BOSS = {.role = ROLE_OPERATOR, .user = "boss"};

/* One CPU, and an array of tasks 0 to 5. */
static uint32_t build(struct world *w)
{
    uint32_t id = 0;
    world_init(w, 1, 1000, 0);
    world_user(w, "phys", 1, "ann");
    struct event event = world_submission("ann", NULL, 1);
    event.submit = job_with(event.submit, "array=0-%d", TASKS - 1);
    assert_int_equal(world_apply(w, event, &id), 0);
    return id;
}

static const struct job *job_of(struct world *w, uint32_t id)
{
    return &w->s.jobs.items[state_find_job(&w->s, id)];
}

/* task NONE: the job. */
static struct event change(enum event_kind kind, const struct actor *actor, const struct job_ref *ref)
{
    return (struct event){.kind = kind, .actor = *actor, .jobs = {.refs = ref, .count = 1}};
}

static void apply_to(struct world *w, enum event_kind kind, const struct actor *actor, uint32_t id, uint32_t task)
{
    const struct job_ref ref = {id, task};
    assert_int_equal(world_apply(w, change(kind, actor, &ref), NULL), 0);
}

static void refuses(struct world *w, enum event_kind kind, const struct actor *actor, uint32_t id, uint32_t task,
                    enum err_code code, const char *text)
{
    const struct job_ref ref = {id, task};
    world_refuses(w, change(kind, actor, &ref), code, text);
}

/* "held_by_user:1;held:2", and the tasks that may start. */
static void assert_holds(struct world *w, uint32_t id, const char *holds, const char *ready)
{
    struct buf text = {0};
    buf_add_text(&text, "");
    task_delays_format(job_of(w, id), &text);
    assert_string_equal(text.text, holds);
    buf_clear(&text);
    buf_add_text(&text, "");
    idset_format(job_waits_ready_tasks(job_of(w, id)), &text);
    assert_string_equal(text.text, ready);
    buf_release(&text);
}

static void held_tasks_do_not_start(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t id = build(&w);
    apply_to(&w, EVENT_HOLD, &ANN, id, 0);
    apply_to(&w, EVENT_HOLD, &ANN, id, 3);
    assert_holds(&w, id, "held_by_user:0,3", "1-2,4-5");
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, id, 1));
    refuses(&w, EVENT_HOLD, &ANN, id, 1, ERR_CONFLICT, "task 1_1 has started; only pending tasks can be held");
    refuses(&w, EVENT_RELEASE, &ANN, id, 9, ERR_NOT_FOUND, "task 1_9 is not pending or running");
    apply_to(&w, EVENT_RELEASE, &ANN, id, 0);
    assert_holds(&w, id, "held_by_user:3", "0,2,4-5");
    apply_to(&w, EVENT_CANCEL, &ANN, id, 3);
    assert_holds(&w, id, "", "0,2,4-5");
    world_release(&w);
}

static void an_operators_hold_is_an_operators_to_release(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t id = build(&w);
    apply_to(&w, EVENT_HOLD, &ANN, id, 1);
    apply_to(&w, EVENT_HOLD, &BOSS, id, 1);
    apply_to(&w, EVENT_HOLD, &BOSS, id, 2);
    apply_to(&w, EVENT_HOLD, &ANN, id, 2);
    assert_holds(&w, id, "held:1-2", "0,3-5");
    refuses(&w, EVENT_RELEASE, &ANN, id, 1, ERR_DENIED,
            "task 1_1 is held by an operator; only an operator can release it");
    refuses(&w, EVENT_RELEASE, &ANN, id, NONE, ERR_DENIED,
            "job 1 has tasks that are held by an operator, or because they were requeued too often; only an operator "
            "can release them");
    apply_to(&w, EVENT_HOLD, &ANN, id, 3);
    apply_to(&w, EVENT_RELEASE, &ANN, id, NONE); /* of what may be released */
    assert_holds(&w, id, "held:1-2", "0,3-5");
    apply_to(&w, EVENT_RELEASE, &BOSS, id, 2);
    assert_holds(&w, id, "held:1", "0,2-5");
    apply_to(&w, EVENT_RELEASE, &BOSS, id, NONE);
    assert_holds(&w, id, "", "0-5");
    world_release(&w);
}

static void a_released_task_leaves_the_others_of_its_job_held(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t id = build(&w);
    apply_to(&w, EVENT_HOLD, &BOSS, id, 5);
    apply_to(&w, EVENT_HOLD, &ANN, id, NONE);
    apply_to(&w, EVENT_RELEASE, &ANN, id, 2);
    assert_false(job_of(&w, id)->is_held);
    assert_holds(&w, id, "held_by_user:0-1,3-4;held:5", "2");
    world_release(&w);
}

static void a_quarantine_is_released_by_jobs(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t id = build(&w);
    apply_to(&w, EVENT_HOLD, &ANN, id, 4);
    struct job *j = &w.s.jobs.items[state_find_job(&w.s, id)];
    j->is_held = j->is_held_by_operator = true;
    j->quarantine = QUARANTINE_ALONE;
    refuses(&w, EVENT_RELEASE, &BOSS, id, 2, ERR_CONFLICT,
            "task 1_2 is of a job that a quarantine holds; release job 1");
    struct event all = {.kind = EVENT_RELEASE, .actor = BOSS, .jobs = {.all = true}};
    assert_int_equal(world_apply(&w, all, NULL), 0);
    assert_false(job_of(&w, id)->is_held);
    assert_holds(&w, id, "held_by_user:4", "0-3,5");
    world_release(&w);
}

/* A held task has no age while it is the only one that waits. */
static void the_age_begins_again_with_a_release(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t id = build(&w);
    for (uint32_t task = 0; task < TASKS; task++) apply_to(&w, EVENT_HOLD, &ANN, id, task);
    assert_int_equal(job_of(&w, id)->accrue_us, 0);
    w.now_us += 60 * US_PER_S;
    apply_to(&w, EVENT_RELEASE, &ANN, id, 2);
    assert_int_equal(job_of(&w, id)->accrue_us, w.now_us);
    w.now_us += 60 * US_PER_S;
    apply_to(&w, EVENT_RELEASE, &ANN, id, 3);
    assert_int_equal(job_of(&w, id)->accrue_us, w.now_us - 60 * US_PER_S);
    world_release(&w);
}

/* It keeps the delay of its requeue beside its hold. */
static void a_requeued_task_is_held(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t id = build(&w);
    world_set(&w, "requeue_delay_s", "60");
    assert_int_equal(world_pass(&w), 1);
    uint64_t launch_id = world_task(&w, id, 0)->launch_id;
    int64_t started_us = w.now_us;
    world_started(&w, launch_id);
    const struct job_ref ref = {id, 0};
    struct event requeue = change(EVENT_REQUEUE, &ANN, &ref);
    requeue.jobs.holds = true;
    assert_int_equal(world_apply(&w, requeue, NULL), 0);
    world_ended(&w, launch_id, JOB_CANCELLED, started_us);
    assert_int_equal(task_delays_hold_of(job_of(&w, id), 0), TASK_HOLD_BY_USER);
    assert_false(job_of(&w, id)->is_held);
    apply_to(&w, EVENT_RELEASE, &ANN, id, 0);
    assert_false(idset_has(job_waits_ready_tasks(job_of(&w, id)), 0));
    assert_true(task_delays_has_task(job_of(&w, id), 0));
    world_release(&w);
}

static void requeue_task_of(struct world *w, const struct actor *actor, uint32_t id, uint32_t task)
{
    apply_to(w, EVENT_REQUEUE, actor, id, task);
}

/* Who may not release a task cannot do so by cancelling and requeuing it. */
static void a_hold_of_an_operator_outlives_a_cancellation(void **unused)
{
    (void)unused;
    struct world w;
    uint32_t id = build(&w);
    apply_to(&w, EVENT_HOLD, &BOSS, id, 1);
    apply_to(&w, EVENT_HOLD, &ANN, id, 2);
    world_set(&w, "requeue_delay_s", "0");
    apply_to(&w, EVENT_CANCEL, &ANN, id, 1);
    apply_to(&w, EVENT_CANCEL, &ANN, id, 2);
    requeue_task_of(&w, &ANN, id, 1);
    requeue_task_of(&w, &ANN, id, 2);
    assert_holds(&w, id, "held:1", "0,2-5");
    apply_to(&w, EVENT_CANCEL, &ANN, id, 1);
    requeue_task_of(&w, &BOSS, id, 1);
    assert_holds(&w, id, "", "0-5");
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_tasks_do_not_start),
        cmocka_unit_test(an_operators_hold_is_an_operators_to_release),
        cmocka_unit_test(a_released_task_leaves_the_others_of_its_job_held),
        cmocka_unit_test(a_quarantine_is_released_by_jobs),
        cmocka_unit_test(the_age_begins_again_with_a_release),
        cmocka_unit_test(a_requeued_task_is_held),
        cmocka_unit_test(a_hold_of_an_operator_outlives_a_cancellation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
