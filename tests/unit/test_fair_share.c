/* Classic and depth-oblivious fair share on small trees: published examples, recorded answers and corner cases. Slurm's
 * answers for whole trees are in conformance/, the laws and a second implementation in property/. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/fair_share.h"
#include "tree_text.h"

/* The expected columns of a node: S, normalised shares; U, effective usage; the factor. NAN: not compared. */
struct expected {
    const char *name;
    double S, U, factor;
};

static void assert_close(const char *name, const char *column, double got, double expected, double tolerance)
{
    if (isnan(expected) || fabs(got - expected) <= tolerance) return;
    fail_msg("%s: %s %.17g, expected %.17g", name, column, got, expected);
}

/* Compares the columns of the table, and the factors that are computed without it. */
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
        assert_close(rows->name, "NormShares", s.norm_shares[i], rows->S, tolerance);
        assert_close(rows->name, "EffectvUsage", s.effective_usage[i], rows->U, tolerance);
        assert_close(rows->name, "FairShare", s.fair_share[i], rows->factor, tolerance);
    }
    arena_release(&arena);
    tree_release(&t.tree);
}

static const struct share_options CLASSIC = {.algorithm = ALGORITHM_CLASSIC, .dampening = 1};
static const struct share_options OBLIVIOUS = {.algorithm = ALGORITHM_DEPTH_OBLIVIOUS, .dampening = 1};
static const double EXACT = 1e-15, PRINTED = 0.5e-6, FROM_PRINTED = 3e-6;

/* The example of the published page on the classic algorithm: accounts a to f, and users 1 to 5 that used 70 % of the
 * machine. The idle part is here the usage of a user without shares. Also in docs/formulas.md 2.4 and 2.5. */
#define PUBLISHED "a:40{b:30{u1:1=20} c:10{u2:1=25 u3:1}} d:60{e:25{u4:1=25} f:35{u5:1}} idle:0=30"

static void test_published_example(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {.name = "root", .S = 1, .U = 1, .factor = 0.5},
        {.name = "a", .S = 0.4, .U = 0.45, .factor = NAN},
        {.name = "b", .S = 0.3, .U = 0.3875, .factor = NAN},
        {.name = "c", .S = 0.1, .U = 0.3, .factor = NAN},
        {.name = "d", .S = 0.6, .U = 0.25, .factor = NAN},
        {.name = "e", .S = 0.25, .U = 0.25, .factor = NAN},
        {.name = "f", .S = 0.35, .U = 0.145833, .factor = NAN},
        {.name = "u1", .S = 0.3, .U = 0.3875, .factor = 0.408479},
        {.name = "u2", .S = 0.05, .U = 0.275, .factor = 0.022097},
        {.name = "u3", .S = 0.05, .U = 0.15, .factor = 0.125},
        {.name = "u4", .S = 0.25, .U = 0.25, .factor = 0.5},
        {.name = "u5", .S = 0.35, .U = 0.145833, .factor = 0.749154},
        {.name = "idle", .S = 0, .U = 0.3, .factor = 0},
        {.name = NULL},
    };
    assert_rows(PUBLISHED, &CLASSIC, PRINTED, ROWS);
}

static void test_published_example_depth_oblivious(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {.name = "b", .S = 0.3, .U = 0.228848, .factor = 0.589340},
        {.name = "u1", .S = 0.3, .U = 0.228848, .factor = 0.589340},
        {.name = "u2", .S = 0.05, .U = 0.25, .factor = 0.031250},
        {.name = "u3", .S = 0.05, .U = 0, .factor = 1},
        {.name = "u4", .S = 0.25, .U = 0.108790, .factor = 0.739613},
        {.name = "u5", .S = 0.35, .U = 0, .factor = 1},
        {.name = "idle", .S = 0, .U = 0.3, .factor = 0},
        {.name = NULL},
    };
    assert_rows(PUBLISHED, &OBLIVIOUS, PRINTED, ROWS);
}

/* A tree that was recorded from Slurm 22.05.8. Its usage has only six decimals, so a value that is divided by shares of
 * a tenth is right to five. */
