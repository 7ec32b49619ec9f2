/* Decay and charges in single cases; property/test_usage_laws.c has the laws. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "policy/usage.h"

#define S INT64_C(1000000)
#define DAY (86400 * S)

static void assert_close(double value, double expected, double relative)
{
    if (value == expected || fabs(value - expected) <= relative * fabs(expected)) return;
    fail_msg("%.17g, expected %.17g", value, expected);
}

static void test_scale(void **state)
{
    (void)state;
    static const struct {
        int64_t halflife_us, reference_us, at_us;
        double scale;
    } ROWS[] = {
        {.halflife_us = 7 * DAY, .reference_us = 0, .at_us = 0, .scale = 1},
        {.halflife_us = 7 * DAY, .reference_us = 0, .at_us = 7 * DAY, .scale = 0.5},
        {.halflife_us = 7 * DAY, .reference_us = 0, .at_us = 70 * DAY, .scale = 0x1p-10},
        {.halflife_us = 7 * DAY, .reference_us = 3 * DAY, .at_us = 10 * DAY, .scale = 0.5},
        {.halflife_us = 7 * DAY, .reference_us = 7 * DAY, .at_us = 0, .scale = 2},
        {.halflife_us = 2 * S, .reference_us = 0, .at_us = 1 * S, .scale = 0.70710678118654752440},
        {.halflife_us = 2 * S, .reference_us = 0, .at_us = 1001 * S, .scale = 0.70710678118654752440 * 0x1p-500},
        {.halflife_us = 3, .reference_us = 0, .at_us = 1, .scale = 0.79370052598409973738},
        {.halflife_us = 1, .reference_us = 0, .at_us = 511, .scale = 0x1p-511},
        {.halflife_us = 1, .reference_us = 0, .at_us = 100000, .scale = 0},
        {.halflife_us = 0, .reference_us = 0, .at_us = 1000 * DAY, .scale = 1},
        {.halflife_us = 7 * DAY,
         .reference_us = INT64_C(1700000000) * S,
         .at_us = INT64_C(1700000000) * S + 14 * DAY,
         .scale = 0.25},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct decay d = {.halflife_us = ROWS[r].halflife_us, .reference_us = ROWS[r].reference_us};
        assert_close(decay_scale(&d, ROWS[r].at_us), ROWS[r].scale, 2e-16);
    }
}

/* The first two rows are the example of docs/formulas.md 1.2. */
static void test_charge(void **state)
{
    (void)state;
    static const struct {
        int64_t halflife_us;
        double rate;
        int64_t from_us, to_us;
        double charge;
    } ROWS[] = {
        /* 16 * 3600 / ln 2 / 2 */
        {.halflife_us = 3600 * S, .rate = 16, .from_us = 0, .to_us = 3600 * S, .charge = 41549.617177602146},
        /* three quarters */
        {.halflife_us = 3600 * S, .rate = 16, .from_us = 0, .to_us = 7200 * S, .charge = 62324.425766403219},
        {.halflife_us = 0, .rate = 16, .from_us = 0, .to_us = 3600 * S, .charge = 57600},
        {.halflife_us = 0, .rate = 0.25, .from_us = 5 * S, .to_us = 6 * S, .charge = 0.25},
        {.halflife_us = 3600 * S, .rate = 16, .from_us = 3600 * S, .to_us = 3600 * S, .charge = 0},
        {.halflife_us = 3600 * S, .rate = 16, .from_us = 3601 * S, .to_us = 3600 * S, .charge = 0},
        {.halflife_us = 0, .rate = 16, .from_us = 3601 * S, .to_us = 3600 * S, .charge = 0},
        {.halflife_us = 3600 * S, .rate = 0, .from_us = 0, .to_us = 3600 * S, .charge = 0},
        /* one microsecond: 1e-6 (1 - ln 2 / 2 * 1e-6 / 604800) */
        {.halflife_us = 7 * DAY, .rate = 1, .from_us = 0, .to_us = 1, .charge = 9.9999999999942696e-7},
        /* after a long time charge and decay are equal: H / ln 2 */
        {.halflife_us = S, .rate = 1, .from_us = 0, .to_us = 1000000 * S, .charge = 1.4426950408889634074},
        {.halflife_us = 7 * DAY, .rate = 16, .from_us = 0, .to_us = 20 * S, .charge = 319.99633258262121},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        double charge = usage_charge(ROWS[r].halflife_us, ROWS[r].rate, ROWS[r].from_us, ROWS[r].to_us);
        assert_close(charge, ROWS[r].charge, 2e-15);
    }
}

/* A stored charge gives the right usage at every later time. */
static void test_charge_stored(void **state)
{
    (void)state;
    struct decay d = {.halflife_us = 100 * S, .reference_us = 50 * S};
    double stored = usage_charge_stored(&d, 4, 1000 * S, 1250 * S);
    double charge = usage_charge(100 * S, 4, 1000 * S, 1250 * S);
    assert_close(stored * decay_scale(&d, 1250 * S), charge, 1e-15);
    assert_close(stored * decay_scale(&d, 1350 * S), charge / 2, 1e-15);
    assert_close(stored, charge * 4096, 1e-15);
    assert_true(usage_charge_stored(&d, 4, 1250 * S, 1250 * S) == 0);
    struct decay none = {.halflife_us = 0, .reference_us = 50 * S};
    assert_true(usage_charge_stored(&none, 4, 0, 250 * S) == 1000);
}

static void test_steps(void **state)
{
    (void)state;
    static const struct {
        int64_t halflife_us, reference_us, at_us, steps;
    } ROWS[] = {
        {.halflife_us = 10, .reference_us = 0, .at_us = 0, .steps = 0},
        {.halflife_us = 10, .reference_us = 0, .at_us = 5119, .steps = 0},
        {.halflife_us = 10, .reference_us = 0, .at_us = 5120, .steps = 512},
        {.halflife_us = 10, .reference_us = 0, .at_us = 5129, .steps = 512},
        {.halflife_us = 10, .reference_us = 0, .at_us = 1000009, .steps = 100000},
        {.halflife_us = 10, .reference_us = 5000, .at_us = 5120, .steps = 0},
        {.halflife_us = 10, .reference_us = 5000, .at_us = 0, .steps = 0},
        {.halflife_us = 0, .reference_us = 0, .at_us = INT64_C(1) << 60, .steps = 0},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct decay d = {.halflife_us = ROWS[r].halflife_us, .reference_us = ROWS[r].reference_us};
        assert_int_equal(decay_steps_due(&d, ROWS[r].at_us), ROWS[r].steps);
    }
    assert_true(usage_decay_steps(3, 0) == 3);
    assert_true(usage_decay_steps(3, 512) == 3 * 0x1p-512);
    assert_true(usage_decay_steps(3, INT64_C(1) << 62) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_charge),
        cmocka_unit_test(test_charge_stored),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
