/* The laws of the installed library, on random input and on all small trees:
 *
 *   1. What it computes is what policy/ computes from the same input, to the last bit, by every algorithm and tie rule.
 *   2. The order in which siblings are added makes no difference to factors, except to FL_TIES_SLURM, whose rule is
 *      that order.
 *   3. The order of users is that of the factors, and ranks are a competition ranking.
 *   4. What a comparison names as the reason is true of the numbers, and agrees with the factors.
 *   5. What policy/ takes of an arena was reserved: a ranking takes memory only ahead, and tickets twice.
 *
 * Usages are whole numbers, so that sums do not depend on the order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fairlead.h"
#include "policy/billing.h"
#include "policy/fair_share.h"
#include "policy/tickets.h"
#include "share_world.h"
#include "small_trees.h"

static int allocations;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
    allocations++;
    return __real_realloc(old, size);
}

/* The tree of policy/ through the API, with its nodes in the same order. */
static struct fl_tree *same_tree(const struct tree *t, const double *own)
{
    struct fl_tree *f;
    assert_int_equal(fl_tree_new(&f), FL_OK);
    for (uint32_t i = 0; i < t->count; i++) {
        if (i > 0)
            assert_int_equal(fl_tree_add(f, t->parent[i], t->is_user[i] ? FL_USER : FL_ACCOUNT, t->shares[i], NULL),
                             FL_OK);
        assert_int_equal(fl_tree_charge(f, i, own[i], 0), FL_OK);
    }
    return f;
}

static bool is_same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* Law 1 for the columns of a ranking. */
static void check_columns(const struct fl_tree *f, const struct share_table *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct fl_share share;
        assert_int_equal(fl_tree_share(f, i, &share), FL_OK);
        assert_true(is_same(share.norm_shares, s->norm_shares[i]) && is_same(share.usage, s->raw_usage[i]));
        assert_true(is_same(share.norm_usage, s->norm_usage[i]));
        assert_true(is_same(share.effective_usage, s->effective_usage[i]));
        assert_true(is_same(share.factor, s->fair_share[i]) && is_same(share.level, s->level_fs[i]));
    }
}

/* Law 3. */
static void check_order(const struct fl_tree *f)
{
    const uint32_t *users;
    const double *factors;
    uint32_t count;
    assert_int_equal(fl_tree_order(f, &users, &count), FL_OK);
    assert_int_equal(fl_tree_factors(f, &factors), FL_OK);
    for (uint32_t i = 0; i < count; i++) {
        struct fl_share share;
        fl_tree_share(f, users[i], &share);
        assert_true(share.factor == factors[users[i]]);
        uint32_t first = i;
        while (first > 0 && factors[users[first - 1]] == factors[users[i]]) first--;
        assert_int_equal(share.rank, first + 1);
        if (i == 0) continue;
        assert_true(factors[users[i - 1]] >= factors[users[i]]);
        assert_true(first == i || users[i - 1] < users[i]);
    }
}

static double level_at(double level)
{
    return isnan(level) ? INFINITY : level; /* of FL_PARENT users */
}

/* Law 4 for two users. */
static void check_comparison(const struct fl_tree *f, uint32_t a, uint32_t b, bool is_slurm)
{
    const double *factors;
    struct fl_comparison c;
    struct fl_node of_a, of_b;
    fl_tree_factors(f, &factors);
    assert_int_equal(fl_tree_compare(f, a, b, &c), FL_OK);
    fl_tree_node(f, c.a_node, &of_a);
    fl_tree_node(f, c.b_node, &of_b);
    int expected = (factors[a] < factors[b]) - (factors[a] > factors[b]);
    assert_int_equal(c.order, expected);
    assert_true((c.order == 0) == (c.reason == FL_BY_TIE));
    bool is_a_higher = level_at(c.a_value) > level_at(c.b_value),
         is_b_higher = level_at(c.a_value) < level_at(c.b_value);
    switch (c.reason) {
    case FL_BY_TIE: return;
    case FL_BY_FACTOR: assert_true(c.a_value == factors[a] && c.b_value == factors[b]); return;
    case FL_BY_LEVEL:
        if (is_slurm) assert_true(c.order < 0 ? !is_b_higher : !is_a_higher);
        if (!is_slurm) assert_true(c.order < 0 ? is_a_higher : is_b_higher);
        return;
    case FL_BY_KIND: assert_int_equal(c.order < 0 ? of_a.kind : of_b.kind, FL_USER); break;
    case FL_BY_ORDER: assert_true(is_slurm && of_a.kind == FL_ACCOUNT && of_b.kind == FL_ACCOUNT); break;
    default: fail_msg("no reason %u", c.reason);
    }
    assert_true(is_slurm || (!is_a_higher && !is_b_higher));
}

