/* The time limit of a job that runs: who may change it, what the executor is told, and which reserves, plans and
 * waiting jobs follow. Recorded: Slurm 22.05.8, cases 71, 73 and 90 (conformance/slurm-limits). */
#include "policy_world.h"

#include <math.h>

#include "engine/limit_counts.h"
#include "engine/live_cluster.h"
#include "engine/ranking.h"

static const struct actor ann = {1001, 1001, "ann", ROLE_USER};

static uint32_t submit(struct world *w, const char *terms)
{
    struct event job = world_job("ann");
    job.submit = job_with(job.submit, "%s", terms);
    return world_take(w, job);
}

/* Submits a job that starts at once. */
static uint32_t start(struct world *w, const char *terms)
{
    uint32_t id = submit(w, terms);
    assert_int_equal(world_pass(w), 1);
    world_run(w, id, 0);
    return id;
}

static struct event update(struct actor actor, uint32_t id, const char *terms)
{
    struct event event = world_update(id, job_text("%s", terms));
    event.actor = actor;
    return event;
}

static void must_update(struct world *w, struct actor actor, uint32_t id, const char *terms)
{
    outcome_clear(&w->out);
    if (world_apply(w, update(actor, id, terms), NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

static int64_t limit_of(const struct world *w, uint32_t id)
{
    return w->s.jobs.items[state_find_job(&w->s, id)].time_limit_s;
}

/* The limits that the last event sent to the executor, as "task limit, task limit". */
static const char *sent(const struct world *w)
{
    static char text[TEXT_MAX];
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < w->out.decisions.count; i++) {
        const struct decision *d = &w->out.decisions.items[i];
        if (d->kind != DECIDE_TIME_LIMIT) continue;
        uint32_t task = map_get_u64(&w->s.task_by_launch, d->launch_id);
        assert_int_equal(w->s.tasks.items[task].task_id, d->task_id);
        assert_int_equal(w->s.tasks.items[task].job_id, d->job_id);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%u %lld", length > 0 ? ", " : "", d->task_id,
                                   (long long)d->time_limit_s);
    }
    return text;
}

static void the_executor_gets_a_new_limit(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    uint32_t id = start(&w, "time_limit_s=600");
    must_update(&w, world_operator, id, "time_limit_s=1200");
    assert_string_equal(sent(&w), "0 1200");
    assert_int_equal(limit_of(&w, id), 1200);
    must_update(&w, world_operator, id, "time_limit_s=1200|nice=3"); /* the same limit */
    assert_string_equal(sent(&w), "");
    w.now_us += 300 * SECOND;
    must_update(&w, world_operator, id, "time_limit_s=60"); /* it has passed */
    assert_string_equal(sent(&w), "0 60");
    assert_int_equal(world_task(&w, id, 0)->state, JOB_RUNNING);
    uint64_t launch_id = world_task(&w, id, 0)->launch_id;
    world_ended(&w, launch_id, JOB_TIMEOUT, w.now_us - 300 * SECOND);
    assert_int_equal(w.s.tasks.items[0].state, JOB_TIMEOUT);
    world_release(&w);
}

static void users_only_lower_the_limit_of_a_job_that_has_started(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    uint32_t id = submit(&w, "time_limit_s=600");
    must_update(&w, ann, id, "time_limit_s=1200"); /* it waits */
    assert_string_equal(sent(&w), "");
    assert_int_equal(world_pass(&w), 1);
    world_refuses(&w, update(ann, id, "time_limit_s=1201"), ERR_DENIED,
                  "time_limit_s: only an operator may raise it from 00:20:00 to 00:20:01 after the job has started");
    must_update(&w, ann, id, "time_limit_s=1200|nice=1");
    must_update(&w, ann, id, "time_limit_s=300");
    assert_string_equal(sent(&w), "0 300"); /* also before its start is known */
    must_update(&w, world_operator, id, "time_limit_s=1201");
    assert_string_equal(sent(&w), "0 1201");
    world_release(&w);
}

static void all_tasks_of_an_array_follow(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 3, 100000, 0);
    uint32_t other = start(&w, "time_limit_s=600"), id = submit(&w, "cpus=1|time_limit_s=600|array=0-3");
    assert_int_equal(world_pass(&w), 2);
    world_end(&w, id, 0);
    assert_int_equal(world_pass(&w), 1);
    must_update(&w, world_operator, id, "time_limit_s=900"); /* 0 has ended, 1 and 2 run, 3 waits */
    assert_string_equal(sent(&w), "1 900, 2 900");
    world_end(&w, id, 1);
    assert_int_equal(world_pass(&w), 1);
    assert_string_equal(sent(&w), ""); /* task 3 starts with it */
    assert_int_equal(limit_of(&w, id), 900);
    assert_int_equal(limit_of(&w, other), 600);
    world_release(&w);
}

