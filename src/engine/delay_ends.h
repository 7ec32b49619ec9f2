/* The ends of delays of requeued tasks (task_delays.h). */
#ifndef FAIRLEAD_ENGINE_DELAY_ENDS_H
#define FAIRLEAD_ENGINE_DELAY_ENDS_H

#include "engine/apply.h"

/* Drops the delays that have ended, and wants a pass when the next one ends. Returns whether tasks became ready. O(1),
 * and O(jobs) when a delay has ended. */
bool delay_ends_apply(struct apply_context *c);

#endif
