/* Weights of TRES from arbitrary bytes; the first line is AccountingStorageTRES. Weights that are read are finite, read
 * back from 17 digits, and give a finite billing by every rule. A refused text leaves the output unchanged. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "policy/billing.h"

static void check_reads_back(const struct tres_table *t, const double *weights)
{
    double back[TRES_MAX];
    char number[NUMBER_TEXT_SIZE];
    struct buf text = {0};
    for (uint32_t i = 0; i < t->count; i++) {
        ensure(fabs(weights[i]) <= 1e15);
        number_format_g17(number, weights[i]);
        buf_format(&text, "%s%s=%s", i > 0 ? "," : "", t->items[i].text, number);
    }
    ensure(tres_weights_parse(t, (struct str){text.text, text.length}, "field", back, NULL) == 0);
    ensure(memcmp(back, weights, t->count * sizeof *back) == 0);
    buf_release(&text);
}

static void check_billing(const struct tres_table *t, const double *weights)
{
    struct tres_amount items[TRES_MAX];
    struct tres_list max = {items, t->count};
    for (uint32_t i = 0; i < t->count; i++) items[i] = (struct tres_amount){i, 0x1p53};
    for (enum billing_rule rule = BILLING_SUM; rule <= BILLING_MAX_TRES_GRES; rule++) {
        double billing = billing_of(t, &max, weights, rule);
        ensure(isfinite(billing));
        ensure(billing < 0.0 ? billing_recorded(billing) == 0 : (double)billing_recorded(billing) <= billing);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct tres_table t;
    struct err e = {0};
    double weights[TRES_MAX] = {77.0};
    struct str text, tracked = str_cut((struct str){(const char *)data, size}, '\n', &text);
    if (tres_table_make(&t, tracked, "field", &arena, NULL) == 0) {
        if (tres_weights_parse(&t, text, "field", weights, &e) != 0) {
            ensure(weights[0] >= 77.0 && weights[0] <= 77.0);
            ensure(e.code == ERR_INPUT && strncmp(ERR_SENTENCE(&e), "field: '", 8) == 0);
        } else {
            ensure(weights[TRES_BILLING] >= 0.0 && weights[TRES_BILLING] <= 0.0);
            check_reads_back(&t, weights);
            check_billing(&t, weights);
        }
    }
    arena_release(&arena);
    return 0;
}
