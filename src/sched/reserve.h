/* When a job can start at the earliest, and where.
 *
 *     booked on n1 (4 slots)   [0, 20) 4    [20, 120) 4    [130, 140) 2
 *     3 slots for 10 s         gaps used: 120       not used: 140
 *
 * Without gaps is Grid Engine's reading: the start is the earliest one from which on the resources stay free. Source:
 * docs/formulas.md 7. */
#ifndef FAIRLEAD_SCHED_RESERVE_H
#define FAIRLEAD_SCHED_RESERVE_H

#include "sched/place.h"

enum reserve_search { RESERVE_WITHOUT_GAPS, RESERVE_IN_GAPS };

/* The earliest start at from_us or later, and the allocation from then on. TIMELINE_END: there is none, and
 * out_allocation is untouched. */
int64_t reserve_job(const struct cluster *c, const struct demand *d, enum reserve_search search, int64_t from_us,
                    struct arena *arena, struct allocation *out_allocation);

#endif
