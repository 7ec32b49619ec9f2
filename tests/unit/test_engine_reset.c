/* Resets: usage from before a reset does not count, other usage does. Computed by hand from docs/formulas.md 1.3. */
#include "engine_world.h"

#include "engine/usage_read.h"

#include <math.h>

#include "engine/handlers.h"

enum { HOUR_S = 3600 };

static void assert_close(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g is not %.17g", found, expected);
}

/* 16 CPUs, 16 GiB; users in two accounts, one below the other, and in a third; a project. */
static void furnish(struct world *w)
{
    world_init(w, 16, 16384, 0);
    world_set(w, "SHARETREE_RESERVED_USAGE", "true");
    world_set(w, "halflife_s", "0");
    world_set(w, "halftime", "0");
    world_set(w, "halflife_decay_list", "finished_jobs=0");
    world_user(w, "physics", 1, "ann");
    world_user(w, "optics", 1, "bob");
    world_user(w, "optics", 1, "ann");
    world_user(w, "chem", 1, "eve");
    struct event move = {.kind = EVENT_ACCOUNT_MODIFY,
                         .account = {"optics", "physics", SHARES_UNSET, PRIORITY_UNSET, false}};
    assert_int_equal(world_apply(w, move, NULL), 0);
    world_object(w, OBJECT_PROJECT, "moon", "");
    world_object(w, OBJECT_QOS, "budget", "flags=NoDecay");
}

