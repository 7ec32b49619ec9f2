/* Priorities and their terms, by the configured model: of every pending job in each of its partitions, and, in the
 * tickets model and with CALCULATE_RUNNING, of every running task. The pass sorts by the same numbers; `fairlead prio`
 * shows these rows. */
#ifndef FAIRLEAD_ENGINE_PRIORITIES_H
#define FAIRLEAD_ENGINE_PRIORITIES_H

#include "engine/state.h"
#include "fields/pending_reason.h"

/* A job in one partition; or a running task. */
struct priority_row {
    uint32_t job;       /* index */
    uint32_t task;      /* index of a running task, or NONE */
    uint32_t partition; /* index of objects[OBJECT_PARTITION] */
    bool is_eligible;   /* it runs, or may start now (not held, begin time passed); sprio lists only eligible jobs */
    uint32_t rank;      /* of its job among those that wait and are eligible: 1 starts first; 0: it has none */
    double priority; /* the highest one is first: a whole number in multifactor and basic, prior in tickets; 0: held */
    bool keeps_last_values; /* suspended by hand (tickets): Grid Engine shows its last values; they are not stored */
    double billing;         /* in that partition, units a second: of the running task, or of one that would start now */
    /* Those of the model; the others are 0. */
    struct multifactor_factors factors;
    struct multifactor_terms terms;
    double *tres_terms; /* weighted, by index of policy.tres, TRES_MAX entries; NULL: none */
    struct tickets tickets;
    struct urgency urgency;
    double norm_tickets, norm_urgency, norm_posix;
};

struct priorities {
    enum priority_model model;
    struct priority_row *rows; /* by job, then in the order of the job's partitions; running tasks after pending */
    uint32_t count;
};

/* The priorities of all jobs; job_id not NONE: only the rows of that job, with the same numbers. In memory of arena.
 *   tickets      a pending array has the numbers of its first pending task. A job with several partitions has the same
 *                numbers in each; the first partition is its job class. A job that is held, or begins later, has zeros.
 *   INCR_ONLY    priority is at least the minimum priority, so it may be larger than terms.priority. Reading raises no
 *                minimum.
 *   basic        the order of ids is the order of submission.
 *   rank         by the tier of the partition (not in tickets), the priority, then the id, of the job's best row. Only
 *                if all jobs are listed; in O(rows log rows).
 * O(jobs + rows + resources x tracked TRES) in basic, with a job_id, too; in addition the costs of state_factors and
 * multifactor_context_make in multifactor, of ticket_snapshot_make and ticket_ranks_make in tickets
 * (engine/ranking.h). */
void state_priorities(struct state *s, int64_t now_us, uint32_t job_id, struct arena *arena,
                      struct priorities *out_priorities);

/* If the tickets model would rank more tasks than this, it ranks fewer tasks of each array of an instance; a document
 * with more is refused. */
enum { TICKET_ENTRIES_MAX = 1000000 };

/* The maximum number of pending tasks of one array that the tickets model ranks. O(1), of a document O(hosts +
 * tasks). */
uint32_t ticket_snapshot_tasks_max(const struct state *s);

/* The reason why a job waits, if it is another one than that resources are missing: that of a limit of its first
 * partition (partition_limits.h), if none admits it, PENDING_INVALID_QOS (its QOS was taken away from its association),
 * PENDING_BAD_CONSTRAINTS (it can never run as the cluster is), PENDING_PARTITION_DOWN and PENDING_PARTITION_INACTIVE
 * (by their states), that of a limit (job_limit_find), PENDING_PARTITION_CLOSED (its partitions are closed, or close
 * before it would end), PENDING_QOS_USAGE_THRESHOLD, PENDING_REQ_NODE_NOT_AVAIL (only drained hosts or those that are
 * down could take it), PENDING_ARRAY_TASK_LIMIT (also of max_aj_instances), PENDING_USER_JOBS_LIMIT (maxujobs),
 * PENDING_QUOTA_LIMIT (a resource quota), PENDING_LAUNCH_FAILURE (the machine can start nothing) or PENDING_PRIORITY
 * (another job waits before it: engine/wait_leaders.h). PENDING_NONE: there is none, or no such job. factor: the
 * highest fair-share factor of its associations in its partitions. O(partitions of the job + requests), and
 * O(instances) for a job unlike those before it, or one that quotas by instance keep back everywhere. */
enum pending_reason job_pending_reason(struct state *s, uint32_t job_id, double factor, int64_t now_us);

struct limit_hit;

/* Finds the limit (engine/limits.h) that keeps a job waiting in all of its partitions: that of the first one. Returns
 * false if there is none. */
bool job_limit_find(struct state *s, const struct job *j, int64_t now_us, struct limit_hit *out_hit);

/* The same while nothing runs: a limit that the job exceeds by itself. Usage that is up, and falls, is none. */
bool job_limit_find_lasting(struct state *s, const struct job *j, int64_t now_us, struct limit_hit *out_hit);

#endif
