/* Limits in a plan (engine/schedule.h): tasks that the plan starts count, until the plan is made. */
#ifndef FAIRLEAD_ENGINE_LIMIT_PLAN_H
#define FAIRLEAD_ENGINE_LIMIT_PLAN_H

#include "engine/limit_place.h"

struct limit_plan {
    struct limit_places places;
    struct limit_counts *counts; /* NULL: no limit is enforced */
    ARRAY(uint32_t) planned;
};

/* arena: of restricted demands. The model lives as long. */
void limit_plan_begin(struct limit_plan *p, struct state *s, const struct cluster_model *model, struct arena *arena,
                      int64_t now_us);

/* The demand of a task of a job in a partition (NONE: in its first one) as limits let it be placed; NULL: it waits. */
const struct demand *limit_plan_place(const struct limit_plan *p, const struct job *j, uint32_t partition,
                                      const struct demand *d);

/* Counts a task that starts. */
void limit_plan_start(struct limit_plan *p, const struct job *j, const struct allocation *a);

/* Takes all tasks back. */
void limit_plan_end(struct limit_plan *p);

#endif
