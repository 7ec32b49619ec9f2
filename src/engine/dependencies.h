/* Jobs that wait for other jobs. A dependency (fields/dependency_text.h) is resolved when it is given: names become
 * ids, and conditions that are already met are dropped. Each condition that remains is a row of its own in the store,
 * and is removed when it is met. So an end costs the same for every condition about it, however many others there are,
 * and a restart loses nothing.
 *
 * Invariants
 *   1. A condition that is left is about a job that has not ended, about a time, or about earlier jobs of the same
 *      name; or it is marked as failed.
 *   2. No job waits for itself, directly or by others.
 *
 * How a job ended that is not in memory any more is a fact that the event brings (event.ends). */
#ifndef FAIRLEAD_ENGINE_DEPENDENCIES_H
#define FAIRLEAD_ENGINE_DEPENDENCIES_H

#include "engine/apply.h"
#include "fields/dependency_text.h"

/* Lists the jobs about which an event needs facts, in memory of arena: those that its dependency names and that have
 * ended and are not in memory. Returns their number; out_ids: their ids in ascending order, if there are any.
 * O(length of the dependency x log) */
uint32_t dependencies_list_ended(const struct state *s, const struct event *event, struct arena *arena,
                                 const uint32_t **out_ids);

/* Resolves the dependency that a submission or an update gives, and sets it in the row, in memory of the cycle. row:
 * as it will be, with its name and its tasks; id 0: a submission. user: the job's. ERR_INPUT, ERR_NOT_FOUND,
 * ERR_TOO_LARGE, ERR_CONFLICT: the job would wait for itself. */
int dependencies_resolve(struct apply_context *c, const struct event *event, const char *user, struct job *row);

/* ERR_CONFLICT if a job would wait for itself after an update. row: the job at index as it will be. */
int dependencies_check_circle(struct apply_context *c, uint32_t index, const struct job *row);

/* To be called for a job that has new conditions, or none any more. O(conditions) */
void dependencies_set(struct apply_context *c, uint32_t index);

/* To be called for a job that is new, or has a new name, after dependencies_set. old_name: NULL: it is new. */
void dependencies_named(struct apply_context *c, uint32_t index, const char *old_name);

/* To be called after each event: removes the conditions that it has met, and what follows from that. */
void dependencies_settle(struct apply_context *c);

/* After kill_invalid_depend was set: cancels the jobs that can never start. O(jobs) */
void dependencies_apply_rule(struct apply_context *c);

#endif
