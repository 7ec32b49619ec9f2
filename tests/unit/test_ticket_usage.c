/* Usage by resource: combination, decay and charges, in single cases. property/test_share_target_laws.c has the laws,
 * conformance/test_grid_engine_decay.c the recorded decay. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/ticket_usage.h"

static void assert_close(double value, double expected)
{
    if (value == expected || fabs(value - expected) <= 1e-12 * fabs(expected)) return;
    fail_msg("%.17g, expected %.17g", value, expected);
}

/* docs/formulas.md 5.2; recorded in c1. */
static void test_combine(void **state)
{
    (void)state;
    static const struct {
        double weights[USAGE_RESOURCE_COUNT], used[USAGE_RESOURCE_COUNT], unknown, combined;
    } ROWS[] = {
        {{0.5, 0.3, 0.2}, {1000, 200, 10}, 0, 562},
        {{0.5, 0.3, 0.2}, {500, 4000, 0}, 0, 1450},
        {{2, 1}, {1000, 200, 10}, 0, 2200.0 / 3},
        {{2, 1}, {500, 4000, 0}, 0, 5000.0 / 3},
        {{1}, {1000, 200, 10, 7}, 0, 1000},
        {{0, 0, 0, 1}, {1000, 200, 10, 7}, 0, 7},
        {{0}, {1000, 200, 10, 7}, 0, 0},
        {{0.5}, {1000, 200, 10, 7}, 0.5, 500},
        {{0}, {1000, 200, 10, 7}, 1, 0},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct ticket_usage u;
        for (int i = 0; i < USAGE_RESOURCE_COUNT; i++) u.used[i] = ROWS[r].used[i];
        struct usage_weights weights = {.total = ROWS[r].unknown};
        for (int i = 0; i < USAGE_RESOURCE_COUNT; i++) weights.total += weights.weight[i] = ROWS[r].weights[i];
        assert_close(ticket_usage_combine(&weights, &u), ROWS[r].combined);
    }
}

/* docs/formulas.md 5.2: half-lives of an hour and of a day, the exact rule, no decay, decay at once, and half-lives
 * shorter than ln 2 minutes. */
static void test_factor(void **state)
{
    (void)state;
    static const struct {
        enum decay_rule rule;
        double minutes, elapsed_s, factor;
    } ROWS[] = {
        {.rule = DECAY_PROGRAM, .minutes = 60, .elapsed_s = 3600, .factor = 0.49798662439872005},
        {.rule = DECAY_PROGRAM, .minutes = 60, .elapsed_s = 60, .factor = 1 - M_LN2 / 60},
        {.rule = DECAY_PROGRAM, .minutes = 1440, .elapsed_s = 86400, .factor = 0.4999165682033925},
        {.rule = DECAY_EXACT, .minutes = 60, .elapsed_s = 3600, .factor = 0.5},
        {.rule = DECAY_EXACT, .minutes = 60, .elapsed_s = 1800, .factor = M_SQRT1_2},
        {.rule = DECAY_PROGRAM, .minutes = 0, .elapsed_s = 1e9, .factor = 1},
        {.rule = DECAY_EXACT, .minutes = 0, .elapsed_s = 1e9, .factor = 1},
        {.rule = DECAY_PROGRAM, .minutes = -1, .elapsed_s = 1, .factor = 0},
        {.rule = DECAY_EXACT, .minutes = -1, .elapsed_s = 1, .factor = 0},
        {.rule = DECAY_PROGRAM, .minutes = -1, .elapsed_s = 0, .factor = 1},
        {.rule = DECAY_PROGRAM, .minutes = 60, .elapsed_s = -5, .factor = 1},
        {.rule = DECAY_PROGRAM, .minutes = 0.5, .elapsed_s = 1, .factor = 0},
        {.rule = DECAY_EXACT, .minutes = 0.5, .elapsed_s = 30, .factor = 0.5},
        {.rule = DECAY_PROGRAM, .minutes = 1, .elapsed_s = 1e9, .factor = 0},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct ticket_decay d = {.rule = ROWS[r].rule, .minutes = {[USAGE_MEM] = ROWS[r].minutes}};
        assert_close(ticket_decay_factor(&d, USAGE_MEM, ROWS[r].elapsed_s), ROWS[r].factor);
    }
}

/* docs/formulas.md 5.2: two CPUs for an hour with a half-life of one. */
static void test_charge(void **state)
{
    (void)state;
    struct ticket_decay exact = {.rule = DECAY_EXACT, .minutes = {60, 0, -1, 60}};
    assert_close(ticket_decay_charge(&exact, USAGE_CPU, 2, 3600), 2 * 3600 / M_LN2 / 2);
    assert_close(ticket_decay_charge(&exact, USAGE_MEM, 2, 3600), 7200);
    assert_close(ticket_decay_charge(&exact, USAGE_IO, 2, 3600), 0);
    assert_close(ticket_decay_charge(&exact, USAGE_CPU, 2, 1e9), 2 * 3600 / M_LN2);
    assert_close(ticket_decay_charge(&exact, USAGE_CPU, 2, 0), 0);
    assert_close(ticket_decay_charge(&exact, USAGE_CPU, 2, -7), 0);
    struct ticket_decay program = {.rule = DECAY_PROGRAM, .minutes = {60}};
    double c = 1 - M_LN2 / 60;
    assert_close(ticket_decay_charge(&program, USAGE_CPU, 2, 3600), 2 * 60 * (pow(c, 60) - 1) / log(c));
}

static void test_names(void **state)
{
    (void)state;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++)
        assert_int_equal(usage_resource_find(str(usage_resource_names[r])), r);
    assert_int_equal(usage_resource_find(str("CPU")), USAGE_RESOURCE_COUNT);
    assert_int_equal(usage_resource_find(str("")), USAGE_RESOURCE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combine),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_charge),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
