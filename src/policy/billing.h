/* Billing: how many units a second a job costs. Usage counts the unrounded number; records and limits have its whole
 * part.
 *
 *     sum            of amount x weight over all TRES but billing
 *     MAX_TRES       the largest amount x weight of cpu, mem, node and every gres (at least 0), plus the sum of all
 *                    others
 *     MAX_TRES_GRES  the largest amount x weight of cpu, mem and node (at least 0), plus the sum of all others
 *
 * A partition without weights bills the CPUs. As soon as it has a weight, a TRES that is not named weighs nothing, and
 * that includes CPUs. Negative weights may make a sum negative; records and usage then have 0. Source: docs/formulas.md
 * 3.3; Slurm 22.05.8, cases billing-*. */
#ifndef FAIRLEAD_POLICY_BILLING_H
#define FAIRLEAD_POLICY_BILLING_H

#include "policy/tres.h"

enum billing_rule { BILLING_SUM, BILLING_MAX_TRES, BILLING_MAX_TRES_GRES };

/* Billing units a second for the TRES that a job has or requests; 0 for an empty list. weights: by index of TRES, or
 * NULL if the partition has none. O(amounts). */
double billing_of(const struct tres_table *t, const struct tres_list *amounts, const double *weights,
                  enum billing_rule rule);

/* Whether a TRES counts in the maximum rather than in the sum. */
bool billing_is_in_maximum(const struct tres *t, enum billing_rule rule);

/* The number that records have: the whole part, at least 0. */
uint64_t billing_recorded(double billing);

#endif
