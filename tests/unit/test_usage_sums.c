/* Usage that limits count: wall time and TRES of associations and QOS, also of the QOS of a partition, computed by hand
 * from docs/formulas.md 1.2 and 3.4; read from the rows and from the sums that are kept. */
#include "engine_world.h"

#include <math.h>

#include "engine/usage_sums.h"

enum { HOUR_S = 3600 };

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected))) fail_msg("%.17g is not %.17g", found, expected);
}

/* 16 CPUs; no usage decays unless a test sets a half-life. ann is in physics, eve in optics below it. */
static void furnish(struct world *w)
{
    world_init(w, 16, 65536, 0);
    world_set(w, "halflife_s", "0");
    world_user(w, "physics", 1, "ann");
    const struct event optics = {.kind = EVENT_ACCOUNT_ADD,
                                 .account = {"optics", "physics", SHARES_UNSET, PRIORITY_UNSET, false}};
    assert_int_equal(world_apply(w, optics, NULL), 0);
    world_user(w, "optics", 1, "eve");
    world_object(w, OBJECT_QOS, "double", "usage_factor=2");
    world_object(w, OBJECT_QOS, "free", "usage_factor=0");
    world_object(w, OBJECT_QOS, "pool", "");
    world_object(w, OBJECT_PARTITION, "pooled", "QOS=pool");
}

