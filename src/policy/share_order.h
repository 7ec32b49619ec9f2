/* The order in which the share tree divides tickets among pending jobs, found one job after another: the tickets of the
 * first ones do not depend on those behind them. Jobs come in lines, in each of which they are in order of id; a line
 * belongs to a leaf.
 *
 *     Root                        the first jobs of A: those of ua and uc with the largest values come first;
 *     +- A  stt 0.7                 c1 T 0.7, a1 T 0.7/2, c2 T 0.7/3
 *        +- ua  stt 0.2             lines "1 CPU": a1 a3, "4 CPUs": a2
 *        +- uc  stt 0.8             c1 c2
 *
 * It is the order of share_tickets_pending for jobs without shares of their own and without tickets from policies
 * before the share tree: a node that divides merges the orders of its children by value. For that the values in each of
 * them must fall, which share_order_make checks. Source: docs/formulas.md 5.4. */
#ifndef FAIRLEAD_POLICY_SHARE_ORDER_H
#define FAIRLEAD_POLICY_SHARE_ORDER_H

#include "policy/share_targets.h"

/* The lines of jobs. */
struct share_order_lines {
    uint32_t count;
    const uint32_t *node;  /* by line; NONE: its jobs get no tickets */
    const uint32_t *slots; /* by line: of each of its jobs, at least 1 */
    void *data;
    /* The position of the next job of a line, by which jobs of equal value are ordered. Returns false if there is
     * none. */
    bool (*next)(void *data, uint32_t line, uint64_t *out_position);
};

/* The next job below a node. */
struct share_order_item {
    double value;
    uint64_t position;
    uint32_t line, child; /* the child that it comes from; of a leaf: not used */
};

/* The best job of each line of a leaf, or of each child of another node. */
struct share_order_node {
    struct share_order_item *heap;
    uint32_t count;
    double divisor; /* 1 and the slots of the jobs that were taken, and of the running ones */
};

struct share_order {
    const struct share_order_lines *lines;
    const struct ticket_node *nodes;
    const uint32_t *own; /* by node: the jobs that it serves itself */
    double pool;
    struct share_targets targets;
    struct share_order_node *state; /* by node */
    uint32_t *divider;              /* by node: the one at or above it that gives the tickets; NONE: none */
};

/* own, running_slots: by node, of the jobs that it serves itself; own has pending and running ones. Returns false if
 * the order cannot be found so. All pointers have to live as long as the result. O(nodes + lines log lines). */
bool share_order_make(struct share_order *o, const struct ticket_input *in, const struct share_order_lines *lines,
                      const uint32_t *own, const double *running_slots, struct arena *arena);

bool share_order_is_done(const struct share_order *o, uint32_t divider); /* no job is left */

/* The share tickets of the next job of a divider, which no later one exceeds. */
double share_order_peek(const struct share_order *o, uint32_t divider);

/* Takes the next job of a divider. Returns false if there is none. O(depth of the tree x log lines). */
bool share_order_take(struct share_order *o, uint32_t divider, uint32_t *out_line, double *out_tickets);

#endif
