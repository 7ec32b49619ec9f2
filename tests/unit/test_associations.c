/* Associations of one partition: which association a job and its tasks are of, what is charged, and what is refused.
 * Recorded from Slurm 22.05.8: the association of the job's partition precedes the one for all partitions; one with
 * active jobs cannot be deleted (conformance case 28). */
#include "engine_world.h"

#include "engine/assoc_limits.h"
#include "engine/priorities.h"
#include "engine/schedule.h"
#include "engine/state_rows.h"
#include "engine/wait_leaders.h"

static struct event user_event(enum event_kind kind, const char *user, const char *account, const char *partition)
{
    return (struct event){.kind = kind,
                          .user = {.name = user,
                                   .account = account,
                                   .shares = SHARES_UNSET,
                                   .priority = PRIORITY_UNSET,
                                   .partition = partition}};
}

static void accept(struct world *w, struct event event)
{
    if (world_apply(w, event, NULL) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
}

static void add(struct world *w, const char *user, const char *account, const char *partition)
{
    accept(w, user_event(EVENT_USER_ADD, user, account, partition));
}

/* A host of 4 CPUs; partitions main, plain and other; erin in b, also for plain. */
static void world_make(struct world *w)
{
    world_init(w, 4, 4000, 0);
    world_object(w, OBJECT_PARTITION, "plain", "");
    world_object(w, OBJECT_PARTITION, "other", "");
    world_user(w, "a", 1, "bob");
    world_user(w, "b", 1, "erin");
    add(w, "erin", "b", "plain");
}

static struct event submission(const char *user, const char *account, const char *partitions)
{
    const struct event event = world_submission(user, account, 1);
    const struct job_values *job = job_with(event.submit, "partitions=%s", partitions);
    return (struct event){.kind = EVENT_SUBMIT, .actor = event.actor, .submit = job};
}

static uint32_t submit(struct world *w, const char *user, const char *account, const char *partitions)
{
    uint32_t id = 0;
    if (world_apply(w, submission(user, account, partitions), &id) != 0) fail_msg("%s", ERR_SENTENCE(&w->e));
    return id;
}

static const struct assoc *assoc_of_job(struct world *w, uint32_t job_id)
{
    return &w->s.assocs.items[w->s.jobs.items[state_find_job(&w->s, job_id)].assoc];
}

static const struct assoc *assoc_of_task(struct world *w, uint32_t job_id)
{
    return &w->s.assocs.items[world_task(w, job_id, 0)->assoc];
}

/* Whether a plan starts the job. */
static bool is_planned(struct world *w, uint32_t job_id)
{
    struct schedule plan;
    bool starts = false;
    assert_int_equal(schedule_make(&w->s, w->now_us, SCHEDULE_WITHOUT_ESTIMATES, &plan, NULL), 0);
    for (uint32_t i = 0; i < plan.rows.count; i++)
        starts |= w->s.jobs.items[plan.rows.items[i].job].id == job_id && plan.rows.items[i].state == SCHEDULE_STARTING;
    schedule_release(&plan);
    return starts;
}

/* partition NULL: for all of them. */
static const struct assoc *assoc(struct world *w, const char *account, const char *user, const char *partition)
{
    uint32_t index = partition != NULL ? state_find_assoc_of_partition(&w->s, account, user, partition)
                                       : state_find_assoc(&w->s, account, user);
    assert_int_not_equal(index, NONE);
    return &w->s.assocs.items[index];
}

static void run(struct world *w, uint32_t job_id, int64_t duration_s)
{
    const struct task *k = world_task(w, job_id, 0);
    uint64_t launch = k->launch_id;
    int64_t started_us = w->now_us;
    world_started(w, launch);
    w->now_us += duration_s * SECOND;
    world_ended(w, launch, JOB_COMPLETED, started_us);
}

static void a_job_is_of_the_association_of_its_partition(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    uint32_t in_plain = submit(&w, "erin", "b", "plain"), in_main = submit(&w, "erin", "b", "main");
    assert_ptr_equal(assoc_of_job(&w, in_plain), assoc(&w, "b", "erin", "plain"));
    assert_ptr_equal(assoc_of_job(&w, in_main), assoc(&w, "b", "erin", NULL));
    assert_int_equal(assoc(&w, "b", "erin", "plain")->work.pending, 1);
    assert_int_equal(world_pass(&w), 2);
    assert_int_equal(assoc(&w, "b", "erin", "plain")->work.running, 1);
    assert_int_equal(assoc(&w, "b", NULL, NULL)->work.running, 2);
    run(&w, in_plain, 100);
    assert_true(assoc(&w, "b", "erin", "plain")->usage > 99.0);
    assert_true(assoc(&w, "b", "erin", NULL)->usage < 1.0);
    world_release(&w);
}

/* A task starts where there is room: the CPUs of main are of a host that is drained. */
static void a_task_is_of_the_association_of_the_partition_that_it_starts_in(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    add(&w, "erin", "b", "other");
    world_object(&w, OBJECT_PARTITION, "main", "state=DOWN");
    world_object(&w, OBJECT_PARTITION, "plain", "state=DOWN");
    uint32_t first = submit(&w, "erin", "b", "main,other"), second = submit(&w, "erin", "b", "plain,main,other");
    assert_ptr_equal(assoc_of_job(&w, first), assoc(&w, "b", "erin", NULL));
    assert_ptr_equal(assoc_of_job(&w, second), assoc(&w, "b", "erin", "plain"));
    assert_int_equal(world_pass(&w), 2);
    assert_ptr_equal(assoc_of_task(&w, first), assoc(&w, "b", "erin", "other"));
    assert_ptr_equal(assoc_of_task(&w, second), assoc(&w, "b", "erin", "other"));
    assert_int_equal(assoc(&w, "b", "erin", "other")->live_jobs, 0);
    world_refuses(&w, user_event(EVENT_USER_DELETE, "erin", "b", "other"), ERR_CONFLICT,
                  "has 2 tasks pending or running in account 'b' for partition 'other'; cancel them first");
    run(&w, first, 10);
    run(&w, second, 10);
    assert_true(assoc(&w, "b", "erin", "other")->usage > 19.0);
    assert_true(assoc(&w, "b", "erin", NULL)->usage <= 0.0);
    accept(&w, user_event(EVENT_USER_DELETE, "erin", "b", "other"));
    assert_true(assoc(&w, "b", NULL, NULL)->usage > 19.0);
    world_release(&w);
}

static void a_new_association_takes_the_waiting_jobs(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    uint32_t runs = submit(&w, "erin", "b", "other");
    assert_int_equal(world_pass(&w), 1);
    uint32_t waits = submit(&w, "erin", "b", "other"), elsewhere = submit(&w, "erin", "b", "main,other");
    const struct assoc *all = assoc(&w, "b", "erin", NULL);
    uint32_t all_id = all->id;
    add(&w, "erin", "b", "other");
    assert_ptr_equal(assoc_of_job(&w, waits), assoc(&w, "b", "erin", "other"));
    assert_ptr_equal(assoc_of_job(&w, runs), assoc(&w, "b", "erin", "other"));
    assert_int_equal(assoc_of_task(&w, runs)->id, all_id);
    assert_int_equal(assoc_of_job(&w, elsewhere)->id, all_id);
    assert_int_equal(assoc(&w, "b", "erin", "other")->work.pending, 1);
    assert_int_equal(assoc(&w, "b", "erin", "other")->live_jobs, 2);
    assert_int_equal(assoc(&w, "b", "erin", NULL)->work.pending, 1);
    assert_int_equal(assoc(&w, "b", "erin", NULL)->work.running, 1);
    run(&w, runs, 50);
    assert_true(assoc(&w, "b", "erin", NULL)->usage > 49.0);
    assert_true(assoc(&w, "b", "erin", "other")->usage <= 0.0);
    world_release(&w);
}

/* The factor of erin is 1/3 in plain, and 2/3 elsewhere. */
static void a_usage_threshold_is_of_the_association_in_each_partition(void **unused)
{
    static const char *const models[] = {"priority/multifactor", "priority/tickets", "priority/basic"};
    static const char *const orders[] = {"plain,main", "main,plain"};
    (void)unused;
    struct world w;
    world_make(&w);
    uint32_t heavy = submit(&w, "erin", "b", "plain");
    assert_int_equal(world_pass(&w), 1);
    run(&w, heavy, 1000);
    world_object(&w, OBJECT_QOS, "normal", "usage_threshold=0.5|flags=EnforceUsageThreshold");
    for (size_t i = 0; i < 6; i++) {
        world_set(&w, "PriorityType", models[i % 3]);
        uint32_t id = submit(&w, "erin", "b", orders[i / 3]);
        world_object(&w, OBJECT_PARTITION, "main", "state=DOWN");
        assert_false(is_planned(&w, id));
        assert_int_equal(world_pass(&w), 0);
        world_object(&w, OBJECT_PARTITION, "main", "state=UP");
        assert_true(is_planned(&w, id));
        assert_int_equal(world_pass(&w), 1);
        assert_ptr_equal(assoc_of_task(&w, id), assoc(&w, "b", "erin", NULL));
        run(&w, id, 1);
    }
    world_release(&w);
}

/* A job that waits for its factor in one partition, and is behind another one in the next, has the reason Priority. */
static void a_partition_of_a_low_factor_has_no_leader(void **unused)
{
    static const char *const orders[] = {"plain,main", "main,plain"};
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        struct arena arena = {0};
        world_make(&w);
        uint32_t heavy = submit(&w, "erin", "b", "plain");
        assert_int_equal(world_pass(&w), 1);
        run(&w, heavy, 1000);
        world_set(&w, "PriorityType", "priority/multifactor");
        world_object(&w, OBJECT_QOS, "normal", "usage_threshold=0.5|flags=EnforceUsageThreshold");
        (void)submit(&w, "bob", "a", "other");
        assert_int_equal(world_pass(&w), 1);
        struct event whole = submission("bob", "a", "main");
        whole.submit = job_with(whole.submit, "cpus=4");
        accept(&w, whole);
        struct event second = submission("erin", "b", orders[i]);
        second.submit = job_with(second.submit, "cpus=4");
        uint32_t id = 0;
        assert_int_equal(world_apply(&w, second, &id), 0);
        assert_int_equal(world_pass(&w), 0);
        const double *factors = state_factors(&w.s, w.now_us, &arena);
        wait_leaders_update(&w.s, w.now_us, factors);
        assert_int_equal(job_pending_reason(&w.s, id, 1.0, w.now_us), PENDING_PRIORITY);
        arena_release(&arena);
        world_release(&w);
    }
}

