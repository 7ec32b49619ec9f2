/* Billing: the caller's list becomes a table of TRES, in which every entry has a type that has the same rule. */
#include "lib/fl_fault.h"
#include "lib/fl_tree.h"
#include "policy/billing.h"

static const enum tres_type type_of[] = {
    [FL_TRES_CPU] = TRES_TYPE_CPU,   [FL_TRES_MEM] = TRES_TYPE_MEM,       [FL_TRES_NODE] = TRES_TYPE_NODE,
    [FL_TRES_GRES] = TRES_TYPE_GRES, [FL_TRES_OTHER] = TRES_TYPE_LICENSE,
};
static const enum billing_rule rule_of[] = {
    [FL_BILLING_SUM] = BILLING_SUM,
    [FL_BILLING_MAX_TRES] = BILLING_MAX_TRES,
    [FL_BILLING_MAX_TRES_GRES] = BILLING_MAX_TRES_GRES,
};

/* Entry i is at TRES_STATIC_COUNT + i, because the indices before it have a meaning. */
_Static_assert(TRES_STATIC_COUNT + FL_TRES_MAX <= TRES_MAX, "a list fits in a table");

static int check_tres(const struct fl_tres *tres, uint32_t count, struct fl_fault *fault)
{
    for (uint32_t i = 0; i < count; i++) {
        if (tres[i].kind > FL_TRES_OTHER) return fl_fault_at(fault, FL_EOPTION, "tres.kind", i);
        if (tres[i].reserved != 0) return fl_fault_at(fault, FL_ERESERVED, "tres.reserved", i);
        if (!fl_is_amount(tres[i].amount, USAGE_AMOUNT_MAX)) return fl_fault_at(fault, FL_EAMOUNT, "tres.amount", i);
        double weight = tres[i].weight;
        if (!fl_is_amount(weight < 0 ? -weight : weight, USAGE_AMOUNT_MAX))
            return fl_fault_at(fault, FL_EAMOUNT, "tres.weight", i);
    }
    return fl_fault_at(fault, FL_OK, NULL, 0);
}

int fl_job_bill(const struct fl_tres *tres, uint32_t count, int rule, struct fl_bill *out_bill, double *out_terms,
                struct fl_fault *fault)
{
    if (out_bill == NULL) return fl_fault_at(fault, FL_ENULL, "out_bill", 0);
    if (tres == NULL && count > 0) return fl_fault_at(fault, FL_ENULL, "tres", 0);
    if (count > FL_TRES_MAX) return fl_fault_at(fault, FL_EFULL, "count", 0);
    if (rule < FL_BILLING_SUM || rule > FL_BILLING_MAX_TRES_GRES) return fl_fault_at(fault, FL_EOPTION, "rule", 0);
    int result = check_tres(tres, count, fault);
    if (result != FL_OK) return result;

    struct tres_table table = {.count = TRES_STATIC_COUNT + count};
    struct tres_amount amounts[FL_TRES_MAX];
    double weights[TRES_MAX] = {0};
    struct fl_bill bill = {.max_tres = FL_NONE};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = TRES_STATIC_COUNT + i;
        table.items[index].type = type_of[tres[i].kind];
        weights[index] = tres[i].weight;
        amounts[i] = (struct tres_amount){.tres = index, .amount = tres[i].amount};
        double term = tres[i].amount * tres[i].weight;
        if (out_terms != NULL) out_terms[i] = term;
        if (!billing_is_in_maximum(&table.items[index], rule_of[rule])) {
            bill.sum_part += term;
        } else if (term > bill.max_part) {
            bill.max_part = term;
            bill.max_tres = i;
        }
    }
    struct tres_list list = {.items = amounts, .count = count};
    bill.rate = billing_of(&table, &list, weights, rule_of[rule]);
    bill.recorded = billing_recorded(bill.rate);
    *out_bill = bill;
    return FL_OK;
}
