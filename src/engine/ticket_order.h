/* The order of waiting tasks in the tickets model, the best one first, from the first tasks of groups (ticket_heads.h).
 * It is exactly the order of a ticket plan, but only as far as a caller asks for it.
 *
 *     without a share tree   the ranked tasks of all groups are in a heap; behind the last one of a group the next one
 *                            follows, with the same tickets and its own urgency
 *     with a share tree      tickets are found by taking one job after another from the tree (policy/share_order.h).
 *                            For each node that gives tickets the heap has the largest priority that a task could have
 *                            that was not taken; when that comes first, the next job is taken
 *
 * Internal to the engine. */
#ifndef FAIRLEAD_ENGINE_TICKET_ORDER_H
#define FAIRLEAD_ENGINE_TICKET_ORDER_H

#include "engine/ticket_heads.h"
#include "policy/share_order.h"

/* The tickets of a task that was taken from the tree, in a list of its group. */
struct ticket_taken {
    double tickets;
    uint32_t next; /* NONE: the last one */
};

/* A group that takes part. */
struct ticket_order_group {
    bool takes_part;             /* until it is dropped, or has no task left */
    struct ticket_cursor cursor; /* the next task that comes into the heap, or is there */
    double tickets;              /* of that task */
    /* With a share tree. */
    bool waits;                  /* for the tickets of that task */
    bool has_source;             /* the tree was given a task */
    struct ticket_cursor source; /* the last one of those */
    uint32_t first_taken, last_taken;
};

/* A node that gives tickets. */
struct ticket_divider {
    uint32_t group_count; /* the groups below it that take part */
    double other_max;     /* the maximum of what their priorities have beside tickets */
};

struct ticket_order {
    struct ticket_heads heads;
    struct queue_candidates candidates; /* at: an entry of the ranks, or where else the task is (ticket_order.c) */
    struct ticket_order_group *groups;  /* by group of the pending queue */
    uint32_t advancing;                 /* the group whose next task comes into the heap; NONE: none */
    /* With a share tree; otherwise lines has none. */
    struct share_order_lines lines; /* the groups, in the order of their entries */
    struct share_order tree;
    struct ticket_divider *dividers; /* by node */
    ARRAY(struct ticket_taken) taken;
    struct arena arena;
};

struct ticket_next {
    uint32_t group, job_id;
    bool is_last; /* the last ranked task of its job, which also stands for the others */
    uint64_t order;
    double tickets;
};

/* Returns false if the share tree does not allow it. Release it with ticket_order_release in any case. The cost is that
 * of ticket_heads_make. */
bool ticket_order_make(struct ticket_order *o, struct state *s, int64_t now_us);
void ticket_order_release(struct ticket_order *o);

/* Lets the tasks of a group take part; then ticket_order_begin, once. */
void ticket_order_offer(struct ticket_order *o, uint32_t group);
void ticket_order_begin(struct ticket_order *o);

/* The next task. Returns false if there is none. O(log groups), and with a share tree the jobs that are taken. */
bool ticket_order_next(struct ticket_order *o, struct ticket_next *out_next);

/* Leaves out the tasks of a group from now on. */
void ticket_order_drop(struct ticket_order *o, uint32_t group);

#endif
