/* The association tree, as arrays that are addressed by index. Every fair-share algorithm walks it.
 *
 *     index      0     1     2     3     4          root
 *     parent   NONE    0     0     1     1          +- 1 account, 50 shares
 *     shares     1    50    30     1   parent       |  +- 3 user, 1 share
 *     is_user    -     -     -     x     x          |  +- 4 user, uses 1's shares
 *                                                   +- 2 account, 30 shares
 *
 * Invariants
 *   1. Node 0 is the root account, and parent[i] < i for every other node. So sums run backward in one loop, and norms
 *      forward in one loop.
 *   2. A user has no children. Depth (the root's is 0) is at most TREE_DEPTH_MAX.
 *   3. fs_parent[i] is the node whose level i competes in: the nearest ancestor whose shares are not SHARES_PARENT, or
 *      the root. Usage flows through parents, shares compete under fs_parent.
 *   4. children[child_start[a] .. child_start[a + 1]) are the nodes whose fs_parent is a, in ascending order.
 * Siblings are in index order. That order matters only where a rule says that ties keep the order of the input.
 *
 * Names are not stored here: a caller keeps rows of its own at the same indices.
 * Source: docs/formulas.md 1 (Slurm "Fair Tree" page; Slurm 22.05.8 for SHARES_PARENT). */
#ifndef FAIRLEAD_POLICY_TREE_H
#define FAIRLEAD_POLICY_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/* The shares of a node that competes with its parent's shares (Slurm's Fairshare=parent, and the number that Slurm
 * stores for it). */
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

    /* Computed by tree_finish. */
    bool is_finished;       /* everything below is valid */
    bool has_lists;         /* everything below but level_shares is valid */
    uint32_t version;       /* incremented when anything below is recomputed, ... */
    uint32_t lists_version; /* ... and when fs_parent and children are */
    uint32_t finished_capacity;
    uint32_t *fs_parent;    /* the root's is NONE */
    uint64_t *level_shares; /* by account: the sum of its fair-share children's shares, without SHARES_PARENT */
    uint32_t *child_start;  /* count + 1 */
    uint32_t *children;     /* count - 1 */
};

/* A tree that has only a root. tree_try_init returns false if there is no memory; then nothing is to be released. */
void tree_init(struct tree *t);
bool tree_try_init(struct tree *t);
void tree_release(struct tree *t);

/* Takes the memory of a tree of count nodes, so that tree_add and tree_finish need none up to that number. False: there
 * is no memory; the tree is as before. */
bool tree_reserve(struct tree *t, uint32_t count);

/* Adds a node and returns its index. parent is an account whose depth is below TREE_DEPTH_MAX. Afterwards the tree
 * needs tree_finish. O(1) amortised. */
uint32_t tree_add(struct tree *t, uint32_t parent, bool is_user, uint32_t shares);

/* Changes the shares of a node other than the root. Afterwards the tree needs tree_finish. */
void tree_set_shares(struct tree *t, uint32_t node, uint32_t shares);

/* Computes fs_parent, level_shares and children. O(n), or nothing if nothing changed. If only numbers of shares
 * changed, fs_parent and children are kept, and lists_version too. */
void tree_finish(struct tree *t);

/* The total usage of every node: its own and that of all its descendants, added in index order from the last node. own
 * and out_total have count entries and may be the same array. O(n). */
void tree_sum_usage(const struct tree *t, const double *own, double *out_total);

#endif
