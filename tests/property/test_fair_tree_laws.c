/* Laws of Fair Tree with ties merged, on random trees of all sizes. Usages are whole numbers where sums must not depend
 * on the order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/share_table.h"
#include "share_world.h"

static void rank(struct world *w, struct rank_order *order, double *out_factor)
{
    tree_sum_usage(&w->tree, w->own, w->usage);
    fair_tree_rank(&w->tree, w->usage, order, out_factor);
}

static void assert_same(const struct world *w, const char *law, int round)
{
    for (uint32_t i = 0; i < w->tree.count; i++) {
        if (w->factor[i] == w->factor2[i]) continue;
        fail_msg("%s: round %d: node %u of %u: %.17g and %.17g", law, round, i, w->tree.count, w->factor[i],
                 w->factor2[i]);
    }
}

/* The same tree with every node at another index. */
static void test_permutation(void **state)
{
    (void)state;
    for (int round = 0; round < rounds(3000); round++) {
        struct world w, p;
        world_init(&w, (uint64_t)round, random_size(round));
        uint32_t *index_of = world_permute(&w, &p);
        rank(&w, NULL, w.factor);
        rank(&p, NULL, p.factor);
        for (uint32_t i = 0; i < w.tree.count; i++) w.factor2[i] = p.factor[index_of[i]];
        assert_same(&w, "permutation", round);
        free(index_of);
        world_release(&w);
        world_release(&p);
    }
}

/* All usage times a power of two, as after whole half-lives. */
static void test_usage_scaled(void **state)
{
    (void)state;
    for (int round = 0; round < rounds(3000); round++) {
        struct world w;
        world_init(&w, (uint64_t)round, random_size(round));
        for (uint32_t i = 0; i < w.tree.count; i++) w.own[i] *= 1 + rng_double(&w.rng);
        rank(&w, NULL, w.factor);
        int exponent = round % 3 == 0 ? 1 : (int)rng_below(&w.rng, 1800) - 900;
        for (uint32_t i = 0; i < w.tree.count; i++) w.own[i] = ldexp(w.own[i], exponent);
        rank(&w, NULL, w.factor2);
        assert_same(&w, "usage scaled", round);
        world_release(&w);
    }
}

/* The shares that compete under each account, times a number. */
static void test_shares_scaled(void **state)
{
    (void)state;
    for (int round = 0; round < rounds(3000); round++) {
        struct world w;
        world_init(&w, (uint64_t)round, random_size(round));
        rank(&w, NULL, w.factor);
        world_scale_shares(&w);
        rank(&w, NULL, w.factor2);
        assert_same(&w, "shares scaled", round);
        world_release(&w);
    }
}

/* Using more never raises a user's factor. */
static void test_more_usage(void **state)
{
    (void)state;
    for (int round = 0; round < rounds(3000); round++) {
        struct world w;
        world_init(&w, (uint64_t)round, 2 + (uint32_t)round % 100);
        rank(&w, NULL, w.factor);
        for (int change = 0; change < 20 && w.tree.user_count > 0; change++) {
            uint32_t user;
            do {
                user = rng_below(&w.rng, w.tree.count);
            } while (!w.tree.is_user[user]);
            double before = w.own[user];
            w.own[user] += 1 + rng_below(&w.rng, w.usage_kinds);
            rank(&w, NULL, w.factor2);
            if (w.factor2[user] > w.factor[user]) fail_msg("round %d: user %u rises by using more", round, user);
            w.own[user] = before;
        }
        world_release(&w);
    }
}

static int compare_descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* A factor is 1 - (users with a larger factor) / N, computed as rank / N. */
static void test_competition_ranking(void **state)
{
    (void)state;
    for (int round = 0; round < rounds(3000); round++) {
        struct world w;
        world_init(&w, (uint64_t)round, random_size(round));
        rank(&w, NULL, w.factor);
        uint32_t users = 0, better = 0;
        for (uint32_t i = 0; i < w.tree.count; i++) {
            if (w.tree.is_user[i]) w.factor2[users++] = w.factor[i];
        }
        qsort(w.factor2, users, sizeof *w.factor2, compare_descending);
        for (uint32_t u = 0; u < users; u++) {
            if (u > 0 && w.factor2[u] != w.factor2[u - 1]) better = u;
            assert_true(w.factor2[u] == (double)(users - better) / users);
        }
        world_release(&w);
    }
}

