/* The share tree of live jobs: the leaves of users and projects, what usage counts where, and the tickets of running
 * tasks. */
#include "priorities_world.h"

static double share_of(struct world *w, uint32_t job_id)
{
    return row_of(w, job_id, 0).tickets.share;
}

/* Ann is in a and in b. Account a was added first, so its leaf has her usage; in b she has no leaf. */
static void the_first_leaf_of_a_user_serves_all_jobs(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 halftime=0 compensation_factor=0");
    set_shares(&w, "a", 90, "ann", 1);
    set_shares(&w, "b", 10, "ann", 1);
    set_shares(&w, "b", 10, "bob", 1);
    struct event job = world_job("ann");
    uint32_t in_a = world_take(&w, job);
    job.submit = job_with(job.submit, "account=b");
    uint32_t in_b = world_take(&w, job);
    uint32_t bob = world_take(&w, world_job("bob"));
    world_end(&w, 1, 0);
    near(share_of(&w, in_a), 900);
    near(share_of(&w, in_b), 450); /* her second job, although it was submitted to b */
    near(share_of(&w, bob), 100);
    set_usage(&w, "ann", "", 1e6);
    set_usage(&w, "bob", "", 1e6);
    near(share_of(&w, in_a), 1000 * 8100.0 / (8100 + 100)); /* shares squared over usage */
    world_release(&w);
}

/* The share tree changes with the rows from which it is built. */
static void the_tree_follows_associations_and_projects(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 halftime=0");
    set_shares(&w, "a", 3, "ann", 1);
    set_shares(&w, "b", 1, "bob", 1);
    uint32_t ann = world_take(&w, world_job("ann")), bob = world_take(&w, world_job("bob"));
    world_end(&w, 1, 0);
    near(share_of(&w, ann), 750);
    near(share_of(&w, bob), 250);
    struct event modify = {.kind = EVENT_ACCOUNT_MODIFY, .account = {"a", NULL, 1, PRIORITY_UNSET}};
    assert_int_equal(world_apply(&w, modify, NULL), 0);
    near(share_of(&w, ann), 500);
    world_object(&w, OBJECT_PROJECT, "a", ""); /* a is the node of a project, so ann has no node */
    near(share_of(&w, ann), 0);
    near(share_of(&w, bob), 1000);
    assert_int_equal(
        world_apply(&w, (struct event){.kind = EVENT_OBJECT_DELETE, .object = {.kind = OBJECT_PROJECT, .name = "a"}},
                    NULL),
        0);
    near(share_of(&w, ann), 500);
    world_object(&w, OBJECT_PROJECT, "other", "");
    near(share_of(&w, bob), 500);
    struct event delete = {.kind = EVENT_OBJECT_DELETE, .object = {.kind = OBJECT_PROJECT, .name = "other"}};
    assert_int_equal(world_apply(&w, delete, NULL), 0);
    world_object(&w, OBJECT_PROJECT, "bob", ""); /* a user with the name of a project has no node */
    near(share_of(&w, bob), 0);
    near(share_of(&w, ann), 1000);
    world_release(&w);
}

/* Equal names: a user and an account, an account named default, a project inside a project. */
static void equal_names_are_told_apart(void **unused)
{
    (void)unused;
    struct world w;
    init_full(&w);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 halftime=0");
    set_shares(&w, "ann", 1, "ann", 1);
    set_shares(&w, "root", 1, "bob", 1);
    set_shares(&w, "bob", 1, NULL, 0);
    set_shares(&w, "P1", 1, "cat", SHARES_PARENT);
    world_object(&w, OBJECT_PROJECT, "P1", "");
    world_object(&w, OBJECT_PROJECT, "P2", "");
    assert_int_equal(
        world_apply(&w, (struct event){.kind = EVENT_ACCOUNT_ADD, .account = {"P2", "P1", 1, PRIORITY_UNSET}}, NULL),
        0);
    set_user(&w, "dan", "P2", PRIORITY_UNSET);
    uint32_t ann = world_take(&w, world_job("ann")), bob = world_take(&w, world_job("bob"));
    uint32_t eve = world_take(&w, world_job("eve")); /* in account default */
    uint32_t cat = submit_in(&w, "cat", "P1"), dan = submit_in(&w, "dan", "P1"), none = submit_in(&w, "dan", "P2");
    world_end(&w, 1, 0);
    near(share_of(&w, ann), 250);
    near(share_of(&w, bob), 250);
    near(share_of(&w, eve), 250);
    near(share_of(&w, cat), 250); /* the first of its project */
    near(share_of(&w, dan), 125); /* P2 inside P1 is a group of P1 */
    near(share_of(&w, none), 0);
    world_release(&w);
}

static void add_account(struct world *w, const char *name, const char *parent)
{
    struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {name, parent, 1, PRIORITY_UNSET}};
    assert_int_equal(world_apply(w, add, NULL), 0);
}

/* docs/formulas.md 5.2: the accounts are P{g{ua default} h{ub}}, or with depth 1 P{ua default h{ub}}. The `default` has
 * the usage of P that no node below it has, if that is more than 1; it counts in g. */
