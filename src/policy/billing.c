/* Amounts are multiplied by their weights and added in index order, so that every caller gets the same number for the
 * same job, to the last bit. */
#include "policy/billing.h"

/* The largest double below 2^64. */
#define RECORDED_MAX 18446744073709549568.0

bool billing_is_in_maximum(const struct tres *t, enum billing_rule rule)
{
    switch (t->type) {
    case TRES_TYPE_CPU:
    case TRES_TYPE_MEM:
    case TRES_TYPE_NODE: return rule != BILLING_SUM;
    case TRES_TYPE_GRES: return rule == BILLING_MAX_TRES;
    default: return false;
    }
}

double billing_of(const struct tres_table *t, const struct tres_list *amounts, const double *weights,
                  enum billing_rule rule)
{
    if (weights == NULL) return tres_amount_of(amounts, TRES_CPU);
    double max = 0.0, sum = 0.0;
    for (uint32_t i = 0; i < amounts->count; i++) {
        const struct tres_amount *a = &amounts->items[i];
        double weighted = a->amount * weights[a->tres];
        if (a->tres == TRES_BILLING) continue;
        if (!billing_is_in_maximum(&t->items[a->tres], rule)) {
            sum += weighted;
        } else if (weighted > max) {
            max = weighted;
        }
    }
    return max + sum;
}

uint64_t billing_recorded(double billing)
{
    if (!(billing > 0.0)) return 0;
    return (uint64_t)(billing < RECORDED_MAX ? billing : RECORDED_MAX);
}
