/* How the models rank: what the pass (pass.c), the listing of priorities (priorities.c) and the CPU weights (weights.c) all
 * ask for, so that they can never give different numbers. Nobody outside the engine needs it. */
#ifndef FAIRLEAD_ENGINE_RANKING_H
#define FAIRLEAD_ENGINE_RANKING_H

#include "engine/handlers.h"
#include "engine/priorities.h"
#include "engine/ticket_plan.h"

/* Usage of what runs changes factors and tickets all the time: where they matter they are looked at so often. */
#define USAGE_WAIT_US (60 * US_PER_S)

/* Whether its jobs are to wait until their fair-share factor has reached the QOS' threshold. */
bool job_waits_for_factor(const struct state *s, const struct job *j, double factor);

/* Whether the job may run there: its time limit is within the partition's. */
bool job_fits_partition(const struct state *s, uint32_t partition, const struct job *j);

/* --- TRES --------------------------------------------------------------------------------------------------------- */

/* Where in the policy's table stands what a host has and jobs ask for. */
struct tres_places {
    uint32_t gpu;      /* gres/gpu, or NONE */
    uint32_t *license; /* by resource: license/NAME, or NONE */
};

void tres_places_find(const struct state *s, struct arena *arena, struct tres_places *out_places);

/* What the job has when it gets so many CPUs: cpu, mem, node, gres/gpu and the licences tracked, amount x CPUs each.
 * out_list->items: the caller's, room for TRES_MAX. */
void job_tres(const struct state *s, const struct tres_places *places, const struct job *j, uint32_t cpus,
              struct tres_list *out_list);

/* Units a second of that in a partition. */
double job_billing_in(const struct state *s, uint32_t partition, const struct tres_list *tres);

/* --- multifactor -------------------------------------------------------------------------------------------------- */

/* What the terms of all jobs are computed from at one moment. */
struct multifactor_context {
    const struct state *s;
    struct multifactor_cluster cluster;
    struct tres_places places;
    const double *factors;    /* fair share, by node of the tree */
    uint32_t *assoc_priority; /* by node: its own or the nearest ancestor's, at last 0 */
};

/* factors: state_factors of that moment. Memory of arena. O(associations + objects). */
void multifactor_context_make(struct state *s, int64_t now_us, const double *factors, struct arena *arena,
                              struct multifactor_context *out_moment);

/* The job in one of its partitions. tres_items: room for TRES_MAX, which out_job->tres then lies in; NULL: no TRES. */
void multifactor_context_job(const struct multifactor_context *m, const struct job *j, uint32_t partition,
                             struct tres_amount *tres_items, struct multifactor_job *out_job);

/* First come, first served. */
uint32_t job_basic_priority(const struct job *j);

/* How many nodes it asks for. */
uint32_t job_nodes(const struct job *j);

/* --- tickets ------------------------------------------------------------------------------------------------------ */

/* A task that waits (of a job the first, the second ...), or runs: beside its struct ticket_job what its urgency depends
 * on. */
struct ticket_entry {
    uint32_t job;  /* index, as it was when the question was put */
    uint32_t task; /* index of a running task, or NONE */
    uint32_t slots_max;
    enum urgency_slots_rule slots_rule; /* what a range of slots counts for */
    uint32_t slots_number;
    int32_t posix_priority;
    int64_t deadline_us;
    const struct urgency_request *requests;
    uint32_t request_count;
};

/* Grid Engine's question as the state puts it at one moment: what waits by job, tasks of an array as many as count; then
 * what runs. Held jobs and those that have not begun take no part. It owns all it points to: it can be answered while the
 * state changes, by any thread. */
struct ticket_snapshot {
    struct arena arena;
    int64_t now_us;
    struct ticket_rules rules;
    struct urgency_rules urgency;
    double slots_urgency;
    struct ticket_input question;
    struct ticket_entry *entries; /* of question.jobs */
    struct ticket_node *nodes;    /* the question's */
};

/* Of how many entries the question would be. O(jobs) */
uint32_t ticket_entry_count(const struct state *s, int64_t now_us);

/* All that take part; or what runs alone. O(jobs + entries), and O(associations + owners) with a share tree. */
void ticket_snapshot_make(struct ticket_snapshot *a, struct state *s, int64_t now_us);
void ticket_snapshot_make_running(struct ticket_snapshot *a, struct state *s, int64_t now_us);
void ticket_snapshot_release(struct ticket_snapshot *a);

/* What comes of it, by entry. */
struct ticket_ranks {
    const struct ticket_entry *entries;
    struct tickets *tickets;
    struct urgency *urgency;
    double *norm_tickets, *norm_urgency, *norm_posix, *prior;
    uint32_t count;
};

/* The answer, in memory of arena; entries stay the question's. O(n log n) of n entries, and O(n) a level of the tree. */
void ticket_ranks_make(const struct ticket_snapshot *a, struct arena *arena, struct ticket_ranks *out_ranks);

/* Tickets of what runs, by index of task, as ticket_ranks_make gives them: they do not depend on what waits. */
double *ticket_ranks_of_running(struct state *s, int64_t now_us, struct arena *arena);

/* A task's place in line. */
struct planned_task {
    uint64_t order; /* sort_key_prior of its prior */
    uint32_t job;   /* place in the plan's jobs */
    bool is_last;   /* of the job: it stands for those behind it too */
};

/* See engine/ticket_plan.h. */
struct ticket_plan {
    struct ticket_snapshot asked; /* until it is run */
    uint32_t rules_edition;       /* of the state's when it was asked */
    uint32_t *job_ids;            /* of what waited, ascending */
    struct planned_task *line;    /* highest order first, then by job and task */
    uint32_t job_count, line_count;
    struct arena arena; /* of the answer */
};

/* The plan of a pass at now_us, whatever it is worth. */
struct ticket_plan *ticket_plan_of(struct state *s, int64_t now_us);

/* Tells the executor the CPU weight of every running task whose weight is another than it was told. */
void cpu_weight_update(struct apply_context *c);

#endif
