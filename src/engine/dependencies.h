/* Jobs that wait for other jobs. What is given (fields/dependency_text.h) is resolved when it is given: names become
 * ids, what is met already is left out. The conditions that remain are in the job's row; one that is met later is
 * removed from it, so a restart and the end of the other job lose nothing.
 *
 * Invariants
 *   1. A condition that is not marked as failed is about a job that has not ended, or about a time.
 *   2. No job waits for itself, directly or by others.
 *
 * How a job ended that is not in memory any more is a fact that the event brings (event.ends). */
#ifndef FAIRLEAD_ENGINE_DEPENDENCIES_H
#define FAIRLEAD_ENGINE_DEPENDENCIES_H

#include "engine/apply.h"
#include "fields/dependency_text.h"

/* Appends the ids of the jobs about which an event needs facts to out_ids, in memory of arena: those that its
 * dependency names and that have ended and are not in memory. The number of ids is returned. O(length of the
 * dependency) */
uint32_t dependencies_list_ended(const struct state *s, const struct event *event, struct arena *arena,
                                 const uint32_t **out_ids);

/* Resolves the dependency that a submission or an update gives, and sets it in the row, in memory of the cycle. row:
 * as it will be, with its name and its tasks; id 0: a submission. user: the job's. ERR_INPUT, ERR_NOT_FOUND,
 * ERR_TOO_LARGE, ERR_CONFLICT: the job would wait for itself. */
int dependencies_resolve(struct apply_context *c, const struct event *event, const char *user, struct job *row);

/* ERR_CONFLICT if a job would wait for itself after an update. row: the job at index as it will be. */
int dependencies_check_circle(struct apply_context *c, uint32_t index, const struct job *row);

/* To be called for a job that is new, or has new conditions or a new name. old_name: NULL: the same. */
void dependencies_changed(struct apply_context *c, uint32_t index, const char *old_name);

/* To be called after each event: removes the conditions that it has met, and what follows from that. */
void dependencies_settle(struct apply_context *c);

/* After kill_invalid_depend was set: cancels the jobs that can never start. O(jobs) */
void dependencies_apply_rule(struct apply_context *c);

#endif