static void excess_usage_of_a_project_counts_above_default(void **unused)
{
    (void)unused;
    static const struct {
        double used, at_depth_1, at_depth_2;
    } rows[] = {{5000, 600, 30}, {250, 600, 600}, {251, 600, 600}, {252, 600, 1000 * 150.0 / 252}, {0, 600, 600}};
    for (int depth = 1; depth <= 2; depth++) {
        struct world w;
        init_full(&w);
        world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 halftime=0 compensation_factor=0");
        world_object(&w, OBJECT_PROJECT, "P", "");
        add_account(&w, "P", NULL);
        add_account(&w, "g", "P");
        add_account(&w, "h", "P");
        set_shares(&w, depth == 1 ? "P" : "g", 1, "ua", 1);
        set_shares(&w, depth == 1 ? "P" : "g", 1, "default", 1);
        set_shares(&w, "h", 1, "ub", 1);
        uint32_t ua = submit_in(&w, "ua", "P"), ub = submit_in(&w, "ub", "P");
        world_end(&w, 1, 0);
        set_usage(&w, "ua", "P", 100);
        set_usage(&w, "ub", "P", 150);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            double expected = depth == 1 ? rows[i].at_depth_1 : rows[i].at_depth_2;
            set_usage(&w, "", "P", rows[i].used);
            near(share_of(&w, ua), expected);
            near(share_of(&w, ub), 1000 - expected);
        }
        world_release(&w);
    }
}

static double running_share(struct world *w, uint32_t job_id)
{
    uint32_t task = state_find_task(&w->s, job_id, 0);
    assert_int_not_equal(task, NONE);
    double alone = ticket_ranks_of_running(&w->s, w->now_us, &w->s.cycle)[task];
    near(row_of(w, job_id, 0).tickets.total, alone);
    return alone;
}

/* docs/formulas.md 5.4: the virtual node of cat, whose job waits, is not active, but her usage counts in a. */
static void usage_of_waiting_users_counts_for_running_tasks(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 2, 65536, 0);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 halftime=0 compensation_factor=0");
    set_shares(&w, "a", 1, "ann", 1);
    set_shares(&w, "a", 1, "default", 1);
    set_shares(&w, "b", 1, "bob", 1);
    world_object(&w, OBJECT_PROJECT, "elsewhere", "");
    set_shares(&w, "elsewhere", 1, "cat", 1); /* so she has no leaf outside of projects */
    uint32_t ann = world_take(&w, world_job("ann")), bob = world_take(&w, world_job("bob"));
    assert_int_equal(world_pass(&w), 2);
    set_usage(&w, "ann", "", 100);
    set_usage(&w, "bob", "", 100);
    near(running_share(&w, ann), 500);
    struct event waits = world_job("cat");
    waits.submit = job_with(waits.submit, "held=yes");
    uint32_t cat = world_take(&w, waits);
    set_usage(&w, "cat", "", 300);
    near(running_share(&w, ann), 500); /* a held job takes no part */
    struct job_ref ref = {cat, NONE};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_RELEASE, .jobs = {&ref, 1, false}}, NULL), 0);
    near(running_share(&w, ann), 200); /* a has 400, b 100 */
    near(running_share(&w, bob), 800);
    world_release(&w);
}

/* CPU weights are computed without the pending jobs; of these only the virtual nodes count, which both ways have:
 * cat's. */
static void tickets_of_running_tasks_are_the_same_when_computed_alone(void **unused)
{
    (void)unused;
    struct world w;
    world_init(&w, 4, 65536, 0);
    world_settings(&w, "PriorityType=priority/tickets weight_tickets_share=1000 weight_tickets_functional=2000 "
                       "auto_user_fshare=100");
    world_object(&w, OBJECT_PROJECT, "P1", "fshare=50|oticket=70");
    set_shares(&w, "a", 3, "ann", 1);
    set_shares(&w, "a", 3, "bob", 4);
    set_shares(&w, "a", 3, "default", 2);
    struct event array = world_job("ann");
    array.submit = job_with(array.submit, "array=0-9");
    array.submit = job_with(array.submit, "job_share=3");
    uint32_t first = world_take(&w, array);
    submit_in(&w, "bob", "P1");
    assert_int_equal(world_pass(&w), 4);
    for (uint32_t i = 0; i < 3; i++) {
        if (world_task(&w, first, i) != NULL) world_run(&w, first, i);
    }
    w.now_us += 1000 * SECOND;
    for (int i = 0; i < 5; i++) submit_in(&w, i % 2 ? "bob" : "cat", i % 3 ? "P1" : "");
    set_usage(&w, "cat", "", 500);
    const double *alone = ticket_ranks_of_running(&w.s, w.now_us, &w.s.cycle);
    struct priorities all = list(&w, NONE);
    uint32_t running = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        if (all.rows[i].task == NONE) continue;
        assert_true(alone[all.rows[i].task] > 0);
        near(all.rows[i].tickets.total, alone[all.rows[i].task]);
        running++;
    }
    assert_int_equal(running, 4);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_leaf_of_a_user_serves_all_jobs),
        cmocka_unit_test(the_tree_follows_associations_and_projects),
        cmocka_unit_test(equal_names_are_told_apart),
        cmocka_unit_test(excess_usage_of_a_project_counts_above_default),
        cmocka_unit_test(usage_of_waiting_users_counts_for_running_tasks),
        cmocka_unit_test(tickets_of_running_tasks_are_the_same_when_computed_alone),
    };
    return cmocka_run_group_tests_name("priorities in a share tree", tests, NULL, release_arena);
}
