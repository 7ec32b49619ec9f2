/* Laws of plans (engine/ticket_plan.h), on random worlds of the tickets model.
 *
 *   1. A pass with a plan of the same time starts the same tasks as a pass without one.
 *   2. A plan owns everything that it points to: it can be run after the state was released.
 *   3. A pass with an old plan starts only tasks that can start now: not held, not cancelled, not with a later begin,
 *      none twice, and not more than the free resources.
 *   4. No job is forgotten: without further events, a few plans leave no task that a pass would start.
 *   5. A plan from before a change of the rules starts nothing, and the pass stays due; the next plan is used.
 *   6. Frequent submissions keep no job from starting: an existing plan is used.
 *   7. A plan from when an array was at its limit of running tasks does not lose the array.
 *
 * And laws of the snapshot:
 *
 *   8. The share tree in the state equals that of policy/share_nodes.h.
 *   9. The scheduler's list is in the order of the positions; an array has no more entries than may start.
 *  10. The share tree and the ticket identities, which are kept from plan to plan, equal new ones. */
#include "../pass_world.h"

#include "engine/ranking.h"
#include "engine/share_tree.h"

static const char *const projects[] = {"P1", "P2", "P3", "ann"};
static const char *const accounts[] = {"physics", "P1", "P2", "chemistry"};
static const char *const users[] = {"ann", "bob", "default", "cat", "eve", "P3"};

/* Accounts, users in them, some `default` users, and projects with and without a node. */
static void make_tree(struct world *w, struct rng *rng)
{
    for (uint32_t i = 0; i < 4; i++) world_object(w, OBJECT_PROJECT, projects[i], rng_below(rng, 2) ? "fshare=7" : "");
    for (uint32_t i = 0; i < 4; i++) {
        const char *parent = i > 0 && rng_below(rng, 2) ? accounts[rng_below(rng, i)] : NULL;
        struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {accounts[i], parent, 1 + rng_below(rng, 9), NONE}};
        assert_int_equal(world_apply(w, add, NULL), 0);
        for (uint32_t u = 0; u < 6; u++) {
            struct event event = {.kind = EVENT_USER_ADD,
                                  .user = {users[u], accounts[i], rng_below(rng, 9), false, PRIORITY_UNSET}};
            if (rng_below(rng, 3) == 0) assert_int_equal(world_apply(w, event, NULL), 0);
        }
    }
}

static void make_world(struct world *w, struct rng *rng)
{
    pass_world_make(w, rng);
    make_tree(w, rng);
    world_settings(w, "PriorityType=priority/tickets weight_ticket=0.5 weight_urgency=0.1 policy_hierarchy=OFS");
    if (rng_below(rng, 2)) world_settings(w, "policy_hierarchy=NONE"); /* the scheduler's list decides */
    world_settings(w, rng_below(rng, 2) ? "enforce_user=auto" : "max_pending_tasks_per_job=2");
}

static void submit_some(struct world *w, struct rng *rng, uint32_t max)
{
    for (uint32_t jobs = rng_below(rng, max); jobs > 0; jobs--) {
        const char *project = rng_below(rng, 2) ? projects[rng_below(rng, 4)] : "";
        pass_world_submit(w, rng, pass_users[rng_below(rng, 4)], project);
    }
}

/* Runs the pass with a plan, or without one (NULL). Returns the number of starts. */
static uint32_t use(struct world *w, struct ticket_plan *plan)
{
    uint32_t starts = 0;
    outcome_clear(&w->out);
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot-1", plan}}, NULL), 0);
    for (uint32_t i = 0; i < w->out.decisions.count; i++) starts += w->out.decisions.items[i].kind == DECIDE_START;
    ticket_plan_free(plan);
    return starts;
}

static struct ticket_plan *make_and_run(struct world *w)
{
    struct ticket_plan *plan = ticket_plan_make(&w->s, w->now_us, 0);
    if (plan != NULL) ticket_plan_run(plan);
    return plan;
}

