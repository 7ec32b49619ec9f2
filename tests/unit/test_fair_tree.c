/* Ranks of small trees, one rule at a time, with both rules for ties. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/fair_tree.h"
#include "tree_text.h"

/* The ranks are factor * N, in index order of the users. slurm: NULL if both tie rules give the same. */
struct row {
    const char *why, *tree, *merge, *slurm;
};

static const struct row ROWS[] = {
    {.why = "alone", .tree = "u:1", .merge = "1"},
    {.why = "less used is first", .tree = "u:1=10 v:1=20 w:1=5", .merge = "2 1 3"},
    {.why = "more shares are first", .tree = "u:1=10 v:3=10 w:2=10", .merge = "1 3 2"},
    {.why = "equal users tie, and the next drops by two", .tree = "u:1=10 v:1=10 w:1=20", .merge = "3 3 1"},
    {.why = "unused beats used", .tree = "u:1 v:1000=1", .merge = "2 1"},
    {.why = "all unused", .tree = "u:1 v:2 a:3{w:1 x:7}", .merge = "4 4 4 4"},
    {.why = "no shares is last, used or not", .tree = "u:0 v:0=5 w:1=1000", .merge = "2 2 3"},
    {.why = "no user has shares", .tree = "u:0=1 v:0", .merge = "2 2"},
    {.why = "parent ties with unused, whatever it used", .tree = "u:p=1000 v:1 w:1=1", .merge = "3 3 1"},
    {.why = "accounts first, then their users", .tree = "a:1=0{u:1=10 v:1=20} b:1{w:1=1 x:1=2}", .merge = "2 1 4 3"},

    {.why = "docs/formulas.md 2.1: two levels",
     .tree = "a:50{u:1=100 v:1=300} b:30{w:1=200} x:20=150",
     .merge = "2 1 4 3"},

    {.why = "a child alone in its account", .tree = "a:1{u:1=5} b:1{v:9=4}", .merge = "1 2"},
    {.why = "an account without users is skipped", .tree = "a:1{} u:1=1 b:1{c:1{}}", .merge = "1"},

    {.why = "1:10, 3:30 and 7:70 tie", .tree = "u:1=10 v:3=30 w:7=70", .merge = "3 3 3"},
    {.why = "they tie with usage in thirds, too", .tree = "u:1=0.1 v:3=0.3 w:10=1", .merge = "3 3 3"},
    {.why = "a merged account's children keep the level of their own account",
     .tree = "a:1{u:1=30 v:1=10} b:1{w:1=20 x:1=20}",
     .merge = "1 4 3 3",
     .slurm = "3 4 3 3"},
    {.why = "tied accounts of different size",
     .tree = "a:2{u:1=30 v:1=10} b:1{w:1=5 x:1=15}",
     .merge = "2 4 4 2",
     .slurm = "3 4 3 1"},
    {.why = "three tied accounts",
     .tree = "a:1{u:1=3 v:1=1} b:1{w:1=2 x:1=2} c:1{y:1=1 z:1=3}",
     .merge = "2 6 4 4 6 2",
     .slurm = "5 6 5 5 5 1"},
    {.why = "tied accounts at two depths",
     .tree = "a:1{c:1{u:1=4 v:1=2}} b:1{d:1{w:1=1 x:1=5}}",
     .merge = "2 3 4 1",
     .slurm = "3 4 3 1"},
    {.why = "merged users and accounts in one list",
     .tree = "a:1{u:1=4 c:1{v:1=4}} b:1{w:1=4 d:1{x:1=4}}",
     .merge = "4 4 4 4"},

    {.why = "a user tied with an account has its best user's rank", .tree = "u:1=4 a:1{v:3=2 w:1=2}", .merge = "3 3 1"},
    {.why = "and shares it with all best users of that account", .tree = "u:1=4 a:1{v:1=2 w:1=2}", .merge = "3 3 3"},
    {.why = "however deep that user is", .tree = "u:1=6 a:1{b:3{v:2=1 w:1=1} x:1=4}", .merge = "4 4 2 1"},
    {.why = "a user tied with two tied accounts",
     .tree = "u:1=4 a:1{v:3=2 w:1=2} b:1{x:1=1 y:1=3}",
     .merge = "5 3 1 5 2",
     .slurm = "5 5 3 3 1"},
    {.why = "a mark passes an account without users", .tree = "u:1 a:1{b:1{} c:1{v:1}} w:1=5", .merge = "3 3 1"},
    {.why = "and an account of such accounts",
     .tree = "u:0=1 a:0{b:2{c:1{}} d:1{v:1=3 w:1=2}}",
     .merge = "3 1 3",
     .slurm = "3 1 2"},
    {.why = "but does not leave the account", .tree = "u:1 a:1{b:1{}} v:1=1", .merge = "2 1"},
    {.why = "users of both sides of a mark", .tree = "u:1 v:1 a:1{w:1} x:1=1", .merge = "4 4 4 1"},

    {.why = "children of a parent account compete above", .tree = "a:10{u:3=10 s:p{v:7=20}}", .merge = "1 2"},
    {.why = "nested parent accounts at the root", .tree = "s:p{t:p{u:1=10} v:1=5} w:1=7", .merge = "1 3 2"},
    {.why = "an unused account's children are unused, tied or not",
     .tree = "a:1{u:1 v:2} b:1{w:1=1}",
     .merge = "3 3 1"},
    {.why = "own usage of an account lowers it, not its users' order",
     .tree = "a:1=90{u:1=5 v:1=5} b:1{w:1=99}",
     .merge = "2 2 3"},
    {.why = "own usage counts in levels across accounts",
     .tree = "a:1=10{u:1=10} b:1{v:1=10 w:1=10}",
     .merge = "3 2 2",
     .slurm = "3 3 3"},
};

