/* Current usage of associations and QOS, with running tasks charged up to the time of the question (invariant 5 of
 * state.h). Each function adds all tasks up, O(tasks); usage_sums.h has sums that are kept.
 *
 * Usage is of several kinds: of a TRES by its index, with billing as billing-seconds, or USAGE_WALL, the time of tasks
 * in seconds. All of them are multiplied with the usage factor. Source: docs/formulas.md 1.2, 3.4. */
#ifndef FAIRLEAD_ENGINE_USAGE_READ_H
#define FAIRLEAD_ENGINE_USAGE_READ_H

#include "engine/state.h"

enum usage_kind { USAGE_WALL = TRES_MAX, USAGE_KIND_COUNT };

/* The current usage of a kind by node of state_tree, each node with everything below it, in memory of arena.
 * O(associations + tasks). */
double *usage_read_below(struct state *s, uint32_t kind, int64_t now_us, struct arena *arena);

/* The same without what is below, as state_own_usage. */
double *usage_read_own(struct state *s, uint32_t kind, int64_t now_us, struct arena *arena);

/* The current usage of a QOS of every kind: of its jobs, and of tasks that started in a partition with this QOS. */
void usage_read_qos(const struct state *s, uint32_t qos, int64_t now_us, double out_usage[USAGE_KIND_COUNT]);

/* The rate of a task, in units a second, and the stored usage of a row. */
double usage_read_rate(const struct task *k, uint32_t kind);
double usage_read_assoc_stored(const struct assoc *a, uint32_t kind);
double usage_read_qos_stored(const struct object_row *qos, uint32_t kind);

/* The begin of the next charge of a task to a row that was last reset at reset_us. */
static inline int64_t usage_read_begin(const struct state *s, const struct task *k, int64_t reset_us)
{
    int64_t from_us = k->charged_us > reset_us ? k->charged_us : reset_us;
    return from_us > s->usage_reset_us ? from_us : s->usage_reset_us;
}

static inline bool usage_read_has_decay(const struct object_row *qos)
{
    return (qos->qos_flags & QOS_NO_DECAY) == 0;
}

/* The job of a live task. */
const struct job *usage_read_job(const struct state *s, const struct task *k);

/* Whether a live task is charged to the QOS. */
bool usage_read_is_of_qos(const struct state *s, const struct task *k, uint32_t qos);

#endif
