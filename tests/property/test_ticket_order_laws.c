/* Laws of the order that is computed from the first tasks of groups (engine/ticket_order.h), on random worlds of the
 * tickets model.
 *
 *   1. It is the order of a ticket plan, which ranks all jobs: the same tasks with the same priorities and tickets, bit
 *      for bit, for all groups, for some of them, and when groups are dropped on the way.
 *   2. A pass with it decides what a pass with that plan decides. */
#include "../pass_world.h"

#include "engine/ticket_order.h"

static const char *const projects[] = {"p1", "p2", "p3"};
static const char *const users[] = {"ann", "bob", "cat", "dan", "eve"}; /* eve has no object at first */
static const char *const departments[] = {"d1", "d2"};

static const char *one_of(struct rng *rng, const char *const *texts, uint32_t count)
{
    return texts[rng_below(rng, count)];
}
#define ONE_OF(rng, ...)                              \
    one_of((rng), (const char *const[]){__VA_ARGS__}, \
           (uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* --- random worlds ------------------------------------------------------------------------------------------------ */

static void set_weights(struct world *w, struct rng *rng)
{
    world_set(w, "weight_ticket", ONE_OF(rng, "0.5", "0.5", "100", "0", "-1"));
    world_set(w, "weight_urgency", ONE_OF(rng, "0.1", "0.1", "0", "2"));
    world_set(w, "weight_priority", ONE_OF(rng, "0", "1", "-0.5"));
    world_set(w, "weight_waiting_time", ONE_OF(rng, "0.278", "0", "10"));
    world_set(w, "weight_deadline", ONE_OF(rng, "3600000", "0", "-5"));
    world_set(w, "deadline_weight", ONE_OF(rng, "own", "waiting"));
    world_set(w, "posix_priority_range", ONE_OF(rng, "fixed", "present"));
    world_set(w, "report_pjob_tickets", ONE_OF(rng, "true", "false"));
    world_set(w, "weight_user", ONE_OF(rng, "0.25", "0"));
    world_set(w, "weight_project", ONE_OF(rng, "0.25", "0", "3"));
    world_set(w, "weight_department", ONE_OF(rng, "0.25", "0"));
    world_set(w, "weight_job", ONE_OF(rng, "0.25", "1"));
    world_set(w, "weight_job_class", ONE_OF(rng, "0", "0", "0.5"));
}

/* Functional tickets, or a share tree; both need a plan. */
static void set_pools(struct world *w, struct rng *rng)
{
    bool has_tree = rng_below(rng, 2) == 0, has_both = rng_below(rng, 8) == 0;
    const char *functional = ONE_OF(rng, "1000000", "1000", "0");
    world_set(w, "weight_tickets_share", has_tree ? ONE_OF(rng, "1000000", "500", "1") : "0");
    world_set(w, "weight_tickets_functional", has_tree && !has_both ? "0" : functional);
    world_set(w, "compensation_factor", ONE_OF(rng, "5", "0", "1.5", "1", "-3"));
    world_set(w, "compensation_rule", ONE_OF(rng, "program", "manual"));
    world_set(w, "usage_weight_list", ONE_OF(rng, "cpu=1,mem=0,io=0", "cpu=0.5,mem=0.5,io=0"));
}

static void set_policies(struct world *w, struct rng *rng)
{
    set_pools(w, rng);
    world_set(w, "policy_hierarchy", ONE_OF(rng, "OFS", "OFS", "FOS", "F", "SF", "NONE"));
    world_set(w, "max_functional_jobs_to_schedule", ONE_OF(rng, "200", "0", "1", "2", "3", "5", "9", "20"));
    world_set(w, "max_pending_tasks_per_job", ONE_OF(rng, "50", "1", "2"));
    world_set(w, "share_functional_shares", ONE_OF(rng, "true", "false"));
    world_set(w, "share_override_tickets", ONE_OF(rng, "true", "false"));
    world_set(w, "urgency_slots", ONE_OF(rng, "min", "max", "avg", "5"));
}

static void add_account(struct world *w, const char *account, const char *parent, uint32_t shares)
{
    struct event add = {.kind = EVENT_ACCOUNT_ADD, .account = {account, parent, shares, NONE}};
    assert_int_equal(world_apply(w, add, NULL), 0);
}

static void add_user(struct world *w, const char *user, const char *account, uint32_t shares)
{
    struct event add = {.kind = EVENT_USER_ADD, .user = {user, account, shares, false, PRIORITY_UNSET}};
    assert_int_equal(world_apply(w, add, NULL), 0);
}

/* Accounts, of which p1 and p2 are nodes of projects, and users in them. Some have no shares, or a `default`, which
 * serves other users by virtual nodes. */
static void make_wide_tree(struct world *w, struct rng *rng)
{
    static const char *const accounts[] = {"physics", "p1", "p2", "chemistry"};
    for (uint32_t i = 0; i < 4; i++) {
        const char *parent = i > 0 && rng_below(rng, 2) ? accounts[rng_below(rng, i)] : NULL;
        add_account(w, accounts[i], parent, rng_below(rng, 6) == 0 ? 0 : 1 + rng_below(rng, 9));
        for (uint32_t u = 0; u < 5; u++) {
            if (rng_below(rng, 3) == 0) add_user(w, users[u], accounts[i], rng_below(rng, 9));
        }
        if (rng_below(rng, 4) == 0) add_user(w, "default", accounts[i], rng_below(rng, 9));
    }
}

/* Users at three levels. */
static void make_deep_tree(struct world *w, struct rng *rng)
{
    add_account(w, "physics", NULL, 1 + rng_below(rng, 9));
    add_account(w, "optics", "physics", rng_below(rng, 3));
    add_account(w, "lasers", "optics", rng_below(rng, 3));
    add_account(w, "chemistry", NULL, 3);
    add_user(w, "ann", "lasers", 1 + rng_below(rng, 9));
    add_user(w, "bob", "lasers", 1 + rng_below(rng, 9));
    add_user(w, "cat", "optics", 1 + rng_below(rng, 9));
    add_user(w, "dan", rng_below(rng, 2) ? "optics" : "physics", 1 + rng_below(rng, 9));
    add_user(w, "eve", "chemistry", 1);
}

/* A `default` serves most users. */
static void make_virtual_tree(struct world *w, struct rng *rng)
{
    add_account(w, "physics", NULL, 1 + rng_below(rng, 9));
    add_account(w, "chemistry", NULL, 3);
    add_user(w, "default", "physics", 1 + rng_below(rng, 9));
    add_user(w, "eve", "chemistry", 1);
}

static void make_tree(struct world *w, struct rng *rng)
{
    switch (rng_below(rng, 4)) {
    case 0: make_deep_tree(w, rng); break;
    case 1: make_virtual_tree(w, rng); break;
    default: make_wide_tree(w, rng); break;
    }
}

static void set_members(struct world *w, struct rng *rng)
{
    bool gives = rng_below(rng, 3) == 0 && !(w->s.policy.tickets.share_pool > 0.0);
    char fields[64];
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(fields, sizeof fields, "fshare=%u|oticket=%u", rng_below(rng, 3) * 50, gives * rng_below(rng, 500));
        world_object(w, OBJECT_DEPARTMENT, departments[i], fields);
    }
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(fields, sizeof fields, "fshare=%u", rng_below(rng, 3) * 40);
        world_object(w, OBJECT_PROJECT, projects[i], fields);
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (rng_below(rng, 4) == 0) continue;
        snprintf(fields, sizeof fields, "fshare=%u|oticket=%u", rng_below(rng, 100), gives * rng_below(rng, 900));
        world_object(w, OBJECT_USER_POLICY, pass_users[i], fields);
        if (rng_below(rng, 2))
            world_object(w, OBJECT_USER_POLICY, pass_users[i], rng_below(rng, 2) ? "department=d1" : "department=d2");
    }
    world_object(w, OBJECT_PARTITION, "heavy", ONE_OF(rng, "fshare=30", "fshare=0", "slots=1", "slots=3"));
}