/* Submits and starts a job, whose start is known or not. Returns its launch id. */
static uint64_t run(struct world *w, const char *user, uint32_t cpus, const char *qos, const char *partition)
{
    struct event event = world_submission(user, NULL, cpus);
    uint32_t id;
    if (qos != NULL) event.submit = job_with(event.submit, "qos=%s", qos);
    if (partition != NULL) event.submit = job_with(event.submit, "partitions=%s", partition);
    if (world_apply(w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    assert_int_equal(world_pass(w), 1);
    return world_task(w, id, 0)->launch_id;
}

static uint64_t start(struct world *w, const char *user, uint32_t cpus, const char *qos, const char *partition)
{
    uint64_t launch = run(w, user, cpus, qos, partition);
    world_started(w, launch);
    return launch;
}

static void end(struct world *w, uint64_t launch)
{
    world_ended(w, launch, JOB_COMPLETED, w->now_us);
}

static void wait_for(struct world *w, int64_t seconds)
{
    w->now_us += seconds * SECOND;
}

static void must_apply(struct world *w, struct event event)
{
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* The usage of an account (user NULL) or a user with everything below, from the sums; the rows have the same. */
static double below(struct world *w, const char *account, const char *user, uint32_t kind)
{
    struct arena arena = {0};
    uint32_t assoc = state_find_assoc(&w->s, account, user);
    assert_int_not_equal(assoc, NONE);
    double usage = usage_sums_below(&w->s, assoc, kind, w->now_us);
    double rows = usage_read_below(&w->s, kind, w->now_us, &arena)[w->s.node_of.items[assoc]];
    if (!(fabs(usage - rows) <= 1e-9 * rows + 1e-9)) fail_msg("the sum is %.17g, the rows have %.17g", usage, rows);
    arena_release(&arena);
    return usage;
}

static double of_qos(struct world *w, const char *name, uint32_t kind)
{
    uint32_t qos = state_find_object(&w->s, OBJECT_QOS, name);
    double rows[USAGE_KIND_COUNT], usage = usage_sums_qos(&w->s, qos, kind, w->now_us);
    usage_read_qos(&w->s, qos, w->now_us, rows);
    if (!(fabs(usage - rows[kind]) <= 1e-9 * rows[kind] + 1e-9))
        fail_msg("the sum is %.17g, the rows have %.17g", usage, rows[kind]);
    return usage;
}

/* --- what is charged ---------------------------------------------------------------------------------------------- */

/* The example of docs/formulas.md 3.4. */
static void time_and_tres_are_charged_while_a_job_runs_and_when_it_ends(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "3600");
    world_object(&w, OBJECT_QOS, "double", "flags=NoDecay");
    uint64_t launch = start(&w, "eve", 4, "double", NULL);
    wait_for(&w, HOUR_S);
    double hour = HOUR_S / M_LN2 * 0.5;
    for (int has_ended = 0; has_ended < 2; has_ended++) {
        assert_close(below(&w, "root", NULL, USAGE_WALL), 2 * hour);
        assert_float_equal(below(&w, "physics", NULL, USAGE_WALL), 5193.702, 1e-3);
        assert_close(below(&w, "optics", "eve", TRES_CPU), 2 * 4 * hour);
        assert_close(below(&w, "optics", "eve", TRES_BILLING), 2 * 4 * hour);
        assert_close(below(&w, "optics", NULL, TRES_NODE), 2 * hour);
        assert_true(below(&w, "physics", "ann", TRES_CPU) == 0.0);
        assert_close(of_qos(&w, "double", USAGE_WALL), 2 * HOUR_S);
        assert_close(of_qos(&w, "double", TRES_CPU), 2 * 4 * HOUR_S);
        assert_close(of_qos(&w, "double", TRES_BILLING), 2 * 4 * HOUR_S);
        if (!has_ended) end(&w, launch);
    }
    wait_for(&w, HOUR_S);
    assert_close(below(&w, "physics", NULL, USAGE_WALL), hour);
    assert_close(of_qos(&w, "double", USAGE_WALL), 2 * HOUR_S);
    world_release(&w);
}

static void a_factor_of_0_charges_nothing(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint64_t launch = start(&w, "ann", 4, "free", "pooled");
    wait_for(&w, 100);
    for (int has_ended = 0; has_ended < 2; has_ended++) {
        assert_true(below(&w, "root", NULL, USAGE_WALL) == 0.0 && below(&w, "root", NULL, TRES_CPU) == 0.0);
        assert_true(of_qos(&w, "free", USAGE_WALL) == 0.0 && of_qos(&w, "pool", TRES_CPU) == 0.0);
        if (!has_ended) end(&w, launch);
    }
    world_release(&w);
}

/* --- the QOS of a partition --------------------------------------------------------------------------------------- */

static void the_factor_of_the_job_s_qos_counts_for_both(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_object(&w, OBJECT_QOS, "pool", "usage_factor=7");
    uint64_t launch = start(&w, "ann", 4, "double", "pooled");
    wait_for(&w, 100);
    for (int has_ended = 0; has_ended < 2; has_ended++) {
        assert_close(of_qos(&w, "double", TRES_CPU), 2 * 400);
        assert_close(of_qos(&w, "pool", TRES_CPU), 2 * 400);
        assert_close(of_qos(&w, "pool", USAGE_WALL), 2 * 100);
        assert_close(of_qos(&w, "pool", TRES_BILLING), 2 * 400);
        assert_close(below(&w, "physics", "ann", TRES_CPU), 2 * 400);
        if (!has_ended) end(&w, launch);
    }
    world_release(&w);
}

static void the_same_qos_is_charged_once(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint64_t launch = start(&w, "ann", 4, "pool", "pooled");
    wait_for(&w, 100);
    assert_close(of_qos(&w, "pool", TRES_CPU), 400);
    end(&w, launch);
    assert_close(of_qos(&w, "pool", TRES_CPU), 400);
    assert_close(of_qos(&w, "pool", USAGE_WALL), 100);
    world_release(&w);
}

/* A task keeps the QOS that its partition had when it started. */
static void another_qos_of_the_partition_is_for_later_tasks(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint64_t first = start(&w, "ann", 1, NULL, "pooled");
    wait_for(&w, 50);
    world_object(&w, OBJECT_PARTITION, "pooled", "QOS=double");
    uint64_t second = start(&w, "ann", 2, NULL, "pooled");
    world_object(&w, OBJECT_PARTITION, "pooled", "QOS=");
    wait_for(&w, 50);
    end(&w, first);
    end(&w, second);
    assert_close(of_qos(&w, "pool", USAGE_WALL), 100);
    assert_close(of_qos(&w, "double", USAGE_WALL), 50);
    assert_close(of_qos(&w, "normal", USAGE_WALL), 150);
    assert_close(of_qos(&w, "normal", TRES_CPU), 200);
    world_release(&w);
}

static void the_qos_of_a_running_task_cannot_be_deleted(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint64_t launch = start(&w, "ann", 1, NULL, "pooled");
    world_object(&w, OBJECT_PARTITION, "pooled", "QOS=");
    struct event gone = world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_QOS, "pool", "");
    world_refuses(&w, gone, ERR_CONFLICT, "qos 'pool' is in use by 1 live job");
    end(&w, launch);
    must_apply(&w, gone);
    world_release(&w);
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

/* All usages of a QOS are kept when its flag changes, also those of tasks that it has by their partition. */
static void no_decay_concerns_all_usage_of_a_qos(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "100");
    start(&w, "ann", 4, "double", "pooled");
    wait_for(&w, 100);
    double fading = 2 * 100 / M_LN2 * 0.5;
    world_object(&w, OBJECT_QOS, "pool", "flags=NoDecay");
    assert_close(of_qos(&w, "pool", USAGE_WALL), fading);
    wait_for(&w, 100);
    assert_close(of_qos(&w, "pool", USAGE_WALL), fading + 200);
    assert_close(of_qos(&w, "pool", TRES_CPU), 4 * (fading + 200));
    assert_close(of_qos(&w, "double", USAGE_WALL), fading * 1.5);
    world_object(&w, OBJECT_QOS, "pool", "flags=");
    wait_for(&w, 100);
    assert_close(of_qos(&w, "pool", USAGE_WALL), (fading + 200) / 2 + fading);
    assert_close(of_qos(&w, "pool", TRES_BILLING), 4 * ((fading + 200) / 2 + fading));
    world_release(&w);
}

/* The start becomes known after the change, so the task is charged by the new rule from its start on. */
static void a_late_start_is_charged_by_the_new_rule(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "100");
    int64_t started_us = w.now_us;
    uint64_t launch = run(&w, "ann", 4, NULL, "pooled");
    wait_for(&w, 100);
    outcome_clear(&w.out);
    world_object(&w, OBJECT_QOS, "pool", "flags=NoDecay");
    assert_int_equal(w.out.journal.count, 2);
    assert_int_equal(w.out.journal.items[1].kind, USAGE_JOURNAL_LATE);
    wait_for(&w, 100);
    assert_true(of_qos(&w, "pool", USAGE_WALL) == 0.0);
    world_ended(&w, launch, JOB_COMPLETED, started_us);
    assert_close(of_qos(&w, "pool", USAGE_WALL), 200);
    assert_close(of_qos(&w, "pool", TRES_CPU), 800);
    assert_close(of_qos(&w, "normal", USAGE_WALL), 100 / M_LN2 * 0.75);
    world_release(&w);
}

