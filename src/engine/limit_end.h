/* Without `safe`, running tasks end when the usage that they add to has reached GrpTRESMins or GrpWall: state TIMEOUT.
 * Source: docs/formulas.md 9; Slurm 22.05.8, which looks every 30 s. */
#ifndef FAIRLEAD_ENGINE_LIMIT_END_H
#define FAIRLEAD_ENGINE_LIMIT_END_H

#include "engine/apply.h"

/* Ends the tasks whose limits are used up, if it is time to look, and makes a pass due for the next look. O(running
 * tasks x depth of the tree) every LIMIT_END_S. */
enum { LIMIT_END_S = 30 };
void limit_end_tasks(struct apply_context *c);

#endif