static void make_world(struct world *w, struct rng *rng)
{
    pass_world_make(w, rng);
    world_settings(w, "PriorityType=priority/tickets SHARETREE_RESERVED_USAGE=true auto_user_fshare=20");
    world_set(w, "enforce_user", "none");
    set_policies(w, rng);
    set_members(w, rng);
    make_tree(w, rng);
    set_weights(w, rng);
    if (rng_below(rng, 4) == 0) { /* so that each queue can be full */
        world_object(w, OBJECT_PARTITION, "main", "slots=3");
        world_object(w, OBJECT_PARTITION, "fast", "slots=2");
    }
    if (rng_below(rng, 2) == 0) world_set(w, "reservations", ONE_OF(rng, "all", "requested"));
    if (rng_below(rng, 2) == 0) world_set(w, "max_reservation", ONE_OF(rng, "1", "3"));
    if (rng_below(rng, 2) == 0) world_set(w, "params", "MONITOR=1");
}

/* Several equal jobs of a user. */
static void submit_equal(struct world *w, struct rng *rng)
{
    struct event job = world_job(users[rng_below(rng, 5)]);
    uint32_t count = 1 + rng_below(rng, 12), step_s = rng_below(rng, 3);
    bool has_own_tickets = !(w->s.policy.tickets.share_pool > 0.0);
    job.submit = job_with(job.submit, "cpus=%u|time_limit_s=600", 1 + rng_below(rng, 3));
    job.submit = job_with(job.submit, "partitions=%s", ONE_OF(rng, "main", "main", "heavy", "fast,main", "heavy,main"));
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "array=0-5%%%u", 1 + rng_below(rng, 6));
    if (rng_below(rng, 3) == 0) job.submit = job_with(job.submit, "project=%s", projects[rng_below(rng, 3)]);
    if (has_own_tickets && rng_below(rng, 5) == 0)
        job.submit = job_with(job.submit, "job_share=%u", 100 * (1 + rng_below(rng, 2)));
    if (has_own_tickets && rng_below(rng, 5) == 0)
        job.submit = job_with(job.submit, "override_tickets=%u", 500 * (1 + rng_below(rng, 2)));
    if (rng_below(rng, 4) == 0)
        job.submit = job_with(job.submit, "posix_priority=%d", 10 * (int)rng_below(rng, 3) - 10);
    if (rng_below(rng, 6) == 0)
        job.submit =
            job_with(job.submit, "deadline_us=%lld", (long long)(w->now_us + (30 + rng_below(rng, 900)) * SECOND));
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "requests=%s", ONE_OF(rng, "license=1", "tape=0.5"));
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "slots_max=4");
    if (rng_below(rng, 4) == 0) job.submit = job_with(job.submit, "reserve=true");
    if (rng_below(rng, 6) == 0) job.submit = job_with(job.submit, "qos=picky");
    if (rng_below(rng, 6) == 0)
        job.submit = job_with(job.submit, "begin_us=%lld", (long long)(w->now_us + rng_below(rng, 90) * SECOND));
    for (uint32_t i = 0; i < count; i++) {
        if (world_apply(w, job, NULL) != 0 && w->e.code != ERR_INPUT) fail_msg("%s", ERR_SENTENCE(&w->e));
        w->now_us += step_s * SECOND;
    }
}

