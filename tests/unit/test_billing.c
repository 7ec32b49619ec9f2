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

/* Also docs/formulas.md 3.3. */
static void billing_rows(void **unused)
{
    (void)unused;
    static const struct {
        const char *list, *weights;
        enum billing_rule rule;
        double billing;
    } rows[] = {
        {"cpu=1,mem=8G", WEIGHTS, BILLING_SUM, 3},
        {"cpu=4,mem=8G,gres/gpu=1", WEIGHTS, BILLING_SUM, 8},
        {"cpu=16,mem=16G", WEIGHTS, BILLING_SUM, 20},
        {"cpu=16,mem=64G,gres/gpu=4", WEIGHTS, BILLING_SUM, 40},
        {"cpu=4,mem=8G,gres/gpu=1", WEIGHTS, BILLING_MAX_TRES, 4},
        {"cpu=1,mem=8G,gres/gpu=1", WEIGHTS, BILLING_MAX_TRES, 2},
        {"cpu=4,mem=8G,gres/gpu=1", WEIGHTS, BILLING_MAX_TRES_GRES, 6},
        {"cpu=5,mem=999,node=3", ODD, BILLING_MAX_TRES, 3 * 3.7},

        /* Without weights the CPUs; with any, only what is named. */
        {"cpu=4,mem=8G,gres/gpu=1", NULL, BILLING_SUM, 4},
        {"cpu=4,mem=8G,gres/gpu=1", NULL, BILLING_MAX_TRES, 4},
        {"mem=8G", NULL, BILLING_SUM, 0},
        {"cpu=4,mem=8G", "GRES/gpu=1", BILLING_SUM, 0},
        {"cpu=4,mem=8G,gres/gpu=3", "GRES/gpu=1", BILLING_SUM, 3},
        {"", WEIGHTS, BILLING_SUM, 0},
        {"", NULL, BILLING_SUM, 0},

        /* What stands in the maximum and what in the sum; billing in neither. */
        {"cpu=1,mem=2,node=4,gres/gpu=8,gres/fpga=16,license/matlab=32,energy=64,billing=5", ALL, BILLING_SUM, 127},
        {"cpu=1,mem=2,node=4,gres/gpu=8,gres/fpga=16,license/matlab=32,energy=64,billing=5", ALL, BILLING_MAX_TRES,
         16 + 96},
        {"cpu=1,mem=2,node=4,gres/gpu=8,gres/fpga=16,license/matlab=32,energy=64,billing=5", ALL, BILLING_MAX_TRES_GRES,
         4 + 120},

        /* Negative weights: only the maximum starts at 0. */
        {"cpu=4,mem=8G", "CPU=-1,Mem=1G", BILLING_SUM, 4},
        {"cpu=4,mem=8G", "CPU=-1,Mem=1G", BILLING_MAX_TRES, 8},
        {"cpu=4", "CPU=-1", BILLING_MAX_TRES, 0},
        {"cpu=4,license/matlab=1", "CPU=-1,License/matlab=3", BILLING_MAX_TRES, 3},
        {"cpu=4", "CPU=-1", BILLING_SUM, -4},
        {"cpu=4,license/matlab=1", "CPU=1,License/matlab=-30", BILLING_MAX_TRES, -26},
        {"cpu=9007199254740992,mem=9007199254740992", "CPU=1e15,Mem=-1e15", BILLING_SUM, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double billing = bill(rows[i].list, rows[i].weights, rows[i].rule);
        if (!(billing == rows[i].billing)) fail_msg("row %zu: %.17g", i, billing);
    }
}

/* Usage is charged with all of it, records have the whole part. */
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
