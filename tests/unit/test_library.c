/* The installed library: what it refuses, what it explains, and that it survives every failing allocation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fairlead.h"

/* --- allocations that fail ---------------------------------------------------------------------------------------- */

/* base/arena.c takes memory by realloc only, and the linker gives it this one. */
static int allocations_left = -1; /* below 0: none fails */
static int allocations;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    if (allocations_left == 0) return NULL;
    if (allocations_left > 0) allocations_left--;
    return __real_realloc(old, size);
}

/* --- a tree ------------------------------------------------------------------------------------------------------- */

#define S INT64_C(1000000)
enum { PHYSICS = 1, BIOLOGY, GROUP, ANN, BEN, CLEO, DAN, NODES };

/*  root +- physics 60 +- ann 2   5000
 *       |             +- ben 1   4000
 *       |             +- group parent +- dan 1  1000   (competes with ann and ben)
 *       +- biology 40 +- cleo 1  3000 */
static struct fl_tree *make_tree(void)
{
    static const struct {
        uint32_t parent;
        int kind;
        uint32_t shares;
        double usage;
    } rows[NODES] = {
        [PHYSICS] = {FL_ROOT, FL_ACCOUNT, 60, 0},
        [BIOLOGY] = {FL_ROOT, FL_ACCOUNT, 40, 0},
        [GROUP] = {PHYSICS, FL_ACCOUNT, FL_PARENT, 0},
        [ANN] = {PHYSICS, FL_USER, 2, 5000},
        [BEN] = {PHYSICS, FL_USER, 1, 4000},
        [CLEO] = {BIOLOGY, FL_USER, 1, 3000},
        [DAN] = {GROUP, FL_USER, 1, 1000},
    };
    struct fl_tree *t;
    assert_int_equal(fl_tree_new(&t), FL_OK);
    for (uint32_t i = 1; i < NODES; i++) {
        uint32_t node;
        assert_int_equal(fl_tree_add(t, rows[i].parent, rows[i].kind, rows[i].shares, &node), FL_OK);
        assert_int_equal(node, i);
        assert_int_equal(fl_tree_charge(t, i, rows[i].usage, 0), FL_OK);
    }
    assert_int_equal(fl_tree_count(t), NODES);
    return t;
}

static void test_ranks_and_explains(void **state)
{
    (void)state;
    static const uint32_t expected[] = {DAN, ANN, BEN,
                                        CLEO}; /* physics 0.6/(10/13) = 0.78, biology 0.4/(3/13) = 1.73 */
    struct fl_tree *t = make_tree();
    const uint32_t *users;
    uint32_t count;
    struct fl_share s;
    assert_int_equal(fl_tree_rank(t, 0, NULL), FL_OK);
    assert_int_equal(fl_tree_order(t, &users, &count), FL_OK);
    assert_int_equal(count, 4);
    assert_int_equal(users[0], CLEO);
    for (int i = 0; i < 3; i++) assert_int_equal(users[i + 1], expected[i]);
    assert_int_equal(fl_tree_share(t, ANN, &s), FL_OK);
    assert_true(s.norm_shares == 2.0 / 4 && s.usage == 5000 && s.norm_usage == 5000.0 / 13000);
    assert_true(s.effective_usage == 0.5 && s.level == 1.0 && s.factor == 0.5);
    assert_int_equal(s.rank, 3);
    assert_int_equal(fl_tree_share(t, FL_ROOT, &s), FL_OK);
    assert_true(isnan(s.norm_usage) && isnan(s.factor) && s.usage == 13000);

    struct fl_step steps[FL_DEPTH_MAX];
    assert_int_equal(fl_tree_path(t, DAN, steps, FL_DEPTH_MAX, &count), FL_OK);
    assert_int_equal(count, 2); /* its own account has no shares to compete with */
    assert_int_equal(steps[0].node, PHYSICS);
    assert_int_equal(steps[0].sibling_count, 2);
    assert_int_equal(steps[0].before_count, 1);
    assert_int_equal(steps[1].node, DAN);
    assert_int_equal(steps[1].competes_under, PHYSICS);
    assert_int_equal(steps[1].sibling_count, 3);
    assert_int_equal(steps[1].level_shares, 4);
    assert_true(steps[1].level_usage == 10000 && steps[1].usage == 1000 && steps[1].share.level == 2.5);

    struct fl_comparison c;
    assert_int_equal(fl_tree_compare(t, ANN, CLEO, &c), FL_OK);
    assert_true(c.order == 1 && c.reason == FL_BY_LEVEL && c.step == 0 && c.a_node == PHYSICS && c.b_node == BIOLOGY);
    assert_true(c.a_value < c.b_value);
    assert_int_equal(fl_tree_compare(t, DAN, BEN, &c), FL_OK);
    assert_true(c.order == -1 && c.reason == FL_BY_LEVEL && c.step == 1 && c.a_node == DAN && c.b_node == BEN);
    assert_int_equal(fl_tree_compare(t, BEN, BEN, &c), FL_OK);
    assert_true(c.order == 0 && c.reason == FL_BY_TIE);
    fl_tree_free(t);
}

