/* Classic and depth-oblivious fair share on small trees: what was published, what was seen, and the corners. Slurm's
 * answers to whole trees are in conformance/, the laws and a second implementation in property/. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/fair_share.h"
#include "tree_text.h"

/* What is expected of a node; NAN: not looked at. */
struct expected {
    const char *name;
    double norm_shares, effective_usage, factor;
};

static void assert_close(const char *name, const char *column, double got, double wanted, double tolerance)
{
    if (isnan(wanted) || fabs(got - wanted) <= tolerance) return;
    fail_msg("%s: %s %.17g, expected %.17g", name, column, got, wanted);
}

/* The table's columns as expected, and the factors alone the same as in the table. */
static void assert_rows(const char *text, const struct share_options *options, double tolerance,
                        const struct expected *rows)
{
    struct text_tree t;
    struct arena arena = {0};
    struct share_table s;
    double factor[TEXT_NODES_MAX];
    text_tree_init(&t, text);
    fair_share_table(&t.tree, t.own, NULL, options, &arena, &s);
    fair_share_factors(&t.tree, t.own, options, &arena, factor);
    assert_true(isnan(s.norm_usage[0]));
    for (uint32_t i = 0; i < s.count; i++) {
        assert_true(isnan(s.level_fs[i]));
        assert_true(factor[i] == (t.tree.is_user[i] ? s.fair_share[i] : 0));
    }
    for (; rows->name != NULL; rows++) {
        uint32_t i = text_tree_find(&t, rows->name, strlen(rows->name));
        assert_close(rows->name, "NormShares", s.norm_shares[i], rows->norm_shares, tolerance);
        assert_close(rows->name, "EffectvUsage", s.effective_usage[i], rows->effective_usage, tolerance);
        assert_close(rows->name, "FairShare", s.fair_share[i], rows->factor, tolerance);
    }
    arena_release(&arena);
    tree_release(&t.tree);
}

static const struct share_options CLASSIC = {.algorithm = ALGORITHM_CLASSIC, .dampening = 1};
static const struct share_options OBLIVIOUS = {.algorithm = ALGORITHM_DEPTH_OBLIVIOUS, .dampening = 1};
static const double EXACT = 1e-15, PRINTED = 0.5e-6, FROM_PRINTED = 3e-6;

/* The example of the published page on the classic algorithm: accounts a to f, users 1 to 5, which used 70 % of the
 * machine. What was idle is here the usage of somebody without shares. docs/formulas.md 2.4 and 2.5 show it. */
#define PUBLISHED "a:40{b:30{u1:1=20} c:10{u2:1=25 u3:1}} d:60{e:25{u4:1=25} f:35{u5:1}} idle:0=30"

static void test_published_example(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {"root", 1, 1, 0.5},           {"a", 0.4, 0.45, NAN},
        {"b", 0.3, 0.3875, NAN},       {"c", 0.1, 0.3, NAN},
        {"d", 0.6, 0.25, NAN},         {"e", 0.25, 0.25, NAN},
        {"f", 0.35, 0.145833, NAN},    {"u1", 0.3, 0.3875, 0.408479},
        {"u2", 0.05, 0.275, 0.022097}, {"u3", 0.05, 0.15, 0.125},
        {"u4", 0.25, 0.25, 0.5},       {"u5", 0.35, 0.145833, 0.749154},
        {"idle", 0, 0.3, 0},           {NULL},
    };
    assert_rows(PUBLISHED, &CLASSIC, PRINTED, ROWS);
}

static void test_published_example_depth_oblivious(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {"b", 0.3, 0.228848, 0.589340},
        {"u1", 0.3, 0.228848, 0.589340},
        {"u2", 0.05, 0.25, 0.031250},
        {"u3", 0.05, 0, 1},
        {"u4", 0.25, 0.108790, 0.739613},
        {"u5", 0.35, 0, 1},
        {"idle", 0, 0.3, 0},
        {NULL},
    };
    assert_rows(PUBLISHED, &OBLIVIOUS, PRINTED, ROWS);
}

/* What Slurm 22.05.8 showed of one tree. Its usage is known to six decimals, too; divided by shares of a tenth, the answers
 * are to five. */
#define SEEN                                                              \
    "r:1 a:10{a1:2=80934 a2:1=488094 u3:p=14169 u4:1 sub1:p{u1:3=10122}}" \
    "b:20{b1:0=53949 b2:1=346660 fast:5 batch:1=6072}"