#define RECORDED                                                          \
    "r:1 a:10{a1:2=80934 a2:1=488094 u3:p=14169 u4:1 sub1:p{u1:3=10122}}" \
    "b:20{b1:0=53949 b2:1=346660 fast:5 batch:1=6072}"

static void test_recorded_classic(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {.name = "root", .S = 1, .U = 1, .factor = 0.5},
        {.name = "r", .S = NAN, .U = 0, .factor = 1},
        {.name = "a", .S = 0.322581, .U = 0.593319, .factor = 0.279459},
        {.name = "a1", .S = 0.092166, .U = 0.227329, .factor = 0.180927},
        {.name = "a2", .S = 0.046083, .U = 0.503126, .factor = 0.000517},
        {.name = "u3", .S = 0.322581, .U = 0.593319, .factor = 0.279459},
        {.name = "u4", .S = NAN, .U = 0.084760, .factor = 0.279459},
        {.name = "sub1", .S = NAN, .U = 0.593319, .factor = NAN},
        {.name = "u1", .S = 0.138249, .U = 0.260063, .factor = 0.271472},
        {.name = "b", .S = 0.645161, .U = 0.406681, .factor = 0.646017},
        {.name = "b1", .S = 0, .U = 0.053949, .factor = 0},
        {.name = "b2", .S = 0.092166, .U = 0.355234, .factor = 0.069142},
        {.name = "fast", .S = 0.460829, .U = 0.290486, .factor = 0.646017},
        {.name = "batch", .S = NAN, .U = 0.063302, .factor = 0.621217},
        {.name = NULL},
    };
    assert_rows(RECORDED, &CLASSIC, FROM_PRINTED, ROWS);
}

static void test_recorded_depth_oblivious(void **state)
{
    (void)state;
    static const struct share_options OPTIONS = {.algorithm = ALGORITHM_DEPTH_OBLIVIOUS, .dampening = 2};
    static const struct expected ROWS[] = {
        {.name = "root", .S = 1, .U = 1, .factor = 0.707107},
        {.name = "a", .S = 0.322581, .U = 0.593319, .factor = 0.528639},
        {.name = "a1", .S = 0.092166, .U = 0.158131, .factor = 0.551770},
        {.name = "a2", .S = 0.046083, .U = 0.500036, .factor = 0.023270},
        {.name = "u1", .S = 0.138249, .U = 0.186289, .factor = 0.626878},
        {.name = "b", .S = 0.645161, .U = 0.406681, .factor = 0.803752},
        {.name = "b2", .S = 0.092166, .U = 0.077059, .factor = 0.748437},
        {.name = "batch", .S = NAN, .U = 0.006072, .factor = 0.977424},
        {.name = NULL},
    };
    assert_rows(RECORDED, &OPTIONS, FROM_PRINTED, ROWS);
}

/* --- corner cases ------------------------------------------------------------------------------------------------- */

static void test_nothing_used(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {.name = "root", .S = 1, .U = 1, .factor = 0.5}, {.name = "a", .S = 0.25, .U = 0, .factor = 1},
        {.name = "u", .S = 0.0625, .U = 0, .factor = 1}, {.name = "v", .S = 0.1875, .U = 0, .factor = 1},
        {.name = "w", .S = 0.75, .U = 0, .factor = 1},   {.name = "none", .S = 0, .U = 0, .factor = 0},
        {.name = "p", .S = 1, .U = 0, .factor = 1},      {.name = NULL},
    };
    assert_rows("a:1{u:1 v:3} w:3 none:0 p:p", &CLASSIC, EXACT, ROWS);
    assert_rows("a:1{u:1 v:3} w:3 none:0 p:p", &OBLIVIOUS, EXACT, ROWS);
}