/* Soft requests put the partition first whose association, QOS and defaults then count. */
static void wishes_choose_the_association(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    world_object(&w, OBJECT_QOS, "long", "");
    world_object(&w, OBJECT_PARTITION, "plain", "AllowQos=long|DefMemPerCPU=7");
    world_set(&w, "EnforcePartLimits", "ALL");
    const struct event_pair pair = {"DefaultQOS", "long"};
    struct event change = user_event(EVENT_USER_MODIFY, "erin", "b", "plain");
    change.user.pairs = &pair;
    change.user.count = 1;
    accept(&w, change);
    struct event wishing = submission("erin", "b", "main,plain");
    wishing.submit = job_with(wishing.submit, "soft_queues=plain");
    struct job_values values = *wishing.submit;
    values.is_given[JOB_FIELD_MEM_MIB] = false;
    wishing.submit = &values;
    uint32_t id = 0;
    assert_int_equal(world_apply(&w, wishing, &id), 0);
    const struct job *j = &w.s.jobs.items[state_find_job(&w.s, id)];
    assert_ptr_equal(assoc_of_job(&w, id), assoc(&w, "b", "erin", "plain"));
    assert_string_equal(w.s.objects[OBJECT_QOS].items[j->qos].object.name, "long");
    assert_int_equal(j->placing->mem_mib_per_cpu, 7);
    world_release(&w);
}

