/* The association tree as arrays: growth, and the views that are computed once after each change.
 *
 * The nodes are four parallel arrays that grow together. tree_finish computes two more views of them: the nodes that
 * compete (fs_parent, and each account's fair-share children as a slice of one array), and the sum of the shares that
 * compete.
 *
 *     index      0     1     2     3     4     5      root
 *     parent   NONE    0     0     1     2     2      +- 1 account, 10 shares
 *     shares     1    10  parent   5     7     3      |  +- 3 user, 5
 *     fs_parent NONE   0     0     1     0     0      +- 2 account, parent
 *     children of 0: 1 2 4 5   level_shares 20           +- 4 user, 7 (competes under the root)
 *                 1: 3                      5            +- 5 user, 3 (likewise)
 *
 * The slices are filled by counting: first the number of children of each account, then the start of each slice, then
 * every node in index order. So every slice is ascending (invariant 4 of tree.h) without a sort.
 *
 * Cost: tree_add O(1) amortised. tree_finish makes four loops over all nodes after a change of structure, and one after
 * a change of shares. tree_sum_usage makes one. Memory: 10 bytes a node, up to twice that while growing, and 20 more
 * once finished.
 *
 * Names, usage over time and removal are not here. To remove a node, the owner of the tree builds a new one: indices
 * identify nodes, and rows that are kept beside the tree could not follow a shift.
 * Source: docs/formulas.md 1.1. */
#include "policy/tree.h"

#include <string.h>

#include "base/ensure.h"

enum { FIRST_CAPACITY = 64 };

/* Makes room for one more node. */
static void grow(struct tree *t)
{
    if (t->count < t->capacity) return;
    uint32_t old = t->capacity, new = old == 0 ? FIRST_CAPACITY : old * 2;
    t->parent = mem_resize(t->parent, old * sizeof *t->parent, new * sizeof *t->parent);
    t->shares = mem_resize(t->shares, old * sizeof *t->shares, new * sizeof *t->shares);
    t->depth = mem_resize(t->depth, old * sizeof *t->depth, new * sizeof *t->depth);
    t->is_user = mem_resize(t->is_user, old * sizeof *t->is_user, new * sizeof *t->is_user);
    t->capacity = new;
}

/* Makes an array larger; false, with the array as it was, if there is no memory. */
static bool try_resize(void **array, size_t size)
{
    void *memory = mem_try_resize(*array, size);
    if (memory != NULL) *array = memory;
    return memory != NULL;
}

/* An array that is larger than the capacity says is harmless, so what was resized before a failure stays. */
#define TRY_RESIZE(array, count) try_resize((void **)&(array), (size_t)(count) * sizeof *(array))

bool tree_reserve(struct tree *t, uint32_t count)
{
    ensure(count <= TREE_COUNT_MAX);
    if (count > t->capacity) {
        if (!TRY_RESIZE(t->parent, count) || !TRY_RESIZE(t->shares, count) || !TRY_RESIZE(t->depth, count) ||
            !TRY_RESIZE(t->is_user, count))
            return false;
        t->capacity = count;
    }
    if (count > t->finished_capacity) {
        if (!TRY_RESIZE(t->fs_parent, count) || !TRY_RESIZE(t->level_shares, count) ||
            !TRY_RESIZE(t->child_start, count + 1u) || !TRY_RESIZE(t->children, count))
            return false;
        t->finished_capacity = count;
    }
    return true;
}

bool tree_try_init(struct tree *t)
{
    *t = (struct tree){0};
    if (!tree_reserve(t, FIRST_CAPACITY)) {
        tree_release(t);
        return false;
    }
    t->parent[0] = NONE;
    t->shares[0] = 1;
    t->depth[0] = 0;
    t->is_user[0] = false;
    t->count = 1;
    return true;
}

void tree_init(struct tree *t)
{
    bool has_memory = tree_try_init(t);
    ensure(has_memory && "out of memory");
}

void tree_release(struct tree *t)
{
    mem_free(t->parent);
    mem_free(t->shares);
    mem_free(t->depth);
    mem_free(t->is_user);
    mem_free(t->fs_parent);
    mem_free(t->level_shares);
    mem_free(t->child_start);
    mem_free(t->children);
    *t = (struct tree){0};
}

