/* Quarantine: what happens to the rows of a state that may not be the only one, or may lack commits. Other programs may
 * have started its jobs, so every job that waits is held until a person releases it. Tasks that were live end as
 * NODE_FAIL unless the executor knows their launch (event_synced.elsewhere). Jobs that are submitted later are as
 * ever. */
#ifndef FAIRLEAD_ENGINE_QUARANTINE_H
#define FAIRLEAD_ENGINE_QUARANTINE_H

#include "engine/apply.h"

/* How many jobs the quarantine still holds. 0 without one. O(jobs). */
uint32_t quarantine_held_count(const struct state *s);

/* Holds a job as an operator does, and remembers who held it before (enum job_quarantine): a release of all jobs gives
 * it back to them. Returns whether no quarantine held it before. */
bool quarantine_hold_job(struct apply_context *c, uint32_t index);

#endif
