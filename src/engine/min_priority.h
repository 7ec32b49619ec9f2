/* INCR_ONLY: a waiting job's priority in a partition never falls below what a pass gave it there before.
 *
 *     pass                1     2     3     4     5
 *     computed          900  1000   950   970  1010
 *     floor, least      900  1000  1000  1000  1010     the largest so far: what the job has
 *     floor, stored       -     -  1000  1000  1000     binds from 3 on, so it is written there, once
 *
 * A floor that does not bind is what is computed anyway, and a restart computes it again; so only those that bind are in
 * the store, and a floor does not change while it binds. What is stored is never above what is kept.
 * Floors of a job go when it is held, has a priority by hand, or ends, a place's when the job leaves the partition; all go
 * when the flag or the model is changed, for they are not kept then.
 * Source: docs/formulas.md 4.1. */
#ifndef FAIRLEAD_ENGINE_MIN_PRIORITY_H
#define FAIRLEAD_ENGINE_MIN_PRIORITY_H

#include "engine/ranking.h"

/* Whether the model and its flags have floors. */
bool min_priority_is_kept(const struct state *s);

/* The priority, or the job's floor in that partition where that is above it and floors are kept. */
uint32_t min_priority_bound(const struct state *s, const struct job *j, uint32_t partition, uint32_t priority);

/* The priorities of all jobs that wait, as they are now, are what they have at least. Notes those that begin to bind, at
 * most FLOORS_A_PASS of them: a turn that writes 10^5 would hold the loop for 0.2 s. The others are in
 * force all the same, and are written by passes that are wanted FLOORS_PAUSE_US apart. */
enum { FLOORS_A_PASS = 2000 };
#define FLOORS_PAUSE_US (US_PER_S / 10)
void min_priority_raise_all(struct apply_context *t, const struct multifactor_context *m);

/* Nothing is kept of one job; of any. */
void min_priority_forget(struct apply_context *t, uint32_t job);
void min_priority_forget_all(struct apply_context *t);

/* To be called before a job is changed: what is stored of it is written anew from what is kept then. */
void min_priority_rewrite(struct apply_context *t, uint32_t job);

/* One that was stored, in memory again. False: the job is not in that partition. */
bool min_priority_set_stored(struct job *j, uint32_t partition, uint32_t priority);

/* Of a job that was changed, whose floors still stand by old's partitions: by its own from now on. */
void min_priority_carry(struct job *j, const struct job *old);

#endif
