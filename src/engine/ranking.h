/* How the models rank: what the pass (pass.c), the listing of priorities (priorities.c) and the CPU weights (weights.c) all
 * ask for, so that they can never give different numbers. Nobody outside the engine needs it. */
#ifndef FAIRLEAD_ENGINE_RANKING_H
#define FAIRLEAD_ENGINE_RANKING_H

#include "engine/internal.h"

/* A pass is wanted then, although nothing may happen. */
void want_pass_at(struct state *s, int64_t at_us);

/* Usage of what runs changes factors and tickets all the time: where they matter they are looked at so often. */
#define USAGE_WAIT_US (60 * US_PER_S)

/* Whether its jobs are to wait until their fair-share factor has reached the QOS' threshold. */
bool qos_waits_for_factor(const struct state *s, const struct job *j, double factor);

/* Whether the job may run there: its time limit is within the partition's. */
bool partition_admits(const struct state *s, uint32_t partition, const struct job *j);

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
double partition_billing(const struct state *s, uint32_t partition, const struct tres_list *tres);

/* --- multifactor -------------------------------------------------------------------------------------------------- */

/* What the terms of all jobs are computed from at one moment. */
struct multifactor_moment {
    const struct state *s;
    struct multifactor_cluster cluster;
    struct tres_places places;
    const double *factors;    /* fair share, by node of the tree */
    uint32_t *assoc_priority; /* by node: its own or the nearest ancestor's, at last 0 */
};

/* factors: state_factors of that moment. Memory of arena. O(associations + objects). */
void multifactor_moment_make(struct state *s, int64_t now_us, const double *factors, struct arena *arena,
                             struct multifactor_moment *out_moment);

/* The job in one of its partitions. tres_items: room for TRES_MAX, which out_job->tres then lies in; NULL: no TRES. */
void multifactor_job_of(const struct multifactor_moment *m, const struct job *j, uint32_t partition,
                        struct tres_amount *tres_items, struct multifactor_job *out_job);

/* First come, first served. */
uint32_t basic_job_priority(const struct job *j);

/* --- tickets ------------------------------------------------------------------------------------------------------ */

/* A task that waits (of a job the first, the second ...), or runs. */
struct ticket_rank {
    uint32_t job;  /* index */
    uint32_t task; /* index of a running task, or NONE */
    struct tickets tickets;
    struct urgency urgency;
    double norm_tickets, norm_urgency, norm_posix, prior;
};

struct ticket_ranks {
    struct ticket_rank *items;
    uint32_t count;
};

/* All that take part, in memory of arena: what waits by job, tasks of an array as many as count; then what runs. Held jobs
 * and those that have not begun take no part. O(n log n) of n such tasks, O(associations + owners) with a share tree. */
void ticket_ranks_make(struct state *s, int64_t now_us, struct arena *arena, struct ticket_ranks *out_ranks);

/* Tickets of what runs, by index of task, as ticket_ranks_make gives them: they do not depend on what waits. */
double *running_tickets(struct state *s, int64_t now_us, struct arena *arena);

/* Tells the executor the CPU weight of every running task whose weight is another than it was told. */
void weigh_tasks(struct turn *t);

#endif
