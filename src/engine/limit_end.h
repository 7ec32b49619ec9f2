/* Without `safe`, running tasks end when the usage that they add to has reached GrpTRESMins or GrpWall: state TIMEOUT.
 *
 * A look goes from the limits to the tasks: first the usage of associations and QOS is held against their limits. Only
 * if one has reached its limit, and tasks that add to it run, the running tasks are gone through. A task counts by the
 * TRES that it is charged with. A turn checks and ends a limited number of tasks, and the next turn goes on.
 *
 * Source: docs/formulas.md 9; Slurm 22.05.8, which looks every 30 s. bench/bench_limit_end.c has the times. */
#ifndef FAIRLEAD_ENGINE_LIMIT_END_H
#define FAIRLEAD_ENGINE_LIMIT_END_H

#include "engine/apply.h"

enum {
    LIMIT_END_S = 30,
    LIMIT_END_TASKS_MAX = 1000,  /* that one turn ends */
    LIMIT_END_CHECKS_MAX = 4000, /* and that it holds against their limits one by one */
    LIMIT_END_PAUSE_MS = 10      /* until the next turn goes on */
};

/* Ends tasks whose limits are used up, if it is time to look, and makes a pass due for the next look. O(limits of
 * usage) every LIMIT_END_S, and O(running tasks) when running tasks have used one up. */
void limit_end_tasks(struct apply_context *c);

#endif
