/* The ranking of jobs by the three models, for the pass (pass.c), the listing of priorities (priorities.c) and the CPU
 * weights (cpu_weight.c): all of them use these functions, so their numbers always agree. Internal to the engine.
 *
 *     basic         job_basic_priority
 *     multifactor   multifactor_context_make, once for all jobs; multifactor_context_job, for each job and partition
 *     tickets       ticket_snapshot_make --> ticket_ranks_make, which needs only the snapshot */
#ifndef FAIRLEAD_ENGINE_RANKING_H
#define FAIRLEAD_ENGINE_RANKING_H

#include "engine/handlers.h"
#include "engine/priorities.h"
#include "engine/ticket_plan.h"

/* The usage of running tasks changes factors and tickets all the time; where that matters, they are computed this
 * often. */
#define USAGE_WAIT_US (60 * US_PER_S)

/* Whether jobs of a QOS (its index) wait until their fair-share factor reaches its threshold. */
bool ranking_qos_waits(const struct state *s, uint32_t index, double factor);

/* Whether jobs of a QOS, with this association, wait for it in a partition: there the factor of the association that
 * counts there is below the threshold. factors: by node of the tree; a node of none keeps nothing. */
bool ranking_waits_in_partition(const struct state *s, uint32_t qos, uint32_t assoc, uint32_t partition,
                                const double *factors);

/* --- TRES --------------------------------------------------------------------------------------------------------- */

/* The indices in policy.tres of the resources that hosts have and jobs request. */
struct tres_indices {
    uint32_t gpu;             /* gres/gpu, or NONE */
    uint32_t *license, *gres; /* by index of objects[OBJECT_RESOURCE]: license/NAME and gres/NAME, or NONE */
};

/* The lists are in memory of arena. O(resources x tracked TRES). */
void tres_indices_find(const struct state *s, struct arena *arena, struct tres_indices *out_indices);

/* The TRES of a task of the job that has so many CPUs on one host: cpu, mem, node, gres/gpu, and the resources that are
 * tracked as license/NAME or gres/NAME, of which it takes its request for each CPU, or once. out_list->items: the
 * caller's, with room for TRES_MAX. */
void job_tres(const struct state *s, const struct tres_indices *indices, const struct job *j, uint32_t cpus,
              struct tres_list *out_list);

/* Those of a task of an instance with its CPUs on so many hosts. */
void job_task_tres(const struct state *s, const struct tres_indices *indices, const struct job *j, uint32_t cpus,
                   uint32_t hosts, struct tres_list *out_list);

/* Their billing in a partition, units a second. */
double job_billing_in(const struct state *s, uint32_t partition, const struct tres_list *tres);

/* --- multifactor -------------------------------------------------------------------------------------------------- */

/* The input of the multifactor sum that all jobs have in common, at one time. */
struct multifactor_context {
    const struct state *s;
    struct multifactor_cluster cluster;
    struct tres_indices indices;
    const double *factors;          /* fair share, by node of the tree */
    const uint32_t *assoc_priority; /* by node: state.priority_of */
};

/* factors: state_factors at the same time. In memory of arena.
 * O(objects + resources x tracked TRES + hosts and resources of each partition that has its own hosts). */
void multifactor_context_make(struct state *s, int64_t now_us, const double *factors, struct arena *arena,
                              struct multifactor_context *out_context);

/* The job in one of its partitions, while it waits: its size is that in its current one. tres_items: room for TRES_MAX,
 * which out_job->tres uses; NULL: no TRES. O(requests + partitions of the job). */
void multifactor_context_job(const struct multifactor_context *m, const struct job *j, uint32_t partition,
                             struct tres_amount *tres_items, struct multifactor_job *out_job);

/* The priority in the model basic: first come, first served. */
uint32_t job_basic_priority(const struct job *j);

/* --- tickets ------------------------------------------------------------------------------------------------------ */

