/* Levels as keys: mathematically equal levels have equal keys, others keep their order, over the whole range of a
 * double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "policy/level.h"

/* Rounding is right even if the exact level is halfway between two doubles: 3 * 3002399751580331 = 2^53 + 1. */
static void test_rounding(void **state)
{
    (void)state;
    static const struct {
        uint32_t shares;
        double usage;
        uint64_t all_shares;
        double all_usage, level;
    } ROWS[] = {
        {.shares = 1, .usage = 1, .all_shares = 1, .all_usage = 1, .level = 1},
        {.shares = 1, .usage = 3, .all_shares = 1, .all_usage = 1, .level = 1.0 / 3},
        /* 0.3 is a little less than three times 0.1 */
        {.shares = 1, .usage = 0.1, .all_shares = 3, .all_usage = 0.3, .level = 1 - 0x1p-53},
        /* halfway, down to even */
        {.shares = 3, .usage = 1, .all_shares = 4, .all_usage = 3002399751580331, .level = 0x1p51},
        {.shares = 3, .usage = 1, .all_shares = 4, .all_usage = 3002399751580332, .level = 0x1p51 + 1}, /* 2^53 + 4 */
        /* 2^53 + 3: halfway, up to even */
        {.shares = 5, .usage = 1, .all_shares = 8, .all_usage = 1801439850948199, .level = 0x1p50 + 0.5},
        /* the same level from other numbers */
        {.shares = 21, .usage = 1, .all_shares = 28, .all_usage = 3002399751580331, .level = 0x1p51},
        {.shares = SHARES_MAX, .usage = 1, .all_shares = SHARES_MAX, .all_usage = 1e18, .level = 1e18},
        {.shares = 1, .usage = 1e18, .all_shares = UINT64_C(1) << 63, .all_usage = 1, .level = 0x1p-63 / 1e18},
        {.shares = SHARES_MAX, .usage = 5e-324, .all_shares = SHARES_MAX, .all_usage = 5e-324, .level = 1},
        {.shares = 1, .usage = 5e-324, .all_shares = 2, .all_usage = 1e-323, .level = 1},
        {.shares = 1, .usage = 5e-324, .all_shares = 1, .all_usage = 0x1p-900, .level = 0x1p174},
        {.shares = 1, .usage = 0x1p-900, .all_shares = 1, .all_usage = 5e-324, .level = 0x1p-174},
        {.shares = 1, .usage = 5e-324, .all_shares = 1, .all_usage = 0x1.fffffffffffffp1023, .level = INFINITY},
        {.shares = 1, .usage = 0x1.fffffffffffffp1023, .all_shares = 1, .all_usage = 5e-324, .level = 0},
        {.shares = 0, .usage = 1, .all_shares = 1, .all_usage = 1, .level = 0},
        {.shares = 0, .usage = 0, .all_shares = 1, .all_usage = 0, .level = 0},
        {.shares = 1, .usage = 0, .all_shares = 1, .all_usage = 1, .level = INFINITY},
        {.shares = 1, .usage = 5, .all_shares = 1, .all_usage = 0, .level = INFINITY},
    };
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        double level = level_value(ROWS[r].shares, ROWS[r].usage, ROWS[r].all_shares, ROWS[r].all_usage);
        if (level != ROWS[r].level) fail_msg("row %zu: %.17g, expected %.17g", r, level, ROWS[r].level);
    }
}

static double usage_of(struct rng *r)
{
    double spread = ldexp(1 + rng_double(r), (int)rng_below(r, 70) - 10);
    return rng_below(r, 2) ? floor(spread) + 1 : spread;
}

/* The products fit into the 113 bits of a __float128. Its quotient is rounded twice, but the first time at so low a bit
 * that the second rounding is right (a halfway case is exact in both). */
static void test_against_quad(void **state)
{
    (void)state;
    struct rng r = {7};
    for (int i = 0; i < 300000; i++) {
        uint32_t shares = rng_below(&r, 1u << rng_below(&r, 31)) + 1;
        uint64_t all_shares = shares + (rng_u64(&r) >> (6 + rng_below(&r, 50)));
        double usage = usage_of(&r), all_usage = usage * (1 + rng_below(&r, 1000) * rng_double(&r));
        __float128 exact = (__float128)shares * all_usage / ((__float128)usage * all_shares);
        double level = level_value(shares, usage, all_shares, all_usage);
        if (level != (double)exact) {
            fail_msg("%u/%llu : %a/%a = %a, got %a", shares, (unsigned long long)all_shares, usage, all_usage,
                     (double)exact, level);
        }
        uint64_t key = level_key_across(shares, usage, all_shares, all_usage), bits;
        memcpy(&bits, &level, sizeof bits);
        assert_true(key - bits == UINT64_C(877) << 52);
    }
}

/* A common factor of shares and usage does not change the key; neither does a common factor of the shares of a node and
 * of its account. */
static void test_proportional(void **state)
{
    (void)state;
    struct rng r = {8};
    for (int i = 0; i < 100000; i++) {
        uint32_t shares = rng_below(&r, 30000) + 1, times = rng_below(&r, 30000) + 1;
        double usage = rng_below(&r, 1u << 30) + 1.0;
        assert_true(level_key(shares, usage) == level_key(shares * times, usage * times));
        double all_usage = usage + rng_below(&r, 1u << 30);
        uint64_t all_shares = 900000000 + rng_below(&r, 1u << 30);
        uint64_t key = level_key_across(shares, usage, all_shares, all_usage);
        assert_true(key == level_key_across(shares * times, usage, all_shares * times, all_usage));
        assert_true(key == level_key_across(shares, usage * times, all_shares, all_usage * times));
        assert_true(key == level_key_across(shares * times, usage * times, all_shares, all_usage));
        assert_true(key == level_key_across(shares, usage * 0x1p-1040 * 0x1p30, all_shares, all_usage * 0x1p-1010));
    }
}

/* From infinity down to zero, over all exponents: each key is below the previous one, also at the ends of the range. */
static void test_range(void **state)
{
    (void)state;
    uint64_t last = LEVEL_KEY_INFINITE;
    assert_true(level_key(1, 0) == last && level_key(SHARES_PARENT, 5) == last && level_key(SHARES_MAX, 0) == last);
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        for (int half = 0; half < 2; half++) {
            double usage = ldexp(1 + half / 2.0, exponent);
            if (usage == last || (half == 1 && exponent == -1074)) continue;
            uint64_t key = level_key(3, usage);
            if (key >= last) fail_msg("%a", usage);
            assert_true(level_key(6, usage) > key);
            assert_true(exponent == 1023 || level_key(6, usage * 2) == key);
            last = key;
        }
    }
    assert_true(last > LEVEL_KEY_ZERO && level_key(0, 0) == LEVEL_KEY_ZERO && level_key(0, 5) == LEVEL_KEY_ZERO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_against_quad),
        cmocka_unit_test(test_proportional),
        cmocka_unit_test(test_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
