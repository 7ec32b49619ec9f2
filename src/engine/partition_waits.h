/* The partitions of a job in which nothing of it can start for now: by their state, or by a calendar. Grid Engine says
 * of both only that a queue instance is "temporarily not available". */
#ifndef FAIRLEAD_ENGINE_PARTITION_WAITS_H
#define FAIRLEAD_ENGINE_PARTITION_WAITS_H

#include "engine/state.h"

/* A sentence for each of them, in memory of the arena:
 *     partition 'late' has the state DOWN, in which nothing starts
 *     partition 'night' is closed by the calendar 'nights' until 2026-11-24T18:00:00Z
 * Returns their number. O(partitions of the job x closed times) */
uint32_t partition_waits_list(const struct state *s, const struct job *j, int64_t now_us, struct arena *arena,
                              const char ***out_sentences);

#endif