/* Runs the pass as the daemon does. */
static uint32_t plan_or_pass(struct world *w)
{
    return use(w, make_and_run(w));
}

static void expect_same_decisions(const struct world *a, const struct world *b)
{
    assert_int_equal(a->out.decisions.count, b->out.decisions.count);
    for (uint32_t i = 0; i < a->out.decisions.count; i++) {
        const struct decision *x = &a->out.decisions.items[i], *y = &b->out.decisions.items[i];
        assert_int_equal(x->kind, y->kind);
        assert_true(x->launch_id == y->launch_id && x->cpu_weight == y->cpu_weight);
        assert_int_equal(x->job_id, y->job_id);
        assert_int_equal(x->task_id, y->task_id);
    }
    assert_true(state_hash(&a->s) == state_hash(&b->s));
}

/* Law 1, on two worlds with the same events. */
static void a_plan_starts_what_a_pass_starts(void **unused)
{
    (void)unused;
    struct rng rng = {1};
    uint32_t plans = 0, starts = 0;
    for (int round = 0; round < 400; round++) {
        struct world planned, plain;
        struct rng first = {1000 + (uint64_t)round};
        struct rng second = first;
        make_world(&planned, &first);
        make_world(&plain, &second);
        for (int step = 0; step < 6; step++) {
            submit_some(&planned, &first, 9);
            submit_some(&plain, &second, 9);
            planned.now_us = plain.now_us += rng_below(&rng, 60) * SECOND;
            struct ticket_plan *plan = make_and_run(&planned);
            plans += plan != NULL;
            starts += use(&planned, plan);
            world_pass(&plain);
            expect_same_decisions(&planned, &plain);
            assert_int_equal(planned.s.pass_is_due, plain.s.pass_is_due);
            assert_true(planned.s.next_due_us == plain.s.next_due_us);
            planned.now_us = plain.now_us += rng_below(&rng, 1000) * SECOND;
            pass_world_end_some(&planned, &first);
            pass_world_end_some(&plain, &second);
        }
        world_release(&planned);
        world_release(&plain);
    }
    print_message("# %u starts, %u plans in 400 worlds\n", starts, plans);
    assert_true(starts > 2000 && plans > 1000);
}

static void a_plan_outlives_the_state(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct rng rng = {seed};
        struct world w;
        make_world(&w, &rng);
        submit_some(&w, &rng, 20);
        struct ticket_plan *plan = ticket_plan_make(&w.s, w.now_us, 0);
        world_release(&w);
        if (plan != NULL) ticket_plan_run(plan);
        ticket_plan_free(plan);
    }
}

/* --- old plans ---------------------------------------------------------------------------------------------------- */

static struct job_ref pick_job(struct world *w, struct rng *rng)
{
    const struct job *j = &w->s.jobs.items[rng_below(rng, w->s.jobs.count)];
    return (struct job_ref){j->id, NONE};
}

static void change_object(struct world *w, struct rng *rng)
{
    static const enum event_kind kinds[] = {EVENT_OBJECT_ADD, EVENT_OBJECT_MODIFY, EVENT_OBJECT_DELETE};
    bool is_user = rng_below(rng, 2) == 0;
    enum event_kind kind = kinds[rng_below(rng, 3)];
    const char *name = is_user ? users[rng_below(rng, 6)] : projects[rng_below(rng, 4)];
    const char *fields = kind == EVENT_OBJECT_DELETE ? "" : rng_below(rng, 2) ? "fshare=30" : "oticket=4";
    world_apply(w, world_object_event(w, kind, is_user ? OBJECT_USER_POLICY : OBJECT_PROJECT, name, fields), NULL);
}

