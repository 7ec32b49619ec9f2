/* The columns of a share listing. Slurm is in conformance/; here is what a merge listing shows, and the corners. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "policy/share_table.h"
#include "tree_text.h"

struct expected {
    const char *name;
    double norm_shares, raw_usage, norm_usage, effective_usage, fair_share, level_fs;
};

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static void assert_table(const struct text_tree *t, const struct share_table *s, const struct expected *rows)
{
    assert_int_equal(s->count, t->tree.count);
    for (; rows->name != NULL; rows++) {
        uint32_t i = text_tree_find(t, rows->name, strlen(rows->name));
        bool equal = same(s->norm_shares[i], rows->norm_shares) && same(s->raw_usage[i], rows->raw_usage) &&
                     same(s->norm_usage[i], rows->norm_usage) && same(s->effective_usage[i], rows->effective_usage) &&
                     same(s->fair_share[i], rows->fair_share) && same(s->level_fs[i], rows->level_fs);
        if (equal) continue;
        fail_msg("%s: %.17g %.17g %.17g %.17g %.17g %.17g", rows->name, s->norm_shares[i], s->raw_usage[i],
                 s->norm_usage[i], s->effective_usage[i], s->fair_share[i], s->level_fs[i]);
    }
}

static const char TREE[] = "a:50{u:1=100 v:3=300 w:p=200} b:30{x:1} s:p{y:20=150 z:p=50} q:0=200";

/* docs/formulas.md 2.3 has this table as its example. */
static void test_merge(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {"root", 0, 1000, NAN, 1, NAN, NAN},
        {"a", 0.5, 600, 0.6, 0.6, NAN, 50.0 / 60},
        {"u", 0.25, 100, 0.1, 100.0 / 600, 3.0 / 7, 1.5},
        {"v", 0.75, 300, 0.3, 0.5, 3.0 / 7, 1.5},
        {"w", 0.5, 200, 0.2, 200.0 / 600, 4.0 / 7, NAN},
        {"b", 0.3, 0, 0, 0, NAN, INFINITY},
        {"x", 1, 0, 0, 0, 1, INFINITY},
        {"s", 0, 200, 0.2, 0.2, NAN, NAN},
        {"y", 0.2, 150, 0.15, 0.15, 5.0 / 7, 20.0 / 15},
        {"z", 0, 50, 0.05, 0.05, 1, NAN},
        {"q", 0, 200, 0.2, 0.2, 1.0 / 7, 0},
        {NULL},
    };
    struct text_tree t;
    struct arena arena = {0};
    struct share_table s;
    struct rank_order *order = rank_order_new();
    text_tree_init(&t, TREE);
    for (int pass = 0; pass < 3; pass++) {
        share_table_compute(&t.tree, t.own, NULL, TIES_MERGE, pass == 0 ? NULL : order, NULL, &arena, &s);
        assert_table(&t, &s, ROWS);
        /* The totals are a way to say the same. */
        double totals[TEXT_NODES_MAX];
        memcpy(totals, s.raw_usage, s.count * sizeof *totals);
        share_table_compute(&t.tree, NULL, totals, TIES_MERGE, pass == 0 ? NULL : order, NULL, &arena, &s);
        assert_table(&t, &s, ROWS);
    }
    rank_order_free(order);
    rank_order_free(NULL);
    arena_release(&arena);
    tree_release(&t.tree);
}

/* The same as Slurm shows it: "not set" is behind the root's norm_shares, and numbers travel as millionths. */
static void test_slurm(void **state)
{
    (void)state;
    if (!fair_tree_slurm_available()) skip();
    const double not_set = 1.0 / 4294967294.0;
    static const double MILLION = 1e6;
    const struct expected rows[] = {
        {"root", not_set, 1000, NAN, 1, NAN, NAN},
        {"a", 0.5, 600, 0.6, 0.6, NAN, 50.0 / 60 * MILLION / MILLION},
        {"v", 0.75, 300, 0.3, 0.5, 3.0 / 7 * MILLION / MILLION, 1.5},
        {"s", not_set, 200, 0.2, 0.2, NAN, NAN},
        {"z", not_set, 50, 0.05, 0.05, 1, NAN},
        {"q", 0, 200, 0.2, 0.2, 1.0 / 7 * MILLION / MILLION, 0},
        {NULL},
    };
    struct text_tree t;
    struct arena arena = {0};
    struct share_table s;
    text_tree_init(&t, TREE);
    share_table_compute(&t.tree, t.own, NULL, TIES_SLURM, NULL, NULL, &arena, &s);
    assert_table(&t, &s, rows);
    double totals[TEXT_NODES_MAX];
    memcpy(totals, s.raw_usage, s.count * sizeof *totals);
    share_table_compute(&t.tree, NULL, totals, TIES_SLURM, NULL, NULL, &arena, &s);
    assert_table(&t, &s, rows);
    arena_release(&arena);
    tree_release(&t.tree);
}

/* Totals as given stand, also where they do not add up: a share of more than everything is shown as everything. */
static void test_totals_that_do_not_add_up(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {"root", 0, 10, NAN, 1, NAN, NAN},  {"a", 0.5, 20, 1, 2, NAN, 0.25}, {"u", 1, 30, 1, 1.5, 0.5, 1 / 1.5},
        {"b", 0.5, 0, 0, 0, NAN, INFINITY}, {"v", 1, 40, 1, 0, 1, INFINITY}, {NULL},
    };
    struct text_tree t;
    struct arena arena = {0};
    struct share_table s;
    text_tree_init(&t, "a:1{u:1} b:1{v:1}");
    double totals[TEXT_NODES_MAX] = {10, 20, 30, 0, 40};
    share_table_compute(&t.tree, NULL, totals, TIES_MERGE, NULL, NULL, &arena, &s);
    assert_table(&t, &s, ROWS);
    arena_release(&arena);
    tree_release(&t.tree);
}

static void test_nothing_used(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {"root", 0, 0, NAN, 1, NAN, NAN},
        {"a", 1, 0, 0, 0, NAN, INFINITY},
        {"u", 1, 0, 0, 0, 1, INFINITY},
        {"v", 0, 0, 0, 0, 0.5, 0},
        {NULL},
    };
    struct text_tree t;
    struct arena arena = {0};
    struct share_table s;
    text_tree_init(&t, "a:1{u:1 v:0}");
    share_table_compute(&t.tree, t.own, NULL, TIES_MERGE, NULL, NULL, &arena, &s);
    assert_table(&t, &s, ROWS);
    arena_release(&arena);
    tree_release(&t.tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_slurm),
        cmocka_unit_test(test_totals_that_do_not_add_up),
        cmocka_unit_test(test_nothing_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
