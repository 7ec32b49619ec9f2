/* Building the tree. A node is added in two steps: all memory that it may ever need is taken, and then policy/ adds it,
 * which cannot fail. */
#include "lib/fl_tree.h"

enum { FIRST_NODES = 64 };

/* Makes room for count nodes: in the tree, in its finished form, and for their usage. */
static bool reserve(struct fl_tree *t, uint32_t count)
{
    double *stored = mem_try_resize(t->stored, count * sizeof *stored);
    if (stored == NULL) return false;
    t->stored = stored;
    return tree_reserve(&t->tree, count);
}

int fl_tree_new(struct fl_tree **out_tree)
{
    if (out_tree == NULL) return FL_ENULL;
    *out_tree = NULL;
    struct fl_tree *t = mem_try_resize(NULL, sizeof *t);
    if (t == NULL) return FL_ENOMEM;
    *t = (struct fl_tree){.charged_us = -FL_TIME_MAX};
    if (!tree_try_init(&t->tree) || !reserve(t, FIRST_NODES)) {
        fl_tree_free(t);
        return FL_ENOMEM;
    }
    t->stored[FL_ROOT] = 0;
    *out_tree = t;
    return FL_OK;
}

void fl_tree_free(struct fl_tree *tree)
{
    if (tree == NULL) return;
    tree_release(&tree->tree);
    arena_release(&tree->arena);
    rank_order_free(tree->order);
    mem_free(tree->stored);
    mem_free(tree);
}

static int check_node(const struct fl_tree *t, uint32_t parent, int kind, uint32_t shares)
{
    if (t == NULL) return FL_ENULL;
    if (parent >= t->tree.count) return FL_ENODE;
    if (t->tree.is_user[parent]) return FL_EPARENT;
    if (kind != FL_ACCOUNT && kind != FL_USER) return FL_EKIND;
    if (t->tree.depth[parent] >= TREE_DEPTH_MAX) return FL_EDEPTH;
    if (shares > FL_PARENT) return FL_ESHARES;
    return t->tree.count >= TREE_COUNT_MAX ? FL_EFULL : FL_OK;
}

int fl_tree_add(struct fl_tree *tree, uint32_t parent, int kind, uint32_t shares, uint32_t *out_node)
{
    if (out_node != NULL) *out_node = FL_NONE;
    int result = check_node(tree, parent, kind, shares);
    if (result != FL_OK) return result;
    uint32_t capacity = tree->tree.capacity;
    if (tree->tree.count == capacity) {
        capacity = capacity < TREE_COUNT_MAX / 2 ? capacity * 2 : TREE_COUNT_MAX;
        if (!reserve(tree, capacity)) return FL_ENOMEM;
    }
    uint32_t node = tree_add(&tree->tree, parent, kind == FL_USER, shares);
    tree->stored[node] = 0;
    tree->changes++;
    if (out_node != NULL) *out_node = node;
    return FL_OK;
}

int fl_tree_set_shares(struct fl_tree *tree, uint32_t node, uint32_t shares)
{
    if (tree == NULL) return FL_ENULL;
    if (node >= tree->tree.count) return FL_ENODE;
    if (node == FL_ROOT || shares > FL_PARENT) return FL_ESHARES;
    if (tree->tree.shares[node] != shares) tree->changes++;
    tree_set_shares(&tree->tree, node, shares);
    return FL_OK;
}

uint32_t fl_tree_count(const struct fl_tree *tree)
{
    return tree != NULL ? tree->tree.count : 0;
}

int fl_tree_node(const struct fl_tree *tree, uint32_t node, struct fl_node *out_node)
{
    if (tree == NULL || out_node == NULL) return FL_ENULL;
    const struct tree *t = &tree->tree;
    if (node >= t->count) return FL_ENODE;
    uint32_t above = t->parent[node];
    while (above != NONE && above != FL_ROOT && t->shares[above] == SHARES_PARENT) above = t->parent[above];
    *out_node = (struct fl_node){
        .parent = t->parent[node],
        .competes_under = above,
        .shares = t->shares[node],
        .depth = t->depth[node],
        .kind = t->is_user[node] ? FL_USER : FL_ACCOUNT,
    };
    return FL_OK;
}
