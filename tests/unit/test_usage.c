/* Decay and charges at single moments; their laws are in property/test_usage_laws.c. */
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
        {7 * DAY, 0, 0, 1},
        {7 * DAY, 0, 7 * DAY, 0.5},
        {7 * DAY, 0, 70 * DAY, 0x1p-10},
        {7 * DAY, 3 * DAY, 10 * DAY, 0.5},
        {7 * DAY, 7 * DAY, 0, 2},
        {2 * S, 0, 1 * S, 0.70710678118654752440},
        {2 * S, 0, 1001 * S, 0.70710678118654752440 * 0x1p-500},
        {3, 0, 1, 0.79370052598409973738},
        {1, 0, 511, 0x1p-511},
        {1, 0, 100000, 0},
        {0, 0, 1000 * DAY, 1},
        {7 * DAY, INT64_C(1700000000) * S, INT64_C(1700000000) * S + 14 * DAY, 0.25},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct decay d = {.halflife_us = ROWS[r].halflife_us, .reference_us = ROWS[r].reference_us};
        assert_close(decay_scale(&d, ROWS[r].at_us), ROWS[r].scale, 2e-16);
    }
}

/* docs/formulas.md 1.2 has the first of these as its example. */
static void test_charge(void **state)
{
    (void)state;
    static const struct {
        int64_t halflife_us;
        double rate;
        int64_t from_us, to_us;
        double charge;
    } ROWS[] = {
        {3600 * S, 16, 0, 3600 * S, 41549.617177602146}, /* 16 * 3600 / ln 2 / 2 */
        {3600 * S, 16, 0, 7200 * S, 62324.425766403219}, /* three quarters */
        {0, 16, 0, 3600 * S, 57600},
        {0, 0.25, 5 * S, 6 * S, 0.25},
        {3600 * S, 16, 3600 * S, 3600 * S, 0},
        {3600 * S, 16, 3601 * S, 3600 * S, 0},
        {0, 16, 3601 * S, 3600 * S, 0},
        {3600 * S, 0, 0, 3600 * S, 0},
        {7 * DAY, 1, 0, 1, 9.9999999999942696e-7},     /* one microsecond: 1e-6 (1 - ln 2 / 2 * 1e-6 / 604800) */
        {S, 1, 0, 1000000 * S, 1.4426950408889634074}, /* in the end as much as fades: H / ln 2 */
        {7 * DAY, 16, 0, 20 * S, 319.99633258262121},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        double charge = usage_charge(ROWS[r].halflife_us, ROWS[r].rate, ROWS[r].from_us, ROWS[r].to_us);
        assert_close(charge, ROWS[r].charge, 2e-15);
    }
}

/* As stored, a charge reads right at every later moment. */
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
        {10, 0, 0, 0},
        {10, 0, 5119, 0},
        {10, 0, 5120, 512},
        {10, 0, 5129, 512},
        {10, 0, 1000009, 100000},
        {10, 5000, 5120, 0},
        {10, 5000, 0, 0},
        {0, 0, INT64_C(1) << 60, 0},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct decay d = {.halflife_us = ROWS[r].halflife_us, .reference_us = ROWS[r].reference_us};
        assert_int_equal(decay_steps_due(&d, ROWS[r].at_us), ROWS[r].steps);
    }
    assert_true(usage_fade(3, 0) == 3);
    assert_true(usage_fade(3, 512) == 3 * 0x1p-512);
    assert_true(usage_fade(3, INT64_C(1) << 62) == 0);
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