static void test_explains_ties(void **state)
{
    (void)state;
    struct fl_tree *t;
    struct fl_comparison c;
    uint32_t a, b, u, v, w, x;
    fl_tree_new(&t);
    fl_tree_add(t, FL_ROOT, FL_ACCOUNT, 1, &a);
    fl_tree_add(t, FL_ROOT, FL_ACCOUNT, 2, &b);
    fl_tree_add(t, FL_ROOT, FL_USER, 1, &u);
    fl_tree_add(t, a, FL_USER, 1, &v);
    fl_tree_add(t, a, FL_USER, 1, &w);
    fl_tree_add(t, b, FL_USER, 1, &x);
    fl_tree_charge(t, v, 1, 0);
    fl_tree_charge(t, w, 9, 0);
    fl_tree_charge(t, u, 10, 0);
    fl_tree_charge(t, x, 20, 0); /* a, b and u have one level: 1:10, 2:20, 1:10 */
    struct fl_rank_options o = {.ties = FL_TIES_MERGE};
    assert_int_equal(fl_tree_rank(t, 0, &o), FL_OK);
    assert_int_equal(fl_tree_compare(t, u, v, &c), FL_OK);
    assert_true(c.order == 0 && c.reason == FL_BY_TIE && c.b_node == a);
    assert_int_equal(fl_tree_compare(t, w, u, &c), FL_OK);
    assert_true(c.order == 1 && c.reason == FL_BY_KIND);
    assert_int_equal(fl_tree_compare(t, v, x, &c), FL_OK);
    assert_true(c.order == -1 && c.reason == FL_BY_LEVEL && c.step == 1 && c.tied_steps == 1);
    o.ties = FL_TIES_SLURM;
    int result = fl_tree_rank(t, 0, &o);
    if (result == FL_OK) {
        assert_int_equal(fl_tree_compare(t, w, x, &c), FL_OK);
        assert_true(c.order != 0 ? c.reason == FL_BY_ORDER && c.step == 0 : c.reason == FL_BY_TIE);
    } else {
        assert_int_equal(result, FL_ETIES);
    }
    o.algorithm = FL_CLASSIC;
    assert_int_equal(fl_tree_rank(t, 0, &o), FL_OK);
    assert_int_equal(fl_tree_compare(t, w, v, &c), FL_OK);
    assert_true(c.order == 1 && c.reason == FL_BY_FACTOR && c.a_value < c.b_value && isfinite(c.a_value));
    fl_tree_free(t);
}

/* Below tied accounts each child has the level that it has in its own account: 1 of 2 shares against 1 of 4. */
static void test_explains_merged_accounts(void **state)
{
    (void)state;
    static const struct {
        uint32_t parent, shares;
        int kind;
        double usage;
    } rows[] = {{0, 1, FL_ACCOUNT, 0}, {1, 1, FL_ACCOUNT, 0}, {1, 1, FL_ACCOUNT, 0},
                {2, 1, FL_ACCOUNT, 0}, {2, 1, FL_USER, 8},    {3, 1, FL_ACCOUNT, 0},
                {3, 3, FL_USER, 8},    {4, 1, FL_USER, 2},    {6, 1, FL_USER, 2}};
    struct fl_tree *t;
    struct fl_comparison c;
    fl_tree_new(&t);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(fl_tree_add(t, rows[i].parent, rows[i].kind, rows[i].shares, NULL), FL_OK);
        assert_int_equal(fl_tree_charge(t, i + 1, rows[i].usage, 0), FL_OK);
    }
    assert_int_equal(fl_tree_rank(t, 0, NULL), FL_OK);
    assert_int_equal(fl_tree_compare(t, 9, 8, &c), FL_OK);
    assert_true(c.order == 1 && c.reason == FL_BY_LEVEL && c.step == 2 && c.tied_steps == 1);
    assert_true(c.a_node == 6 && c.a_value == 1.25 && c.b_node == 4 && c.b_value == 2.5);
    fl_tree_free(t);
}