/* Starts a job with 1 GiB. Returns its launch id. is_known: its start record arrives at once. */
static uint64_t run_with(struct world *w, const char *user, const char *account, uint32_t cpus, const char *qos,
                         const char *project, bool is_known)
{
    struct event event = world_submission(user, account, cpus);
    event.submit = job_with(event.submit, "mem_mib=1024");
    if (qos != NULL) event.submit = job_with(event.submit, "qos=%s", qos);
    if (project != NULL) event.submit = job_with(event.submit, "project=%s", project);
    uint32_t id;
    if (world_apply(w, event, &id) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    assert_int_equal(world_pass(w), 1);
    uint64_t launch = world_task(w, id, 0)->launch_id;
    if (is_known) world_started(w, launch);
    return launch;
}

static uint64_t run(struct world *w, const char *user, const char *account, uint32_t cpus)
{
    return run_with(w, user, account, cpus, NULL, NULL, true);
}

static void wait_for(struct world *w, int64_t seconds)
{
    w->now_us += seconds * SECOND;
}

static double usage_of(struct world *w, const char *account, const char *user)
{
    struct arena arena = {0};
    double usage =
        state_own_usage(&w->s, w->now_us, &arena)[w->s.node_of.items[state_find_assoc(&w->s, account, user)]];
    arena_release(&arena);
    return usage;
}

static double cpu_seconds_of(struct world *w, const char *account, const char *user)
{
    struct arena arena = {0};
    const double *own = usage_read_own(&w->s, TRES_CPU, w->now_us, &arena);
    double usage = own[w->s.node_of.items[state_find_assoc(&w->s, account, user)]];
    arena_release(&arena);
    return usage;
}

static double qos_usage(struct world *w, const char *name)
{
    return state_qos_usage(&w->s, state_find_object(&w->s, OBJECT_QOS, name), w->now_us);
}

static double owner_usage(struct world *w, const char *user, const char *project, enum usage_resource r)
{
    struct arena arena = {0};
    double found = NAN;
    const struct ticket_usage *all = usage_owner_current(&w->s, w->now_us, &arena);
    for (uint32_t i = 0; i < w->s.owners.count; i++) {
        const struct usage_owner *o = &w->s.owners.items[i];
        if (strcmp(o->user, user) == 0 && strcmp(o->project, project) == 0) found = all[i].used[r];
    }
    arena_release(&arena);
    return found;
}

static struct event reset_at(int64_t at_us)
{
    return (struct event){.kind = EVENT_RESET, .reset_us = at_us};
}

static struct event reset_of_account(const char *account)
{
    return (struct event){.kind = EVENT_ACCOUNT_MODIFY, .account = {account, NULL, SHARES_UNSET, PRIORITY_UNSET, true}};
}

static struct event reset_of_user(const char *user, const char *account)
{
    return (struct event){.kind = EVENT_USER_MODIFY,
                          .user = {user, account, SHARES_UNSET, false, PRIORITY_UNSET, true}};
}

static void must_apply(struct world *w, struct event event)
{
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

/* docs/formulas.md 1.3: 16 CPUs for two hours, a half-life of one hour, a reset after one hour. The start record
 * arrives at once, or an hour late. */
static void running_jobs_count_from_the_reset(void **unused)
{
    (void)unused;
    for (int is_late = 0; is_late < 2; is_late++) {
        struct world w;
        furnish(&w);
        world_set(&w, "halflife_s", "3600");
        int64_t started_us = w.now_us;
        uint64_t launch = run(&w, "ann", "physics", 16);
        wait_for(&w, HOUR_S);
        assert_float_equal(usage_of(&w, "physics", "ann"), 41549.617, 1e-3);
        if (!is_late) must_apply(&w, reset_at(w.now_us));
        wait_for(&w, HOUR_S);
        if (is_late) {
            assert_float_equal(usage_of(&w, "physics", "ann"), 62324.426, 1e-3);
            must_apply(&w, reset_at(w.now_us - HOUR_S * SECOND));
        }
        assert_float_equal(usage_of(&w, "physics", "ann"), 41549.617, 1e-3);
        world_ended(&w, launch, JOB_COMPLETED, started_us);
        assert_float_equal(usage_of(&w, "physics", "ann"), 41549.617, 1e-3);
        wait_for(&w, HOUR_S);
        assert_float_equal(usage_of(&w, "physics", "ann"), 41549.617 / 2, 1e-3);
        world_release(&w);
    }
}

static void a_reset_of_everything_clears_all_usage(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    int64_t started_us = w.now_us;
    uint64_t first = run(&w, "ann", "physics", 4);
    uint64_t budget = run_with(&w, "eve", "chem", 2, "budget", "moon", true);
    wait_for(&w, 100);
    world_ended(&w, first, JOB_COMPLETED, started_us);
    assert_close(qos_usage(&w, "budget"), 200);
    assert_close(owner_usage(&w, "", "moon", USAGE_CPU), 200);
    outcome_clear(&w.out);
    must_apply(&w, reset_at(w.now_us));
    /* QOS, the conversion and the counters: not the rows of associations, because the loop waits for the commit. */
    assert_int_equal(w.out.changes.count, w.s.objects[OBJECT_QOS].count + 2);
    assert_true(usage_of(&w, "physics", "ann") == 0 && cpu_seconds_of(&w, "physics", "ann") == 0);
    assert_true(usage_of(&w, "chem", "eve") == 0 && qos_usage(&w, "normal") == 0 && qos_usage(&w, "budget") == 0);
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) {
        assert_true(owner_usage(&w, "ann", "", (enum usage_resource)r) == 0);
        assert_true(owner_usage(&w, "eve", "moon", (enum usage_resource)r) == 0);
        assert_true(owner_usage(&w, "", "moon", (enum usage_resource)r) == 0);
    }
    wait_for(&w, 10);
    world_ended(&w, budget, JOB_COMPLETED, started_us);
    assert_close(usage_of(&w, "chem", "eve"), 20);
    assert_close(cpu_seconds_of(&w, "chem", "eve"), 20);
    assert_close(qos_usage(&w, "budget"), 20);
    assert_close(owner_usage(&w, "eve", "moon", USAGE_CPU), 20);
    assert_close(owner_usage(&w, "", "moon", USAGE_MEM), 10);
    assert_close(owner_usage(&w, "", "moon", USAGE_FINISHED_JOBS), 1);
    world_release(&w);
}

/* The daemon was down at the boundary, and all records arrive after it. */
static void usage_after_a_missed_boundary_counts(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    int64_t started_us = w.now_us, boundary_us = started_us + 100 * SECOND;
    uint64_t across = run(&w, "ann", "physics", 2), before = run(&w, "bob", "optics", 1);
    uint64_t late = run_with(&w, "eve", "chem", 3, NULL, NULL, false);
    wait_for(&w, 500);
    must_apply(&w, reset_at(boundary_us));
    struct event ended = {.kind = EVENT_ENDED,
                          .record = {.launch_id = before, .at_us = started_us + 60 * SECOND, .end = JOB_COMPLETED}};
    must_apply(&w, ended);
    world_ended(&w, across, JOB_COMPLETED, started_us);
    world_ended(&w, late, JOB_COMPLETED, started_us + 50 * SECOND);
    assert_close(usage_of(&w, "physics", "ann"), 2 * 400);
    assert_true(usage_of(&w, "optics", "bob") == 0);
    assert_close(usage_of(&w, "chem", "eve"), 3 * 400);
    assert_close(qos_usage(&w, "normal"), 5 * 400);
    assert_close(owner_usage(&w, "eve", "", USAGE_CPU), 3 * 400);
    assert_close(owner_usage(&w, "eve", "", USAGE_FINISHED_JOBS), 1);
    assert_true(owner_usage(&w, "bob", "", USAGE_FINISHED_JOBS) == 0);
    world_release(&w);
}

static void a_reset_of_an_account_includes_all_below_it(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    run(&w, "ann", "physics", 2);
    run(&w, "bob", "optics", 1);
    run(&w, "eve", "chem", 3);
    wait_for(&w, 100);
    outcome_clear(&w.out);
    must_apply(&w, reset_of_account("physics"));
    assert_int_equal(w.out.journal.count, 1);
    assert_int_equal(w.out.journal.items[0].kind, USAGE_JOURNAL_RESET);
    assert_int_equal(w.out.journal.items[0].after, w.now_us);
    wait_for(&w, 10);
    assert_close(usage_of(&w, "physics", "ann"), 20);
    assert_close(usage_of(&w, "optics", "bob"), 10);
    assert_close(usage_of(&w, "chem", "eve"), 330);
    assert_close(qos_usage(&w, "normal"), 660);
    assert_close(owner_usage(&w, "ann", "", USAGE_CPU), 220);
    must_apply(&w, reset_of_account("root"));
    assert_true(usage_of(&w, "chem", "eve") == 0);
    struct event also_shares = reset_of_account("root");
    also_shares.account.shares = 3;
    world_refuses(&w, also_shares, ERR_CONFLICT, "only its limits and its RawUsage can be changed");
    struct event by_ann = reset_of_account("physics");
    by_ann.actor = (struct actor){1000, 1000, "ann", ROLE_USER};
    world_refuses(&w, by_ann, ERR_DENIED, "only an administrator may modify accounts");
    world_release(&w);
}

/* A reset in one account affects the association; in all accounts also the share tree, and the projects there. */
static void a_reset_of_a_user_includes_the_share_tree(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    run(&w, "ann", "physics", 2);
    run_with(&w, "ann", "optics", 1, NULL, "moon", true);
    run_with(&w, "eve", "chem", 4, NULL, "moon", true);
    wait_for(&w, 100);
    must_apply(&w, reset_of_user("ann", "optics"));
    assert_close(usage_of(&w, "physics", "ann"), 200);
    assert_true(usage_of(&w, "optics", "ann") == 0);
    assert_close(owner_usage(&w, "ann", "", USAGE_CPU), 200);
    assert_close(owner_usage(&w, "", "moon", USAGE_CPU), 500);
    must_apply(&w, reset_of_user("ann", NULL));
    assert_true(usage_of(&w, "physics", "ann") == 0);
    assert_true(owner_usage(&w, "ann", "", USAGE_CPU) == 0 && owner_usage(&w, "ann", "moon", USAGE_CPU) == 0);
    assert_close(owner_usage(&w, "", "moon", USAGE_CPU), 400);
    wait_for(&w, 10);
    assert_close(usage_of(&w, "physics", "ann"), 20);
    assert_float_equal(usage_of(&w, "optics", "ann"), 10,
                       2e-6); /* reset twice in one microsecond: a microsecond apart */
    assert_close(owner_usage(&w, "ann", "moon", USAGE_CPU), 10);
    assert_close(owner_usage(&w, "", "moon", USAGE_CPU), 450);
    assert_close(usage_of(&w, "chem", "eve"), 440);
    world_release(&w);
}

static void a_qos_and_a_project_can_be_reset(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    run_with(&w, "ann", "physics", 2, "budget", "moon", true);
    run_with(&w, "eve", "chem", 1, NULL, "moon", true);
    wait_for(&w, 100);
    world_object(&w, OBJECT_QOS, "budget", "rawusage=0|priority=5");
    assert_true(qos_usage(&w, "budget") == 0);
    assert_close(qos_usage(&w, "normal"), 100);
    assert_close(usage_of(&w, "physics", "ann"), 200);
    assert_close(owner_usage(&w, "", "moon", USAGE_CPU), 300);
    world_object(&w, OBJECT_PROJECT, "moon", "RawUsage=0");
    wait_for(&w, 10);
    assert_close(qos_usage(&w, "budget"), 20);
    assert_close(owner_usage(&w, "", "moon", USAGE_CPU), 30);
    assert_close(owner_usage(&w, "eve", "moon", USAGE_CPU), 10);
    assert_close(usage_of(&w, "chem", "eve"), 110);
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_QOS, "budget", "RawUsage=5"), ERR_INPUT,
                  "qos 'budget': RawUsage: '5' is not 0, the only accepted value");
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_ADD, OBJECT_QOS, "other", "RawUsage=0"), ERR_INPUT,
                  "'RawUsage' is not a field; the fields are: ");
    world_refuses(&w, world_object_event(&w, EVENT_OBJECT_MODIFY, OBJECT_PARTITION, "main", "RawUsage=0"), ERR_INPUT,
                  "'RawUsage' is not a field; the fields are: ");
    world_release(&w);
}