static void test_seen_classic(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {"root", 1, 1, 0.5},
        {"r", NAN, 0, 1},
        {"a", 0.322581, 0.593319, 0.279459},
        {"a1", 0.092166, 0.227329, 0.180927},
        {"a2", 0.046083, 0.503126, 0.000517},
        {"u3", 0.322581, 0.593319, 0.279459},
        {"u4", NAN, 0.084760, 0.279459},
        {"sub1", NAN, 0.593319, NAN},
        {"u1", 0.138249, 0.260063, 0.271472},
        {"b", 0.645161, 0.406681, 0.646017},
        {"b1", 0, 0.053949, 0},
        {"b2", 0.092166, 0.355234, 0.069142},
        {"fast", 0.460829, 0.290486, 0.646017},
        {"batch", NAN, 0.063302, 0.621217},
        {NULL},
    };
    assert_rows(SEEN, &CLASSIC, FROM_PRINTED, ROWS);
}

static void test_seen_depth_oblivious(void **state)
{
    (void)state;
    static const struct share_options OPTIONS = {.algorithm = ALGORITHM_DEPTH_OBLIVIOUS, .dampening = 2};
    static const struct expected ROWS[] = {
        {"root", 1, 1, 0.707107},
        {"a", 0.322581, 0.593319, 0.528639},
        {"a1", 0.092166, 0.158131, 0.551770},
        {"a2", 0.046083, 0.500036, 0.023270},
        {"u1", 0.138249, 0.186289, 0.626878},
        {"b", 0.645161, 0.406681, 0.803752},
        {"b2", 0.092166, 0.077059, 0.748437},
        {"batch", NAN, 0.006072, 0.977424},
        {NULL},
    };
    assert_rows(SEEN, &OPTIONS, FROM_PRINTED, ROWS);
}

/* --- corners ------------------------------------------------------------------------------------------------------ */

static void test_nothing_used(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {"root", 1, 1, 0.5}, {"a", 0.25, 0, 1}, {"u", 0.0625, 0, 1}, {"v", 0.1875, 0, 1},
        {"w", 0.75, 0, 1},   {"none", 0, 0, 0}, {"p", 1, 0, 1},      {NULL},
    };
    assert_rows("a:1{u:1 v:3} w:3 none:0 p:p", &CLASSIC, EXACT, ROWS);
    assert_rows("a:1{u:1 v:3} w:3 none:0 p:p", &OBLIVIOUS, EXACT, ROWS);
}

/* Who was promised nothing gets nothing, used or not; where nobody was, the level takes its parent's usage. */
static void test_no_shares(void **state)
{
    (void)state;
#define NO_SHARES "a:1{u:0=10 v:0 w:0{x:1=10}} b:1{y:0=20 z:1=40} c:0{s:1=20 t:p}"
    static const struct expected IN_CLASSIC[] = {
        {"a", 0.5, 0.2, NAN}, {"u", 0, 0.2, 0}, {"v", 0, 0.2, 0}, {"w", 0, 0.2, 0}, {"x", 0, 0.2, 0}, {"y", 0, 0.2, 0},
        {"z", 0.5, 0.6, NAN}, {"c", 0, 0.2, 0}, {"s", 0, 0.2, 0}, {"t", 0, 0.2, 0}, {NULL},
    };
    assert_rows(NO_SHARES, &CLASSIC, EXACT, IN_CLASSIC);
    static const struct expected IN_OBLIVIOUS[] = {
        {"a", 0.5, 0.2, NAN}, {"u", 0, 0.1, 0}, {"v", 0, 0, 0},   {"w", 0, 0.1, 0}, {"x", 0, 0.1, 0},
        {"y", 0, 0.2, 0},     {"c", 0, 0.2, 0}, {"s", 0, 0.2, 0}, {"t", 0, 0.2, 0}, {NULL},
    };
    assert_rows(NO_SHARES, &OBLIVIOUS, EXACT, IN_OBLIVIOUS);
}

/* SHARES_PARENT is the account's factor, from any depth; right below the root it is everything that was promised, and
 * the node's own usage. */
