/* Billing against a second implementation on every small job, laws of billing on random jobs, and TRES lists that are
 * formatted and read back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "policy/billing.h"

static struct arena arena;
static struct tres_table table;

/* By name, like the published description: "max over {cpu, mem, node, every gres} of count x weight + sum over the
 * rest". */
static double slow_billing(const double *amounts, const double *weights, enum billing_rule rule)
{
    double max = 0, sum = 0;
    for (uint32_t t = 0; t < table.count; t++) {
        const char *name = table.items[t].text;
        bool is_host = strcmp(name, "cpu") == 0 || strcmp(name, "mem") == 0 || strcmp(name, "node") == 0;
        bool is_gres = strncmp(name, "gres/", 5) == 0;
        if (strcmp(name, "billing") == 0) continue;
        if (rule != BILLING_SUM && (is_host || (is_gres && rule == BILLING_MAX_TRES))) {
            max = fmax(max, amounts[t] * weights[t]);
        } else {
            sum += amounts[t] * weights[t];
        }
    }
    return max + sum;
}

static struct tres_list list_of(const double *amounts, struct tres_amount *items)
{
    struct tres_list list = {.items = items};
    for (uint32_t t = 0; t < table.count; t++)
        if (amounts[t] > 0) items[list.count++] = (struct tres_amount){t, amounts[t]};
    return list;
}

/* Every job with amounts 0, 1 and 3 of nine TRES, each with random weights -2, 0, 0.5 and 3. */
static void every_small_job_bills_as_the_slow_implementation(void **unused)
{
    (void)unused;
    static const uint32_t used[] = {TRES_CPU, TRES_MEM, TRES_NODE, TRES_BILLING, TRES_ENERGY, 8, 9, 10, 11};
    static const double counts[] = {0, 1, 3}, small_weights[] = {-2, 0, 0.5, 3};
    enum { USED = sizeof used / sizeof *used, JOBS = 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 * 3 };
    struct rng r = {1};
    for (int number = 0; number < JOBS * 20; number++) {
        double amounts[TRES_MAX] = {0}, weights[TRES_MAX] = {0};
        struct tres_amount items[TRES_MAX];
        int rest = number;
        for (int i = 0; i < USED; i++, rest /= 3) {
            amounts[used[i]] = counts[rest % 3];
            weights[used[i]] = small_weights[rng_below(&r, 4)];
        }
        struct tres_list list = list_of(amounts, items);
        for (enum billing_rule rule = BILLING_SUM; rule <= BILLING_MAX_TRES_GRES; rule++) {
            double billing = billing_of(&table, &list, weights, rule), slow = slow_billing(amounts, weights, rule);
            if (!(billing == slow)) fail_msg("job %d, rule %d: %g instead of %g", number, rule, billing, slow);
            assert_true(billing_of(&table, &list, NULL, rule) == amounts[TRES_CPU]);
        }
    }
}

static void random_amounts(struct rng *r, double *out)
{
    memset(out, 0, TRES_MAX * sizeof *out);
    for (uint32_t t = 0; t < table.count; t++)
        if (rng_below(r, 2)) out[t] = (double)(rng_u64(r) >> (11 + rng_below(r, 53)));
}

/* Without negative weights, more TRES in the maximum never cost more, a larger amount never costs less, and twice of
 * every amount costs twice as much. */
static void laws(void **unused)
{
    (void)unused;
    struct rng r = {2};
    for (int round = 0; round < 200000; round++) {
        double amounts[TRES_MAX], weights[TRES_MAX] = {0}, bill[3];
        struct tres_amount items[TRES_MAX], more_items[TRES_MAX];
        random_amounts(&r, amounts);
        for (uint32_t t = 0; t < table.count; t++) weights[t] = rng_below(&r, 3) ? exp2(20 * rng_double(&r) - 10) : 0;
        struct tres_list list = list_of(amounts, items);
        for (enum billing_rule rule = BILLING_SUM; rule <= BILLING_MAX_TRES_GRES; rule++)
            bill[rule] = billing_of(&table, &list, weights, rule);
        assert_true(bill[BILLING_MAX_TRES] <= bill[BILLING_MAX_TRES_GRES] * (1 + 1e-14));
        assert_true(bill[BILLING_MAX_TRES_GRES] <= bill[BILLING_SUM] * (1 + 1e-14));

        amounts[rng_below(&r, table.count)] += 1;
        struct tres_list more = list_of(amounts, more_items);
        for (uint32_t i = 0; i < list.count; i++) items[i].amount *= 2;
        for (enum billing_rule rule = BILLING_SUM; rule <= BILLING_MAX_TRES_GRES; rule++) {
            assert_true(billing_of(&table, &more, weights, rule) >= bill[rule]);
            assert_true(billing_of(&table, &list, weights, rule) == 2 * bill[rule]);
            double whole = (double)billing_recorded(bill[rule]);
            assert_true(whole <= bill[rule] && (bill[rule] < whole + 1 || whole > 0x1p52));
        }
    }
}

/* A formatted list reads back the same, and a typed GRES never has more than its generic one. */
static void lists_read_back(void **unused)
{
    (void)unused;
    struct rng r = {3};
    struct buf text = {0};
    for (int round = 0; round < 20000; round++) {
        double amounts[TRES_MAX];
        struct tres_amount items[TRES_MAX];
        struct tres_list back;
        struct err e = {0};
        random_amounts(&r, amounts);
        struct tres_list list = list_of(amounts, items);
        buf_clear(&text);
        buf_add_text(&text, "");
        tres_list_format(&table, &list, &text);
        if (tres_list_parse(&table, str(text.text), "list", &arena, &back, &e) != 0) fail_msg("%s", ERR_SENTENCE(&e));
        assert_int_equal(back.count, list.count);
        for (uint32_t i = 0; i < list.count; i++) {
            assert_int_equal(back.items[i].tres, list.items[i].tres);
            assert_true(back.items[i].amount == list.items[i].amount);
        }
        tres_list_add_generic(&table, &back);
        for (uint32_t t = 0; t < table.count; t++) {
            assert_true(tres_amount_of(&back, t) >= tres_amount_of(&list, t));
            uint32_t generic = table.items[t].generic;
            if (generic == NONE || tres_amount_of(&list, generic) > 0) continue;
            assert_true(tres_amount_of(&back, generic) >= tres_amount_of(&back, t));
        }
        arena_clear(&arena);
    }
    buf_release(&text);
}

static int make_table(void **unused)
{
    (void)unused;
    static struct arena names;
    return tres_table_make(&table, str("gres/gpu,gres/gpu:tesla,license/matlab,bb/cray"), "x", &names, NULL);
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
        cmocka_unit_test(every_small_job_bills_as_the_slow_implementation),
        cmocka_unit_test(laws),
        cmocka_unit_test(lists_read_back),
    };
    return cmocka_run_group_tests(tests, make_table, release);
}
