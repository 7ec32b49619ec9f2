/* The first tasks of each group of equal jobs (pending.h), ranked so that they stand for the others: what their tickets
 * and priorities would be if all jobs were ranked, as by a ticket plan (ticket_plan.h). ticket_order.h finds the order
 * of all tasks from them.
 *
 *     group "ann, 1 CPU"    17  21  30  44        ranked: 17, and 21, which is not among the jobs that the
 *     group "bob, 4 CPUs"   18  19                functional policy counts; so 30 and 44 have its tickets
 *     entries               17  21  18  19        and one of 44, because it has the smallest urgency
 *
 * Why the others need no ranking, if member's override tickets are not divided among jobs:
 *   override      depends on nothing in which the jobs of a group differ
 *   functional    counts some jobs (max_functional_jobs_to_schedule); all others of the same members get the same.
 *                 It counts jobs of a group from the first one on, and looks only at the next one. So the result does
 *                 not depend on those behind one that it has not counted. If the last task of a group that is ranked
 *                 was counted, the ranking is repeated with more of them.
 *   share         the targets depend on which nodes have jobs; ticket_order.h finds the tickets of pending jobs. Only
 *                 without tickets from other policies and job shares, by which the tree would order jobs, too
 *   urgency       falls with the time of submission; the smallest one is that of the last job of a group
 *   M             the jobs that are not ranked have no more tickets than those that are
 *
 * Internal to the engine. Source: docs/formulas.md 5.4 to 5.7. */
#ifndef FAIRLEAD_ENGINE_TICKET_HEADS_H
#define FAIRLEAD_ENGINE_TICKET_HEADS_H

#include "engine/pending.h"

/* A waiting task that is ranked: its place in a group. */
struct ticket_cursor {
    uint32_t at;         /* the job's entry in the group; NONE: behind the last one */
    uint32_t task;       /* 0: the first of the job's tasks that are ranked */
    uint32_t task_count; /* of them */
};

/* What of a group is ranked: entries [first, first + count) of the ranks. */
struct ticket_heads_group {
    uint32_t first, count;
    struct ticket_cursor last; /* the last one that is ranked */
    bool is_whole;             /* all of its tasks are ranked */
};

/* An entry of the ranks. */
struct ticket_heads_entry {
    uint32_t group;
    struct ticket_cursor cursor;
};

struct ticket_heads {
    struct state *s;
    int64_t now_us;
    uint32_t array_max; /* tasks of an array that are ranked */
    bool has_tree;      /* the share tickets of the entries of pending jobs are of no use; one entry for each group */
    struct ticket_snapshot snapshot;
    struct ticket_ranks ranks;
    struct urgency_range urgencies;
    struct ticket_heads_group *groups; /* by group of the pending queue */
    struct ticket_heads_entry *entries;
    uint32_t entry_count;
    double *running_slots; /* by node of the share tree; NULL: there is none */
    struct arena arena;
};

/* Whether the first tasks can stand for the others. The pending groups are up to date. O(groups). */
bool ticket_heads_apply(struct state *s);

/* Whether that is cheaper than a plan: there are few groups. O(1). */
bool ticket_heads_are_few(const struct state *s);

/* Ranks the first tasks of all groups. Release it with ticket_heads_release. O(n log n), n the groups and the running
 * tasks; in addition the selections of the functional policy, and O(associations + owners) with a share tree. */
void ticket_heads_make(struct ticket_heads *h, struct state *s, int64_t now_us);
void ticket_heads_release(struct ticket_heads *h);

/* The job of a place in a group: its id, and its submission as since_us. */
const struct queue_entry *ticket_heads_job(const struct ticket_heads *h, uint32_t group, uint32_t at);

/* The place behind one in a group. */
struct ticket_cursor ticket_heads_after(const struct ticket_heads *h, uint32_t group, struct ticket_cursor c);

#endif
