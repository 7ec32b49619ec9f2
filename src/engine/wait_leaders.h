/* The first job of each partition that waits for resources, in the order of priorities: the reason of the jobs behind
 * it is Priority, as in Slurm. Only of the models whose order is one for all jobs (multifactor, basic); with tickets
 * any job that fits starts, unless it delays a reservation.
 *
 *     partition main   17 (priority 900)  Resources
 *                      21, 30 ...         Priority
 *
 * Derived from the groups of waiting jobs (engine/pending.h), on demand and for all partitions at once, and kept until
 * it is made again, so that a listing asks for each row in O(partitions of the job). Source: Slurm 22.05.8, squeue. */
#ifndef FAIRLEAD_ENGINE_WAIT_LEADERS_H
#define FAIRLEAD_ENGINE_WAIT_LEADERS_H

#include "engine/state.h"

struct wait_leaders {
    uint32_t *job_ids; /* by partition; 0: none waits */
    uint32_t partition_count;
    int64_t now_us;
    const double *factors; /* by node of the tree; NULL: no QOS insists on a factor */
    uint32_t factor_count;
    struct arena arena;
};

/* factors: by node of the tree, for the multifactor model. O(groups + partitions); most groups cost one
 * comparison with their bound (engine/pending_order.h). */
void wait_leaders_update(struct state *s, int64_t now_us, const double *factors);

/* Makes what that keeps of each group, of at most max groups of which it is not made yet: the first update after 10^5
 * jobs were loaded or released would make it of all of their groups at once. Changes nothing that an update or a pass
 * finds. O(groups to pass over + those made) */
void wait_leaders_prepare(struct state *s, int64_t now_us, uint32_t max);
void wait_leaders_free(struct wait_leaders *l); /* NULL is allowed */

/* As of the last update: whether another job is before a job in a partition, and whether its association's factor there
 * is too low for its QOS. */
bool wait_leaders_is_before(const struct state *s, const struct job *j, uint32_t partition);
bool wait_leaders_has_low_factor(const struct state *s, const struct job *j, uint32_t partition);

#endif
