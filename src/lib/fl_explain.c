/* Why a user is where it is in the order: the steps down to it, and what decides between two of them. */
#include "lib/fl_tree.h"

#include "policy/fair_tree_compare.h"

static struct fair_tree_ranks ranks_of(const struct fl_tree *t)
{
    return (struct fair_tree_ranks){
        .t = &t->tree,
        .usage = t->table.raw_usage,
        .factor = t->factors,
        .slurm_level = t->ties == TIES_SLURM ? t->table.level_fs : NULL,
    };
}

static uint32_t count_siblings(const struct tree *t, uint32_t account)
{
    uint32_t count = 0;
    for (uint32_t c = t->child_start[account]; c < t->child_start[account + 1]; c++) {
        uint32_t node = t->children[c];
        count += t->is_user[node] || t->shares[node] != SHARES_PARENT;
    }
    return count;
}

static void fill_step(const struct fl_tree *t, uint32_t node, struct fl_step *out)
{
    uint32_t account = t->tree.fs_parent[node];
    *out = (struct fl_step){
        .node = node,
        .competes_under = account,
        .shares = t->tree.shares[node],
        .sibling_count = count_siblings(&t->tree, account),
        .level_shares = t->tree.level_shares[account],
        .usage = t->table.raw_usage[node],
        .level_usage = t->table.raw_usage[account],
    };
    fl_tree_share(t, node, &out->share);
    if (t->algorithm != ALGORITHM_FAIR_TREE) return;
    struct fair_tree_ranks ranks = ranks_of(t);
    fair_tree_ranks_position(&ranks, node, &out->before_count, &out->tied_count);
}

int fl_tree_path(const struct fl_tree *tree, uint32_t node, struct fl_step *out_steps, uint32_t capacity,
                 uint32_t *out_count)
{
    uint32_t path[TREE_DEPTH_MAX];
    if (tree == NULL || out_count == NULL || (out_steps == NULL && capacity > 0)) return FL_ENULL;
    if (node >= tree->tree.count) return FL_ENODE;
    int result = fl_tree_ranked(tree, RANKED_ALL);
    if (result != FL_OK) return result;
    uint32_t length = fair_tree_compare_path(&tree->tree, node, path);
    for (uint32_t i = 0; i < length && i < capacity; i++) fill_step(tree, path[i], &out_steps[i]);
    *out_count = length;
    return FL_OK;
}

static const enum fl_reason reason_of[] = {
    [DECIDED_BY_LEVEL] = FL_BY_LEVEL,
    [DECIDED_BY_NOTHING] = FL_BY_TIE,
    [DECIDED_BY_KIND] = FL_BY_KIND,
    [DECIDED_BY_ORDER] = FL_BY_ORDER,
};

static void compare_levels(const struct fl_tree *t, uint32_t a, uint32_t b, struct fl_comparison *out)
{
    struct fair_tree_ranks ranks = ranks_of(t);
    struct fair_tree_comparison c = fair_tree_compare(&ranks, a, b);
    out->reason = reason_of[c.decision];
    out->step = c.step;
    out->tied_steps = c.tied_steps;
    out->a_node = c.a;
    out->b_node = c.b;
    out->a_value = t->table.level_fs[c.a];
    out->b_value = t->table.level_fs[c.b];
}

static void compare_factors(const struct fl_tree *t, uint32_t a, uint32_t b, struct fl_comparison *out)
{
    uint32_t path[TREE_DEPTH_MAX];
    out->reason = out->order == 0 ? FL_BY_TIE : FL_BY_FACTOR;
    out->step = fair_tree_compare_path(&t->tree, a, path) - 1;
    out->a_node = a;
    out->b_node = b;
    out->a_value = t->factors[a];
    out->b_value = t->factors[b];
}

int fl_tree_compare(const struct fl_tree *tree, uint32_t a, uint32_t b, struct fl_comparison *out_comparison)
{
    if (tree == NULL || out_comparison == NULL) return FL_ENULL;
    if (a >= tree->tree.count || b >= tree->tree.count) return FL_ENODE;
    if (!tree->tree.is_user[a] || !tree->tree.is_user[b]) return FL_EKIND;
    int result = fl_tree_ranked(tree, RANKED_ALL);
    if (result != FL_OK) return result;
    struct fl_comparison c = {0};
    c.order = (tree->factors[a] < tree->factors[b]) - (tree->factors[a] > tree->factors[b]);
    if (tree->algorithm == ALGORITHM_FAIR_TREE) {
        compare_levels(tree, a, b, &c);
    } else {
        compare_factors(tree, a, b, &c);
    }
    *out_comparison = c;
    return FL_OK;
}
