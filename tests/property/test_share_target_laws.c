/* Laws of the share tree's targets: they add up, the order of siblings does not matter, and the manual's compensation
 * is a cap that is exceeded only if no sibling can take the rest. Laws of its usage: decay and charges can be split at
 * any time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "policy/share_targets.h"

enum { NODES = 60 };

struct world {
    struct rng rng;
    struct arena arena;
    struct ticket_rules rules;
    struct ticket_node nodes[NODES];
    uint32_t jobs[NODES], count;
    double long_term[NODES], short_term[NODES], overall_long[NODES], overall_short[NODES];
};

static void world_init(struct world *w, uint64_t seed)
{
    static const double FACTORS[] = {0, 1, 0.5, 1.5, 2, 5};
    memset(w, 0, sizeof *w);
    struct rng *r = &w->rng;
    r->state = seed;
    w->count = 1 + rng_below(r, NODES);
    w->rules.compensation_factor = FACTORS[rng_below(r, 6)];
    w->rules.compensation_rule = rng_below(r, 2) == 0 ? COMPENSATION_MANUAL : COMPENSATION_PROGRAM;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t parent = i == 0 ? NONE : rng_below(r, 2) == 0 ? 0 : rng_below(r, i);
        double usage = rng_below(r, 3) == 0 ? 0 : rng_double(r) * (double)(1u << rng_below(r, 25));
        w->nodes[i] = (struct ticket_node){.parent = parent, .shares = 1 + rng_below(r, 100), .usage = usage};
        w->jobs[i] = rng_below(r, 2) == 0 ? 0 : rng_below(r, 3);
    }
}

static void compute(struct world *w)
{
    struct share_targets targets;
    share_targets_compute(&w->rules, w->nodes, w->count, w->jobs, &w->arena, &targets);
    memcpy(w->long_term, targets.long_term, w->count * sizeof *w->long_term);
    memcpy(w->short_term, targets.short_term, w->count * sizeof *w->short_term);
    w->overall_long[0] = w->overall_short[0] = 1;
    for (uint32_t i = 1; i < w->count; i++) {
        w->overall_long[i] = w->overall_long[w->nodes[i].parent] * w->long_term[i];
        w->overall_short[i] = w->overall_short[w->nodes[i].parent] * w->short_term[i];
    }
    arena_release(&w->arena);
}

static struct world world;

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* The targets of siblings add up to 1 if one of them has jobs. */
static void test_sums(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct world *w = &world;
        double long_sum[NODES] = {0}, short_sum[NODES] = {0};
        world_init(w, seed);
        compute(w);
        for (uint32_t i = 1; i < w->count; i++) {
            long_sum[w->nodes[i].parent] += w->long_term[i];
            short_sum[w->nodes[i].parent] += w->short_term[i];
        }
        for (uint32_t i = 0; i < w->count; i++) {
            bool is_none = long_sum[i] == 0 && short_sum[i] == 0;
            if (!is_none && !(is_near(long_sum[i], 1) && is_near(short_sum[i], 1)))
                fail_msg("seed %llu: below node %u %.17g and %.17g", (unsigned long long)seed, i, long_sum[i],
                         short_sum[i]);
        }
    }
}

/* The same tree with reversed siblings. Nodes are numbered level by level, in reverse order. */
static void test_siblings_reversed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct world *w = &world;
        uint32_t index_of[NODES], count = 1;
        world_init(w, seed);
        struct world reversed = *w;
        index_of[0] = 0;
        for (uint32_t i = 1; i < w->count; i++) index_of[i] = NONE;
        while (count < w->count) {
            uint32_t level_end = count;
            for (uint32_t i = w->count; i-- > 1;) {
                uint32_t parent = w->nodes[i].parent;
                if (index_of[i] == NONE && index_of[parent] < level_end) index_of[i] = count++;
            }
        }
        for (uint32_t i = 0; i < w->count; i++) {
            reversed.nodes[index_of[i]] = w->nodes[i];
            if (i > 0) reversed.nodes[index_of[i]].parent = index_of[w->nodes[i].parent];
            reversed.jobs[index_of[i]] = w->jobs[i];
        }
        compute(w);
        compute(&reversed);
        for (uint32_t i = 0; i < w->count; i++) {
            if (!is_near(reversed.short_term[index_of[i]], w->short_term[i]))
                fail_msg("seed %llu", (unsigned long long)seed);
        }
    }
}

/* Whether a node and all its active siblings are at their caps or above. */
static bool are_all_capped(const struct world *w, uint32_t node)
{
    for (uint32_t i = 1; i < w->count; i++) {
        if (w->nodes[i].parent != w->nodes[node].parent || w->short_term[i] == 0) continue;
        double cap = w->rules.compensation_factor * w->overall_long[i];
        if (w->overall_short[i] < cap * (1 - 1e-12)) return false;
    }
    return true;
}