static void an_update_of_the_partition_changes_the_association(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    const struct event_pair only_normal = {"QosLevel", "normal"};
    struct event limit = user_event(EVENT_USER_MODIFY, "erin", "b", "plain");
    limit.user.pairs = &only_normal;
    limit.user.count = 1;
    world_object(&w, OBJECT_QOS, "long", "");
    accept(&w, limit);
    uint32_t id = submit(&w, "erin", "b", "main");
    struct event update = world_update(id, job_text("partitions=plain"));
    accept(&w, update);
    assert_ptr_equal(assoc_of_job(&w, id), assoc(&w, "b", "erin", "plain"));
    assert_int_equal(assoc(&w, "b", "erin", "plain")->live_jobs, 1);
    assert_int_equal(assoc(&w, "b", "erin", "plain")->work.pending, 1);
    assert_int_equal(assoc(&w, "b", "erin", NULL)->live_jobs, 0);
    assert_int_equal(assoc(&w, "b", "erin", NULL)->work.pending, 0);
    accept(&w, world_update(id, job_text("partitions=main|qos=long")));
    world_refuses(&w, world_update(id, job_text("partitions=plain")), ERR_INPUT, "long");
    add(&w, "bob", "b", "plain");
    uint32_t only = submit(&w, "bob", "b", "plain");
    world_refuses(&w, world_update(only, job_text("partitions=main")), ERR_NOT_FOUND,
                  "user 'bob' is not in account 'b' for partition 'main'");
    world_release(&w);
}