static struct share_options internal_options(const struct fl_rank_options *o)
{
    return (struct share_options){
        .algorithm = (enum share_algorithm)o->algorithm,
        .ties = o->ties == FL_TIES_SLURM ? TIES_SLURM : TIES_MERGE,
        .dampening = o->dampening,
    };
}

static const struct fl_rank_options all_options[] = {
    {.dampening = 1},
    {.dampening = 1, .ties = FL_TIES_SLURM},
    {.dampening = 3, .algorithm = FL_CLASSIC},
    {.dampening = 1, .algorithm = FL_DEPTH_OBLIVIOUS},
};
enum { OPTION_COUNT = sizeof all_options / sizeof *all_options };

static void check_world(struct world *w, const struct fl_rank_options *options)
{
    struct arena arena = {0};
    struct share_table s;
    struct share_options internal = internal_options(options);
    struct fl_rank_options o = *options;
    const double *factors;
    uint32_t last = w->tree.count - 1;
    if (internal.ties == TIES_SLURM && !fair_tree_slurm_available()) return;
    struct fl_tree *f = same_tree(&w->tree, w->own);
    allocations = 0;
    assert_int_equal(fl_tree_rank(f, 0, &o), FL_OK);
    assert_in_range(allocations, 1, 6); /* a block, the order and its four arrays */
    fair_share_table(&w->tree, w->own, NULL, &internal, &arena, &s);
    check_columns(f, &s);
    check_order(f);
    for (int i = 0; i < 200; i++) {
        uint32_t a = rng_below(&w->rng, last + 1), b = rng_below(&w->rng, last + 1);
        if (w->tree.is_user[a] && w->tree.is_user[b]) check_comparison(f, a, b, internal.ties == TIES_SLURM);
    }
    o.total_usage = s.raw_usage;
    assert_int_equal(fl_tree_rank(f, 0, &o), FL_OK);
    if (internal.ties == TIES_MERGE) check_columns(f, &s);
    o = *options;
    o.own_usage = w->own;
    o.factors_only = 1;
    allocations = 0;
    assert_int_equal(fl_tree_rank(f, 0, &o), FL_OK);
    assert_int_equal(allocations, 0);
    assert_int_equal(fl_tree_factors(f, &factors), FL_OK);
    for (uint32_t i = 0; i <= last; i++) assert_true(factors[i] == (w->tree.is_user[i] ? s.fair_share[i] : 0));
    fl_tree_free(f);
    arena_release(&arena);
}

static void test_equals_policy(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (uint64_t)rounds(300); seed++) {
        struct world w;
        world_init(&w, seed, 2 + (uint32_t)(seed * seed % 700));
        for (int o = 0; o < OPTION_COUNT; o++) check_world(&w, &all_options[o]);
        world_release(&w);
    }
}

/* Law 2: the nodes are added again in another order, each after its parent. */
static void test_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (uint64_t)rounds(300); seed++) {
        struct world w;
        world_init(&w, seed, 2 + (uint32_t)(seed * 7 % 300));
        struct fl_tree *f = same_tree(&w.tree, w.own), *other;
        uint32_t *moved = calloc(w.tree.count, sizeof *moved); /* by node: its node in the other tree; 0: not yet */
        fl_tree_new(&other);
        fl_tree_charge(other, FL_ROOT, w.own[0], 0);
        for (uint32_t added = 1; added < w.tree.count;) {
            uint32_t i = 1 + rng_below(&w.rng, w.tree.count - 1), parent = w.tree.parent[i];
            if (moved[i] != 0 || (parent != 0 && moved[parent] == 0)) continue;
            int kind = w.tree.is_user[i] ? FL_USER : FL_ACCOUNT;
            assert_int_equal(fl_tree_add(other, moved[parent], kind, w.tree.shares[i], &moved[i]), FL_OK);
            assert_int_equal(fl_tree_charge(other, moved[i], w.own[i], 0), FL_OK);
            added++;
        }
        for (int o = 0; o < OPTION_COUNT; o++) {
            const double *of_f, *of_other;
            if (all_options[o].ties == FL_TIES_SLURM) continue;
            /* The sums of depth-oblivious fair share are of fractions, which the order rounds. */
            double error = all_options[o].algorithm == FL_DEPTH_OBLIVIOUS ? 1e-9 : 0;
            assert_int_equal(fl_tree_rank(f, 0, &all_options[o]), FL_OK);
            assert_int_equal(fl_tree_rank(other, 0, &all_options[o]), FL_OK);
            fl_tree_factors(f, &of_f);
            fl_tree_factors(other, &of_other);
            for (uint32_t i = 0; i < w.tree.count; i++) assert_true(fabs(of_f[i] - of_other[moved[i]]) <= error);
        }
        free(moved);
        fl_tree_free(other);
        fl_tree_free(f);
        world_release(&w);
    }
}