static void test_cap(void **state)
{
    (void)state;
    uint32_t capped = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct world *w = &world;
        world_init(w, seed);
        w->rules.compensation_rule = COMPENSATION_MANUAL;
        double factor = w->rules.compensation_factor;
        if (factor == 0 || factor == 1) continue;
        compute(w);
        for (uint32_t i = 1; i < w->count; i++) {
            double cap = factor * w->overall_long[i];
            capped += w->short_term[i] > 0 && is_near(w->overall_short[i], cap);
            if (w->overall_short[i] > cap * (1 + 1e-12) && !are_all_capped(w, i))
                fail_msg("seed %llu: node %u has %.17g, at most %.17g", (unsigned long long)seed, i,
                         w->overall_short[i], cap);
        }
    }
    assert_true(capped > 1000);
}

/* By the manual, factors 0 and 1 are no compensation. */
static void test_no_compensation(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct world *w = &world;
        double without[NODES];
        world_init(w, seed);
        w->rules.compensation_factor = 0;
        compute(w);
        memcpy(without, w->short_term, sizeof without);
        w->rules.compensation_factor = 1;
        w->rules.compensation_rule = COMPENSATION_MANUAL;
        compute(w);
        for (uint32_t i = 0; i < w->count; i++) assert_true(without[i] == w->short_term[i]);
    }
}

/* --- usage -------------------------------------------------------------------------------------------------------- */

static struct ticket_decay random_decay(struct rng *r)
{
    struct ticket_decay d = {.rule = rng_below(r, 2) == 0 ? DECAY_PROGRAM : DECAY_EXACT};
    for (int i = 0; i < USAGE_RESOURCE_COUNT; i++) d.minutes[i] = 1 + (double)rng_below(r, 100000);
    d.minutes[rng_below(r, USAGE_RESOURCE_COUNT)] = rng_below(r, 2) == 0 ? 0 : -1;
    return d;
}

static void assert_same(double value, double expected, uint64_t round)
{
    if (value == expected || fabs(value - expected) <= 1e-12 * fabs(expected)) return;
    fail_msg("round %llu: %.17g, expected %.17g", (unsigned long long)round, value, expected);
}

/* Fading for a and then for b is fading for a + b. */
static void test_decay_composes(void **state)
{
    (void)state;
    struct rng r = {1};
    for (uint64_t round = 0; round < 100000; round++) {
        struct ticket_decay d = random_decay(&r);
        enum usage_resource u = (enum usage_resource)rng_below(&r, USAGE_RESOURCE_COUNT);
        double a = rng_double(&r) * 1e5, b = rng_double(&r) * 1e5;
        assert_same(ticket_decay_factor(&d, u, a) * ticket_decay_factor(&d, u, b), ticket_decay_factor(&d, u, a + b),
                    round);
    }
}

/* A charge over a that fades for b, and a charge over b, are a charge over a + b. */
static void test_charge_splits(void **state)
{
    (void)state;
    struct rng r = {2};
    for (uint64_t round = 0; round < 100000; round++) {
        struct ticket_decay d = random_decay(&r);
        enum usage_resource u = (enum usage_resource)rng_below(&r, USAGE_RESOURCE_COUNT);
        double a = rng_double(&r) * 1e5, b = rng_double(&r) * 1e5, rate = rng_double(&r) * 100;
        double first = ticket_decay_charge(&d, u, rate, a) * ticket_decay_factor(&d, u, b);
        assert_same(first + ticket_decay_charge(&d, u, rate, b), ticket_decay_charge(&d, u, rate, a + b), round);
    }
}

/* A charge and a credit for the same duration cancel, also after more time. */
static void test_charge_then_credit(void **state)
{
    (void)state;
    struct rng r = {3};
    for (uint64_t round = 0; round < 100000; round++) {
        struct ticket_decay d = random_decay(&r);
        enum usage_resource u = (enum usage_resource)rng_below(&r, USAGE_RESOURCE_COUNT);
        double duration_s = rng_double(&r) * 1e5, rate = rng_double(&r) * 100;
        double used = ticket_decay_charge(&d, u, rate, duration_s) + ticket_decay_charge(&d, u, -rate, duration_s);
        assert_true(used * ticket_decay_factor(&d, u, 1e3) == 0);
    }
}

/* Many small steps approach the closed form. */
static void test_charge_is_the_limit(void **state)
{
    (void)state;
    struct ticket_decay d = {.rule = DECAY_PROGRAM, .minutes = {60, 60, 60, -1}};
    double used = 0, step = 0.01;
    for (int i = 0; i < 720000; i++) used = used * ticket_decay_factor(&d, USAGE_CPU, step) + 4 * step;
    double whole = ticket_decay_charge(&d, USAGE_CPU, 4, 7200);
    assert_true(fabs(used - whole) < 1e-6 * whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_siblings_reversed),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_no_compensation),
        cmocka_unit_test(test_decay_composes),
        cmocka_unit_test(test_charge_splits),
        cmocka_unit_test(test_charge_then_credit),
        cmocka_unit_test(test_charge_is_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