/* --- usage -------------------------------------------------------------------------------------------------------- */

static double usage_of(const struct fl_tree *t, uint32_t node, int64_t at_us)
{
    double usage = -1;
    assert_int_equal(fl_tree_usage(t, node, at_us, &usage), FL_OK);
    return usage;
}

static void test_usage_decays(void **state)
{
    (void)state;
    struct fl_tree *t;
    uint32_t a, u;
    fl_tree_new(&t);
    fl_tree_add(t, FL_ROOT, FL_ACCOUNT, 1, &a);
    fl_tree_add(t, a, FL_USER, 1, &u);
    assert_int_equal(fl_tree_set_halflife(t, 100 * S, 0), FL_OK);
    assert_int_equal(fl_tree_charge(t, u, 64, 0), FL_OK);
    assert_true(usage_of(t, u, 300 * S) == 8);
    assert_true(usage_of(t, u, -200 * S) == 256);
    assert_int_equal(fl_tree_charge_rate(t, u, 0.5, 300 * S, 400 * S), FL_OK);
    double once = usage_of(t, u, 500 * S);
    assert_int_equal(fl_tree_set_usage(t, u, 8, 300 * S), FL_OK);
    for (int64_t at = 300; at < 400; at += 10)
        assert_int_equal(fl_tree_charge_rate(t, u, 0.5, at * S, (at + 10) * S), FL_OK);
    assert_true(fabs(usage_of(t, u, 500 * S) - once) < 1e-12 * once);

    assert_int_equal(fl_tree_set_halflife(t, 0, 400 * S), FL_OK);
    assert_true(usage_of(t, u, 9999 * S) == usage_of(t, u, 0));
    assert_int_equal(fl_tree_set_halflife(t, 100 * S, 9999 * S), FL_OK);
    assert_int_equal(fl_tree_set_halflife(t, 50 * S, 9998 * S), FL_ETIME); /* would be before what is stored */
    for (int64_t at = 10000; at < 1000000; at += 10007) assert_int_equal(fl_tree_charge(t, u, 1, at * S), FL_OK);
    assert_true(usage_of(t, u, 1000000 * S) < 2); /* the reference has moved, and nothing is too large */

    assert_int_equal(fl_tree_charge(t, a, 5, 1000000 * S), FL_OK);
    assert_int_equal(fl_tree_reset(t, a), FL_OK);
    assert_true(usage_of(t, u, 1000000 * S) == 0 && usage_of(t, a, 1000000 * S) == 0);
    fl_tree_free(t);
}

static void test_changes_the_halflife_after_the_charges_only(void **state)
{
    (void)state;
    struct fl_tree *t;
    uint32_t u;
    fl_tree_new(&t);
    fl_tree_add(t, FL_ROOT, FL_USER, 1, &u);
    assert_int_equal(fl_tree_set_halflife(t, 100 * S, -900 * S), FL_OK);
    assert_int_equal(fl_tree_charge(t, u, 64, 100 * S), FL_OK);
    assert_int_equal(fl_tree_charge(t, u, 0, 50 * S), FL_OK); /* the latest time counts, not that of the last call */
    assert_int_equal(fl_tree_charge(t, u, 1e61, 200 * S), FL_EAMOUNT); /* not charged */
    assert_int_equal(fl_tree_set_halflife(t, 50 * S, 99 * S), FL_ETIME);
    assert_true(usage_of(t, u, 200 * S) == 32);
    assert_int_equal(fl_tree_set_halflife(t, 50 * S, 100 * S), FL_OK);
    assert_true(usage_of(t, u, 200 * S) == 16);
    assert_int_equal(fl_tree_set_halflife(t, 0, 200 * S), FL_OK); /* likewise without decay */
    assert_int_equal(fl_tree_charge(t, u, 1, 300 * S), FL_OK);
    assert_int_equal(fl_tree_set_halflife(t, 50 * S, 299 * S), FL_ETIME);
    assert_int_equal(fl_tree_set_halflife(t, 50 * S, 300 * S), FL_OK);
    fl_tree_free(t);
}

