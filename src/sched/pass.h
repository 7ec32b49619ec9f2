/* One scheduling pass over one host: who of the pending starts now. The best factor first, then the earlier submission,
 * then the lower id; each that fits starts; one that does not fit does not stop the ones behind it. (Reservations, which
 * keep a large job from being overtaken for ever, are a later policy.) */
#ifndef FAIRLEAD_SCHED_PASS_H
#define FAIRLEAD_SCHED_PASS_H

#include "base/arena.h"
#include "sched/host.h"

struct candidate {
    uint32_t job;   /* the caller's index */
    uint32_t tasks; /* how many of it may start at once, at least 1 */
    double factor;
    struct capacity request;
};

struct pass_start {
    uint32_t job;
    struct placement placement;
};

struct pass_starts {
    ARRAY(struct pass_start) list;
};

/* candidates: in order of submission, then id. Takes from h what starts, and appends to out_starts in
 * the order of starting. O(n) and a stable sort; ends early when no CPU is free. */
void pass_run(struct host *h, const struct candidate *candidates, uint32_t count, struct arena *cycle,
              struct pass_starts *out_starts);

#endif
