/* The scheduling pass: which pending tasks start now, by the scheduler (sched/run.h) on the live cluster.
 *
 *     multifactor, basic   pass_priority.c: the first job of each group of equal jobs competes with those of the others
 *     tickets              pass_tickets.c: the tasks in the order of their tickets
 *
 * pass_lines.c writes the lines of Grid Engine's schedule file of what a pass has decided.
 *
 * A job that cannot start may get a reservation, and a job after it starts only if it delays no reservation. They last
 * for the pass: the next one makes them anew, from what is true then. If nothing that waits would fit now, there is
 * nothing to decide, and no job is ranked. Internal to the engine. Source: docs/formulas.md 4.4 and 7. */
#ifndef FAIRLEAD_ENGINE_PASS_H
#define FAIRLEAD_ENGINE_PASS_H

#include "engine/handlers.h"
#include "engine/limit_place.h"
#include "engine/live_cluster.h"
#include "engine/pending_order.h"
#include "engine/ranking.h"
#include "engine/schedule.h"

/* What a pass has booked for a task that waits. */
struct pass_reservation {
    uint32_t job_id;
    const struct demand *demand;
    struct allocation allocation;
    int64_t start_us;
    bool is_current; /* false: the task has started, or has an earlier one */
    uint32_t line;   /* index in pass.listed, or NONE */
};

struct pass {
    struct apply_context *c;
    const char *boot_id;
    const struct ticket_plan *plan; /* the event's; NULL: none */
    struct live_cluster *cluster;
    struct run run;
    ARRAY(struct pass_reservation) reservations;
    struct tres_indices indices; /* as of the first start */
    bool has_indices;
    uint32_t start_room;    /* how many tasks it may still start (engine/launch_backoff.h); UINT32_MAX: any number */
    bool has_skipped_job;   /* that of the last probe, for others to be tried first */
    bool has_threshold_qos; /* a QOS keeps jobs waiting until their fair-share factor is high enough */
    struct limit_places *limits; /* NULL: no limit is enforced */
    bool is_ranking;             /* pass_begin_ranking was called */
    const double *factors;       /* by node of the tree; NULL: not needed */
    struct multifactor_context multifactor;
    struct tres_amount *amounts;       /* of one job, TRES_MAX entries; NULL: TRES have no weights */
    bool is_monitored;                 /* MONITOR is on */
    bool is_listed;                    /* also, reservations are made: the run is decided to its end, and written */
    uint64_t first_launch_id;          /* of the tasks that it starts */
    ARRAY(struct schedule_row) listed; /* starts and reservations, in the order of the decisions */
};

/* Fills the members that ranking needs. */
void pass_begin_ranking(struct pass *p);

/* Whether jobs that do not fit matter for those that do: they may get reservations, or count as tried. */
static inline bool pass_ranks_all(const struct pass *p)
{
    return p->cluster->rules.reservations != RUN_RESERVE_NONE || run_counts_tests(&p->cluster->rules);
}

/* How many tasks of a job may start, whether they fit or not. */
uint32_t pass_startable_tasks(const struct state *s, const struct job *j);

/* The next entry of a group, at an index or later, that has a task to start; NONE: there is none. */
uint32_t pass_find_startable(struct state *s, uint32_t group, uint32_t at);

/* The demand of a group's jobs in its partition. */
static inline const struct demand *pass_group_demand(const struct pass *p, uint32_t group)
{
    return pending_order_demand(p->c->s, p->cluster, group);
}

/* Whether the jobs of a group may start at all: their fair-share factor is high enough. */
bool pass_admits(struct pass *p, const struct pending_group *g);

/* How many jobs may start now, up to max; a job counts in each of its partitions. */
uint32_t pass_count_fitting(struct pass *p, uint32_t max);

/* Whether tasks of a job may start, and it may be tried as one more. */
bool pass_may_try(struct pass *p, uint32_t job);

/* Starts tasks of a job, at most *io_max, until one does not fit, and takes their number from *io_max. First come those
 * with a reservation in another partition: here they may start, or get an earlier one. Returns what became of the last
 * one. */
enum run_outcome pass_decide(struct pass *p, uint32_t job, uint32_t group, uint32_t *io_max);

/* The lines of the schedule file (params MONITOR=1). begin: once the cluster is up to date. add: after a start or a
 * reservation of a task; line: of its earlier reservation, or NONE; returns its own. end: after all decisions; appends
 * the lines to the outcome. */
bool pass_lines_are_wanted(const struct state *s);
void pass_lines_begin(struct pass *p);
uint32_t pass_lines_add(struct pass *p, uint32_t line, uint32_t job, const struct demand *d,
                        const struct run_decision *decision);
void pass_lines_end(struct pass *p);

/* With queue_sort_method share: gives the hosts the tickets of their running jobs. O(running tasks). */
void pass_count_host_tickets(struct pass *p);

/* Whether a task of a job has a reservation of this pass. */
bool pass_has_reservation(const struct pass *p, uint32_t job_id);

/* The starts of the two kinds of models. The cluster has free slots, or p->is_listed. */
void pass_by_priority(struct pass *p);
void pass_by_tickets(struct pass *p);

/* In the tickets model: whether the pass finds the order of the tasks without a ticket plan. O(groups). */
bool pass_needs_no_plan(const struct pass *p);

#endif