static void assert_ranks(const struct row *row, const char *rule, const struct text_tree *t, const double *factor,
                         const char *expected)
{
    char ranks[256] = "";
    for (uint32_t i = 0; i < t->tree.count; i++) {
        if (!t->tree.is_user[i]) {
            assert_true(factor[i] == 0);
            continue;
        }
        double rank = factor[i] * t->tree.user_count;
        sprintf(ranks + strlen(ranks), "%s%.9g", ranks[0] != '\0' ? " " : "", rank);
        assert_true(factor[i] == round(rank) / t->tree.user_count);
    }
    if (strcmp(ranks, expected) != 0)
        fail_msg("%s (%s): %s: %s, expected %s", row->why, rule, row->tree, ranks, expected);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct text_tree t;
        double usage[TEXT_NODES_MAX], factor[TEXT_NODES_MAX];
        long double slurm_usage[TEXT_NODES_MAX];
        struct arena arena = {0};
        text_tree_init(&t, ROWS[r].tree);
        tree_sum_usage(&t.tree, t.own, usage);
        fair_tree_rank(&t.tree, usage, NULL, factor);
        assert_ranks(&ROWS[r], "merge", &t, factor, ROWS[r].merge);
        if (fair_tree_slurm_available()) {
            bool is_proportional = strstr(ROWS[r].why, "1:10") != NULL || strstr(ROWS[r].why, "thirds") != NULL;
            fair_tree_slurm_sum(&t.tree, t.own, slurm_usage);
            fair_tree_slurm(&t.tree, slurm_usage, &arena, factor, NULL);
            const char *expected = ROWS[r].slurm != NULL ? ROWS[r].slurm : ROWS[r].merge;
            if (!is_proportional) assert_ranks(&ROWS[r], "slurm", &t, factor, expected);
        }
        arena_release(&arena);
        tree_release(&t.tree);
    }
}

