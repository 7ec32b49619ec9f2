/* Targets of the share tree: the fraction of its pool that each node with jobs gets. Private to the ticket policies of
 * this folder. */
#ifndef FAIRLEAD_POLICY_SHARE_TARGETS_H
#define FAIRLEAD_POLICY_SHARE_TARGETS_H

#include "policy/tickets.h"

/* Arrays by node. A node without jobs at or below it has 0 everywhere. */
struct share_targets {
    uint32_t *active_count;               /* jobs at or below the node */
    double *long_term, *short_term;       /* fractions among its siblings */
    double *overall_long, *overall_short; /* fractions of the whole tree */
};

/* Computes the targets of count nodes, in memory of arena. own_jobs: by node, the number of jobs that it serves itself.
 * O(n), with the manual's compensation rule O(n) sorts among siblings. Source: docs/formulas.md 5.3. */
void share_targets_compute(const struct ticket_rules *r, const struct ticket_node *nodes, uint32_t count,
                           const uint32_t *own_jobs, struct arena *arena, struct share_targets *out_targets);

/* The memory that share_targets_compute takes. */
size_t share_targets_memory(uint32_t count);

/* The node below which the pool is divided: the root, or the node that replaces it, which is its only active child, as
 * long as the root serves no jobs itself. O(n). */
uint32_t share_targets_top(const struct ticket_node *nodes, uint32_t count, const uint32_t *own_jobs,
                           const struct share_targets *targets);

#endif
