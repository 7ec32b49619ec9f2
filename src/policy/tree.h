/* The association tree, as arrays addressed by index: what every fair-share algorithm walks.
 *
 *     index      0     1     2     3     4          root
 *     parent   NONE    0     0     1     1          +- 1 account, 50 shares
 *     shares     1    50    30     1   parent       |  +- 3 user, 1 share
 *     is_user    -     -     -     x     x          |  +- 4 user, uses 1's shares
 *                                                   +- 2 account, 30 shares
 *
 * Invariants
 *   1. Node 0 is the root account, and parent[i] < i for every other node: sums run backward and norms forward in one
 *      loop.
 *   2. A user has no children. Depth (root is 0) is at most TREE_DEPTH_MAX.
 *   3. fs_parent[i], the node whose level i competes in, is the nearest real ancestor whose shares are not
 *      SHARES_PARENT (or the root). Usage flows through real parents, shares compete under fs_parent.
 *   4. children[child_start[a] .. child_start[a + 1]) are the nodes whose fs_parent is a, ascending.
 * Order among siblings is index order; it matters only where a rule says that ties keep the input's order.
 *
 * Names are not here: whoever has a tree has its own rows beside it, at the same indices.
 * Source: docs/formulas.md 1 (Slurm "Fair Tree" page; Slurm 22.05.8 for SHARES_PARENT). */
#ifndef FAIRLEAD_POLICY_TREE_H
#define FAIRLEAD_POLICY_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* The shares of a node that competes with its parent's (Slurm's Fairshare=parent, and the number it stores for it). */
#define SHARES_PARENT UINT32_C(0x7fffffff)
#define SHARES_MAX (SHARES_PARENT - 1)

enum { TREE_DEPTH_MAX = 64, TREE_COUNT_MAX = 1 << 30 };

struct tree {
    uint32_t count, capacity;
    uint32_t user_count;
    uint32_t *parent;
    uint32_t *shares;
    uint8_t *depth;
    bool *is_user;

    /* Made by tree_finish. */
    bool finished, shaped; /* shaped: all but level_shares is right */
    uint32_t finishes;     /* how often anything was made anew, and ... */
    uint32_t shapes;       /* ... how often the children's lists were */
    uint32_t finished_capacity;
    uint32_t *fs_parent;    /* root: NONE */
    uint64_t *level_shares; /* by account: the sum of its fair-share children's shares, SHARES_PARENT ones left out */
    uint32_t *child_start;  /* count + 1 */
    uint32_t *children;     /* count - 1 */
};

/* A tree with its root. */
void tree_init(struct tree *t);
void tree_release(struct tree *t);

/* Adds a node and returns its index. parent is an account that is there already; its depth is below TREE_DEPTH_MAX (the
 * caller has checked: tree_depth). Afterwards the tree wants tree_finish. */
uint32_t tree_add(struct tree *t, uint32_t parent, bool is_user, uint32_t shares);
void tree_set_shares(struct tree *t, uint32_t node, uint32_t shares);

/* Computes fs_parent, level_shares and the children's lists. O(n); nothing when nothing changed, and the lists are kept
 * (same `shapes`) when only numbers of shares did. */
void tree_finish(struct tree *t);

/* Total usage of every node: its own and all its real descendants', summed in index order from the last. own and
 * out_total: count entries, may be the same array. */
void tree_sum_usage(const struct tree *t, const double *own, double *out_total);

#endif