/* One random change: usages of some nodes or of all, shares, a new node, or nothing. */
static void change(struct world *w)
{
    struct tree *t = &w->tree;
    uint32_t count = t->count, kind = rng_below(&w->rng, 12);
    if (kind < 6) {
        uint32_t some = 1 + rng_below(&w->rng, kind < 3 ? 3 : count);
        for (uint32_t c = 0; c < some; c++) w->own[rng_below(&w->rng, count)] = random_usage(w);
    } else if (kind < 8) {
        double scale = kind == 6 ? 0.5 : rng_double(&w->rng) * 2;
        for (uint32_t i = 0; i < count; i++) w->own[i] *= scale;
    } else if (kind < 10) {
        if (count > 1) tree_set_shares(t, 1 + rng_below(&w->rng, count - 1), random_shares(w));
    } else if (kind == 10) {
        uint32_t parent = rng_below(&w->rng, count);
        if (t->is_user[parent] || t->depth[parent] == TREE_DEPTH_MAX) parent = 0;
        w->own[tree_add(t, parent, rng_below(&w->rng, 3) != 0, random_shares(w))] = random_usage(w);
    }
    tree_finish(t);
}

/* A kept order changes no bit of the result, whatever happens between passes. */
static void test_kept_order(void **state)
{
    (void)state;
    for (int round = 0; round < rounds(400); round++) {
        struct world w;
        world_init(&w, (uint64_t)round, random_size(round));
        struct rank_order *order = rank_order_new();
        for (int pass = 0; pass < (round % 50 == 49 ? 100 : 300); pass++) {
            rank(&w, order, w.factor);
            rank(&w, NULL, w.factor2);
            assert_same(&w, "kept order", round);
            change(&w);
        }
        rank_order_free(order);
        world_release(&w);
    }
}

/* Compares the columns of the wanted nodes. */
static void assert_same_columns(const struct share_table *all, const struct share_table *some, const bool *wanted)
{
    const double *left[] = {all->norm_shares,     all->raw_usage,  all->norm_usage,
                            all->effective_usage, all->fair_share, all->level_fs};
    const double *right[] = {some->norm_shares,     some->raw_usage,  some->norm_usage,
                             some->effective_usage, some->fair_share, some->level_fs};
    for (size_t c = 0; c < sizeof left / sizeof *left; c++) {
        for (uint32_t i = 0; i < all->count; i++) {
            if (wanted[i] && memcmp(&left[c][i], &right[c][i], sizeof(double)) != 0)
                fail_msg("column %zu of node %u of %u: %.17g, and %.17g if some are wanted", c, i, all->count,
                         left[c][i], right[c][i]);
        }
    }
}

/* A listing of some nodes has the same columns for them as a listing of all nodes. */
static void test_some_wanted(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (int round = 0; round < rounds(3000); round++) {
        struct world w;
        struct share_table all, some;
        enum tie_rule ties = round % 4 == 0 ? TIES_SLURM : TIES_MERGE;
        world_init(&w, (uint64_t)round, random_size(round));
        struct rank_order *order = rank_order_new();
        for (int pass = 0; pass < 3; pass++) {
            bool *wanted = arena_alloc(&arena, w.tree.count * sizeof *wanted);
            uint32_t one_in = 1 + rng_below(&w.rng, w.tree.count);
            for (uint32_t i = 0; i < w.tree.count; i++) wanted[i] = rng_below(&w.rng, one_in) == 0;
            share_table_compute(&w.tree, w.own, NULL, ties, order, wanted, &arena, &some);
            share_table_compute(&w.tree, w.own, NULL, ties, order, NULL, &arena, &all);
            assert_same_columns(&all, &some, wanted);
            change(&w);
        }
        rank_order_free(order);
        world_release(&w);
        arena_clear(&arena);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutation),         cmocka_unit_test(test_usage_scaled),
        cmocka_unit_test(test_shares_scaled),       cmocka_unit_test(test_more_usage),
        cmocka_unit_test(test_competition_ranking), cmocka_unit_test(test_kept_order),
        cmocka_unit_test(test_some_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