static void change_association(struct world *w, struct rng *rng)
{
    static const enum event_kind kinds[] = {EVENT_USER_ADD,    EVENT_USER_DELETE,    EVENT_USER_MODIFY,
                                            EVENT_ACCOUNT_ADD, EVENT_ACCOUNT_DELETE, EVENT_ACCOUNT_MODIFY};
    struct event event = {.kind = kinds[rng_below(rng, 6)]};
    const char *account = accounts[rng_below(rng, 4)];
    bool is_user = event.kind >= EVENT_USER_ADD;
    bool resets = rng_below(rng, 4) == 0;
    if (is_user)
        event.user = (struct event_user){.name = users[rng_below(rng, 6)],
                                         .account = account,
                                         .shares = rng_below(rng, 9),
                                         .priority = NONE,
                                         .resets_usage = resets,
                                         .partition = rng_below(rng, 3) == 0 ? "main" : NULL};
    else
        event.account =
            (struct event_account){account, accounts[rng_below(rng, 4)], rng_below(rng, 9), NONE, resets, NULL, 0};
    world_apply(w, event, NULL);
}

/* A random event of an operator or the clock, which may be refused. */
static void operate(struct world *w, struct rng *rng)
{
    char cpus[8];
    snprintf(cpus, sizeof cpus, "%u", 6 + rng_below(rng, 6));
    switch (rng_below(rng, 8)) {
    case 0: world_object(w, OBJECT_PARTITION, "fast", rng_below(rng, 2) ? "MaxTime=10" : "MaxTime=UNLIMITED"); break;
    case 1: world_apply(w, (struct event){.kind = EVENT_RESET, .reset_us = w->now_us}, NULL); break;
    case 2:
        world_set(w, "PriorityType", "priority/multifactor");
        world_set(w, "PriorityType", "priority/tickets");
        break;
    case 3:
        if (w->s.task_by_launch.count == 0) world_set(w, "host_cpus", cpus);
        break;
    case 4:
    case 5: change_object(w, rng); break;
    default: change_association(w, rng); break;
    }
}

/* Random events while a plan is made, some of which are refused. */
static void disturb(struct world *w, struct rng *rng)
{
    static const enum event_kind kinds[] = {EVENT_CANCEL, EVENT_HOLD, EVENT_RELEASE};
    for (uint32_t times = rng_below(rng, 5); times > 0 && w->s.jobs.count > 0; times--) {
        struct job_ref ref = pick_job(w, rng);
        struct event event = {.kind = kinds[rng_below(rng, 3)], .jobs = {&ref, 1, rng_below(rng, 20) == 0}};
        world_apply(w, event, NULL);
    }
    if (rng_below(rng, 3) == 0 && w->s.jobs.count > 0) {
        const struct job_values *values =
            job_text("cpus=%u|project=%s", 1 + rng_below(rng, 8), projects[rng_below(rng, 4)]);
        if (rng_below(rng, 2)) values = job_with(values, "partitions=heavy,fast");
        world_apply(w, world_update(pick_job(w, rng).job_id, values), NULL);
    }
    if (rng_below(rng, 3) == 0 && w->s.jobs.count > 0)
        world_apply(w, world_update(pick_job(w, rng).job_id, job_text("array_limit=%u", rng_below(rng, 5))), NULL);
    for (uint32_t times = rng_below(rng, 8); times > 0; times--) operate(w, rng);
    submit_some(w, rng, 4);
    pass_world_end_some(w, rng);
    if (rng_below(rng, 2) == 0) engine_forget(&w->s);
    w->now_us += rng_below(rng, 50) * SECOND;
}

/* A change that tickets depend on. */
static void change_rules(struct world *w, struct rng *rng)
{
    struct event shares = {.kind = EVENT_ACCOUNT_MODIFY,
                           .account = {"physics", NULL, rng_below(rng, 50), PRIORITY_UNSET}};
    char value[32];
    snprintf(value, sizeof value, "fshare=%u", rng_below(rng, 1000));
    switch (rng_below(rng, 4)) {
    case 0: world_set(w, "weight_tickets_functional", strchr(value, '=') + 1); break;
    case 1: world_object(w, OBJECT_USER_POLICY, "bob", value); break;
    case 2: assert_int_equal(world_apply(w, shares, NULL), 0); break;
    default: world_object(w, OBJECT_PROJECT, "P2", value); break;
    }
}

