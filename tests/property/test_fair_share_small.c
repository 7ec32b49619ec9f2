/* Classic and depth-oblivious fair share against a slow implementation, on all small trees and on larger random ones.
 * test_fair_tree_small.c does the same for Fair Tree. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "fair_share_reference.h"
#include "policy/fair_share.h"
#include "small_trees.h"

enum { RANDOM_NODES = 24 };

static const double TOLERANCE = 1e-12;
static const uint32_t SHARES[] = {0, 1, 2, SHARES_PARENT};

/* A number below the smallest normal double is not precise to 1e-12 of itself. */
static void assert_close(const struct tree *t, const double *own, uint32_t node, const char *what, double got,
                         long double expected)
{
    if (fabsl(got - expected) <= (long double)TOLERANCE * expected + (long double)DBL_MIN) return;
    for (uint32_t i = 0; i < t->count; i++) {
        print_error("%u: %s of %d, shares %u, usage %g\n", i, t->is_user[i] ? "user" : "account", (int)t->parent[i],
                    t->shares[i], own[i]);
    }
    fail_msg("node %u: %s is %.17g, expected %.17Lg", node, what, got, expected);
}

static void compare(const struct tree *t, const double *own, enum share_algorithm algorithm, double dampening,
                    struct arena *arena)
{
    struct share_options options = {.algorithm = algorithm, .dampening = dampening};
    struct share_reference r = {
        .t = t, .own = own, .is_oblivious = algorithm == ALGORITHM_DEPTH_OBLIVIOUS, .dampening = dampening};
    struct share_table s;
    double factor[RANDOM_NODES + 1];
    fair_share_table(t, own, NULL, &options, arena, &s);
    fair_share_factors(t, own, &options, arena, factor);
    for (uint32_t i = 0; i < t->count; i++) {
        assert_close(t, own, i, "norm_shares", s.norm_shares[i], reference_norm_shares(&r, i));
        assert_close(t, own, i, "effective_usage", s.effective_usage[i], reference_effective_usage(&r, i));
        assert_close(t, own, i, "fair_share", s.fair_share[i], reference_factor(&r, i));
        assert_true(factor[i] == (t->is_user[i] ? s.fair_share[i] : 0));
    }
    arena_clear(arena);
}

static void visit(const struct small_trees *all, const struct tree *t, const int64_t *own)
{
    double usage[SMALL_NODES_MAX + 1];
    for (uint32_t i = 0; i < t->count; i++) usage[i] = (double)own[i];
    compare(t, usage, ALGORITHM_CLASSIC, 1, all->context);
    compare(t, usage, ALGORITHM_DEPTH_OBLIVIOUS, 1, all->context);
}

static void visit_small(uint32_t nodes, int64_t usage_max, uint64_t stride)
{
    struct arena arena = {0};
    struct small_trees all = {
        .nodes = nodes,
        .shares = SHARES,
        .share_count = sizeof SHARES / sizeof *SHARES,
        .usage_max = usage_max,
        .stride = stride,
        .visit = visit,
        .context = &arena,
    };
    small_trees_visit(&all);
    printf("# %llu trees of %llu shapes\n", (unsigned long long)all.visited_count, (unsigned long long)all.shape_count);
    arena_release(&arena);
}

static void test_all_small_trees(void **state)
{
    (void)state;
    visit_small(4, 3, small_trees_stride(1, 7));
    visit_small(5, 3, small_trees_stride(17, 997));
}

/* Usages and shares of any magnitude; accounts have usage, too. */
static void random_tree(struct rng *r, struct tree *t, double *own)
{
    tree_init(t);
    uint32_t count = 2 + rng_below(r, RANDOM_NODES - 1), accounts = 1 + rng_below(r, 4);
    uint32_t shares = 1u << rng_below(r, 12), usages = rng_below(r, 40);
    own[0] = rng_below(r, 8) == 0 ? rng_double(r) : 0;
    while (t->count < count) {
        uint32_t parent = rng_below(r, t->count);
        while (t->is_user[parent]) parent = t->parent[parent];
        bool is_parent = rng_below(r, 8) == 0, is_user = rng_below(r, 4) >= accounts;
        uint32_t node = tree_add(t, parent, is_user, is_parent ? SHARES_PARENT : rng_below(r, shares + 1));
        own[node] = rng_below(r, is_user ? 8 : 2) == 0 ? 0 : ldexp(rng_double(r), (int)rng_below(r, usages + 1));
    }
    tree_finish(t);
}

static void test_random_trees(void **state)
{
    (void)state;
    static const double DAMPENING[] = {1, 1, 2, 7, 65535};
    struct rng r = {3};
    struct arena arena = {0};
    double own[RANDOM_NODES + 1];
    for (uint64_t i = 0; i < small_trees_stride(6000, 600); i++) {
        struct tree t;
        random_tree(&r, &t, own);
        double dampening = DAMPENING[rng_below(&r, sizeof DAMPENING / sizeof *DAMPENING)];
        compare(&t, own, ALGORITHM_CLASSIC, dampening, &arena);
        compare(&t, own, ALGORITHM_DEPTH_OBLIVIOUS, dampening, &arena);
        tree_release(&t);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small_trees),
        cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