/* Without shares the factor is 0, used or not. On a level where no node has shares, all have their parent's usage. */
static void test_no_shares(void **state)
{
    (void)state;
#define NO_SHARES "a:1{u:0=10 v:0 w:0{x:1=10}} b:1{y:0=20 z:1=40} c:0{s:1=20 t:p}"
    static const struct expected IN_CLASSIC[] = {
        {.name = "a", .S = 0.5, .U = 0.2, .factor = NAN},
        {.name = "u", .S = 0, .U = 0.2, .factor = 0},
        {.name = "v", .S = 0, .U = 0.2, .factor = 0},
        {.name = "w", .S = 0, .U = 0.2, .factor = 0},
        {.name = "x", .S = 0, .U = 0.2, .factor = 0},
        {.name = "y", .S = 0, .U = 0.2, .factor = 0},
        {.name = "z", .S = 0.5, .U = 0.6, .factor = NAN},
        {.name = "c", .S = 0, .U = 0.2, .factor = 0},
        {.name = "s", .S = 0, .U = 0.2, .factor = 0},
        {.name = "t", .S = 0, .U = 0.2, .factor = 0},
        {.name = NULL},
    };
    assert_rows(NO_SHARES, &CLASSIC, EXACT, IN_CLASSIC);
    static const struct expected IN_OBLIVIOUS[] = {
        {.name = "a", .S = 0.5, .U = 0.2, .factor = NAN}, {.name = "u", .S = 0, .U = 0.1, .factor = 0},
        {.name = "v", .S = 0, .U = 0, .factor = 0},       {.name = "w", .S = 0, .U = 0.1, .factor = 0},
        {.name = "x", .S = 0, .U = 0.1, .factor = 0},     {.name = "y", .S = 0, .U = 0.2, .factor = 0},
        {.name = "c", .S = 0, .U = 0.2, .factor = 0},     {.name = "s", .S = 0, .U = 0.2, .factor = 0},
        {.name = "t", .S = 0, .U = 0.2, .factor = 0},     {.name = NULL},
    };
    assert_rows(NO_SHARES, &OBLIVIOUS, EXACT, IN_OBLIVIOUS);
}

/* A SHARES_PARENT user has the account's factor, at any depth. Directly below the root it has all of the shares and its
 * own usage. */
static void test_parent(void **state)
{
    (void)state;
#define PARENT "a:1{u:p=30 s:p{t:p{v:p x:2=10} y:p=5} z:2=15} q:p{w:p=20 k:1{l:p=10 m:1=10}} n:p"
    const double a = exp2(-0.6 / 0.5), w = exp2(-0.2), k = exp2(-0.2 / 0.5);
    const struct expected rows[] = {
        {.name = "a", .S = 0.5, .U = 0.6, .factor = a},
        {.name = "u", .S = 0.5, .U = 0.6, .factor = a},
        {.name = "s", .S = 0.5, .U = 0.6, .factor = a},
        {.name = "t", .S = 0.5, .U = 0.6, .factor = a},
        {.name = "v", .S = 0.5, .U = 0.6, .factor = a},
        {.name = "y", .S = 0.5, .U = 0.6, .factor = a},
        {.name = "q", .S = 1, .U = 0.4, .factor = exp2(-0.4)},
        {.name = "w", .S = 1, .U = 0.2, .factor = w},
        {.name = "k", .S = 0.5, .U = 0.2, .factor = k},
        {.name = "l", .S = 0.5, .U = 0.2, .factor = k},
        {.name = "n", .S = 1, .U = 0, .factor = 1},
        {.name = NULL},
    };
    assert_rows(PARENT, &CLASSIC, EXACT, rows);
    assert_rows(PARENT, &OBLIVIOUS, EXACT, rows);
    static const struct expected IN_CLASSIC[] = {{.name = "x", .S = 0.25, .U = 0.35, .factor = NAN},
                                                 {.name = "z", .S = 0.25, .U = 0.375, .factor = NAN},
                                                 {.name = NULL}};
    assert_rows(PARENT, &CLASSIC, EXACT, IN_CLASSIC);
    /* x used less than half of the 0.25 that x and z used together, and a used more than its promise. */
    const double k_of_a = 1 / (1 + 25 * log(1.2) * log(1.2));
    const struct expected in_oblivious[] = {{.name = "x", .S = 0.25, .U = 1.2 * pow(0.8, k_of_a) * 0.25, .factor = NAN},
                                            {.name = "z", .S = 0.25, .U = 0.6 * 0.6, .factor = NAN},
                                            {.name = NULL}};
    assert_rows(PARENT, &OBLIVIOUS, EXACT, in_oblivious);
}