static void expect_resources_suffice(const struct world *w)
{
    uint32_t cpus = 0, gpus = 0;
    uint64_t mem_mib = 0;
    double resources[2] = {0.0, 0.0};
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        const struct job *j = &w->s.jobs.items[state_find_job(&w->s, k->job_id)];
        cpus += task_cpu_count(k);
        gpus += idset_count(&k->placements[0].gpus);
        mem_mib += task_mem_mib(k);
        for (uint32_t r = 0; r < j->request_count; r++)
            resources[j->requests[r].resource] += j->requests[r].amount * task_cpu_count(k);
    }
    assert_true(cpus <= w->s.hosts.items[0].host.has.cpus && gpus <= w->s.hosts.items[0].host.has.gpus &&
                mem_mib <= w->s.hosts.items[0].host.has.mem_mib);
    assert_true(resources[0] <= 7.0 && resources[1] <= 2.0);
}

/* Law 3, for the tasks from first on, which this pass started. */
static void expect_only_startable_tasks(const struct world *w, uint32_t first)
{
    for (uint32_t i = first; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        const struct job *j = &w->s.jobs.items[state_find_job(&w->s, k->job_id)];
        assert_false(j->is_held || idset_has(&j->pending, k->task_id) || idset_has(&j->cancelled, k->task_id));
        assert_true(j->begin_us <= w->now_us && j->ended_us == 0);
        assert_true(j->array_limit == 0 || j->live_tasks <= j->array_limit);
        assert_true(task_cpu_count(k) >= j->request.cpus);
        for (uint32_t other = 0; other < i; other++) {
            const struct task *o = &w->s.tasks.items[other];
            assert_false(o->job_id == k->job_id && o->task_id == k->task_id && !job_state_is_end(o->state));
        }
    }
    expect_resources_suffice(w);
}

/* Law 4. */
static void expect_nothing_is_forgotten(struct world *w)
{
    for (int i = 0; w->s.pass_is_due; i++) {
        assert_true(i < 3);
        plan_or_pass(w);
    }
    w->s.pass_is_due = true;
    assert_int_equal(world_pass(w), 0);
}

static void an_old_plan_starts_only_what_can_start(void **unused)
{
    (void)unused;
    uint32_t starts = 0, used = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rng rng = {seed};
        struct world w;
        make_world(&w, &rng);
        for (int step = 0; step < 6; step++) {
            submit_some(&w, &rng, 12);
            struct ticket_plan *plan = make_and_run(&w);
            disturb(&w, &rng);
            uint32_t first = w.s.tasks.count;
            used += plan != NULL;
            starts += use(&w, plan);
            expect_only_startable_tasks(&w, first);
            if (rng_below(&rng, 2) == 0) expect_nothing_is_forgotten(&w);
            w.now_us += rng_below(&rng, 100) * SECOND;
            pass_world_end_some(&w, &rng);
        }
        world_release(&w);
    }
    print_message("# %u starts by %u old plans\n", starts, used);
    assert_true(starts > 2000 && used > 800);
}

static void a_change_of_the_rules_takes_effect_at_once(void **unused)
{
    (void)unused;
    uint32_t dropped = 0, starts = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng first = {seed}, second = {seed};
        struct world w, plain;
        make_world(&w, &first);
        make_world(&plain, &second);
        submit_some(&w, &first, 20);
        submit_some(&plain, &second, 20);
        struct ticket_plan *plan = make_and_run(&w);
        if (plan != NULL) {
            change_rules(&w, &first);
            change_rules(&plain, &second);
            assert_int_equal(use(&w, plan), 0);
            assert_true(w.s.pass_is_due);
            dropped++;
            starts += plan_or_pass(&w);
            world_pass(&plain);
            expect_same_decisions(&w, &plain);
        }
        world_release(&w);
        world_release(&plain);
    }
    print_message("# %u plans dropped, %u starts by the next ones\n", dropped, starts);
    assert_true(dropped > 100 && starts > 200);
}