static void resets_clear_time_and_tres(void **unused)
{
    (void)unused;
    static const char *const subjects[] = {"account", "user", "qos", "everything"};
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        struct world w;
        furnish(&w);
        uint64_t launch = start(&w, "eve", 4, NULL, "pooled");
        wait_for(&w, 100);
        assert_close(below(&w, "physics", NULL, USAGE_WALL), 100);
        if (i == 0)
            must_apply(&w, (struct event){.kind = EVENT_ACCOUNT_MODIFY,
                                          .account = {"physics", NULL, SHARES_UNSET, PRIORITY_UNSET, true}});
        if (i == 1)
            must_apply(&w, (struct event){.kind = EVENT_USER_MODIFY,
                                          .user = {"eve", "optics", SHARES_UNSET, false, PRIORITY_UNSET, true}});
        if (i == 2) world_object(&w, OBJECT_QOS, "pool", "RawUsage=0");
        if (i == 3) must_apply(&w, (struct event){.kind = EVENT_RESET, .reset_us = w.now_us});
        wait_for(&w, 10);
        for (int has_ended = 0; has_ended < 2; has_ended++) {
            double assoc = i == 2 ? 110 : 10, qos = i == 2 || i == 3 ? 10 : 110;
            assert_close(below(&w, "root", NULL, USAGE_WALL), assoc);
            assert_close(below(&w, "optics", "eve", TRES_CPU), 4 * assoc);
            assert_close(of_qos(&w, "pool", USAGE_WALL), qos);
            assert_close(of_qos(&w, "pool", TRES_CPU), 4 * qos);
            assert_close(of_qos(&w, "normal", TRES_CPU), i == 3 ? 40 : 440);
            if (!has_ended) end(&w, launch);
        }
        world_release(&w);
    }
}

