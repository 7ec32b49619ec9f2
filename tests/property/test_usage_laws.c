/* Laws of decay: it composes, charges can be split, and nothing is lost over 10^5 half-lives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "policy/usage.h"

#define S INT64_C(1000000)

static double error(double value, long double exact)
{
    return value == exact ? 0 : (double)fabsl((value - exact) / exact);
}

static int64_t random_duration_us(struct rng *r)
{
    return (int64_t)(rng_u64(r) >> (14 + rng_below(r, 48)));
}

/* decay(a) then decay(b) is decay(a + b). */
static void test_decay_composes(void **state)
{
    (void)state;
    struct rng r = {1};
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        struct decay d = {.halflife_us = 1 + random_duration_us(&r) % (400 * 86400 * S)};
        int64_t max = d.halflife_us * 500, a = random_duration_us(&r) % max, b = random_duration_us(&r) % max;
        struct decay later = {.halflife_us = d.halflife_us, .reference_us = a};
        worst = fmax(worst, error(decay_scale(&d, a) * decay_scale(&later, a + b), decay_scale(&d, a + b)));
    }
    printf("# worst relative error of 300000: %.1e\n", worst);
    assert_true(worst < 5e-16);
}

/* A charge over [a, b] and one over [b, c] are one over [a, c]. */
static void test_charge_splits(void **state)
{
    (void)state;
    struct rng r = {2};
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        struct decay d = {.halflife_us = i % 10 == 0 ? 0 : 1 + random_duration_us(&r) % (400 * 86400 * S)};
        int64_t max = d.halflife_us == 0 ? 86400 * S : d.halflife_us * 200;
        int64_t a = random_duration_us(&r) % max, b = a + random_duration_us(&r) % max,
                c = b + random_duration_us(&r) % max + 1;
        double rate = 1 + rng_double(&r) * 1000;
        double whole = usage_charge_stored(&d, rate, a, c);
        double parts = usage_charge_stored(&d, rate, a, b) + usage_charge_stored(&d, rate, b, c);
        worst = fmax(worst, error(parts, whole));
    }
    printf("# worst relative error of 300000: %.1e\n", worst);
    assert_true(worst < 3e-15);
}

/* A job that runs all the time is charged at random times, and the reference moves whenever that is due. At every
 * charge, up to 10^5 half-lives, the usage reads the same as one charge over the whole time. */
static void test_many_halflives(void **state)
{
    (void)state;
    struct rng r = {3};
    double worst = 0;
    struct decay d = {.halflife_us = 3600 * S};
    int64_t now = 0, moves = 0, charges = 0;
    double stored = 0;
    while (now < 100000 * d.halflife_us) {
        int64_t to = now + 1 + (int64_t)(rng_u64(&r) % (uint64_t)(2 * d.halflife_us));
        int64_t steps = decay_steps_due(&d, to);
        d.reference_us += steps * d.halflife_us;
        stored = usage_decay_steps(stored, steps);
        moves += steps > 0;
        stored += usage_charge_stored(&d, 16, now, to);
        charges++;
        now = to;
        long double exact = 16 * 3600 / logl(2) * -expm1l(-logl(2) * (long double)now / (long double)d.halflife_us);
        worst = fmax(worst, error(stored * decay_scale(&d, now), exact));
    }
    printf("# %lld charges, %lld moves of the reference, worst relative error %.1e\n", (long long)charges,
           (long long)moves, worst);
    assert_true(moves > 150 && charges > 90000);
    assert_true(worst < 1e-15);
}

/* After k half-lives exactly 2^-k of a usage is left, as long as a double can hold that. */
static void test_nothing_is_lost(void **state)
{
    (void)state;
    struct decay d = {.halflife_us = 3600 * S};
    double stored = 1000;
    for (int64_t k = 1; k <= 1000; k++) {
        int64_t now = k * d.halflife_us, steps = decay_steps_due(&d, now);
        d.reference_us += steps * d.halflife_us;
        stored = usage_decay_steps(stored, steps);
        assert_true(stored * decay_scale(&d, now) == ldexp(1000, (int)-k));
    }
    /* The quotient of two usages stays exactly the same. */
    double early = 1000, late = 1000 * 0x1p40;
    for (int64_t k = 1000; k < 1480; k++) {
        early = usage_decay_steps(early, 1);
        late = usage_decay_steps(late, 1);
        assert_true(late / early == 0x1p40);
    }
}

