/* When and where waiting jobs are expected to start, and what they wait for: a run over all jobs (engine/schedule.h),
 * with estimates for those without a reservation. */
#ifndef FAIRLEAD_API_SERVER_EXPECTED_STARTS_H
#define FAIRLEAD_API_SERVER_EXPECTED_STARTS_H

#include "base/arena.h"
#include "base/map.h"
#include "engine/state.h"

struct expected_start {
    int64_t start_us;      /* 0: not known */
    const char *places;    /* NULL: not known */
    const char *waits_for; /* "job 12", "jobs 12, 15 and 3 more", "can never run: ..."; NULL: not known */
};

struct expected_starts {
    struct expected_start *items;
    struct map by_job; /* job id -> index in items: of its task that starts first */
};

/* In memory of arena, except the map. O(jobs log jobs + tasks), and the cost of the run. */
void expected_starts_make(struct state *s, int64_t now_us, struct arena *arena, struct expected_starts *out);
void expected_starts_release(struct expected_starts *x);

/* NULL: nothing is known about the job. */
const struct expected_start *expected_starts_find(const struct expected_starts *x, uint32_t job_id);

#endif