/* --- what is refused ---------------------------------------------------------------------------------------------- */

static void test_refuses_mistakes(void **state)
{
    (void)state;
    static const double wrong[] = {-1, -INFINITY, INFINITY, NAN, 1e61};
    struct fl_tree *t = make_tree();
    struct fl_share s;
    const double *factors;
    uint32_t node = 7;
    assert_int_equal(fl_tree_factors(t, &factors), FL_ENOTRANKED);
    assert_int_equal(fl_tree_rank(t, 0, NULL), FL_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(fl_tree_charge(t, ANN, wrong[i], 0), FL_EAMOUNT);
        assert_int_equal(fl_tree_charge_rate(t, ANN, wrong[i], 0, S), FL_EAMOUNT);
        assert_int_equal(fl_tree_set_usage(t, ANN, wrong[i], 0), FL_EAMOUNT);
        struct fl_rank_options o = {.dampening = wrong[i], .algorithm = FL_CLASSIC};
        assert_int_equal(fl_tree_rank(t, 0, &o), FL_EAMOUNT);
        double usages[NODES] = {[BEN] = wrong[i]};
        o = (struct fl_rank_options){.total_usage = usages};
        assert_int_equal(fl_tree_rank(t, 0, &o), FL_EAMOUNT);
    }
    assert_true(usage_of(t, ANN, 0) == 5000);
    assert_int_equal(fl_tree_share(t, ANN, &s), FL_OK); /* the ranking is as before */
    assert_int_equal(fl_tree_share(t, NODES, &s), FL_ENODE);
    assert_int_equal(fl_tree_add(t, NODES, FL_USER, 1, &node), FL_ENODE);
    assert_int_equal(node, FL_NONE);
    assert_int_equal(fl_tree_add(t, ANN, FL_USER, 1, NULL), FL_EPARENT);
    assert_int_equal(fl_tree_add(t, PHYSICS, 2, 1, NULL), FL_EKIND);
    assert_int_equal(fl_tree_add(t, PHYSICS, FL_USER, FL_PARENT + 1u, NULL), FL_ESHARES);
    assert_int_equal(fl_tree_set_shares(t, FL_ROOT, 1), FL_ESHARES);
    assert_int_equal(fl_tree_charge(t, ANN, 1, FL_TIME_MAX + 1), FL_ETIME);
    assert_int_equal(fl_tree_charge_rate(t, ANN, 1, 2, 1), FL_ETIME);
    assert_int_equal(fl_tree_set_halflife(t, -1, 0), FL_EHALFLIFE);
    assert_int_equal(fl_tree_reset(t, NODES), FL_ENODE);
    assert_int_equal(fl_tree_new(NULL), FL_ENULL);
    assert_int_equal(fl_tree_add(NULL, 0, FL_USER, 1, NULL), FL_ENULL);
    struct fl_rank_options o = {.algorithm = 3};
    assert_int_equal(fl_tree_rank(t, 0, &o), FL_EOPTION);
    o = (struct fl_rank_options){.reserved = {0, 0, 0, 1}};
    assert_int_equal(fl_tree_rank(t, 0, &o), FL_ERESERVED);
    struct fl_comparison c;
    assert_int_equal(fl_tree_compare(t, ANN, PHYSICS, &c), FL_EKIND);

    assert_int_equal(fl_tree_set_shares(t, ANN, 3), FL_OK);
    assert_int_equal(fl_tree_share(t, ANN, &s), FL_ENOTRANKED);
    o = (struct fl_rank_options){.factors_only = 1};
    assert_int_equal(fl_tree_rank(t, 0, &o), FL_OK);
    assert_int_equal(fl_tree_factors(t, &factors), FL_OK);
    assert_int_equal(fl_tree_share(t, ANN, &s), FL_ENOTRANKED);
    fl_tree_free(t);
    fl_tree_free(NULL);
}