static void now_resets_once(void **unused)
{
    (void)unused;
    struct world w;
    furnish(&w);
    run(&w, "ann", "physics", 2);
    wait_for(&w, 100);
    world_set(&w, "PriorityUsageResetPeriod", "NOW");
    assert_true(usage_of(&w, "physics", "ann") == 0);
    assert_int_equal(setting_number(&w.s.settings, SET_USAGE_RESET), USAGE_RESET_NONE);
    assert_int_equal(w.s.usage_reset_us, w.now_us);
    world_set(&w, "PriorityUsageResetPeriod", "NOW");
    assert_int_equal(w.s.usage_reset_us, w.now_us + 1); /* the second reset in the same microsecond */
    wait_for(&w, 10);
    world_set(&w, "PriorityUsageResetPeriod", "DAILY");
    assert_int_equal(w.s.reset_period_us, w.now_us);
    assert_float_equal(usage_of(&w, "physics", "ann"), 20, 1e-5);
    wait_for(&w, 10);
    must_apply(&w, reset_at(w.now_us - 3 * SECOND));
    assert_int_equal(w.s.reset_period_us, w.now_us - 3 * SECOND);
    assert_close(usage_of(&w, "physics", "ann"), 6);
    world_set(&w, "PriorityUsageResetPeriod", "now");
    assert_int_equal(setting_number(&w.s.settings, SET_USAGE_RESET), USAGE_RESET_NONE);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_jobs_count_from_the_reset),
        cmocka_unit_test(a_reset_of_everything_clears_all_usage),
        cmocka_unit_test(usage_after_a_missed_boundary_counts),
        cmocka_unit_test(a_reset_of_an_account_includes_all_below_it),
        cmocka_unit_test(a_reset_of_a_user_includes_the_share_tree),
        cmocka_unit_test(a_qos_and_a_project_can_be_reset),
        cmocka_unit_test(now_resets_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