/* Without a half-life nothing fades, whatever the time. */
static void test_no_decay(void **state)
{
    (void)state;
    struct decay d = {.halflife_us = 0};
    double stored = 0;
    for (int64_t k = 0; k < 100000; k++) {
        assert_int_equal(decay_steps_due(&d, k * 3600 * S), 0);
        stored += usage_charge_stored(&d, 2, k * 3600 * S, (k + 1) * 3600 * S);
    }
    assert_true(stored * decay_scale(&d, 100000 * 3600 * S) == 2.0 * 3600 * 100000);
}

/* The sums of many rates, of which half are taken away again, are the sum of their charges. The rounding of a rate is
 * multiplied by the half-life. */
static void test_many_rates(void **state)
{
    (void)state;
    enum { RATES = 64, ERROR_SCALE = 100 };
    struct rng r = {4};
    double worst = 0;
    for (int i = 0; i < 3000; i++) {
        struct decay anchor = {.halflife_us = i % 4 == 0 ? 0 : 1 + random_duration_us(&r) % (400 * 86400 * S)};
        int64_t range = anchor.halflife_us == 0 ? 400 * 86400 * S : anchor.halflife_us * 100, latest = 0;
        struct usage_rates sums = {0};
        long double exact = 0, rates = 0;
        int64_t from[RATES];
        double rate[RATES];
        for (int k = 0; k < 2 * RATES; k++) {
            int at = k % RATES;
            if (k < RATES) {
                rate[at] = rng_double(&r) * 1000;
                from[at] = random_duration_us(&r) % range - range / 2;
                if (from[at] > latest) latest = from[at];
            }
            double by = k < RATES ? rate[at] : k % 2 == 0 ? -rate[at] : 0;
            sums.rate += by;
            sums.begun += by * usage_rates_factor(&anchor, from[at]);
        }
        int64_t to = latest + random_duration_us(&r) % range;
        for (int k = 1; k < RATES; k += 2) {
            exact += usage_charge(anchor.halflife_us, rate[k], from[k], to);
            rates += rate[k];
        }
        long double scale = exact + rates * (anchor.halflife_us == 0 ? range : anchor.halflife_us) / 1e6L;
        worst = fmax(worst,
                     (double)(fabsl(usage_rates_charge(&sums, &anchor, decay_scale(&anchor, to), to) - exact) / scale));
    }
    printf("# worst error of 3000: %.1e of the rates times the half-life\n", worst);
    assert_true(worst < ERROR_SCALE * 2.3e-16);
}

/* Whole rates and times without decay are exact, in whatever order they come and go. */
static void test_whole_rates_are_exact(void **state)
{
    (void)state;
    const struct decay anchor = {.reference_us = 86400 * S};
    struct usage_rates sums = {0};
    for (int64_t k = 1; k <= 1000; k++) {
        int64_t from = anchor.reference_us + (k % 2 == 0 ? k : -k) * 1234567;
        sums.rate += (double)k;
        sums.begun += (double)k * usage_rates_factor(&anchor, from);
        if (k == 7) continue;
        sums.rate -= (double)k;
        sums.begun -= (double)k * usage_rates_factor(&anchor, from);
    }
    assert_true(usage_rates_charge(&sums, &anchor, 1.0, anchor.reference_us + 60 * S) == 7 * 60 + 49 * 1.234567);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decay_composes), cmocka_unit_test(test_charge_splits),
        cmocka_unit_test(test_many_halflives), cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_many_rates),     cmocka_unit_test(test_whole_rates_are_exact),
        cmocka_unit_test(test_no_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