static void change_jobs(struct world *w, struct rng *rng)
{
    static const enum event_kind kinds[] = {EVENT_HOLD, EVENT_RELEASE, EVENT_RELEASE, EVENT_CANCEL};
    static const char *const values[] = {"posix_priority=7", "cpus=2",        "name=other",
                                         "project=p1",       "job_share=100", "override_tickets=300"};
    uint32_t kinds_of_values = w->s.policy.tickets.share_pool > 0.0 ? 4 : 6;
    for (uint32_t times = rng_below(rng, 6); times > 0 && w->s.jobs.count > 0; times--) {
        struct job_ref ref = {w->s.jobs.items[rng_below(rng, w->s.jobs.count)].id, NONE};
        if (rng_below(rng, 3) > 0)
            world_apply(w, (struct event){.kind = kinds[rng_below(rng, 4)], .jobs = {&ref, 1, false}}, NULL);
        else
            world_apply(w, world_update(ref.job_id, job_text("%s", values[rng_below(rng, kinds_of_values)])), NULL);
    }
}

static void change_rules(struct world *w, struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0: set_members(w, rng); break;
    case 1: set_policies(w, rng); break;
    case 2: set_weights(w, rng); break;
    case 3: world_set(w, "enforce_user", ONE_OF(rng, "auto", "none")); break;
    case 4: world_object(w, OBJECT_RESOURCE, "license", rng_below(rng, 2) ? "urgency=700" : "urgency=3"); break;
    default: break;
    }
}

