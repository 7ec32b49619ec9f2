/* INCR_ONLY: the priority of a pending job in a partition never decreases. The largest priority that a pass computed so
 * far is the job's minimum priority there.
 *
 *     pass                          1     2     3     4     5
 *     computed priority           900  1000   950   970  1010
 *     minimum priority, kept      900  1000  1000  1000  1010
 *     minimum priority, stored      -     -  1000  1000  1000     it binds from pass 3 on, so pass 3 stores it, once
 *
 * A minimum binds while the computed priority is below it. Only minimums that bind are stored, because a restart
 * computes the others again. A minimum does not change while it binds, and the stored value never exceeds the kept one.
 * The minimums of a job are forgotten when the job is held or ends, and when an update changes a field on which the sum
 * depends (nice, QOS, partitions, CPUs ...), because in Slurm only a recalculation keeps the larger priority; all of
 * them when the flag or the model is changed. Other changes of a job (its name, its comment) keep them. Source:
 * docs/formulas.md 4.1. */
#ifndef FAIRLEAD_ENGINE_MIN_PRIORITY_H
#define FAIRLEAD_ENGINE_MIN_PRIORITY_H

#include "engine/ranking.h"

/* Whether the model and its flags keep minimum priorities. */
bool min_priority_is_kept(const struct state *s);

/* The priority, or the job's minimum priority in that partition if it is larger and minimums are kept. O(the job's
 * partitions). */
uint32_t min_priority_bound(const struct state *s, const struct job *j, uint32_t partition, uint32_t priority);

/* Raises the minimum priorities of all pending jobs to their current priorities. Stores those that begin to bind, about
 * MIN_PRIORITIES_WRITTEN_MAX at most, because a turn that writes 10^5 would take 0.2 s. The others apply too, and are
 * stored by the next passes, which are MIN_PRIORITY_PAUSE_US apart. O(jobs). */
enum { MIN_PRIORITIES_WRITTEN_MAX = 2000 };
#define MIN_PRIORITY_PAUSE_US (US_PER_S / 10)
void min_priority_raise_all(struct apply_context *c, const struct multifactor_context *m);

/* Forgets the minimum priorities of one job, or of all jobs, also in the store. */
void min_priority_forget(struct apply_context *c, uint32_t job);
void min_priority_forget_all(struct apply_context *c);

/* To be called before an update replaces a job by row, which is a changed copy. Forgets the minimums, of row too, if
 * the sum depends on what is changed; otherwise row keeps them. O(partitions + requests of the job). */
void min_priority_update(struct apply_context *c, uint32_t job, struct job *row);

/* Sets a minimum from the store. False: the job is not in that partition. */
bool min_priority_set_stored(struct job *j, uint32_t partition, uint32_t priority);

#endif