/* A pending task (the first of a job, the second ...) or a running one: what urgency needs beside struct ticket_job. */
struct ticket_entry {
    uint32_t job;  /* its index when the snapshot was taken */
    uint32_t task; /* index of a running task, or NONE */
    uint32_t slots_max;
    enum urgency_slots_rule slots_rule; /* the number that a range of slots counts as */
    uint32_t slots_number;
    int32_t posix_priority;
    int64_t deadline_us;
    const struct urgency_request *requests;
    uint32_t request_count;
};

/* The input of the tickets model at one time. Entries: eligible pending tasks by job, of an array as many as count,
 * then running tasks. A job is eligible unless it is held or begins later. The snapshot owns everything that it points
 * to, so any thread can compute from it while the state changes. */
struct ticket_snapshot {
    struct arena arena;
    int64_t now_us;
    struct ticket_rules rules;
    struct urgency_rules urgency;
    double slots_urgency;
    struct ticket_input input;
    struct ticket_entry *entries; /* by index of input.jobs */
    struct ticket_node *nodes;    /* input.nodes */
};

/* Whether a live task has no entry, because it is suspended by hand (Grid Engine's state s). */
bool ticket_snapshot_leaves_out(const struct state *s, const struct task *k);

/* The number of entries that a snapshot would have. O(jobs), of a document O(jobs + hosts + tasks). */
uint32_t ticket_entry_count(const struct state *s, int64_t now_us);

/* A snapshot of pending and running tasks. _running: of running ones only, but with the virtual nodes of all users who
 * have jobs, because their usage counts. O(jobs + tasks + entries + objects), and with a share tree O(associations +
 * owners) in addition. */
void ticket_snapshot_make(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us);
void ticket_snapshot_make_running(struct ticket_snapshot *snapshot, struct state *s, int64_t now_us);
void ticket_snapshot_release(struct ticket_snapshot *snapshot);

/* The results, by entry. */
struct ticket_ranks {
    const struct ticket_entry *entries; /* the snapshot's */
    struct tickets *tickets;
    struct urgency *urgency;
    double *norm_tickets, *norm_urgency, *norm_posix, *prior;
    bool *counted; /* by the functional policy */
    uint32_t count;
    double max_tickets; /* the number that is normalised to 1 */
};

/* Tickets, urgency and priority of each entry, in memory of arena. The costs are those of tickets_compute
 * (policy/tickets.h), plus O(entries). */
void ticket_ranks_make(const struct ticket_snapshot *snapshot, struct arena *arena, struct ticket_ranks *out_ranks);

/* The urgency of a job like that of an entry, but submitted at another time. */
double ticket_ranks_urgency(const struct ticket_snapshot *snapshot, uint32_t entry, int64_t submit_us);

/* The tickets of running tasks, by index of task, equal to those of ticket_ranks_make: of the pending tasks they depend
 * only on the virtual nodes of the share tree. O(tasks), and O(jobs) in addition if the tree has a `default`. */
double *ticket_ranks_of_running(struct state *s, int64_t now_us, struct arena *arena);

/* A pending task in the ranking of a plan. */
struct planned_task {
    uint64_t order; /* sort_key_double of its priority */
    uint32_t job;   /* index into the plan's job_ids */
    bool is_last;   /* the last entry of its job, which also stands for the tasks of the array without an entry */
    double tickets;
};

/* See engine/ticket_plan.h. */
struct ticket_plan {
    struct ticket_snapshot snapshot; /* empty after ticket_plan_run */
    uint32_t rules_edition;          /* of the state when the snapshot was taken */
    uint64_t pending_added;          /* likewise, of its pending jobs */
    uint32_t *job_ids;               /* of the pending jobs, ascending */
    struct planned_task *tasks;      /* highest order first, then by job and task */
    uint32_t job_count, task_count;
    struct arena arena; /* of the ranking */
};

/* A plan for a pass at now_us, also where a pass is not due. */
struct ticket_plan *ticket_plan_new(struct state *s, int64_t now_us);

/* --- CPU weights -------------------------------------------------------------------------------------------------- */

/* Decides DECIDE_WEIGHT for every running task whose weight differs from the one that the executor was sent last. */
void cpu_weight_update(struct apply_context *c);

#endif