/* --- law 1 -------------------------------------------------------------------------------------------------------- */

static bool is_first_place(const struct pending *p, uint32_t group)
{
    return p->queue.groups.items[group].key != NULL && p->groups.items[group].place == 0;
}

static uint32_t group_of(const struct pending *p, uint32_t job_id)
{
    return pending_job_group(&p->jobs.items[map_get_u64(&p->by_id, job_id)], 0);
}

/* one_in: groups that take part, and tasks after which their group is dropped; 0: all do, and none is. */
static uint32_t compare(struct world *w, struct rng *rng, const struct ticket_plan *plan, uint32_t one_in)
{
    struct pending *p = w->s.pending;
    struct ticket_order order;
    struct ticket_next next;
    uint32_t compared = 0;
    if (!ticket_order_make(&order, &w->s, w->now_us)) { /* a target is too small */
        ticket_order_release(&order);
        return 0;
    }
    bool *takes_part = mem_resize(NULL, 0, p->queue.groups.count + 1u);
    for (uint32_t g = 0; g < p->queue.groups.count; g++) {
        takes_part[g] = is_first_place(p, g) && (one_in == 0 || rng_below(rng, one_in) > 0);
        if (takes_part[g]) ticket_order_offer(&order, g);
    }
    ticket_order_begin(&order);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct planned_task *k = &plan->tasks[i];
        uint32_t job_id = plan->job_ids[k->job], group = group_of(p, job_id);
        if (!takes_part[group]) continue;
        assert_true(ticket_order_next(&order, &next));
        assert_int_equal(next.group, group);
        assert_int_equal(next.job_id, job_id);
        assert_int_equal(next.is_last, k->is_last);
        assert_true(next.order == k->order);
        assert_memory_equal(&next.tickets, &k->tickets, sizeof next.tickets);
        compared++;
        if (one_in == 0 || rng_below(rng, one_in) > 0) continue;
        takes_part[group] = false;
        ticket_order_drop(&order, group);
    }
    assert_false(ticket_order_next(&order, &next));
    ticket_order_release(&order);
    mem_free(takes_part);
    return compared;
}

static void the_order_is_that_of_a_plan(void **unused)
{
    (void)unused;
    uint32_t compared = 0, orders = 0, refused = 0, by_tree = 0, impossible = 0;
    for (uint64_t seed = 1; seed <= 1200; seed++) {
        struct rng rng = {seed};
        struct world w;
        make_world(&w, &rng);
        for (int step = 0; step < 6; step++) {
            for (uint32_t i = rng_below(&rng, 5); i > 0; i--) submit_equal(&w, &rng);
            change_jobs(&w, &rng);
            change_rules(&w, &rng);
            pending_update(&w.s, w.now_us, true);
            bool applies = ticket_heads_apply(&w.s);
            refused += !applies;
            by_tree += applies && w.s.policy.tickets.share_pool > 0.0;
            struct ticket_plan *plan = ticket_plan_new(&w.s, w.now_us);
            ticket_plan_run(plan);
            for (uint32_t one_in = 0; applies && one_in < 6; one_in += 2) {
                uint32_t count = compare(&w, &rng, plan, one_in);
                compared += count;
                orders += count > 0;
                impossible += one_in == 0 && count == 0 && plan->task_count > 0;
            }
            ticket_plan_free(plan);
            w.s.pass_is_due = true;
            world_pass(&w);
            w.now_us += rng_below(&rng, 300) * SECOND;
            pass_world_end_some(&w, &rng);
            engine_forget(&w.s);
        }
        world_release(&w);
    }
    print_message("# %u orders of %u tasks, %u by share trees; %u refused, %u by targets\n", orders, compared, by_tree,
                  refused, impossible);
    assert_true(orders > 10000 && compared > 250000 && by_tree > 1500 && refused < 3000);
}

