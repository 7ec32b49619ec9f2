/* The tree of the installed library (fairlead.h): the association tree of policy/, its usage, and its last ranking.
 *
 * Invariants
 *   1. The tree has the memory to be finished (tree_reserve), and stored has an entry for each node of that capacity.
 *      So only fl_tree_add and fl_tree_rank take memory, each before it changes anything.
 *   2. Everything that reaches policy/ was checked: no `ensure` below can fail by a mistake of the caller.
 *   3. A stored usage is from 0 to USAGE_STORED_MAX.
 *   4. The ranking (arena, columns, factors, users, ranks) is that of ranked_changes; it is read only if no node and no
 *      shares have changed since. */
#ifndef FAIRLEAD_LIB_FL_TREE_H
#define FAIRLEAD_LIB_FL_TREE_H

#include "fairlead.h"
#include "policy/fair_share.h"
#include "policy/usage.h"

enum ranked { RANKED_NOT, RANKED_FACTORS, RANKED_ALL };

struct fl_tree {
    struct tree tree;
    struct decay decay;
    double *stored;     /* by node: own usage as it is stored (policy/usage.h) */
    int64_t charged_us; /* the latest time of a charge: from it on the half-life may change */
    uint64_t changes;

    struct arena arena; /* of the ranking */
    struct rank_order *order;
    enum ranked ranked;
    uint64_t ranked_changes;
    enum share_algorithm algorithm;
    enum tie_rule ties;
    struct share_table table; /* RANKED_ALL */
    double *factors;
    uint32_t *users; /* RANKED_ALL: in their order */
    uint32_t *ranks; /* RANKED_ALL: by node */
};

/* The factor by which stored usages are read at a time. FL_ETIME: the time is out of range, or so early that usages
 * would be too large. */
int fl_tree_scale(const struct fl_tree *t, int64_t at_us, double *out_scale);

/* FL_OK if that much was ranked, and nothing has changed since. */
int fl_tree_ranked(const struct fl_tree *t, enum ranked ranked);

/* Whether a number is finite, and 0 to max. */
static inline bool fl_is_amount(double value, double max)
{
    return value >= 0.0 && value <= max;
}

static inline bool fl_is_time(int64_t at_us)
{
    return at_us >= -FL_TIME_MAX && at_us <= FL_TIME_MAX;
}

#endif