/* What an order lost with the daemon or the launcher is sent again: also to a launch whose keeper has not written a
 * record yet, and not to one that is being ended. */
static void limits_are_sent_again_after_a_connection(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    uint32_t known = start(&w, "time_limit_s=600"), cancelled = start(&w, "time_limit_s=600");
    uint32_t unknown = submit(&w, "time_limit_s=600");
    assert_int_equal(world_pass(&w), 1);
    must_update(&w, world_operator, known, "time_limit_s=700");
    must_update(&w, world_operator, unknown, "time_limit_s=800");
    const struct job_ref ref = {cancelled, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {&ref, 1, false}}, NULL), 0);
    const uint64_t launches[] = {world_task(&w, known, 0)->launch_id, world_task(&w, cancelled, 0)->launch_id};
    outcome_clear(&w.out);
    const struct event synced = {.kind = EVENT_SYNCED, .synced = {launches, 2, "boot-1", w.now_us, NULL}};
    assert_int_equal(world_apply(&w, synced, NULL), 0);
    const struct decision *d = w.out.decisions.items;
    assert_int_equal(w.out.decisions.count, 5);
    assert_true(d[0].kind == DECIDE_TIME_LIMIT && d[0].job_id == known && d[0].time_limit_s == 700);
    assert_true(d[1].kind == DECIDE_SUSPENSION && d[1].job_id == known && !d[1].is_suspended);
    assert_true(d[2].kind == DECIDE_END && d[2].job_id == cancelled);
    assert_true(d[3].kind == DECIDE_START && d[3].job_id == unknown);
    assert_true(d[4].kind == DECIDE_TIME_LIMIT && d[4].job_id == unknown && d[4].time_limit_s == 800);
    world_release(&w);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static double reserved_cpu_min(struct world *w)
{
    const struct limit_counts *counts = limit_counts_update(&w->s, w->now_us);
    return limit_counter_reserved(counts, limit_counts_of_assoc(counts, 0), 0, w->now_us) / 60.0;
}

/* Case 73. */
static void reserves_follow(void **unused)
{
    (void)unused;
    struct world w;
    static const struct event_pair limit = {"GrpTRESRunMins", "cpu=100"};
    world_init(&w, 8, 100000, 0);
    world_settings(&w, "AccountingStorageEnforce=associations,limits,qos reservations=none");
    world_user(&w, "phys", 1, "ann");
    struct event limited = {.kind = EVENT_ACCOUNT_MODIFY,
                            .account = {"phys", NULL, SHARES_UNSET, PRIORITY_UNSET, false, &limit, 1}};
    assert_int_equal(world_apply(&w, limited, NULL), 0);
    uint32_t first = start(&w, "cpus=4|time_limit_s=600");
    assert_true(fabs(reserved_cpu_min(&w) - 40) < 1e-9);
    must_update(&w, world_operator, first, "time_limit_s=1200");
    assert_true(fabs(reserved_cpu_min(&w) - 80) < 1e-9);
    uint32_t second = submit(&w, "cpus=3|time_limit_s=600");
    assert_int_equal(world_pass(&w), 0);
    must_update(&w, world_operator, first, "time_limit_s=300");
    assert_true(fabs(reserved_cpu_min(&w) - 20) < 1e-9);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, second, 0));
    w.now_us += 400 * SECOND; /* what runs longer reserves nothing, until it may run longer */
    assert_true(fabs(reserved_cpu_min(&w) - (3 * 200 / 60.0)) < 1e-9);
    must_update(&w, world_operator, first, "time_limit_s=700");
    assert_true(fabs(reserved_cpu_min(&w) - (3 * 200 / 60.0 + 4 * 300 / 60.0)) < 1e-9);
    world_release(&w);
}

