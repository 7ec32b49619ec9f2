/* Laws of every fair-share algorithm, on random trees of all sizes. test_fair_tree_laws.c has the laws that only Fair
 * Tree obeys to the last bit (ranks, kept orders).
 *
 *     law                                    fair-tree   classic   depth-oblivious
 *     another order of siblings              same bits   same      to 1e-12: usages of siblings are summed as fractions
 *     all usage times a power of two         same bits   same      same
 *     shares of one level times a number     same bits   same      same
 *     more own usage never helps             x           x         x
 *     usage in another branch never hurts    (1)         x         x
 *     from 0 to 1; the same in a table       x           x         x
 *     shares 0: factor 0                                 x         x
 *     unused with shares: factor 1                                 x      classic: only if the account is unused
 *     `parent`: the account's factor                     x         x
 *
 * (1) Unless ties change. When an account falls to the level of a user x and an account a, x gets the rank of the best
 * user of both accounts. So x may come before the best user of a, although they tied before. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/fair_share.h"
#include "share_world.h"

enum { ROUNDS = 1000 };

static void compute(const struct world *w, enum share_algorithm algorithm, double *out_factor)
{
    struct arena arena = {0};
    struct share_options options = {.algorithm = algorithm, .dampening = 1};
    fair_share_factors(&w->tree, w->own, &options, &arena, out_factor);
    arena_release(&arena);
}

static bool is_close(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(a, b) + (tolerance > 0 ? DBL_MIN : 0);
}

static void assert_same(const struct world *w, const char *law, enum share_algorithm algorithm, double tolerance)
{
    for (uint32_t i = 0; i < w->tree.count; i++) {
        if (is_close(w->factor[i], w->factor2[i], tolerance)) continue;
        fail_msg("%s: %s: node %u of %u: %.17g and %.17g", share_algorithm_names[algorithm], law, i, w->tree.count,
                 w->factor[i], w->factor2[i]);
    }
}

/* A law of one tree. Its factors by one algorithm are in w->factor. */
typedef void law_fn(struct world *w, enum share_algorithm algorithm);

static void for_all(law_fn *law, int count)
{
    for (int round = 0; round < rounds(count); round++) {
        for (int algorithm = 0; algorithm < ALGORITHM_COUNT; algorithm++) {
            struct world w;
            world_init(&w, (uint64_t)round, random_size(round));
            compute(&w, (enum share_algorithm)algorithm, w.factor);
            law(&w, (enum share_algorithm)algorithm);
            world_release(&w);
        }
    }
}

static void permutation(struct world *w, enum share_algorithm algorithm)
{
    struct world p;
    uint32_t *index_of = world_permute(w, &p);
    compute(&p, algorithm, p.factor);
    for (uint32_t i = 0; i < w->tree.count; i++) w->factor2[i] = p.factor[index_of[i]];
    assert_same(w, "permutation", algorithm, algorithm == ALGORITHM_DEPTH_OBLIVIOUS ? 1e-12 : 0);
    free(index_of);
    world_release(&p);
}

static void usage_scaled(struct world *w, enum share_algorithm algorithm)
{
    int exponent = (int)rng_below(&w->rng, 1800) - 900;
    for (uint32_t i = 0; i < w->tree.count; i++) w->own[i] = ldexp(w->own[i], exponent);
    compute(w, algorithm, w->factor2);
    assert_same(w, "usage scaled", algorithm, 0);
}

static void shares_scaled(struct world *w, enum share_algorithm algorithm)
{
    world_scale_shares(w);
    compute(w, algorithm, w->factor2);
    assert_same(w, "shares scaled", algorithm, 0);
}

static uint32_t random_user(struct world *w)
{
    uint32_t user;
    do {
        user = rng_below(&w->rng, w->tree.count);
    } while (!w->tree.is_user[user]);
    return user;
}

/* The fair-share child of the root that a node is in the branch of. */
static uint32_t branch_of(const struct tree *t, uint32_t node)
{
    while (t->fs_parent[node] != 0) node = t->fs_parent[node];
    return node;
}

static void more_usage(struct world *w, enum share_algorithm algorithm)
{
    static const double ROUNDING = 1e-12;
    const struct tree *t = &w->tree;
    for (int change = 0; change < 20 && t->user_count > 0; change++) {
        uint32_t user = random_user(w), branch = branch_of(t, user);
        double before = w->own[user];
        w->own[user] += 1 + rng_below(&w->rng, w->usage_kinds);
        compute(w, algorithm, w->factor2);
        if (w->factor2[user] > w->factor[user] * (1 + ROUNDING))
            fail_msg("%s: user %u rises by using more", share_algorithm_names[algorithm], user);
        for (uint32_t i = 1; i < t->count && algorithm != ALGORITHM_FAIR_TREE; i++) {
            if (branch_of(t, i) == branch || w->factor2[i] >= w->factor[i] * (1 - ROUNDING)) continue;
            fail_msg("%s: node %u falls when user %u of another branch uses more", share_algorithm_names[algorithm], i,
                     user);
        }
        w->own[user] = before;
    }
}

static void values(struct world *w, enum share_algorithm algorithm)
{
    const struct tree *t = &w->tree;
    struct arena arena = {0};
    struct share_options options = {.algorithm = algorithm, .dampening = 1};
    struct share_table s;
    fair_share_table(t, w->own, NULL, &options, &arena, &s);
    for (uint32_t i = 1; i < t->count; i++) {
        double factor = s.fair_share[i];
        assert_true(w->factor[i] == (t->is_user[i] ? factor : 0));
        if (algorithm == ALGORITHM_FAIR_TREE) continue;
        uint32_t account = t->fs_parent[i];
        bool is_unused = !(s.raw_usage[algorithm == ALGORITHM_CLASSIC && account != 0 ? account : i] > 0);
        assert_true(factor >= 0 && factor <= 1);
        if (t->shares[i] == 0) assert_true(factor == 0);
        if (t->shares[i] == SHARES_PARENT && account != 0) assert_true(factor == s.fair_share[account]);
        if (t->shares[i] != SHARES_PARENT && s.norm_shares[i] > 0 && is_unused) {
            /* In classic, an unused account in a used account is not 1, and neither are its users. */
            assert_true(factor == 1 || (algorithm == ALGORITHM_CLASSIC && s.effective_usage[i] > 0));
        }
    }
    arena_release(&arena);
}

static void test_permutation(void **state)
{
    (void)state;
    for_all(permutation, ROUNDS);
}

static void test_usage_scaled(void **state)
{
    (void)state;
    for_all(usage_scaled, ROUNDS);
}

static void test_shares_scaled(void **state)
{
    (void)state;
    for_all(shares_scaled, ROUNDS);
}

static void test_more_usage(void **state)
{
    (void)state;
    for_all(more_usage, ROUNDS / 4);
}

static void test_values(void **state)
{
    (void)state;
    for_all(values, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permutation), cmocka_unit_test(test_usage_scaled), cmocka_unit_test(test_shares_scaled),
        cmocka_unit_test(test_more_usage),  cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
