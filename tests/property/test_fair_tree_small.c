/* Fair Tree against a slow implementation with exact fractions: all small trees of up to five nodes below the root,
 * with shares and usages that make all kinds of ties, and larger random trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "fair_tree_reference.h"
#include "policy/fair_tree.h"
#include "small_trees.h"

enum { RANDOM_NODES = 40 };

static const uint32_t SHARES[] = {0, 1, 2, SHARES_PARENT};

static void print_tree(const struct tree *t, const int64_t *own, const double *factor, const uint32_t *rank)
{
    for (uint32_t i = 1; i < t->count; i++) {
        print_error("%u: %s of %u, shares %u, usage %lld: rank %.9g, expected %u\n", i,
                    t->is_user[i] ? "user" : "account", t->parent[i], t->shares[i], (long long)own[i],
                    factor[i] * t->user_count, rank[i]);
    }
}

static void compare(const struct tree *t, const int64_t *own, struct rank_order *order)
{
    double usage[RANDOM_NODES + 1], factor[RANDOM_NODES + 1];
    uint32_t rank[RANDOM_NODES + 1];
    for (uint32_t i = 0; i < t->count; i++) usage[i] = (double)own[i];
    tree_sum_usage(t, usage, usage);
    fair_tree_rank(t, usage, order, factor);
    reference_ranks(t, own, rank);
    for (uint32_t i = 0; i < t->count; i++) {
        if (factor[i] == (rank[i] == 0 ? 0 : (double)rank[i] / t->user_count)) continue;
        print_tree(t, own, factor, rank);
        fail_msg("node %u", i);
    }
}

/* The order that is kept while the tree has the same shape. In each 16 passes, 8 use it and 8 do not. */
struct kept {
    struct rank_order *order;
    uint64_t shape_count;
};

static void visit(const struct small_trees *all, const struct tree *t, const int64_t *own)
{
    struct kept *k = all->context;
    if (k->shape_count != all->shape_count) {
        rank_order_free(k->order);
        *k = (struct kept){.order = rank_order_new(), .shape_count = all->shape_count};
    }
    compare(t, own, all->visited_count % 16 < 8 ? k->order : NULL);
}

static void test_all_small_trees(void **state)
{
    (void)state;
    struct kept kept = {0};
    struct small_trees all = {
        .nodes = 5,
        .shares = SHARES,
        .share_count = sizeof SHARES / sizeof *SHARES,
        .usage_max = 3,
        .stride = small_trees_stride(1, 11),
        .visit = visit,
        .context = &kept,
    };
    small_trees_visit(&all);
    rank_order_free(kept.order);
    printf("# %llu trees of %llu shapes\n", (unsigned long long)all.visited_count, (unsigned long long)all.shape_count);
}

/* The numbers are so small that different fractions are different doubles. */
static void random_tree(struct rng *r, struct tree *t, int64_t *own)
{
    tree_init(t);
    uint32_t count = 2 + rng_below(r, RANDOM_NODES - 1), shares = 1 + rng_below(r, 4), usages = 1 + rng_below(r, 6);
    uint32_t times = 1 + rng_below(r, 50), accounts = 1 + rng_below(r, 4);
    for (uint32_t i = 0; i <= RANDOM_NODES; i++) own[i] = rng_below(r, 8) == 0 ? rng_below(r, usages) * times : 0;
    while (t->count < count) {
        uint32_t parent = rng_below(r, t->count);
        while (t->is_user[parent]) parent = t->parent[parent];
        bool is_parent = rng_below(r, 8) == 0, is_user = rng_below(r, 4) >= accounts;
        uint32_t node = tree_add(t, parent, is_user, is_parent ? SHARES_PARENT : rng_below(r, shares + 1) * times);
        if (is_user) own[node] = rng_below(r, usages) * times;
    }
    tree_finish(t);
}

static void test_random_trees(void **state)
{
    (void)state;
    struct rng r = {2};
    int64_t own[RANDOM_NODES + 1];
    for (int i = 0; i < 60000; i++) {
        struct tree t;
        random_tree(&r, &t, own);
        compare(&t, own, NULL);
        tree_release(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small_trees),
        cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
