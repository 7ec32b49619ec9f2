/* All small trees: every shape of up to five nodes below the root, each node a user or an account, every assignment
 * of shares and usage from small sets that make all kinds of ties, against the slow implementation with exact
 * fractions. Then random trees that are larger.
 *
 * A shape is the list of parents in breadth-first order, which makes it ascending: each unordered shape once or a few
 * times. Siblings in another order are in it by their values in another order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "fair_tree_reference.h"
#include "policy/fair_tree.h"

enum { SMALL_NODES = 5, RANDOM_NODES = 40 };

static const uint32_t SHARES[] = {0, 1, 2, SHARES_PARENT};
enum { SHARES_COUNT = sizeof SHARES / sizeof *SHARES, USAGE_MOST = 3 };

static struct {
    uint64_t shapes, trees, stride, at;
} seen;

static void describe(const struct tree *t, const int64_t *own, const double *factor, const uint32_t *rank)
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
        describe(t, own, factor, rank);
        fail_msg("node %u", i);
    }
    seen.trees++;
}

/* Every assignment of usages from 0 to USAGE_MOST to users, by counting. */
static void all_usages(const struct tree *t, struct rank_order *order)
{
    int64_t own[SMALL_NODES + 1] = {0};
    for (;;) {
        if (seen.at++ % seen.stride == 0) compare(t, own, seen.at % 16 < 8 ? order : NULL);
        uint32_t i = 1;
        for (; i < t->count && (!t->is_user[i] || own[i] == USAGE_MOST); i++) own[i] = 0;
        if (i == t->count) return;
        own[i]++;
    }
}

static void all_shares(struct tree *t)
{
    uint32_t digit[SMALL_NODES + 1] = {0};
    struct rank_order *order = rank_order_new();
    for (;;) {
        for (uint32_t i = 1; i < t->count; i++) tree_set_shares(t, i, SHARES[digit[i]]);
        tree_finish(t);
        all_usages(t, order);
        uint32_t i = 1;
        for (; i < t->count && digit[i] == SHARES_COUNT - 1; i++) digit[i] = 0;
        if (i == t->count) break;
        digit[i]++;
    }
    rank_order_free(order);
}

/* All trees whose first nodes are given: a next node below each account from least_parent on, or none. */
static void all_shapes(const uint32_t *parent, const bool *is_user, uint32_t count)
{
    if (count > 1) {
        struct tree t;
        tree_init(&t);
        for (uint32_t i = 1; i < count; i++) tree_add(&t, parent[i], is_user[i], 1);
        if (t.user_count > 0) {
            seen.shapes++;
            all_shares(&t);
        }
        tree_release(&t);
    }
    if (count > SMALL_NODES) return;
    uint32_t more_parent[SMALL_NODES + 2];
    bool more_user[SMALL_NODES + 2];
    memcpy(more_parent, parent, count * sizeof *parent);
    memcpy(more_user, is_user, count * sizeof *is_user);
    for (uint32_t p = count > 1 ? parent[count - 1] : 0; p < count; p++) {
        if (is_user[p]) continue;
        more_parent[count] = p;
        for (int user = 0; user < 2; user++) {
            more_user[count] = user;
            all_shapes(more_parent, more_user, count + 1);
        }
    }
}

static void test_all_small_trees(void **state)
{
    (void)state;
    const char *sanitized = getenv("FAIRLEAD_SANITIZED");
    seen.stride = sanitized != NULL && sanitized[0] == '1' ? 11 : 1;
    all_shapes((uint32_t[]){NONE}, (bool[]){false}, 1);
    printf("# %llu trees of %llu shapes\n", (unsigned long long)seen.trees, (unsigned long long)seen.shapes);
}

/* Numbers so small that different fractions are different doubles. */
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
