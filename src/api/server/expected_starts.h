/* When and where waiting jobs are expected to start, and what they wait for: a run over all jobs (engine/schedule.h),
 * with estimates for those without a reservation. */
#ifndef FAIRLEAD_API_SERVER_EXPECTED_STARTS_H
#define FAIRLEAD_API_SERVER_EXPECTED_STARTS_H

#include "base/arena.h"
#include "base/map.h"
#include "engine/state.h"

struct expected_start {
    uint32_t job_id;
    int64_t start_us;       /* 0: not known */
    const char *places;     /* NULL: not known */
    const char *waits_for;  /* "job 12", "jobs 12, 15 and 3 more", "partition main to open"; NULL: not known */
    const char *never_runs; /* "can never run: ..."; NULL: it can */
};

struct expected_starts {
    struct expected_start *items;
    uint32_t count;
    struct map by_job;    /* job id -> index in items: of its task that starts first */
    uint32_t next_job_id; /* jobs from this id on are not in it */
    uint32_t references;
    struct arena arena;
};

/* With one reference. O(jobs log jobs + tasks), and the cost of the run. */
struct expected_starts *expected_starts_new(struct state *s, int64_t now_us);

/* Writes it down; and makes it of that text, which the same program has written. */
void expected_starts_write(const struct expected_starts *x, struct buf *out);
struct expected_starts *expected_starts_read(struct str text);

/* One more reference. */
struct expected_starts *expected_starts_share(struct expected_starts *x);
void expected_starts_release(struct expected_starts *x); /* gives a reference back; NULL is allowed */

/* NULL: nothing is known about the job. */
const struct expected_start *expected_starts_find(const struct expected_starts *x, uint32_t job_id);

#endif
