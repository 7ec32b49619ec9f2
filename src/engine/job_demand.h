/* What jobs ask of the scheduler (sched/demand.h), from what they request. Jobs with equal demands share one, so that
 * the scheduler knows that what did not fit for one does not fit for the next. */
#ifndef FAIRLEAD_ENGINE_JOB_DEMAND_H
#define FAIRLEAD_ENGINE_JOB_DEMAND_H

#include "engine/cluster_model.h"
#include "engine/partition_limits.h"
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
    struct map bare_by_key;             /* likewise without the quotas, of demands that have some -> kind */
    ARRAY(uint32_t) usual;              /* resources that jobs may need without a request */
    struct buf key;
    struct arena scratch;  /* of one job */
    const char *submitter; /* of a job that has no association yet; NULL: jobs have one */
    bool has_no_limits;    /* of partitions (partition_limits.h): a job that exceeds them waits until they change */
};

/* arena: of the demands. The state and the model live as long. */
void job_demands_begin(struct job_demands *d, const struct state *s, const struct cluster_model *m,
                       struct arena *arena);
void job_demands_end(struct job_demands *d);

/* The demand of each task of a job, in one of its partitions; NONE: in any of them. O(requests), and O(instances) for a
 * new kind. */
const struct demand *job_demand(struct job_demands *d, const struct job *j, uint32_t partition);

/* For how long a job is planned in one of its partitions; NONE: in any of them. TIMELINE_END: without an end. */
int64_t job_demands_planned_us(const struct job_demands *d, const struct job *j, uint32_t partition);

/* The demand of a task that runs, in its partition, until the end of its own time limit. */
const struct demand *job_demand_of_task(struct job_demands *d, const struct job *j, const struct task *k);

/* The time limit for which a job is planned so long. */
int64_t job_demands_limit_s(const struct job_demands *d, int64_t planned_for_us);

/* The user of a job, and its parallel environment, or a pattern for it; NULL: none. */
const char *job_demands_user(const struct job_demands *d, const struct job *j);
const char *job_demands_environment(const struct job_demands *d, const struct job *j);

/* Whether xuser_lists of a partition have the user. */
bool job_demand_is_refused_user(const struct job_demands *d, uint32_t partition, const char *user);

/* The first limit that keeps a job from a partition, whatever its hosts; from an instance of a partition that it may
 * use. only: the partition of its demand, or NONE. LIMIT_NONE: it may run there. */
enum place_limit job_demand_partition_limit(const struct job_demands *d, const struct job *j, uint32_t only,
                                            uint32_t partition);
enum place_limit job_demand_instance_limit(const struct job_demands *d, const struct job *j, bool is_serial,
                                           uint32_t instance);

#endif
