/* The columns of a share listing with both tie rules, and corner cases. Recorded listings of Slurm are in
 * conformance/. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/arena.h"
#include "policy/share_table.h"
#include "tree_text.h"

/* The expected columns of a node: S, normalised shares; raw, raw usage; N, normalised usage; U, effective usage. */
struct expected {
    const char *name;
    double S, raw, N, U, factor, level;
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
        bool is_equal = same(s->norm_shares[i], rows->S) && same(s->raw_usage[i], rows->raw) &&
                        same(s->norm_usage[i], rows->N) && same(s->effective_usage[i], rows->U) &&
                        same(s->fair_share[i], rows->factor) && same(s->level_fs[i], rows->level);
        if (is_equal) continue;
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
        {.name = "root", .S = 0, .raw = 1000, .N = NAN, .U = 1, .factor = NAN, .level = NAN},
        {.name = "a", .S = 0.5, .raw = 600, .N = 0.6, .U = 0.6, .factor = NAN, .level = 50.0 / 60},
        {.name = "u", .S = 0.25, .raw = 100, .N = 0.1, .U = 100.0 / 600, .factor = 3.0 / 7, .level = 1.5},
        {.name = "v", .S = 0.75, .raw = 300, .N = 0.3, .U = 0.5, .factor = 3.0 / 7, .level = 1.5},
        {.name = "w", .S = 0.5, .raw = 200, .N = 0.2, .U = 200.0 / 600, .factor = 4.0 / 7, .level = NAN},
        {.name = "b", .S = 0.3, .raw = 0, .N = 0, .U = 0, .factor = NAN, .level = INFINITY},
        {.name = "x", .S = 1, .raw = 0, .N = 0, .U = 0, .factor = 1, .level = INFINITY},
        {.name = "s", .S = 0, .raw = 200, .N = 0.2, .U = 0.2, .factor = NAN, .level = NAN},
        {.name = "y", .S = 0.2, .raw = 150, .N = 0.15, .U = 0.15, .factor = 5.0 / 7, .level = 20.0 / 15},
        {.name = "z", .S = 0, .raw = 50, .N = 0.05, .U = 0.05, .factor = 1, .level = NAN},
        {.name = "q", .S = 0, .raw = 200, .N = 0.2, .U = 0.2, .factor = 1.0 / 7, .level = 0},
        {.name = NULL},
    };
    struct text_tree t;
    struct arena arena = {0};
    struct share_table s;
    struct rank_order *order = rank_order_new();
    text_tree_init(&t, TREE);
    for (int pass = 0; pass < 3; pass++) {
        share_table_compute(&t.tree, t.own, NULL, TIES_MERGE, pass == 0 ? NULL : order, NULL, &arena, &s);
        assert_table(&t, &s, ROWS);
        /* The same table from totals. */
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

/* The same tree as Slurm shows it: the root's norm_shares comes from "not set", and numbers travel as millionths. */
static void test_slurm(void **state)
{
    (void)state;
    if (!fair_tree_slurm_available()) skip();
    const double not_set = 1.0 / 4294967294.0;
    static const double MILLION = 1e6;
    const struct expected rows[] = {
        {.name = "root", .S = not_set, .raw = 1000, .N = NAN, .U = 1, .factor = NAN, .level = NAN},
        {.name = "a", .S = 0.5, .raw = 600, .N = 0.6, .U = 0.6, .factor = NAN, .level = 50.0 / 60 * MILLION / MILLION},
        {.name = "v", .S = 0.75, .raw = 300, .N = 0.3, .U = 0.5, .factor = 3.0 / 7 * MILLION / MILLION, .level = 1.5},
        {.name = "s", .S = not_set, .raw = 200, .N = 0.2, .U = 0.2, .factor = NAN, .level = NAN},
        {.name = "z", .S = not_set, .raw = 50, .N = 0.05, .U = 0.05, .factor = 1, .level = NAN},
        {.name = "q", .S = 0, .raw = 200, .N = 0.2, .U = 0.2, .factor = 1.0 / 7 * MILLION / MILLION, .level = 0},
        {.name = NULL},
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

/* Given totals are used as they are, even if they do not add up. A fraction above 1 of all usage is shown as 1. */
static void test_totals_that_do_not_add_up(void **state)
{
    (void)state;
    static const struct expected ROWS[] = {
        {.name = "root", .S = 0, .raw = 10, .N = NAN, .U = 1, .factor = NAN, .level = NAN},
        {.name = "a", .S = 0.5, .raw = 20, .N = 1, .U = 2, .factor = NAN, .level = 0.25},
        {.name = "u", .S = 1, .raw = 30, .N = 1, .U = 1.5, .factor = 0.5, .level = 1 / 1.5},
        {.name = "b", .S = 0.5, .raw = 0, .N = 0, .U = 0, .factor = NAN, .level = INFINITY},
        {.name = "v", .S = 1, .raw = 40, .N = 1, .U = 0, .factor = 1, .level = INFINITY},
        {.name = NULL},
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
        {.name = "root", .S = 0, .raw = 0, .N = NAN, .U = 1, .factor = NAN, .level = NAN},
        {.name = "a", .S = 1, .raw = 0, .N = 0, .U = 0, .factor = NAN, .level = INFINITY},
        {.name = "u", .S = 1, .raw = 0, .N = 0, .U = 0, .factor = 1, .level = INFINITY},
        {.name = "v", .S = 0, .raw = 0, .N = 0, .U = 0, .factor = 0.5, .level = 0},
        {.name = NULL},
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
