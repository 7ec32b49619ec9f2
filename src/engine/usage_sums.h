/* Current usage of associations with everything below them, and of QOS, in O(1): sums that are kept, for limits that
 * ask in every pass, and for listings.
 *
 *     usage now   =   stored usage x decay   +   charges of running tasks since they were last charged
 *                     of all rows below          two sums of rates: usage_rates (policy/usage.h)
 *
 * Sums of a kind (usage_read.h) exist from its first question on. Starts, ends and charges of tasks update them along
 * the accounts above: O(depth x kinds). Everything else that changes usage (resets, rules of decay, moved and deleted
 * accounts) makes the sums invalid, and the next question rebuilds them, O(kinds x (associations + tasks)). It also
 * rebuilds them after as many changes as there are rows, which bounds their rounding error: 1e-9 of the usage that the
 * tasks would have after a half-life. Whole amounts without decay are exact.
 *
 * The sums are derived: a restart rebuilds them. The law: they are those of usage_read.h
 * (property/test_engine_store.c, unit/test_usage_sums.c). bench/bench_usage_sums.c has the times. Internal to the
 * engine. */
#ifndef FAIRLEAD_ENGINE_USAGE_SUMS_H
#define FAIRLEAD_ENGINE_USAGE_SUMS_H

#include "engine/usage_read.h"

struct usage_sums;

/* The usage of an association (by index, not deleted) with everything below it, or of a QOS. kind: as in usage_read.h:
 * TRES-seconds, billing-seconds, or with USAGE_WALL seconds. */
double usage_sums_below(struct state *s, uint32_t assoc, uint32_t kind, int64_t now_us);
double usage_sums_qos(struct state *s, uint32_t qos, uint32_t kind, int64_t now_us);

/* For listings: the usage of associations (by index, not deleted) with everything below them, of each TRES of the
 * policy: out_usage[i x policy.tres.count + tres]. And the usage of a QOS of every kind, 0 of those that are not
 * counted. O(count x kinds); if there are further kinds, the sums are made anew once for all of them. */
void usage_sums_list(struct state *s, const uint32_t *assocs, uint32_t count, int64_t now_us, double *out_usage);
void usage_sums_qos_list(struct state *s, uint32_t qos, int64_t now_us, double out_usage[USAGE_KIND_COUNT]);

/* To be called after a task has started, and before it ends; and before and after its charge. O(depth x kinds). */
void usage_sums_add_task(struct state *s, const struct task *k);
void usage_sums_remove_task(struct state *s, const struct task *k);
void usage_sums_begin_charge(struct state *s, const struct task *k);
void usage_sums_end_charge(struct state *s, const struct task *k);

/* To be called after any other change of stored usage, of a reset or of a rule of decay. */
void usage_sums_invalidate(struct state *s);
void usage_sums_free(struct usage_sums *sums);

#endif
