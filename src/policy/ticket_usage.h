/* What the share tree counts: usage of a user, of a user in a project, of a project, resource by resource, and how it
 * fades. It belongs to the user and the project, not to a node of the tree, so it outlives the node.
 *
 *     combined  =  sum of used_r w_r / sum of w            over usage_weight_list
 *     after dt seconds:  used_r c^(dt/60),  c = 1 - ln 2 / H      H: the half-life in minutes
 *
 * The program's c is a little less than an exact half per half-life; halftime_rule = exact makes c 2^(-1/H).
 * Source: docs/formulas.md 5; Grid Engine 8.1.9, cases c1, c3, c6. */
#ifndef FAIRLEAD_POLICY_TICKET_USAGE_H
#define FAIRLEAD_POLICY_TICKET_USAGE_H

#include <stdint.h>

#include "base/str.h"

enum usage_resource { USAGE_CPU, USAGE_MEM, USAGE_IO, USAGE_FINISHED_JOBS, USAGE_RESOURCE_COUNT };

/* "cpu", "mem", "io", "finished_jobs": CPU-seconds, GiB-seconds, GiB, jobs. */
extern const char *const usage_resource_names[USAGE_RESOURCE_COUNT];
enum usage_resource usage_resource_find(struct str name); /* USAGE_RESOURCE_COUNT: none */

struct ticket_usage {
    double used[USAGE_RESOURCE_COUNT];
};

enum decay_rule { DECAY_PROGRAM, DECAY_EXACT };

/* How usage fades, by resource. minutes: above 0 a half-life, 0 never, below 0 gone at once. */
struct ticket_decay {
    enum decay_rule rule;
    double minutes[USAGE_RESOURCE_COUNT];
};

/* What is left of a unit after a minute, c; 0 at half-lives below 0, and by the program's rule at ln 2 minutes and less. */
double ticket_decay_minute(const struct ticket_decay *d, enum usage_resource r);

/* What a resource's usage is multiplied with after elapsed_s (0 or less: 1). */
double ticket_decay_factor(const struct ticket_decay *d, enum usage_resource r, double elapsed_s);

/* The charge of a rate (units a second) over elapsed_s, as it reads at the end, in closed form: the integral of the
 * factor above. What a run every few seconds approaches. */
double ticket_decay_charge(const struct ticket_decay *d, enum usage_resource r, double rate, double elapsed_s);

/* Combined usage; 0 when all weights are 0. */
double ticket_usage_combine(const double weights[USAGE_RESOURCE_COUNT], const struct ticket_usage *u);

#endif