/* Jobs with one CPU each, on a host with one CPU. */
static void make_queue(struct world *w)
{
    world_init(w, 9, 100, 0);
    world_settings(w, "host_cpus=1");
    world_settings(w, "PriorityType=priority/tickets weight_tickets_functional=1000");
    for (int i = 0; i < 5; i++) world_submit(w, pass_users[i % 4], NULL, 1);
}

static void end_last(struct world *w)
{
    const struct task *k = &w->s.tasks.items[w->s.tasks.count - 1];
    world_started(w, k->launch_id);
    world_ended(w, k->launch_id, JOB_COMPLETED, w->now_us);
}

static void frequent_changes_of_rules_stop_no_job(void **unused)
{
    (void)unused;
    struct rng rng = {1};
    struct world w;
    make_queue(&w);
    world_object(&w, OBJECT_PROJECT, "P2", "");
    world_user(&w, "physics", 1, "eve");
    for (int i = 0; i < 5; i++) {
        uint32_t id = w.s.tasks.count + 1;
        for (int attempt = 0; attempt < 2; attempt++) {
            struct ticket_plan *plan = make_and_run(&w);
            if (plan != NULL) change_rules(&w, &rng);
            uint32_t starts = use(&w, plan);
            assert_int_equal(starts, plan == NULL || attempt == 1);
            if (starts == 1) break;
        }
        assert_int_equal(w.s.tasks.count, id);
        end_last(&w);
    }
    world_release(&w);
}

/* A plan is used if the last pass dropped one; earlier drops do not matter. */
static void a_pass_in_between_lets_a_change_drop_a_plan_again(void **unused)
{
    (void)unused;
    struct rng rng = {1};
    struct world w;
    make_queue(&w);
    world_object(&w, OBJECT_PROJECT, "P2", "");
    world_user(&w, "physics", 1, "eve");
    struct ticket_plan *plan = make_and_run(&w);
    change_rules(&w, &rng);
    assert_int_equal(use(&w, plan), 0);
    struct job_ref others[] = {{2, NONE}, {3, NONE}, {4, NONE}, {5, NONE}};
    struct event cancel = {.kind = EVENT_CANCEL, .jobs = {others, 4, false}};
    assert_int_equal(world_apply(&w, cancel, NULL), 0);
    plan = make_and_run(&w);
    assert_null(plan); /* one job needs no rank */
    assert_int_equal(use(&w, plan), 1);
    end_last(&w);
    world_submit(&w, "ann", NULL, 1);
    world_submit(&w, "bob", NULL, 1);
    plan = make_and_run(&w);
    change_rules(&w, &rng);
    assert_int_equal(use(&w, plan), 0);
    assert_true(w.s.pass_is_due);
    world_release(&w);
}

static void frequent_submissions_stop_no_job(void **unused)
{
    (void)unused;
    struct world w;
    make_queue(&w);
    for (int i = 0; i < 20; i++) {
        char new_user[16];
        struct ticket_plan *plan = make_and_run(&w);
        assert_non_null(plan);
        snprintf(new_user, sizeof new_user, "new_user%d", i);
        world_submit(&w, new_user, NULL, 1); /* adds an association, and a user object */
        assert_int_equal(use(&w, plan), 1);
        end_last(&w);
    }
    world_release(&w);
}

/* Law 7. Two CPUs are left while task 0 of the array runs. */
static void an_array_at_its_limit_is_not_lost(void **unused)
{
    (void)unused;
    struct world w;
    make_queue(&w);
    world_settings(&w, "host_cpus=3");
    struct job_ref others[] = {{1, NONE}, {2, NONE}, {3, NONE}, {4, NONE}, {5, NONE}};
    assert_int_equal(world_apply(&w, (struct event){.kind = EVENT_CANCEL, .jobs = {others, 5, false}}, NULL), 0);
    struct event array = world_job("ann");
    array.submit = job_with(array.submit, "array=0-3%%1");
    uint32_t id = world_take(&w, array);
    assert_int_equal(plan_or_pass(&w), 1);
    world_submit(&w, "bob", NULL, 1);
    world_submit(&w, "cat", NULL, 1);
    struct ticket_plan *plan = make_and_run(&w);
    assert_non_null(plan);
    assert_int_equal(plan->job_count, 2);
    assert_false(w.s.pass_is_due);
    world_run(&w, id, 0);
    world_end(&w, id, 0);
    assert_int_equal(use(&w, plan), 2);
    assert_true(w.s.pass_is_due);
    assert_int_equal(plan_or_pass(&w), 1);
    assert_non_null(world_task(&w, id, 1));
    world_release(&w);
}