/* Law 4 for all pairs of users of all small trees. */
static void compare_all(const struct small_trees *all, const struct tree *t, const int64_t *own)
{
    double usage[SMALL_NODES_MAX + 1];
    for (uint32_t i = 0; i < t->count; i++) usage[i] = (double)own[i];
    struct fl_tree *f = same_tree(t, usage);
    for (int o = 0; o < 2; o++) {
        if (fl_tree_rank(f, 0, &all_options[o]) == FL_ETIES) continue;
        for (uint32_t a = 1; a < t->count; a++) {
            for (uint32_t b = 1; b < t->count; b++) {
                if (t->is_user[a] && t->is_user[b]) check_comparison(f, a, b, o == 1);
            }
        }
    }
    fl_tree_free(f);
    (void)all;
}

static void test_reasons_of_small_trees(void **state)
{
    (void)state;
    static const uint32_t shares[] = {0, 1, 2, SHARES_PARENT};
    for (uint32_t nodes = 1; nodes <= 5; nodes++) {
        struct small_trees all = {
            .nodes = nodes,
            .shares = shares,
            .share_count = 4,
            .usage_max = 2,
            .visit = compare_all,
            .stride = nodes < 4 ? 1 : small_trees_stride(nodes == 4 ? 7 : 997, nodes == 4 ? 97 : 9973),
        };
        small_trees_visit(&all);
        assert_true(all.visited_count > 0);
    }
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

enum { JOBS = 300, MEMBERS = 9, TREE_NODES = 30 };

struct ticket_world {
    struct fl_ticket_rules rules;
    struct fl_ticket_member members[MEMBER_KIND_COUNT][MEMBERS];
    struct fl_ticket_job jobs[JOBS];
    struct fl_tree *tree;
    struct fl_ticket_input input;
};

static uint32_t member_of(struct rng *r, uint32_t count)
{
    return count == 0 || rng_below(r, 4) == 0 ? FL_NONE : rng_below(r, count);
}

static void make_share_tree(struct ticket_world *w, struct rng *r)
{
    fl_tree_new(&w->tree);
    for (uint32_t i = 1; i < TREE_NODES; i++) {
        uint32_t parent = i < 10 ? 0 : rng_below(r, 10);
        assert_int_equal(fl_tree_add(w->tree, parent, i < 10 ? FL_ACCOUNT : FL_USER, rng_below(r, 20), NULL), FL_OK);
        fl_tree_charge(w->tree, i, rng_below(r, 1000), 0);
    }
}

static void make_tickets(struct ticket_world *w, struct rng *r)
{
    static const char *const hierarchies[] = {"", "OFS", "SFO", "F", "SO"};
    uint32_t count[MEMBER_KIND_COUNT], own_amounts = rng_below(r, 3);
    *w = (struct ticket_world){0};
    fl_ticket_rules_init(&w->rules);
    w->rules.weight_tickets_share = rng_below(r, 4) * 1000;
    w->rules.weight_tickets_functional = rng_below(r, 4) * 1000;
    w->rules.max_functional_jobs = rng_below(r, 2 * JOBS);
    w->rules.share_functional_shares = rng_below(r, 2);
    w->rules.share_override_tickets = rng_below(r, 2);
    w->rules.compensation_by_manual = rng_below(r, 2);
    w->rules.weight_job_class = rng_below(r, 2);
    strcpy(w->rules.policy_hierarchy, hierarchies[rng_below(r, 5)]);
    make_share_tree(w, r);
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        count[k] = rng_below(r, MEMBERS + 1);
        for (uint32_t i = 0; i < count[k]; i++)
            w->members[k][i] = (struct fl_ticket_member){rng_below(r, 100), rng_below(r, 3) * 50};
    }
    uint32_t jobs = rng_below(r, JOBS + 1);
    for (uint32_t i = 0; i < jobs; i++) {
        w->jobs[i] = (struct fl_ticket_job){
            .id = i / 2 + 1,
            .task = i % 2,
            .submit_us = rng_below(r, 50),
            .is_running = rng_below(r, 5) == 0,
            .user = member_of(r, count[MEMBER_USER]),
            .department = member_of(r, count[MEMBER_DEPARTMENT]),
            .project = member_of(r, count[MEMBER_PROJECT]),
            .job_class = member_of(r, count[MEMBER_JOB_CLASS]),
            .node = rng_below(r, 3) == 0 ? FL_NONE : 10 + rng_below(r, TREE_NODES - 10),
            .slots = 1 + rng_below(r, 4),
            .job_share = own_amounts == 0 ? 0 : rng_below(r, 40),
            .override_tickets = own_amounts < 2 ? 0 : rng_below(r, 40),
        };
    }
    w->input = (struct fl_ticket_input){
        .rules = &w->rules,
        .tree = rng_below(r, 4) == 0 ? NULL : w->tree,
        .jobs = w->jobs,
        .job_count = jobs,
        .users = w->members[MEMBER_USER],
        .user_count = count[MEMBER_USER],
        .departments = w->members[MEMBER_DEPARTMENT],
        .department_count = count[MEMBER_DEPARTMENT],
        .projects = w->members[MEMBER_PROJECT],
        .project_count = count[MEMBER_PROJECT],
        .job_classes = w->members[MEMBER_JOB_CLASS],
        .job_class_count = count[MEMBER_JOB_CLASS],
    };
    for (uint32_t i = 0; w->input.tree == NULL && i < jobs; i++) w->jobs[i].node = FL_NONE;
}

