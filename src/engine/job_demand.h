/* What jobs ask of the scheduler (sched/demand.h), from what they request. Jobs with equal demands share one, so that
 * the scheduler knows that what did not fit for one does not fit for the next. */
#ifndef FAIRLEAD_ENGINE_JOB_DEMAND_H
#define FAIRLEAD_ENGINE_JOB_DEMAND_H

#include "engine/cluster_model.h"
#include "fields/setting_text.h"
#include "sched/demand.h"

struct job_demands {
    const struct state *s;
    const struct cluster_model *m;
    struct arena *arena;
    struct schedule_params params;
    ARRAY(const struct demand *) list;  /* by shape */
    ARRAY(const struct demand *) kinds; /* by kind: the first one */
    struct map by_key;                  /* what the demand depends on -> shape */
    struct map by_kind_key;             /* likewise without the duration -> kind */
    ARRAY(uint32_t) usual;              /* resources that jobs may need without a request */
    struct buf key;
    struct arena scratch; /* of one job */
};

/* arena: of the demands. The state and the model live as long. */
void job_demands_begin(struct job_demands *d, const struct state *s, const struct cluster_model *m,
                       struct arena *arena);
void job_demands_end(struct job_demands *d);

/* The demand of each task of a job, in one of its partitions; NONE: in any of them. O(requests), and O(instances) for a
 * new kind. */
const struct demand *job_demand(struct job_demands *d, const struct job *j, uint32_t partition);

#endif