/* The job becomes eligible by time alone. */
static void a_job_that_begins_meanwhile_is_not_forgotten(void **unused)
{
    (void)unused;
    struct world w;
    make_queue(&w);
    world_set(&w, "host_cpus", "3");
    assert_int_equal(plan_or_pass(&w), 3);
    struct event later = world_job("eve");
    later.submit = job_with(later.submit, "begin_us=%lld", (long long)(w.now_us + SECOND));
    uint32_t id = world_take(&w, later);
    world_set(&w, "host_cpus", "6");
    struct ticket_plan *plan = make_and_run(&w);
    w.now_us += 2 * SECOND;
    assert_int_equal(use(&w, plan), 2);
    assert_int_equal(plan_or_pass(&w), 1);
    assert_int_equal(w.s.tasks.items[w.s.tasks.count - 1].job_id, id);
    world_release(&w);
}

static void another_model_needs_no_plan(void **unused)
{
    (void)unused;
    struct world w;
    make_queue(&w);
    uint32_t urgent = world_submit(&w, "dan", NULL, 1);
    struct ticket_plan *plan = make_and_run(&w);
    assert_non_null(plan);
    assert_int_equal(world_apply(&w, world_update(urgent, job_text("set_priority=4000000000")), NULL), 0);
    world_set(&w, "PriorityType", "priority/multifactor");
    assert_int_equal(use(&w, plan), 1);
    assert_int_equal(w.s.tasks.items[0].job_id, urgent);
    assert_false(w.s.pass_is_due);
    assert_null(ticket_plan_make(&w.s, w.now_us, 0));
    world_release(&w);
}

static void a_plan_is_made_only_if_needed(void **unused)
{
    (void)unused;
    struct world w;
    make_queue(&w);
    assert_null(ticket_plan_make(&w.s, w.now_us, 6));
    assert_true(w.s.pass_is_due);
    struct ticket_plan *plan = make_and_run(&w);
    assert_null(ticket_plan_make(&w.s, w.now_us, 0)); /* it cleared pass_is_due */
    assert_int_equal(use(&w, plan), 1);
    world_submit(&w, "ann", NULL, 1);
    assert_null(ticket_plan_make(&w.s, w.now_us, 0)); /* no CPU is free */
    assert_int_equal(world_pass(&w), 0);
    world_release(&w);
}

/* --- the share tree ----------------------------------------------------------------------------------------------- */

