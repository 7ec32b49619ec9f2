/* Billing: how many units a second a job costs. Usage counts the unrounded number, records and limits the whole part.
 *
 *     sum            of amount x weight over all TRES but billing
 *     MAX_TRES       the largest of cpu, mem, node and every gres (at least 0), and the sum of all others
 *     MAX_TRES_GRES  the largest of cpu, mem and node (at least 0), and the sum of all others
 *
 * A partition without weights bills the CPUs. Once it has any weight, what is not named weighs nothing, CPUs too.
 * Negative weights may make a sum negative; in records and in usage that is 0.
 * Source: docs/formulas.md 3.3; Slurm 22.05.8, cases billing-*. */
#ifndef FAIRLEAD_POLICY_BILLING_H
#define FAIRLEAD_POLICY_BILLING_H

#include "policy/tres.h"

enum billing_rule { BILLING_SUM, BILLING_MAX_TRES, BILLING_MAX_TRES_GRES };

/* Billing units a second of what a job has or asks for; 0 for an empty list. weights: by index of TRES, or NULL: the
 * partition has none. */
double billing_of(const struct tres_table *t, const struct tres_list *amounts, const double *weights,
                  enum billing_rule rule);

/* As records have it: the whole part, at least 0. */
uint64_t billing_recorded(double billing);

#endif