static void test_limits_depth(void **state)
{
    (void)state;
    struct fl_tree *t;
    uint32_t account = FL_ROOT, above = FL_ROOT;
    fl_tree_new(&t);
    for (int i = 0; i < FL_DEPTH_MAX - 1; i++) {
        above = account;
        assert_int_equal(fl_tree_add(t, above, FL_ACCOUNT, 1, &account), FL_OK);
    }
    uint32_t user, count;
    assert_int_equal(fl_tree_add(t, account, FL_USER, 1, &user), FL_OK);
    assert_int_equal(fl_tree_add(t, account, FL_ACCOUNT, 1, &account), FL_OK);
    assert_int_equal(fl_tree_add(t, account, FL_USER, 1, NULL), FL_EDEPTH);
    struct fl_step steps[2];
    assert_int_equal(fl_tree_rank(t, 0, NULL), FL_OK);
    assert_int_equal(fl_tree_path(t, user, steps, 2, &count), FL_OK);
    assert_int_equal(count, FL_DEPTH_MAX);
    assert_int_equal(fl_tree_path(t, user, NULL, 0, &count), FL_OK);
    fl_tree_free(t);
}

static void test_every_result_has_a_text(void **state)
{
    (void)state;
    for (int r = FL_OK; r >= FL_EINDEX; r--) {
        assert_string_not_equal(fl_result_text(r), "unknown result");
        for (int other = r + 1; other <= FL_OK; other++)
            assert_string_not_equal(fl_result_text(r), fl_result_text(other));
    }
    assert_string_equal(fl_result_text(FL_EINDEX - 1), "unknown result");
    assert_string_equal(fl_result_text(1), "unknown result");
    assert_string_equal(fl_result_text(-2147483647 - 1), "unknown result");
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

static void test_bills(void **state)
{
    (void)state;
    const struct fl_tres tres[] = {
        {.kind = FL_TRES_CPU, .amount = 4, .weight = 1},
        {.kind = FL_TRES_MEM, .amount = 32768, .weight = 0.25 / 1024},
        {.kind = FL_TRES_GRES, .amount = 1, .weight = 6.5},
        {.kind = FL_TRES_OTHER, .amount = 2, .weight = 0.5},
    };
    struct fl_bill b;
    struct fl_fault fault;
    double terms[4];
    assert_int_equal(fl_job_bill(tres, 4, FL_BILLING_SUM, &b, terms, &fault), FL_OK);
    assert_true(b.rate == 19.5 && b.recorded == 19 && b.max_tres == FL_NONE && terms[1] == 8 && fault.member == NULL);
    assert_int_equal(fl_job_bill(tres, 4, FL_BILLING_MAX_TRES, &b, NULL, NULL), FL_OK);
    assert_true(b.rate == 9 && b.max_part == 8 && b.sum_part == 1 && b.max_tres == 1);
    assert_int_equal(fl_job_bill(tres, 4, FL_BILLING_MAX_TRES_GRES, &b, NULL, NULL), FL_OK);
    assert_true(b.rate == 15.5 && b.max_tres == 1);
    assert_int_equal(fl_job_bill(NULL, 0, FL_BILLING_SUM, &b, NULL, NULL), FL_OK);
    assert_true(b.rate == 0);
    struct fl_tres wrong[2] = {tres[0], {.kind = FL_TRES_MEM, .amount = NAN}};
    assert_int_equal(fl_job_bill(wrong, 2, FL_BILLING_SUM, &b, NULL, &fault), FL_EAMOUNT);
    assert_string_equal(fault.member, "tres.amount");
    assert_int_equal(fault.index, 1);
    assert_int_equal(fl_job_bill(tres, 4, 3, &b, NULL, &fault), FL_EOPTION);
    assert_int_equal(fl_job_bill(tres, FL_TRES_MAX + 1, 0, &b, NULL, &fault), FL_EFULL);
}

static void test_sums_a_priority(void **state)
{
    (void)state;
    const struct fl_priority_rules rules = {
        .weight_age = 1000,
        .weight_fair_share = 10000,
        .weight_job_size = 100,
        .weight_qos = 2000,
        .max_age_s = 100,
        .nodes = 10,
        .cpus = 100,
        .qos_priority_max = 4,
    };
    const struct fl_priority_tres gpu = {.amount = 2, .total = 8, .weight = 400};
    const struct fl_priority_job job = {
        .accrue_us = 950 * S,
        .fair_share = 0.25,
        .cpus = 10,
        .nodes = 1,
        .qos_priority = 1,
        .nice = 7,
        .tres_count = 1,
        .tres = &gpu,
    };
    struct fl_priority p;
    struct fl_fault fault;
    double term;
    assert_int_equal(fl_job_priority(&rules, &job, 1000 * S, &p, &term, &fault), FL_OK);
    assert_true(p.age == 500 && p.age_factor == 0.5 && p.fair_share == 2500 && p.job_size == 10 && p.qos == 500);
    assert_true(p.tres == 100 && term == 100 && p.nice == 7 && p.sum == 3603);
    assert_int_equal(p.priority, 3603);
    struct fl_priority_job wrong = job;
    wrong.fair_share = 1.5;
    assert_int_equal(fl_job_priority(&rules, &wrong, 0, &p, NULL, &fault), FL_EAMOUNT);
    assert_string_equal(fault.member, "job.fair_share");
    assert_int_equal(p.priority, 3603); /* as it was */
    struct fl_priority_rules other = rules;
    other.flags = 64;
    assert_int_equal(fl_job_priority(&other, &job, 0, &p, NULL, &fault), FL_EOPTION);
    assert_int_equal(fl_job_priority(NULL, &job, 0, &p, NULL, &fault), FL_ENULL);
}

static const struct fl_ticket_member users[] = {{100, 0}, {300, 50}};

static struct fl_ticket_input ticket_input(const struct fl_ticket_rules *rules, const struct fl_tree *t,
                                           struct fl_ticket_job jobs[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        jobs[i] = (struct fl_ticket_job){
            .id = i + 1,
            .submit_us = i * S,
            .user = i % 2,
            .node = i % 2 ? BEN : ANN,
            .slots = 1 + i,
            .department = FL_NONE,
            .project = FL_NONE,
            .job_class = FL_NONE,
            .is_running = i == 0,
        };
    }
    return (struct fl_ticket_input){
        .rules = rules, .tree = t, .users = users, .user_count = 2, .jobs = jobs, .job_count = 4, .now_us = 100 * S};
}

static void test_computes_tickets(void **state)
{
    (void)state;
    struct fl_tree *t = make_tree();
    struct fl_ticket_rules rules;
    struct fl_ticket_job jobs[4];
    struct fl_ticket_result r[4];
    struct fl_fault fault;
    fl_ticket_rules_init(&rules);
    rules.weight_tickets_functional = 1000;
    rules.weight_tickets_share = 1000;
    rules.slots_urgency = 10;
    struct fl_ticket_input in = ticket_input(&rules, t, jobs);
    assert_int_equal(fl_job_tickets(&in, r, &fault), FL_OK);
    for (int i = 0; i < 4; i++) {
        assert_true(r[i].tickets == r[i].share_tickets + r[i].functional_tickets + r[i].override_tickets);
        assert_true(r[i].share_tickets > 0 && r[i].functional_tickets > 0);
        assert_true(r[i].urgency == 10.0 * (i + 1) + 0.278 * (100 - i));
        assert_true(r[i].priority == 0.5 * r[i].norm_tickets + 0.5 * r[i].norm_urgency + 0 * r[i].norm_posix);
    }
    assert_true(r[1].override_tickets == 50 && r[3].override_tickets == 25); /* the second job of a user has half */

    jobs[2].project = 0;
    assert_int_equal(fl_job_tickets(&in, r, &fault), FL_EINDEX);
    assert_string_equal(fault.member, "jobs.project");
    assert_int_equal(fault.index, 2);
    jobs[2].project = FL_NONE;
    jobs[3].node = PHYSICS;
    assert_int_equal(fl_job_tickets(&in, r, &fault), FL_EKIND);
    jobs[3].node = BEN;
    memcpy(rules.policy_hierarchy, "OO", 3);
    assert_int_equal(fl_job_tickets(&in, r, &fault), FL_EOPTION);
    memcpy(rules.policy_hierarchy, "OFSO", 4);
    assert_int_equal(fl_job_tickets(&in, r, &fault), FL_EOPTION);
    fl_tree_free(t);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Builds a large tree, ranks it by every algorithm and computes tickets. Returns the first result that is not FL_OK. */
static int use_all(void)
{
    struct fl_tree *t;
    int result = fl_tree_new(&t);
    if (result != FL_OK) return result;
    uint32_t account = FL_ROOT;
    for (uint32_t i = 1; i < 500 && result == FL_OK; i++) {
        result = fl_tree_add(t, account, i % 10 == 1 ? FL_ACCOUNT : FL_USER, i % 7 == 3 ? FL_PARENT : i % 5, NULL);
        if (result == FL_OK) result = fl_tree_charge(t, i, i % 3, 0);
        if (i % 10 == 1) account = i < 50 ? i : i / 2 - i / 2 % 10 + 1;
    }
    for (uint32_t a = 0; a < 4 && result == FL_OK; a++) {
        struct fl_rank_options o = {.algorithm = a % 3, .ties = a == 3 ? FL_TIES_SLURM : FL_TIES_MERGE};
        result = fl_tree_rank(t, 0, &o);
        o.factors_only = 1;
        if (result == FL_OK) result = fl_tree_rank(t, 0, &o);
        if (result == FL_ETIES) result = FL_OK;
    }
    struct fl_ticket_rules rules;
    struct fl_ticket_job jobs[4];
    struct fl_ticket_result results[4];
    fl_ticket_rules_init(&rules);
    rules.weight_tickets_functional = rules.weight_tickets_share = 1000;
    struct fl_ticket_input in = ticket_input(&rules, NULL, jobs);
    for (int i = 0; i < 4; i++) jobs[i].node = FL_NONE;
    if (result == FL_OK) result = fl_job_tickets(&in, results, NULL);
    fl_tree_free(t);
    return result;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    allocations = 0;
    assert_int_equal(use_all(), FL_OK);
    int needed = allocations;
    assert_in_range(needed, 20, 1000);
    for (int n = 0; n < needed; n++) {
        allocations_left = n;
        int result = use_all();
        allocations_left = -1;
        if (result != FL_ENOMEM) fail_msg("allocation %d of %d fails: result %d", n, needed, result);
    }
}

/* After a failure the tree is as it was, and the same call succeeds once there is memory. */
static void test_goes_on_after_a_failure(void **state)
{
    (void)state;
    struct fl_tree *t = make_tree();
    const double *factors;
    uint32_t node;
    allocations_left = 0;
    assert_int_equal(fl_tree_rank(t, 0, NULL), FL_ENOMEM);
    while (fl_tree_count(t) < 64) assert_int_equal(fl_tree_add(t, PHYSICS, FL_USER, 1, NULL), FL_OK);
    assert_int_equal(fl_tree_add(t, PHYSICS, FL_USER, 1, &node), FL_ENOMEM);
    assert_int_equal(node, FL_NONE);
    assert_int_equal(fl_tree_count(t), 64);
    allocations_left = -1;
    assert_int_equal(fl_tree_factors(t, &factors), FL_ENOTRANKED);
    assert_int_equal(fl_tree_add(t, PHYSICS, FL_USER, 1, &node), FL_OK);
    assert_int_equal(node, 64);
    assert_int_equal(fl_tree_rank(t, 0, NULL), FL_OK);
    allocations_left = 0; /* the same ranking again takes no memory */
    assert_int_equal(fl_tree_rank(t, 0, NULL), FL_OK);
    allocations_left = -1;
    fl_tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_and_explains),
        cmocka_unit_test(test_explains_ties),
        cmocka_unit_test(test_explains_merged_accounts),
        cmocka_unit_test(test_usage_decays),
        cmocka_unit_test(test_changes_the_halflife_after_the_charges_only),
        cmocka_unit_test(test_refuses_mistakes),
        cmocka_unit_test(test_limits_depth),
        cmocka_unit_test(test_every_result_has_a_text),
        cmocka_unit_test(test_bills),
        cmocka_unit_test(test_sums_a_priority),
        cmocka_unit_test(test_computes_tickets),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_goes_on_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