uint32_t tree_add(struct tree *t, uint32_t parent, bool is_user, uint32_t shares)
{
    ensure(parent < t->count && !t->is_user[parent] && t->depth[parent] < TREE_DEPTH_MAX);
    ensure(shares <= SHARES_PARENT && t->count < TREE_COUNT_MAX);
    grow(t);
    uint32_t node = t->count++;
    t->parent[node] = parent;
    t->shares[node] = shares;
    t->depth[node] = (uint8_t)(t->depth[parent] + 1);
    t->is_user[node] = is_user;
    t->user_count += is_user;
    t->is_finished = t->has_lists = false;
    return node;
}

void tree_set_shares(struct tree *t, uint32_t node, uint32_t shares)
{
    ensure(node > 0 && node < t->count && shares <= SHARES_PARENT);
    uint32_t old = t->shares[node];
    if (old == shares) return;
    t->shares[node] = shares;
    t->is_finished = false;
    /* A user with SHARES_PARENT stays in its list. The children of an account move to its own fair-share parent, or
     * back. */
    if (!t->is_user[node] && (old == SHARES_PARENT || shares == SHARES_PARENT)) t->has_lists = false;
}

static void reserve_finished(struct tree *t)
{
    if (t->count <= t->finished_capacity) return;
    uint32_t old = t->finished_capacity, new = t->count + t->count / 8;
    size_t slices = old == 0 ? 0 : (size_t)old + 1;
    t->fs_parent = mem_resize(t->fs_parent, old * sizeof *t->fs_parent, new * sizeof *t->fs_parent);
    t->level_shares = mem_resize(t->level_shares, old * sizeof *t->level_shares, new * sizeof *t->level_shares);
    t->child_start = mem_resize(t->child_start, slices * sizeof *t->child_start, (new + 1u) * sizeof *t->child_start);
    t->children = mem_resize(t->children, old * sizeof *t->children, new * sizeof *t->children);
    t->finished_capacity = new;
}

/* Finds every fs_parent; by invariant 1 the parent's is known before the child's. The number of a's children is counted
 * in child_start[a + 1]. */
static void find_fs_parents(struct tree *t)
{
    memset(t->child_start, 0, (t->count + 1u) * sizeof *t->child_start);
    t->fs_parent[0] = NONE;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t p = t->parent[i];
        if (p != 0 && t->shares[p] == SHARES_PARENT) p = t->fs_parent[p];
        t->fs_parent[i] = p;
        t->child_start[p + 1]++;
    }
}

/* Fills the slices. While a's children are put in, child_start[a + 1] moves from the start of a's slice to its end. */
static void fill_children(struct tree *t)
{
    uint32_t start = 0;
    for (uint32_t a = 0; a < t->count; a++) {
        uint32_t children = t->child_start[a + 1];
        t->child_start[a + 1] = start;
        start += children;
    }
    for (uint32_t i = 1; i < t->count; i++) t->children[t->child_start[t->fs_parent[i] + 1]++] = i;
    ensure(t->child_start[t->count] == t->count - 1);
}

static void sum_level_shares(struct tree *t)
{
    memset(t->level_shares, 0, t->count * sizeof *t->level_shares);
    for (uint32_t i = 1; i < t->count; i++) {
        if (t->shares[i] != SHARES_PARENT) t->level_shares[t->fs_parent[i]] += t->shares[i];
    }
}

void tree_finish(struct tree *t)
{
    if (t->is_finished) return;
    if (!t->has_lists) {
        reserve_finished(t);
        find_fs_parents(t);
        fill_children(t);
        t->has_lists = true;
        t->lists_version++;
    }
    sum_level_shares(t);
    t->version++;
    t->is_finished = true;
}

/* Siblings mostly follow each other, so their parent's sum stays in a register until the parent changes. That saves a
 * store between two additions and leaves their order as it is. A parent's own entry is read only after the sum was
 * written back, because no node is its own parent. */
void tree_sum_usage(const struct tree *t, const double *own, double *out_total)
{
    ensure(t->count > 0);
    if (out_total != own) memcpy(out_total, own, t->count * sizeof *own);
    uint32_t parent = 0;
    double sum = out_total[0];
    for (uint32_t i = t->count - 1; i > 0; i--) {
        if (t->parent[i] != parent) {
            out_total[parent] = sum;
            parent = t->parent[i];
            sum = out_total[parent];
        }
        sum += out_total[i];
    }
    out_total[parent] = sum;
}