/* The same input for policy/, made by hand. */
static void compute_by_policy(const struct ticket_world *w, struct arena *arena, struct tickets *out)
{
    const struct fl_ticket_rules *r = &w->rules;
    struct ticket_rules rules = {
        .share_pool = r->weight_tickets_share,
        .functional_pool = r->weight_tickets_functional,
        .share_functional_shares = r->share_functional_shares,
        .share_override_tickets = r->share_override_tickets,
        .max_functional_jobs = r->max_functional_jobs,
        .max_pending_tasks = UINT32_MAX,
        .weight_user = r->weight_user,
        .weight_project = r->weight_project,
        .weight_department = r->weight_department,
        .weight_job = r->weight_job,
        .weight_job_class = r->weight_job_class,
        .compensation_factor = r->compensation_factor,
        .compensation_rule = r->compensation_by_manual ? COMPENSATION_MANUAL : COMPENSATION_PROGRAM,
    };
    strcpy(rules.hierarchy, r->policy_hierarchy);
    struct ticket_member members[MEMBER_KIND_COUNT][MEMBERS];
    struct ticket_node nodes[TREE_NODES];
    struct ticket_job jobs[JOBS];
    struct ticket_input in = {.rules = &rules, .nodes = nodes, .jobs = jobs, .job_count = w->input.job_count};
    in.node_count = w->input.tree != NULL ? TREE_NODES : 0;
    in.member_count[MEMBER_USER] = w->input.user_count;
    in.member_count[MEMBER_DEPARTMENT] = w->input.department_count;
    in.member_count[MEMBER_PROJECT] = w->input.project_count;
    in.member_count[MEMBER_JOB_CLASS] = w->input.job_class_count;
    for (int k = 0; k < MEMBER_KIND_COUNT; k++) {
        in.members[k] = members[k];
        for (uint32_t i = 0; i < in.member_count[k]; i++)
            members[k][i] =
                (struct ticket_member){w->members[k][i].functional_shares, w->members[k][i].override_tickets};
    }
    for (uint32_t i = TREE_NODES; i-- > 0;) {
        struct fl_node node;
        double usage;
        fl_tree_node(w->tree, i, &node);
        fl_tree_usage(w->tree, i, 0, &usage);
        nodes[i] = (struct ticket_node){node.parent, node.shares, usage, node.kind == FL_ACCOUNT};
        for (uint32_t below = i + 1; below < TREE_NODES; below++)
            if (nodes[below].parent == i) nodes[i].usage += nodes[below].usage;
    }
    for (uint32_t i = 0; i < in.job_count; i++) {
        const struct fl_ticket_job *j = &w->jobs[i];
        jobs[i] = (struct ticket_job){
            .id = j->id,
            .task = j->task,
            .submit_us = j->submit_us,
            .is_running = j->is_running,
            .node = j->node,
            .member = {[MEMBER_USER] = j->user,
                       [MEMBER_DEPARTMENT] = j->department,
                       [MEMBER_PROJECT] = j->project,
                       [MEMBER_JOB_CLASS] = j->job_class},
            .job_share = j->job_share,
            .override_tickets = j->override_tickets,
            .slots = j->slots,
        };
    }
    size_t bytes = tickets_memory(&in);
    assert_true(arena_reserve(arena, bytes));
    size_t taken = arena->bytes;
    tickets_compute(&in, arena, out);
    assert_int_equal(arena->bytes, taken); /* law 5: nothing else was needed */
}

