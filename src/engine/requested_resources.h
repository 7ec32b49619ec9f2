/* Standard resources (fields/standard_resources.h) that a job requests. One that this machine reports as a load value,
 * or the name of a host or a queue, becomes a row with its first request, as an administrator would have defined it:
 * jobs refer to resources by row. */
#ifndef FAIRLEAD_ENGINE_REQUESTED_RESOURCES_H
#define FAIRLEAD_ENGINE_REQUESTED_RESOURCES_H

#include "engine/handlers.h"

/* To be called before a submission or an update is read: adds the rows that it lacks. Returns how many. */
uint32_t requested_resources_add(struct apply_context *c, const struct job_values *given);

/* To be called with that number once it is decided: notes the rows, or removes them if it was refused. */
void requested_resources_settle(struct apply_context *c, uint32_t added, bool is_refused);

#endif