static void test_parent(void **state)
{
    (void)state;
#define PARENT "a:1{u:p=30 s:p{t:p{v:p x:2=10} y:p=5} z:2=15} q:p{w:p=20 k:1{l:p=10 m:1=10}} n:p"
    const double a = exp2(-0.6 / 0.5), w = exp2(-0.2), k = exp2(-0.2 / 0.5);
    const struct expected rows[] = {
        {"a", 0.5, 0.6, a},        {"u", 0.5, 0.6, a}, {"s", 0.5, 0.6, a},
        {"t", 0.5, 0.6, a},        {"v", 0.5, 0.6, a}, {"y", 0.5, 0.6, a},
        {"q", 1, 0.4, exp2(-0.4)}, {"w", 1, 0.2, w},   {"k", 0.5, 0.2, k},
        {"l", 0.5, 0.2, k},        {"n", 1, 0, 1},     {NULL},
    };
    assert_rows(PARENT, &CLASSIC, EXACT, rows);
    assert_rows(PARENT, &OBLIVIOUS, EXACT, rows);
    static const struct expected IN_CLASSIC[] = {{"x", 0.25, 0.35, NAN}, {"z", 0.25, 0.375, NAN}, {NULL}};
    assert_rows(PARENT, &CLASSIC, EXACT, IN_CLASSIC);
    /* Of the 0.25 that x and z used, the rest of a's 0.6 left out, x is below its half and a above its promise. */
    const double k_of_a = 1 / (1 + 25 * log(1.2) * log(1.2));
    const struct expected in_oblivious[] = {
        {"x", 0.25, 1.2 * pow(0.8, k_of_a) * 0.25, NAN}, {"z", 0.25, 0.6 * 0.6, NAN}, {NULL}};
    assert_rows(PARENT, &OBLIVIOUS, EXACT, in_oblivious);
}

/* Where the exponent's rule turns: the parent's ratio or the child's is 1, and the four quarters between. */
static void test_exponent(void **state)
{
    (void)state;
    static const struct expected AS_PROMISED[] = {{"u", 0.25, 0.3, NAN}, {"v", 0.25, 0.2, NAN}, {NULL}};
    assert_rows("a:1{u:1=30 v:1=20} b:1=50", &OBLIVIOUS, EXACT, AS_PROMISED);
    static const struct expected ALIKE[] = {{"u", 0.25, 0.1, NAN}, {"v", 0.25, 0.1, NAN}, {NULL}};
    assert_rows("a:1{u:1=10 v:1=10} b:1=80", &OBLIVIOUS, EXACT, ALIKE);
    static const struct expected ALONE[] = {{"c", 0.5, 0.2, NAN}, {"u", 0.5, 0.2, NAN}, {"v", 0.25, 0, 1}, {NULL}};
    assert_rows("a:1{c:7{u:3=20}} b:1{v:1 w:1=80}", &OBLIVIOUS, EXACT, ALONE);

    const double above = 1 / (1 + 25 * log(1.6) * log(1.6)), below = 1 / (1 + 25 * log(0.4) * log(0.4));
    const struct expected quarters[] = {
        {"u", 0.25, 0.6, NAN},                          /* both above */
        {"v", 0.25, 1.6 * pow(0.5, above) * 0.25, NAN}, /* the account above, the user below */
        {"w", 0.25, 0.4 * pow(1.5, below) * 0.25, NAN}, /* the other way round */
        {"x", 0.25, 0.05, exp2(-0.2)},                  /* both below */
        {NULL},
    };
    assert_rows("a:1{u:1=60 v:1=20} b:1{w:1=15 x:1=5}", &OBLIVIOUS, EXACT, quarters);
}

/* Totals as given need not add up: more than everything counts as everything, and a used child of what is unused as its
 * own usage. */
static void test_totals_that_do_not_add_up(void **state)
{
    (void)state;
    struct text_tree t;
    struct arena arena = {0};
    struct share_table s;
    const double totals[] = {10, 20, 5, 0, 4}, nothing[] = {0, 3, 2, 1, 0};
    text_tree_init(&t, "a:1{u:1} b:1{v:1}");
    fair_share_table(&t.tree, NULL, totals, &CLASSIC, &arena, &s);
    assert_true(s.norm_usage[1] == 1 && s.effective_usage[1] == 1 && s.fair_share[1] == 0.25);
    assert_true(s.raw_usage[1] == 20 && s.norm_usage[2] == 0.5 && s.effective_usage[2] == 1);
    assert_true(s.norm_usage[4] == 0.4 && s.effective_usage[4] == 0 && s.fair_share[4] == 1);
    fair_share_table(&t.tree, NULL, totals, &OBLIVIOUS, &arena, &s);
    assert_true(s.effective_usage[2] == 1 && s.effective_usage[4] == 0.4);
    fair_share_table(&t.tree, NULL, nothing, &OBLIVIOUS, &arena, &s);
    for (uint32_t i = 1; i < s.count; i++) assert_true(s.norm_usage[i] == 0 && s.fair_share[i] == 1);
    arena_release(&arena);
    tree_release(&t.tree);
}