static void test_tickets_equal_policy(void **state)
{
    (void)state;
    static struct fl_ticket_result results[JOBS];
    static struct tickets expected[JOBS];
    static struct ticket_world w;
    for (uint64_t seed = 0; seed < (uint64_t)rounds(600); seed++) {
        struct rng r = {seed};
        struct arena arena = {0};
        struct fl_fault fault;
        make_tickets(&w, &r);
        allocations = 0;
        int result = fl_job_tickets(&w.input, results, &fault);
        if (result != FL_OK) fail_msg("%s: %s[%u]", fl_result_text(result), fault.member, fault.index);
        assert_in_range(allocations, 1, 2);
        compute_by_policy(&w, &arena, expected);
        for (uint32_t i = 0; i < w.input.job_count; i++) {
            assert_true(results[i].override_tickets == expected[i].override);
            assert_true(results[i].functional_tickets == expected[i].functional);
            assert_true(results[i].share_tickets == expected[i].share && results[i].tickets == expected[i].total);
        }
        arena_release(&arena);
        fl_tree_free(w.tree);
    }
}

/* --- billing ------------------------------------------------------------------------------------------------------ */

/* A bill is what billing_of makes of the same amounts in a table of the same types. */
static void test_bills_equal_policy(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (uint64_t)rounds(2000); seed++) {
        struct rng r = {seed};
        struct arena arena = {0};
        struct tres_table table;
        struct fl_tres tres[5];
        struct tres_amount amounts[5];
        double weights[TRES_MAX] = {0}, terms[5];
        static const uint32_t kinds[5] = {FL_TRES_CPU, FL_TRES_MEM, FL_TRES_NODE, FL_TRES_GRES, FL_TRES_OTHER};
        static const char *const names[5] = {"cpu", "mem", "node", "gres/gpu", "license/x"};
        assert_int_equal(tres_table_make(&table, str("gres/gpu,license/x"), "", &arena, NULL), 0);
        for (uint32_t i = 0; i < 5; i++) {
            uint32_t index = tres_find(&table, str(names[i]));
            double amount = rng_below(&r, 9), weight = (double)rng_below(&r, 40) / 7 - 1;
            tres[i] = (struct fl_tres){.kind = kinds[i], .amount = amount, .weight = weight};
            amounts[i] = (struct tres_amount){index, amount};
            weights[index] = weight;
        }
        for (int rule = FL_BILLING_SUM; rule <= FL_BILLING_MAX_TRES_GRES; rule++) {
            static const enum billing_rule rules[] = {BILLING_SUM, BILLING_MAX_TRES, BILLING_MAX_TRES_GRES};
            struct fl_bill bill;
            struct tres_list list = {amounts, 5};
            assert_int_equal(fl_job_bill(tres, 5, rule, &bill, terms, NULL), FL_OK);
            assert_true(bill.rate == billing_of(&table, &list, weights, rules[rule]));
            assert_true(bill.rate == bill.max_part + bill.sum_part && bill.recorded == billing_recorded(bill.rate));
            assert_true(bill.max_tres == FL_NONE ? bill.max_part == 0 : bill.max_part == terms[bill.max_tres]);
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_policy),          cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_reasons_of_small_trees), cmocka_unit_test(test_tickets_equal_policy),
        cmocka_unit_test(test_bills_equal_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