/* Two chains of accounts down to the depth limit, each with two users at its end. */
static void test_deepest_chain(void **state)
{
    (void)state;
    struct tree t;
    tree_init(&t);
    double usage[3 * TREE_DEPTH_MAX] = {0}, factor[3 * TREE_DEPTH_MAX];
    for (uint32_t chain = 0; chain < 2; chain++) {
        uint32_t account = 0;
        while (t.depth[account] < TREE_DEPTH_MAX - 1) account = tree_add(&t, account, false, 1);
        usage[tree_add(&t, account, true, 1)] = 10 + chain;
        usage[tree_add(&t, account, true, 1)] = 11 - chain;
    }
    tree_finish(&t);
    tree_sum_usage(&t, usage, usage);
    fair_tree_rank(&t, usage, NULL, factor);
    uint32_t last = t.count - 1;
    assert_true(factor[TREE_DEPTH_MAX] == 1);
    assert_true(factor[TREE_DEPTH_MAX + 1] == 0.5);
    assert_true(factor[last - 1] == 0.5);
    assert_true(factor[last] == 1);
    tree_release(&t);
}

static void test_no_users(void **state)
{
    (void)state;
    struct text_tree t;
    double usage[TEXT_NODES_MAX] = {5, 3}, factor[TEXT_NODES_MAX] = {7, 7, 7};
    text_tree_init(&t, "a:1{b:2{}}");
    fair_tree_rank(&t.tree, usage, NULL, factor);
    assert_true(factor[0] == 0 && factor[1] == 0 && factor[2] == 0);
    tree_release(&t.tree);
    text_tree_init(&t, "");
    fair_tree_rank(&t.tree, usage, NULL, factor);
    assert_true(factor[0] == 0);
    tree_release(&t.tree);
}

/* Totals from another program need not add up. Children of an account without usage count as unused. */
static void test_totals_as_given(void **state)
{
    (void)state;
    struct text_tree t;
    double factor[TEXT_NODES_MAX], level[TEXT_NODES_MAX];
    double usage[TEXT_NODES_MAX] = {[0] = 100, [1] = 0, [2] = 7, [3] = 9, [4] = 5, [5] = 60, [6] = 80};
    text_tree_init(&t, "a:1{u:1 v:0 x:1} b:2{w:1}");
    fair_tree_rank(&t.tree, usage, NULL, factor);
    assert_true(factor[2] * 4 == 4 && factor[4] * 4 == 4);
    assert_true(factor[3] * 4 == 2);
    assert_true(factor[6] * 4 == 1);
    fair_tree_levels(&t.tree, usage, level);
    assert_true(isnan(level[0]) && isinf(level[1]) && isinf(level[2]) && level[3] == 0);
    assert_true(level[5] == 2.0 / 3 / 0.6 && level[6] == 0.75);
    tree_release(&t.tree);
}

/* The levels of a listing: correctly rounded, and none for `parent`. */
static void test_levels(void **state)
{
    (void)state;
    struct text_tree t;
    double usage[TEXT_NODES_MAX], level[TEXT_NODES_MAX];
    text_tree_init(&t, "a:1{u:1=10 v:2=20 w:p=70 x:0=1 y:5} b:2=99 s:p{z:7}");
    tree_sum_usage(&t.tree, t.own, usage);
    fair_tree_levels(&t.tree, usage, level);
    assert_true(isnan(level[0]));
    assert_true(level[1] == 20.0 / 101); /* 1/10 : 101/200 */
    assert_true(level[2] == 101.0 / 80); /* 1/8 : 10/101 */
    assert_true(level[3] == 101.0 / 80);
    assert_true(isnan(level[4]) && level[5] == 0 && isinf(level[6]));
    assert_true(level[7] == 400.0 / 990); /* 2/10 : 99/200 */
    assert_true(isnan(level[8]) && isinf(level[9]));
    tree_release(&t.tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_deepest_chain),
        cmocka_unit_test(test_no_users), cmocka_unit_test(test_totals_as_given),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
