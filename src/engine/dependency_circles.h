/* Whether jobs would wait for each other in a circle. */
#ifndef FAIRLEAD_ENGINE_DEPENDENCY_CIRCLES_H
#define FAIRLEAD_ENGINE_DEPENDENCY_CIRCLES_H

#include "engine/state.h"

/* Appends a circle that the job at index would be in with the conditions and the name of row: "3 waits for 5, 5 waits
 * for 3"; returns whether there is one. Only an update can make one, because no other job knows a new job's id. Memory
 * of the cycle. O(jobs + conditions) */
bool dependency_circles_find(struct state *s, uint32_t index, const struct job *row, struct buf *out_text);

#endif