/* Sixty-four levels of the smallest share: promises beyond a double's range count as none, and nothing is NAN. */
static void test_tiny_promises(void **state)
{
    (void)state;
    struct tree t;
    double own[3 * TREE_DEPTH_MAX] = {0};
    tree_init(&t);
    uint32_t account = 0;
    while (t.depth[account] < TREE_DEPTH_MAX - 1) {
        own[tree_add(&t, account, true, SHARES_MAX)] = 1e300;
        account = tree_add(&t, account, false, 1);
    }
    own[tree_add(&t, account, true, 1)] = 1e-300;
    tree_finish(&t);
    for (int algorithm = ALGORITHM_CLASSIC; algorithm < ALGORITHM_COUNT; algorithm++) {
        struct share_options options = {.algorithm = (enum share_algorithm)algorithm, .dampening = 65535};
        struct arena arena = {0};
        struct share_table s;
        fair_share_table(&t, own, NULL, &options, &arena, &s);
        for (uint32_t i = 0; i < t.count; i++) {
            assert_true(s.fair_share[i] >= 0 && s.fair_share[i] <= 1);
            assert_true(s.effective_usage[i] >= 0 && s.effective_usage[i] <= 1);
        }
        assert_true(s.norm_shares[t.count - 1] == 0 && s.fair_share[t.count - 1] == 0);
        arena_release(&arena);
    }
    tree_release(&t);
}

/* The table's first row is Fair Tree as it is everywhere, for either tie rule. */
static void test_fair_tree_is_a_row(void **state)
{
    (void)state;
    struct text_tree t;
    double usage[TEXT_NODES_MAX], factor[TEXT_NODES_MAX], wanted[TEXT_NODES_MAX];
    long double slurm_usage[TEXT_NODES_MAX];
    struct arena arena = {0};
    struct share_table s, same;
    struct rank_order *order = rank_order_new();
    struct share_options options = {.algorithm = ALGORITHM_FAIR_TREE, .dampening = 9, .order = order};
    text_tree_init(&t, "a:2{u:1=30 v:1=10} b:1{w:1=5 x:1=15}");
    tree_sum_usage(&t.tree, t.own, usage);
    fair_tree_rank(&t.tree, usage, NULL, wanted);
    for (int rule = TIES_MERGE; rule <= TIES_SLURM; rule++) {
        options.ties = (enum tie_rule)rule;
        if (rule == TIES_SLURM && !fair_tree_slurm_available()) break;
        if (rule == TIES_SLURM) {
            fair_tree_slurm_sum(&t.tree, t.own, slurm_usage);
            fair_tree_slurm(&t.tree, slurm_usage, wanted, NULL);
        }
        fair_share_factors(&t.tree, t.own, &options, &arena, factor);
        assert_memory_equal(factor, wanted, t.tree.count * sizeof *factor);
        fair_share_table(&t.tree, t.own, NULL, &options, &arena, &s);
        share_table_compute(&t.tree, t.own, NULL, options.ties, NULL, NULL, &arena, &same);
        assert_memory_equal(s.fair_share, same.fair_share, s.count * sizeof *factor);
        assert_memory_equal(s.level_fs, same.level_fs, s.count * sizeof *factor);
    }
    rank_order_free(order);
    arena_release(&arena);
    tree_release(&t.tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_example),
        cmocka_unit_test(test_published_example_depth_oblivious),
        cmocka_unit_test(test_seen_classic),
        cmocka_unit_test(test_seen_depth_oblivious),
        cmocka_unit_test(test_nothing_used),
        cmocka_unit_test(test_no_shares),
        cmocka_unit_test(test_parent),
        cmocka_unit_test(test_exponent),
        cmocka_unit_test(test_totals_that_do_not_add_up),
        cmocka_unit_test(test_tiny_promises),
        cmocka_unit_test(test_fair_tree_is_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
