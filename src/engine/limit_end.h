/* Without `safe`, running tasks end when the usage that they add to has reached GrpTRESMins or GrpWall: state TIMEOUT.
 *
 * A check begins with the limits: it compares the usage of associations and QOS with them. Only if one has reached its
 * limit, and tasks that add to it run, the check goes through the running tasks. A task counts by the TRES that it is
 * charged with. A turn checks and ends a limited number of tasks, and the next turn continues.
 *
 * Source: docs/formulas.md 9; Slurm 22.05.8, which checks every 30 s. bench/bench_limit_end.c has the times. */
#ifndef FAIRLEAD_ENGINE_LIMIT_END_H
#define FAIRLEAD_ENGINE_LIMIT_END_H

#include "engine/apply.h"

enum {
    LIMIT_END_S = 30,
    LIMIT_END_TASKS_MAX = 1000,  /* that one turn ends */
    LIMIT_END_CHECKS_MAX = 4000, /* and that it compares with their limits one by one */
    LIMIT_END_PAUSE_MS = 10      /* until the next turn continues */
};

/* Ends tasks whose limits are used up, if a check is due, and makes a pass due for the next check. O(limits of usage)
 * every LIMIT_END_S, and O(running tasks) when running tasks have used one up. */
void limit_end_tasks(struct apply_context *c);

#endif
