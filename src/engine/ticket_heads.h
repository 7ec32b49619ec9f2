/* The order of the tickets model, computed from the first tasks of each group of equal jobs (pending.h) instead of from
 * all jobs, where the rules let those stand for the others. It is exactly the order of a ticket plan (ticket_plan.h).
 *
 *     group "ann, 1 CPU"    17  21  30  44        ranked: 17, and 21, which is not among the jobs that the
 *     group "bob, 4 CPUs"   18  19                functional policy counts; so 30 and 44 have its tickets
 *     entries               17  21  18  19        and one of 44, because it has the smallest urgency
 *
 * Why the others need no ranking, if no share tree divides tickets, and override tickets are not divided either:
 *   override      depends on nothing in which the jobs of a group differ
 *   functional    counts some jobs (max_functional_jobs_to_schedule); all others of the same members get the same.
 *                 It counts jobs of a group from the first one on, and looks only at the next one. So the result does
 *                 not depend on those behind one that it has not counted. If the last task of a group that is ranked
 *                 was counted, the ranking is repeated with more of them.
 *   urgency       falls with the time of submission; the smallest one is that of the last job of a group
 *   M             the jobs that are not ranked have no more tickets than those that are
 *
 * Internal to the engine. Source: docs/formulas.md 5.5 to 5.7. */
#ifndef FAIRLEAD_ENGINE_TICKET_HEADS_H
#define FAIRLEAD_ENGINE_TICKET_HEADS_H

#include "engine/pending.h"

/* A place in a group: a waiting task that is ranked. */
struct ticket_cursor {
    uint32_t at;         /* the job's entry in the group; NONE: behind the last one */
    uint32_t task;       /* 0: the first of the job's tasks that are ranked */
    uint32_t task_count; /* of them */
};

/* What of a group is ranked: entries [first, first + count) of the ranks. */
struct ticket_heads_group {
    uint32_t first, count;
    struct ticket_cursor last; /* the last one that is ranked; then the next one that is offered */
    bool is_whole;             /* all of its tasks are ranked */
    bool is_dropped;
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
    struct ticket_snapshot snapshot;
    struct ticket_ranks ranks;
    struct urgency_range urgencies;
    struct ticket_heads_group *groups; /* by group of the pending queue */
    struct ticket_heads_entry *entries;
    uint32_t entry_count;
    struct queue_candidates candidates; /* at: an entry, or NONE: where the group's cursor is */
    uint32_t advancing;                 /* the group whose next task is to be offered; NONE: none */
    struct arena arena;
};

/* The next task in the order. */
struct ticket_next {
    uint32_t group, job_id;
    bool is_last; /* the last ranked task of its job, which also stands for the others */
    uint64_t order;
    double tickets;
};

/* Whether the order can be computed so. The pending groups are up to date. O(groups). */
bool ticket_heads_apply(struct state *s);

/* Whether that is cheaper than a plan: there are few groups. O(groups). */
bool ticket_heads_are_few(const struct state *s);

/* Ranks the first tasks of all groups. Release it with ticket_heads_release. O(n log n), n the groups and the running
 * tasks; and the selections of the functional policy. */
void ticket_heads_make(struct ticket_heads *h, struct state *s, int64_t now_us);
void ticket_heads_release(struct ticket_heads *h);

/* Lets the tasks of a group take part in the order; then ticket_heads_begin, once. */
void ticket_heads_offer(struct ticket_heads *h, uint32_t group);
void ticket_heads_begin(struct ticket_heads *h);

/* The next task in the order of a plan. Returns false if there is none. */
bool ticket_heads_next(struct ticket_heads *h, struct ticket_next *out_next);

/* Leaves out the tasks of a group from now on. */
void ticket_heads_drop(struct ticket_heads *h, uint32_t group);

#endif