/* The cases of the exponent: the parent's or the child's ratio is 1, and the four quadrants between. */
static void test_exponent(void **state)
{
    (void)state;
    static const struct expected AS_PROMISED[] = {{.name = "u", .S = 0.25, .U = 0.3, .factor = NAN},
                                                  {.name = "v", .S = 0.25, .U = 0.2, .factor = NAN},
                                                  {.name = NULL}};
    assert_rows("a:1{u:1=30 v:1=20} b:1=50", &OBLIVIOUS, EXACT, AS_PROMISED);
    static const struct expected ALIKE[] = {{.name = "u", .S = 0.25, .U = 0.1, .factor = NAN},
                                            {.name = "v", .S = 0.25, .U = 0.1, .factor = NAN},
                                            {.name = NULL}};
    assert_rows("a:1{u:1=10 v:1=10} b:1=80", &OBLIVIOUS, EXACT, ALIKE);
    static const struct expected ALONE[] = {{.name = "c", .S = 0.5, .U = 0.2, .factor = NAN},
                                            {.name = "u", .S = 0.5, .U = 0.2, .factor = NAN},
                                            {.name = "v", .S = 0.25, .U = 0, .factor = 1},
                                            {.name = NULL}};
    assert_rows("a:1{c:7{u:3=20}} b:1{v:1 w:1=80}", &OBLIVIOUS, EXACT, ALONE);

    const double above = 1 / (1 + 25 * log(1.6) * log(1.6)), below = 1 / (1 + 25 * log(0.4) * log(0.4));
    const struct expected quadrants[] = {
        {.name = "u", .S = 0.25, .U = 0.6, .factor = NAN}, /* both above */
        {.name = "v",
         .S = 0.25,
         .U = 1.6 * pow(0.5, above) * 0.25,
         .factor = NAN}, /* the account above, the user below */
        {.name = "w",
         .S = 0.25,
         .U = 0.4 * pow(1.5, below) * 0.25,
         .factor = NAN},                                           /* the account below, the user above */
        {.name = "x", .S = 0.25, .U = 0.05, .factor = exp2(-0.2)}, /* both below */
        {.name = NULL},
    };
    assert_rows("a:1{u:1=60 v:1=20} b:1{w:1=15 x:1=5}", &OBLIVIOUS, EXACT, quadrants);
}

/* Totals from outside need not add up. A total above the root's is limited to it, and a used child of an unused account
 * counts with its own usage. */
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

/* Sixty-four levels with the smallest shares: a promise below the range of a double counts as none, and nothing is
 * NAN. */
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

/* The first algorithm of the table is Fair Tree, for both tie rules. */
static void test_fair_tree_is_a_row(void **state)
{
    (void)state;
    struct text_tree t;
    double usage[TEXT_NODES_MAX], factor[TEXT_NODES_MAX], expected[TEXT_NODES_MAX];
    long double slurm_usage[TEXT_NODES_MAX];
    struct arena arena = {0};
    struct share_table s, same;
    struct rank_order *order = rank_order_new();
    struct share_options options = {.algorithm = ALGORITHM_FAIR_TREE, .dampening = 9, .order = order};
    text_tree_init(&t, "a:2{u:1=30 v:1=10} b:1{w:1=5 x:1=15}");
    tree_sum_usage(&t.tree, t.own, usage);
    fair_tree_rank(&t.tree, usage, NULL, expected);
    for (int rule = TIES_MERGE; rule <= TIES_SLURM; rule++) {
        options.ties = (enum tie_rule)rule;
        if (rule == TIES_SLURM && !fair_tree_slurm_available()) break;
        if (rule == TIES_SLURM) {
            fair_tree_slurm_sum(&t.tree, t.own, slurm_usage);
            fair_tree_slurm(&t.tree, slurm_usage, &arena, expected, NULL);
        }
        fair_share_factors(&t.tree, t.own, &options, &arena, factor);
        assert_memory_equal(factor, expected, t.tree.count * sizeof *factor);
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
        cmocka_unit_test(test_recorded_classic),
        cmocka_unit_test(test_recorded_depth_oblivious),
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
