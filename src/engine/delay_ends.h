/* The ends of delays of requeued tasks (task_delays.h). */
#ifndef FAIRLEAD_ENGINE_DELAY_ENDS_H
#define FAIRLEAD_ENGINE_DELAY_ENDS_H

#include "engine/state.h"

/* Makes the tasks ready whose delay has ended, and a pass due for them. O(1), and O(jobs) when a delay may have
 * ended. */
void delay_ends_apply(struct state *s, int64_t now_us);

#endif
