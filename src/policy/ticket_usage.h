/* The usage that the share tree counts, by resource, and its decay. It belongs to a user, to a user in a project, or to
 * a project, not to a node of the tree, so it outlives the node.
 *
 *     combined  =  sum of used_r w_r / sum of w            over usage_weight_list, with unknown resources
 *     after dt seconds:  used_r c^(dt/60),  c = 1 - ln 2 / H      H: the half-life in minutes
 *
 * The program's c leaves a little less than a half after a half-life. With halftime_rule = exact c is 2^(-1/H).
 * Source: docs/formulas.md 5.2; Grid Engine 8.1.9, cases c1, c3, c6. */
#ifndef FAIRLEAD_POLICY_TICKET_USAGE_H
#define FAIRLEAD_POLICY_TICKET_USAGE_H

#include <stdint.h>

#include "fields/setting_text.h"

struct ticket_usage {
    double used[USAGE_RESOURCE_COUNT];
};

enum decay_rule { DECAY_PROGRAM, DECAY_EXACT };

/* The decay of usage by resource. minutes: the half-life if above 0; 0: no decay; below 0: decay at once. */
struct ticket_decay {
    enum decay_rule rule;
    double minutes[USAGE_RESOURCE_COUNT];
};

/* c, the fraction that is left after a minute. 0 for half-lives below 0, and by the program's rule for ln 2 minutes or
 * less. */
double ticket_decay_minute(const struct ticket_decay *d, enum usage_resource r);

/* The factor of a resource's decay after elapsed_s; 1 for 0 and less. */
double ticket_decay_factor(const struct ticket_decay *d, enum usage_resource r, double elapsed_s);

/* The factors of all resources. Most resources have the same half-life, so this is cheaper than one call for each. */
void ticket_decay_factors(const struct ticket_decay *d, double elapsed_s, double out_factors[USAGE_RESOURCE_COUNT]);

/* The charge of a rate (units a second) over elapsed_s, as of the end. In closed form: the integral of the factor
 * above, which the program approximates every few seconds. */
double ticket_decay_charge(const struct ticket_decay *d, enum usage_resource r, double rate, double elapsed_s);

/* Combined usage; 0 when all weights are 0. */
double ticket_usage_combine(const struct usage_weights *weights, const struct ticket_usage *u);

#endif