static void a_longer_limit_that_a_user_asks_for_is_refused_as_in_a_submission(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_settings(&w, "AccountingStorageEnforce=associations,limits,qos");
    world_object(&w, OBJECT_QOS, "short", "MaxWall=20|flags=DenyOnLimit");
    world_object(&w, OBJECT_QOS, "normal", "MaxWall=20");
    uint32_t denied = submit(&w, "qos=short|time_limit_s=600"), waiting = submit(&w, "time_limit_s=600");
    world_refuses(&w, update(ann, denied, "time_limit_s=1260"), ERR_TOO_LARGE, "(QOSMaxWallDurationPerJobLimit)");
    must_update(&w, ann, denied, "time_limit_s=1200");
    must_update(&w, world_operator, denied, "time_limit_s=1260");
    must_update(&w, ann, denied, "time_limit_s=1230");  /* shorter */
    must_update(&w, ann, waiting, "time_limit_s=1260"); /* accepted, and waits */
    assert_int_equal(world_pass(&w), 0);
    must_update(&w, world_operator, waiting, "time_limit_s=1261");
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, waiting, 0));
    world_release(&w);
}

static void max_time_holds_and_the_size_of_hosts_does_not(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    world_object(&w, OBJECT_PARTITION, "main", "MaxTime=20");
    uint32_t id = start(&w, "cpus=4|time_limit_s=600");
    world_set(&w, "host_cpus", "2");
    must_update(&w, world_operator, id, "time_limit_s=1200");
    world_refuses(&w, update(world_operator, id, "time_limit_s=1201"), ERR_TOO_LARGE,
                  "time_limit_s: '00:20:01' exceeds MaxTime of partition 'main': 00:20:00");
    world_set(&w, "EnforcePartLimits", "NO");
    must_update(&w, world_operator, id, "time_limit_s=1201");
    assert_string_equal(sent(&w), "0 1201");
    world_release(&w);
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

/* 3 of 4 CPUs run until a limit, and a job waits for all 4; what ends before its start may start. */
static void reservations_and_backfill_follow(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 100000, 0);
    uint32_t running = start(&w, "cpus=3|time_limit_s=100");
    (void)submit(&w, "cpus=4|time_limit_s=50");
    uint32_t small = submit(&w, "cpus=1|time_limit_s=150");
    assert_int_equal(world_pass(&w), 0);
    must_update(&w, world_operator, running, "time_limit_s=149");
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(state_next_due_us(&w.s), w.now_us + USAGE_WAIT_US);
    uint32_t made = w.s.live_cluster->made;
    must_update(&w, world_operator, running, "time_limit_s=150");
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_task(&w, small, 0));
    assert_int_equal(w.s.live_cluster->made, made);
    must_update(&w, world_operator, running, "time_limit_s=40");
    must_update(&w, world_operator, small, "time_limit_s=30");
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(live_cluster_next_end_us(w.s.live_cluster), w.now_us + 30 * SECOND);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_executor_gets_a_new_limit),
        cmocka_unit_test(users_only_lower_the_limit_of_a_job_that_has_started),
        cmocka_unit_test(all_tasks_of_an_array_follow),
        cmocka_unit_test(limits_are_sent_again_after_a_connection),
        cmocka_unit_test(reserves_follow),
        cmocka_unit_test(a_longer_limit_that_a_user_asks_for_is_refused_as_in_a_submission),
        cmocka_unit_test(max_time_holds_and_the_size_of_hosts_does_not),
        cmocka_unit_test(reservations_and_backfill_follow),
    };
    return cmocka_run_group_tests_name("engine: time limit", tests, NULL, NULL);
}