/* The association tree as the share tree of a document. */
static void list_nodes(const struct world *w, struct share_nodes *out, struct arena *arena)
{
    const struct state *s = &w->s;
    uint32_t *node = arena_alloc(arena, s->tree.count * sizeof *node);
    struct map seen = {0}; /* realm and user */
    uint32_t *realm = arena_alloc(arena, s->tree.count * sizeof *realm);
    share_nodes_init(out);
    share_nodes_add(out, NONE, "/", 1);
    for (uint32_t i = 1; i < s->tree.count; i++) {
        const struct assoc *a = &s->assocs.items[s->assoc_of.items[i]];
        uint32_t above = s->tree.parent[i];
        const char *name = a->user != NULL ? a->user : a->account;
        bool is_project = state_find_object(s, OBJECT_PROJECT, name) != NONE;
        char text[100], key[100];
        snprintf(text, sizeof text, "%s%s", a->user != NULL || (is_project && realm[above] == 0) ? "" : "/", name);
        snprintf(key, sizeof key, "%u %s", realm[above], name);
        bool is_second = a->user != NULL && (is_project || map_get(&seen, str(key)) != NONE);
        realm[i] = realm[above];
        if (is_second) continue;
        if (a->user != NULL) map_set(&seen, str(arena_copy(arena, str(key))), i);
        uint32_t shares = a->shares == SHARES_PARENT ? 1 : a->shares;
        node[i] = share_nodes_add(out, node[above], arena_copy(arena, str(text)), shares);
        if (a->user == NULL && is_project && realm[above] == 0) realm[i] = node[i];
    }
    struct err e;
    if (share_nodes_finish(out, &s->object_by_name[OBJECT_PROJECT], &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    map_release(&seen);
}

static void expect_same_nodes(const struct share_snapshot *m, const struct share_nodes *listed)
{
    assert_int_equal(m->active.count, listed->nodes.count);
    for (uint32_t i = 0; i < listed->nodes.count; i++) {
        const struct share_node *n = &listed->nodes.items[i];
        const struct ticket_node *active = &m->active.items[i];
        assert_int_equal(active->parent, n->parent);
        assert_true(active->shares >= n->shares && active->shares <= n->shares);
        assert_int_equal(active->is_group, !n->is_leaf && !n->is_project);
    }
}

static uint32_t expect_same_leaf(struct share_snapshot *m, const struct share_nodes *listed, uint32_t assoc,
                                 uint32_t project)
{
    const struct state *s = m->s;
    const char *name = project != NONE ? s->objects[OBJECT_PROJECT].items[project].object.name : NULL;
    bool is_default;
    uint32_t expected = share_nodes_serve(listed, s->assocs.items[assoc].user, name, &is_default);
    uint32_t node = share_snapshot_serve(m, assoc, project);
    if (!is_default) {
        assert_int_equal(node, expected);
        return 0;
    }
    assert_true(node >= listed->nodes.count);
    assert_int_equal(m->active.items[node].parent, listed->nodes.items[expected].parent);
    assert_int_equal(share_snapshot_serve(m, assoc, project), node);
    return 1;
}

static void the_share_tree_equals_share_nodes(void **unused)
{
    (void)unused;
    uint32_t served = 0, virtual = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng = {seed};
        struct world w;
        make_world(&w, &rng);
        for (int step = 0; step < 3; step++) {
            struct share_snapshot m;
            struct share_nodes listed;
            struct arena arena = {0};
            submit_some(&w, &rng, 6); /* new users get associations */
            if (step == 1) change_rules(&w, &rng);
            share_snapshot_make(&m, &w.s);
            list_nodes(&w, &listed, &arena);
            expect_same_nodes(&m, &listed);
            for (uint32_t a = 0; a < w.s.assocs.count; a++) {
                if (w.s.assocs.items[a].user == NULL) continue;
                for (uint32_t p = 0; p <= 4; p++, served++)
                    virtual += expect_same_leaf(&m, &listed, a, p < 4 ? p : NONE);
            }
            share_snapshot_release(&m);
            share_nodes_release(&listed);
            arena_release(&arena);
        }
        world_release(&w);
    }
    print_message("# %u leaves compared, %u virtual nodes\n", served, virtual);
    assert_true(served > 10000 && virtual > 1000);
}

static void expect_same_input(const struct ticket_snapshot *a, const struct ticket_snapshot *b)
{
    const struct ticket_input *x = &a->input, *y = &b->input;
    assert_int_equal(x->job_count, y->job_count);
    assert_int_equal(x->node_count, y->node_count);
    assert_int_equal(x->list == NULL, y->list == NULL);
    for (uint32_t i = 0; i < x->job_count; i++) {
        assert_int_equal(x->jobs[i].id, y->jobs[i].id);
        assert_int_equal(x->jobs[i].node, y->jobs[i].node);
        assert_memory_equal(x->jobs[i].member, y->jobs[i].member, sizeof x->jobs[i].member);
    }
    for (uint32_t i = 0; i < x->node_count; i++) {
        assert_int_equal(x->nodes[i].parent, y->nodes[i].parent);
        assert_int_equal(x->nodes[i].is_group, y->nodes[i].is_group);
        assert_memory_equal(&x->nodes[i].shares, &y->nodes[i].shares, sizeof x->nodes[i].shares);
        assert_memory_equal(&x->nodes[i].usage, &y->nodes[i].usage, sizeof x->nodes[i].usage);
    }
    for (int m = 0; m < MEMBER_KIND_COUNT; m++) {
        assert_int_equal(x->member_count[m], y->member_count[m]);
        if (x->member_count[m] > 0)
            assert_memory_equal(x->members[m], y->members[m], x->member_count[m] * sizeof *x->members[m]);
    }
}

/* The list has each pending entry once, in the order of the positions of their jobs, and no array has more entries than
 * may start. Returns whether it is not the order of the jobs. */
static bool expect_right_list(struct world *w, const struct ticket_snapshot *snapshot)
{
    const struct ticket_input *in = &snapshot->input;
    uint64_t last = 0;
    uint32_t pending = 0;
    while (pending < in->job_count && !in->jobs[pending].is_running) pending++;
    bool *is_listed = arena_alloc(&w->s.cycle, (pending + (size_t)1) * sizeof *is_listed);
    for (uint32_t i = 0, same = 0; i < pending; i++) {
        uint32_t entry = in->list != NULL ? in->list[i] : i;
        const struct job *j = &w->s.jobs.items[snapshot->entries[entry].job];
        assert_true(entry < pending && !is_listed[entry] && j->list_position >= last);
        same = j->list_position == last ? same + 1 : 1;
        assert_true(j->array_limit == 0 || same + j->live_tasks <= j->array_limit);
        is_listed[entry] = true;
        last = j->list_position;
    }
    return in->list != NULL;
}

static void kept_identities_and_share_tree_equal_new_ones(void **unused)
{
    (void)unused;
    uint32_t jobs = 0, lists = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct rng rng = {seed};
        struct world w;
        make_world(&w, &rng);
        for (int step = 0; step < 10; step++) {
            struct ticket_snapshot kept, rebuilt;
            submit_some(&w, &rng, 6);
            if (rng_below(&rng, 2)) plan_or_pass(&w);
            w.now_us += rng_below(&rng, 1000) * SECOND;
            disturb(&w, &rng);
            ticket_snapshot_make(&kept, &w.s, w.now_us);
            share_tree_free(w.s.share_tree);
            ticket_identities_free(w.s.ticket_identities);
            w.s.share_tree = NULL;
            w.s.ticket_identities = NULL;
            ticket_snapshot_make(&rebuilt, &w.s, w.now_us);
            expect_same_input(&kept, &rebuilt);
            lists += expect_right_list(&w, &kept);
            jobs += kept.input.job_count;
            ticket_snapshot_release(&kept);
            ticket_snapshot_release(&rebuilt);
        }
        world_release(&w);
    }
    print_message("# %u jobs compared, %u changed lists\n", jobs, lists);
    assert_true(jobs > 5000 && lists > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_starts_what_a_pass_starts),
        cmocka_unit_test(a_plan_outlives_the_state),
        cmocka_unit_test(an_old_plan_starts_only_what_can_start),
        cmocka_unit_test(a_change_of_the_rules_takes_effect_at_once),
        cmocka_unit_test(frequent_changes_of_rules_stop_no_job),
        cmocka_unit_test(a_pass_in_between_lets_a_change_drop_a_plan_again),
        cmocka_unit_test(frequent_submissions_stop_no_job),
        cmocka_unit_test(an_array_at_its_limit_is_not_lost),
        cmocka_unit_test(a_job_that_begins_meanwhile_is_not_forgotten),
        cmocka_unit_test(another_model_needs_no_plan),
        cmocka_unit_test(a_plan_is_made_only_if_needed),
        cmocka_unit_test(the_share_tree_equals_share_nodes),
        cmocka_unit_test(kept_identities_and_share_tree_equal_new_ones),
    };
    return cmocka_run_group_tests_name("plan laws", tests, NULL, NULL);
}