static void a_deleted_user_leaves_its_usage_to_the_account(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    uint64_t launch = start(&w, "eve", 4, NULL, NULL);
    wait_for(&w, 100);
    end(&w, launch);
    assert_close(below(&w, "optics", "eve", USAGE_WALL), 100);
    must_apply(&w, (struct event){.kind = EVENT_USER_DELETE,
                                  .user = {"eve", NULL, SHARES_UNSET, false, PRIORITY_UNSET, false}});
    assert_close(below(&w, "optics", NULL, USAGE_WALL), 100);
    assert_close(below(&w, "optics", NULL, TRES_CPU), 400);
    must_apply(&w, (struct event){.kind = EVENT_ACCOUNT_DELETE,
                                  .account = {"optics", NULL, SHARES_UNSET, PRIORITY_UNSET, false}});
    assert_close(below(&w, "physics", NULL, USAGE_WALL), 100);
    world_release(&w);
}

/* --- sums that are kept ------------------------------------------------------------------------------------------- */

/* Questions between all kinds of events, at which the sums change or are made anew. */
static void sums_follow_every_change(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "1000");
    uint64_t launches[6];
    for (int round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 6; i++) {
            launches[i] = start(&w, i % 2 ? "ann" : "eve", 1 + i % 3, i % 3 ? NULL : "double", i % 2 ? "pooled" : NULL);
            wait_for(&w, i * 7);
            assert_true(below(&w, "root", NULL, USAGE_WALL) >= 0.0);
        }
        for (uint32_t i = 0; i < 6; i++) {
            end(&w, launches[i]);
            wait_for(&w, 5);
            assert_true(below(&w, "root", NULL, TRES_CPU) > 0.0 && below(&w, "optics", "eve", TRES_CPU) > 0.0);
            assert_true(of_qos(&w, "pool", USAGE_WALL) > 0.0 && of_qos(&w, "double", TRES_BILLING) > 0.0);
        }
        if (round == 20) { /* a moved account; 600 half-lives, in which the reference moves */
            must_apply(&w, (struct event){.kind = EVENT_ACCOUNT_MODIFY,
                                          .account = {"optics", "root", SHARES_UNSET, PRIORITY_UNSET, false}});
            assert_true(below(&w, "optics", NULL, USAGE_WALL) > 0.0 && below(&w, "physics", NULL, USAGE_WALL) > 0.0);
            wait_for(&w, 600000);
        }
        if (round == 30) world_object(&w, OBJECT_QOS, "new", "");
        if (round == 40) engine_forget(&w.s);
    }
    world_release(&w);
}

/* After the clock was set back, a task has begun in the future; it is charged nothing until then. */
static void questions_about_the_past_are_answered(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    world_set(&w, "halflife_s", "1000");
    start(&w, "eve", 4, NULL, NULL);
    wait_for(&w, 100);
    start(&w, "eve", 2, NULL, NULL);
    wait_for(&w, 50);
    double before = below(&w, "root", NULL, TRES_CPU);
    wait_for(&w, -100);
    double earlier = below(&w, "root", NULL, TRES_CPU);
    assert_close(earlier, 4 * (1000 / M_LN2) * -expm1(-M_LN2 * 0.05));
    wait_for(&w, 100);
    assert_close(below(&w, "root", NULL, TRES_CPU), before);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_and_tres_are_charged_while_a_job_runs_and_when_it_ends),
        cmocka_unit_test(a_factor_of_0_charges_nothing),
        cmocka_unit_test(the_factor_of_the_job_s_qos_counts_for_both),
        cmocka_unit_test(the_same_qos_is_charged_once),
        cmocka_unit_test(another_qos_of_the_partition_is_for_later_tasks),
        cmocka_unit_test(the_qos_of_a_running_task_cannot_be_deleted),
        cmocka_unit_test(no_decay_concerns_all_usage_of_a_qos),
        cmocka_unit_test(a_late_start_is_charged_by_the_new_rule),
        cmocka_unit_test(resets_clear_time_and_tres),
        cmocka_unit_test(a_deleted_user_leaves_its_usage_to_the_account),
        cmocka_unit_test(sums_follow_every_change),
        cmocka_unit_test(questions_about_the_past_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
