/* Levels are compared by the keys that the ranking sorts by (level.h): within one account by the raw ratio, across
 * accounts by the whole level. So a tie here is a tie there. */
#include "policy/fair_tree_compare.h"

#include <math.h>

#include "base/ensure.h"
#include "policy/level.h"

uint32_t fair_tree_compare_path(const struct tree *t, uint32_t node, uint32_t *out_path)
{
    uint32_t length = 0;
    for (uint32_t i = node; i != 0; i = t->fs_parent[i]) length++;
    for (uint32_t i = node, at = length; i != 0; i = t->fs_parent[i]) out_path[--at] = i;
    ensure(length <= TREE_DEPTH_MAX);
    return length;
}

/* A SHARES_PARENT user has an infinite level, and an empty cell in the table. */
static double slurm_level(const struct fair_tree_ranks *r, uint32_t node)
{
    double level = r->slurm_level[node];
    return isnan(level) ? INFINITY : level;
}

static uint64_t key_within(const struct fair_tree_ranks *r, uint32_t node)
{
    bool is_unused = r->usage[r->t->fs_parent[node]] == 0;
    return level_key(r->t->shares[node], is_unused ? 0 : r->usage[node]);
}

static uint64_t key_across(const struct fair_tree_ranks *r, uint32_t node)
{
    uint32_t account = r->t->fs_parent[node];
    return level_key_across(r->t->shares[node], r->usage[node], r->t->level_shares[account], r->usage[account]);
}

/* Below 0: a has the higher level; 0: both are equal. */
static int compare_levels(const struct fair_tree_ranks *r, uint32_t a, uint32_t b)
{
    if (r->slurm_level != NULL) {
        double of_a = slurm_level(r, a), of_b = slurm_level(r, b);
        return (of_a < of_b) - (of_a > of_b);
    }
    bool is_within = r->t->fs_parent[a] == r->t->fs_parent[b];
    uint64_t of_a = is_within ? key_within(r, a) : key_across(r, a);
    uint64_t of_b = is_within ? key_within(r, b) : key_across(r, b);
    return (of_a < of_b) - (of_a > of_b);
}

/* The decision between two different nodes of equal level that are not both accounts, or not entered together. */
static enum fair_tree_decision decide_tied(const struct fair_tree_ranks *r, uint32_t a, uint32_t b)
{
    bool is_user = r->t->is_user[a];
    if (is_user != r->t->is_user[b]) return DECIDED_BY_KIND;
    return is_user ? DECIDED_BY_LEVEL : DECIDED_BY_ORDER; /* of users: a difference beyond 64 bits */
}

struct fair_tree_comparison fair_tree_compare(const struct fair_tree_ranks *r, uint32_t a, uint32_t b)
{
    uint32_t path_a[TREE_DEPTH_MAX], path_b[TREE_DEPTH_MAX];
    uint32_t length_a = fair_tree_compare_path(r->t, a, path_a), length_b = fair_tree_compare_path(r->t, b, path_b);
    uint32_t length = length_a < length_b ? length_a : length_b;
    struct fair_tree_comparison c = {.decision = DECIDED_BY_NOTHING, .a = a, .b = b};
    for (; c.step < length; c.step++) {
        c.a = path_a[c.step];
        c.b = path_b[c.step];
        if (c.a == c.b) continue;
        bool is_level = compare_levels(r, c.a, c.b) != 0;
        bool are_merged = r->slurm_level == NULL && !r->t->is_user[c.a] && !r->t->is_user[c.b];
        if (is_level || !are_merged) {
            bool is_same = r->factor[a] <= r->factor[b] && r->factor[a] >= r->factor[b];
            c.decision = is_same ? DECIDED_BY_NOTHING : is_level ? DECIDED_BY_LEVEL : decide_tied(r, c.a, c.b);
            return c;
        }
        c.tied_steps++;
    }
    c.step = length - 1; /* one and the same user */
    return c;
}

void fair_tree_ranks_position(const struct fair_tree_ranks *r, uint32_t node, uint32_t *out_before, uint32_t *out_tied)
{
    const struct tree *t = r->t;
    uint32_t account = t->fs_parent[node];
    ensure(account != NONE);
    *out_before = *out_tied = 0;
    for (uint32_t c = t->child_start[account]; c < t->child_start[account + 1]; c++) {
        uint32_t sibling = t->children[c];
        bool competes = t->is_user[sibling] || t->shares[sibling] != SHARES_PARENT;
        if (sibling == node || !competes) continue;
        int order = compare_levels(r, sibling, node);
        *out_before += order < 0;
        *out_tied += order == 0;
    }
}
