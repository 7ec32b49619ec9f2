/* Billing: the three rules, weights, and the amounts in records. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/billing.h"
#include "policy/usage.h"

static struct arena arena;
static struct tres_table table;

static const char WEIGHTS[] = "CPU=1.0,Mem=0.25G,GRES/gpu=2.0";
static const char ODD[] = "CPU=0.333,Mem=1.5G,Node=3.7";
#define POWERS "cpu=1,mem=2,node=4,gres/gpu=8,gres/fpga=16,license/matlab=32,energy=64,billing=5"
static const char ALL[] = "CPU=1,Mem=1,Node=1,GRES/gpu=1,GRES/fpga=1,License/matlab=1,Energy=1,billing=1000";

static double bill(const char *list, const char *weights_text, enum billing_rule rule)
{
    double weights[TRES_MAX];
    struct tres_list amounts;
    struct err e = {0};
    if (tres_list_parse(&table, str(list), "list", &arena, &amounts, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    if (weights_text == NULL) return billing_of(&table, &amounts, NULL, rule);
    if (tres_weights_parse(&table, str(weights_text), "weights", weights, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
    return billing_of(&table, &amounts, weights, rule);
}

/* The first rows are those of docs/formulas.md 3.3. */
static void billing_rows(void **unused)
{
    (void)unused;
    static const struct {
        const char *list, *weights;
        enum billing_rule rule;
        double billing;
    } rows[] = {
        {.list = "cpu=1,mem=8G", .weights = WEIGHTS, .rule = BILLING_SUM, .billing = 3},
        {.list = "cpu=4,mem=8G,gres/gpu=1", .weights = WEIGHTS, .rule = BILLING_SUM, .billing = 8},
        {.list = "cpu=16,mem=16G", .weights = WEIGHTS, .rule = BILLING_SUM, .billing = 20},
        {.list = "cpu=16,mem=64G,gres/gpu=4", .weights = WEIGHTS, .rule = BILLING_SUM, .billing = 40},
        {.list = "cpu=4,mem=8G,gres/gpu=1", .weights = WEIGHTS, .rule = BILLING_MAX_TRES, .billing = 4},
        {.list = "cpu=1,mem=8G,gres/gpu=1", .weights = WEIGHTS, .rule = BILLING_MAX_TRES, .billing = 2},
        {.list = "cpu=4,mem=8G,gres/gpu=1", .weights = WEIGHTS, .rule = BILLING_MAX_TRES_GRES, .billing = 6},
        {.list = "cpu=5,mem=999,node=3", .weights = ODD, .rule = BILLING_MAX_TRES, .billing = 3 * 3.7},

        /* Without weights the CPUs are billed; with a weight, only the TRES that it names. */
        {.list = "cpu=4,mem=8G,gres/gpu=1", .rule = BILLING_SUM, .billing = 4},
        {.list = "cpu=4,mem=8G,gres/gpu=1", .rule = BILLING_MAX_TRES, .billing = 4},
        {.list = "mem=8G", .rule = BILLING_SUM, .billing = 0},
        {.list = "cpu=4,mem=8G", .weights = "GRES/gpu=1", .rule = BILLING_SUM, .billing = 0},
        {.list = "cpu=4,mem=8G,gres/gpu=3", .weights = "GRES/gpu=1", .rule = BILLING_SUM, .billing = 3},
        {.list = "", .weights = WEIGHTS, .rule = BILLING_SUM, .billing = 0},
        {.list = "", .rule = BILLING_SUM, .billing = 0},

        /* Which TRES count in the maximum and which in the sum; billing counts in neither. */
        {.list = POWERS, .weights = ALL, .rule = BILLING_SUM, .billing = 127},
        {.list = POWERS, .weights = ALL, .rule = BILLING_MAX_TRES, .billing = 16 + 96},
        {.list = POWERS, .weights = ALL, .rule = BILLING_MAX_TRES_GRES, .billing = 4 + 120},

        /* Negative weights: the maximum is at least 0, the sum is not. */
        {.list = "cpu=4,mem=8G", .weights = "CPU=-1,Mem=1G", .rule = BILLING_SUM, .billing = 4},
        {.list = "cpu=4,mem=8G", .weights = "CPU=-1,Mem=1G", .rule = BILLING_MAX_TRES, .billing = 8},
        {.list = "cpu=4", .weights = "CPU=-1", .rule = BILLING_MAX_TRES, .billing = 0},
        {.list = "cpu=4,license/matlab=1",
         .weights = "CPU=-1,License/matlab=3",
         .rule = BILLING_MAX_TRES,
         .billing = 3},
        {.list = "cpu=4", .weights = "CPU=-1", .rule = BILLING_SUM, .billing = -4},
        {.list = "cpu=4,license/matlab=1",
         .weights = "CPU=1,License/matlab=-30",
         .rule = BILLING_MAX_TRES,
         .billing = -26},
        {.list = "cpu=9007199254740992,mem=9007199254740992",
         .weights = "CPU=1e15,Mem=-1e15",
         .rule = BILLING_SUM,
         .billing = 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double billing = bill(rows[i].list, rows[i].weights, rows[i].rule);
        if (!(billing == rows[i].billing)) fail_msg("row %zu: %.17g", i, billing);
    }
}

/* Usage has the exact amount; records have its whole part. */
static void records_have_the_whole_part(void **unused)
{
    (void)unused;
    static const struct {
        double billing;
        uint64_t recorded;
    } rows[] = {
        {0, 0},
        {0.999, 0},
        {1, 1},
        {1.976562, 1},
        {20, 20},
        {96.5625, 96},
        {-3.5, 0},
        {-0.5, 0},
        {1e15, 1000000000000000},
        {1e300, UINT64_C(18446744073709549568)},
        {18446744073709551616.0, UINT64_C(18446744073709549568)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(billing_recorded(rows[i].billing) == rows[i].recorded);
    assert_true(bill("cpu=1,mem=4000M", WEIGHTS, BILLING_SUM) == 1.9765625);
}

/* docs/formulas.md 3.4. */
static void a_slice_is_charged(void **unused)
{
    (void)unused;
    const int64_t second_us = 1000000;
    assert_true(fabs(usage_charge(300 * second_us, 1.0, 0, 5 * second_us) - 4.971230) < 5e-7);
    double per_second = 1.0 - 0.693 / 300.0; /* Slurm's */
    assert_true(fabs(5.0 * pow(per_second, 5.0) - 4.942516) < 5e-7);
    assert_true(fabs(pow(per_second, 5.0) - 0.988503) < 5e-7);
}

static int make_table(void **unused)
{
    (void)unused;
    return tres_table_make(&table, str("gres/gpu,gres/fpga,license/matlab"), "x", &arena, NULL);
}

static int release(void **unused)
{
    (void)unused;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(billing_rows),
        cmocka_unit_test(records_have_the_whole_part),
        cmocka_unit_test(a_slice_is_charged),
    };
    return cmocka_run_group_tests(tests, make_table, release);
}