static void limits_and_qos_are_those_of_the_association(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    static const struct event_pair pairs[] = {{"MaxJobs", "1"}, {"DefaultQOS", "short"}};
    struct event limit = user_event(EVENT_USER_MODIFY, "erin", "b", "plain");
    limit.user.pairs = pairs;
    limit.user.count = 2;
    limit.user.shares = 7;
    world_object(&w, OBJECT_QOS, "short", "");
    accept(&w, limit);
    assert_int_equal(assoc(&w, "b", "erin", "plain")->shares, 7);
    assert_int_equal(assoc(&w, "b", "erin", NULL)->shares, 1);
    uint32_t first = submit(&w, "erin", "b", "plain");
    submit(&w, "erin", "b", "plain");
    submit(&w, "erin", "b", "main");
    const struct job *j = &w.s.jobs.items[state_find_job(&w.s, first)];
    assert_string_equal(w.s.objects[OBJECT_QOS].items[j->qos].object.name, "short");
    assert_int_equal(world_pass(&w), 2);
    /* Without a partition an event changes that for all partitions; without an account, too, all of them. */
    limit = user_event(EVENT_USER_MODIFY, "erin", "b", NULL);
    limit.user.shares = 3;
    accept(&w, limit);
    assert_int_equal(assoc(&w, "b", "erin", "plain")->shares, 7);
    assert_int_equal(assoc(&w, "b", "erin", NULL)->shares, 3);
    limit = user_event(EVENT_USER_MODIFY, "erin", NULL, NULL);
    limit.user.shares = 4;
    accept(&w, limit);
    assert_int_equal(assoc(&w, "b", "erin", "plain")->shares, 4);
    assert_int_equal(assoc(&w, "b", "erin", NULL)->shares, 4);
    world_release(&w);
}

static void a_user_may_be_in_an_account_for_single_partitions_only(void **unused)
{
    (void)unused;
    static const char *const enforcements[] = {"associations,limits,qos", ""}, *const orders[] = {"plain,main",
                                                                                                  "main,plain"};
    struct world w;
    world_make(&w);
    add(&w, "bob", "b", "plain");
    for (size_t i = 0; i < sizeof enforcements / sizeof *enforcements; i++) {
        world_set(&w, "AccountingStorageEnforce", enforcements[i]);
        assert_string_equal(assoc_of_job(&w, submit(&w, "bob", "b", "plain"))->account, "b");
        for (size_t k = 0; k < 2; k++) {
            if (i == 0)
                world_refuses(&w, submission("bob", "b", orders[k]), ERR_NOT_FOUND,
                              "user 'bob' is not in account 'b' for partition 'main'");
            else /* in whatever order the partitions are */
                assert_string_equal(assoc_of_job(&w, submit(&w, "bob", "b", orders[k]))->account, "a");
        }
    }
    /* Without enforcement the default account replaces one that the user is not in. */
    assert_string_equal(assoc_of_job(&w, submit(&w, "bob", "b", "main"))->account, "a");
    world_set(&w, "AccountingStorageEnforce", "associations");
    world_refuses(&w, submission("bob", "b", "main"), ERR_NOT_FOUND,
                  "user 'bob' is not in account 'b' for partition 'main'");
    /* The only account is the default one, also if it is for one partition only. */
    add(&w, "dan", "b", "plain");
    assert_string_equal(assoc_of_job(&w, submit(&w, "dan", NULL, "plain"))->account, "b");
    world_refuses(&w, submission("dan", NULL, "main"), ERR_NOT_FOUND,
                  "user 'dan' is not in account 'b' for partition 'main'");
    world_refuses(&w, user_event(EVENT_USER_MODIFY, "dan", "b", NULL), ERR_NOT_FOUND,
                  "is in account 'b' for single partitions only; name the partition, too");
    world_release(&w);
}