/* --- law 2 -------------------------------------------------------------------------------------------------------- */

static void pass_with_plan(struct world *w)
{
    pending_update(&w->s, w->now_us, true);
    struct ticket_plan *plan = ticket_plan_new(&w->s, w->now_us);
    ticket_plan_run(plan);
    w->s.pass_is_due = true;
    outcome_clear(&w->out);
    assert_int_equal(world_apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot-1", plan}}, NULL), 0);
    ticket_plan_free(plan);
}

static uint32_t expect_same_decisions(const struct world *a, const struct world *b)
{
    assert_int_equal(a->out.decisions.count, b->out.decisions.count);
    for (uint32_t i = 0; i < a->out.decisions.count; i++) {
        const struct decision *x = &a->out.decisions.items[i], *y = &b->out.decisions.items[i];
        assert_true(x->kind == y->kind && x->launch_id == y->launch_id && x->job_id == y->job_id);
        assert_true(x->task_id == y->task_id && x->cpu_weight == y->cpu_weight);
    }
    assert_int_equal(a->out.schedule_lines.length, b->out.schedule_lines.length);
    if (a->out.schedule_lines.length > 0) assert_string_equal(a->out.schedule_lines.text, b->out.schedule_lines.text);
    assert_true(state_hash(&a->s) == state_hash(&b->s));
    return a->out.decisions.count;
}

/* Two worlds with the same events. */
static void a_pass_decides_what_it_decides_with_a_plan(void **unused)
{
    (void)unused;
    uint32_t decisions = 0, applied = 0;
    for (uint64_t seed = 1; seed <= 700; seed++) {
        struct rng rngs[2] = {{seed}, {seed}};
        struct world worlds[2];
        for (int i = 0; i < 2; i++) make_world(&worlds[i], &rngs[i]);
        for (int step = 0; step < 6; step++) {
            for (int i = 0; i < 2; i++) {
                for (uint32_t count = rng_below(&rngs[i], 4); count > 0; count--) submit_equal(&worlds[i], &rngs[i]);
                change_jobs(&worlds[i], &rngs[i]);
                change_rules(&worlds[i], &rngs[i]);
            }
            for (int again = 0; again < 2; again++) { /* then nothing fits any more */
                pass_with_plan(&worlds[0]);
                worlds[1].s.pass_is_due = true;
                world_pass(&worlds[1]);
                decisions += expect_same_decisions(&worlds[0], &worlds[1]);
            }
            applied += ticket_heads_are_few(&worlds[1].s) && ticket_heads_apply(&worlds[1].s);
            for (int i = 0; i < 2; i++) {
                worlds[i].now_us += rng_below(&rngs[i], 300) * SECOND;
                pass_world_end_some(&worlds[i], &rngs[i]);
                engine_forget(&worlds[i].s);
            }
        }
        for (int i = 0; i < 2; i++) world_release(&worlds[i]);
    }
    print_message("# %u decisions, %u passes without a plan\n", decisions, applied);
    assert_true(decisions > 10000 && applied > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_that_of_a_plan),
        cmocka_unit_test(a_pass_decides_what_it_decides_with_a_plan),
    };
    return cmocka_run_group_tests_name("ticket order laws", tests, NULL, NULL);
}