static void the_default_account_stays_while_the_user_is_in_it(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    add(&w, "erin", "a", NULL);
    accept(&w, user_event(EVENT_USER_DELETE, "erin", "b", NULL));
    assert_string_equal(w.s.assocs.items[state_default_assoc(&w.s, "erin")].account, "b");
    accept(&w, user_event(EVENT_USER_DELETE, "erin", "b", "plain"));
    assert_string_equal(w.s.assocs.items[state_default_assoc(&w.s, "erin")].account, "a");
    add(&w, "erin", "b", "plain");
    struct event make_default = user_event(EVENT_USER_MODIFY, "erin", "b", "plain");
    make_default.user.make_default = true;
    accept(&w, make_default);
    assert_string_equal(w.s.assocs.items[state_default_assoc(&w.s, "erin")].account, "b");
    make_default.user.account = make_default.user.partition = NULL;
    world_refuses(&w, make_default, ERR_INPUT, "is in 2 accounts; name the one to become the default");
    accept(&w, user_event(EVENT_USER_DELETE, "erin", NULL, NULL));
    assert_int_equal(state_default_assoc(&w.s, "erin"), NONE);
    world_release(&w);
}

/* As rows that another program has edited may be. */
static void a_user_without_a_default_account_can_be_deleted(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    assoc_set_default(&w.s, state_default_assoc(&w.s, "erin"), false);
    accept(&w, user_event(EVENT_USER_DELETE, "erin", "b", "plain"));
    assert_int_equal(state_default_assoc(&w.s, "erin"), NONE);
    accept(&w, user_event(EVENT_USER_DELETE, "erin", NULL, NULL));
    assert_false(state_user_is_in_account(&w.s, "erin", "b"));
    world_release(&w);
}

static void what_is_wrong_is_refused(void **unused)
{
    (void)unused;
    struct world w;
    world_make(&w);
    const struct {
        struct event event;
        enum err_code code;
        const char *text;
    } rows[] = {
        {user_event(EVENT_USER_ADD, "erin", "b", "plain"), ERR_EXISTS,
         "user 'erin' is already in account 'b' for partition 'plain'"},
        {user_event(EVENT_USER_ADD, "erin", "b", "none"), ERR_NOT_FOUND, "no partition 'none'"},
        {user_event(EVENT_USER_MODIFY, "erin", "b", "none"), ERR_NOT_FOUND, "no partition 'none'"},
        {user_event(EVENT_USER_DELETE, "erin", "a", "plain"), ERR_NOT_FOUND,
         "user 'erin' is not in account 'a' for partition 'plain'"},
        {user_event(EVENT_USER_DELETE, "erin", NULL, "other"), ERR_NOT_FOUND,
         "user 'erin' is not in any account for partition 'other'"},
        {user_event(EVENT_USER_DELETE, "none", NULL, "other"), ERR_NOT_FOUND, "no user 'none'"},
        {world_object_event(&w, EVENT_OBJECT_DELETE, OBJECT_PARTITION, "plain", ""), ERR_CONFLICT,
         "is in use: user 'erin' is in account 'b' for it; delete that first"},
        {{.kind = EVENT_ACCOUNT_DELETE, .account = {.name = "b"}}, ERR_CONFLICT, "is not empty: it has user 'erin'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        world_refuses(&w, rows[i].event, rows[i].code, rows[i].text);
    uint32_t id = submit(&w, "erin", "b", "plain");
    world_refuses(&w, user_event(EVENT_USER_DELETE, "erin", "b", "plain"), ERR_CONFLICT,
                  "has 1 job pending or running in account 'b' for partition 'plain'; cancel it first");
    world_refuses(&w, user_event(EVENT_USER_DELETE, "erin", NULL, NULL), ERR_CONFLICT, "for partition 'plain'");
    accept(&w, user_event(EVENT_USER_DELETE, "erin", "b", NULL));
    assert_ptr_equal(assoc_of_job(&w, id), assoc(&w, "b", "erin", "plain"));
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_of_the_association_of_its_partition),
        cmocka_unit_test(a_task_is_of_the_association_of_the_partition_that_it_starts_in),
        cmocka_unit_test(a_new_association_takes_the_waiting_jobs),
        cmocka_unit_test(a_usage_threshold_is_of_the_association_in_each_partition),
        cmocka_unit_test(a_partition_of_a_low_factor_has_no_leader),
        cmocka_unit_test(wishes_choose_the_association),
        cmocka_unit_test(an_update_of_the_partition_changes_the_association),
        cmocka_unit_test(limits_and_qos_are_those_of_the_association),
        cmocka_unit_test(a_user_may_be_in_an_account_for_single_partitions_only),
        cmocka_unit_test(the_default_account_stays_while_the_user_is_in_it),
        cmocka_unit_test(a_user_without_a_default_account_can_be_deleted),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
