/* All small trees for tests: every shape of up to so many nodes below the root, each node a user or an account, every
 * assignment of shares and of users' usages from small sets.
 *
 * A shape is the list of parents in breadth-first order, which makes it ascending: each unordered shape once or a few
 * times. Siblings in another order are in it by their values in another order. */
#ifndef FAIRLEAD_TESTS_SMALL_TREES_H
#define FAIRLEAD_TESTS_SMALL_TREES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/tree.h"

enum { SMALL_NODES_MAX = 5 };

struct small_trees {
    /* What is wanted. */
    uint32_t nodes; /* at most SMALL_NODES_MAX */
    const uint32_t *shares;
    uint32_t share_count;
    int64_t usage_most; /* usages are 0 to this */
    uint64_t stride;    /* only every so many is visited */
    void (*visit)(const struct small_trees *all, const struct tree *t, const int64_t *own);
    void *context;

    /* How far it is. The shape's number says when a tree is another one. */
    uint64_t shapes, visited, at;
};

/* On the build with sanitizers fewer do. */
static inline uint64_t small_trees_stride(uint64_t plain, uint64_t sanitized)
{
    const char *is = getenv("FAIRLEAD_SANITIZED");
    return is != NULL && is[0] == '1' ? sanitized : plain;
}

/* Every assignment of usages to users, by counting. */
static inline void small_trees_usages(struct small_trees *all, const struct tree *t)
{
    int64_t own[SMALL_NODES_MAX + 1] = {0};
    for (;;) {
        if (all->at++ % all->stride == 0) {
            all->visit(all, t, own);
            all->visited++;
        }
        uint32_t i = 1;
        for (; i < t->count && (!t->is_user[i] || own[i] == all->usage_most); i++) own[i] = 0;
        if (i == t->count) return;
        own[i]++;
    }
}

static inline void small_trees_shares(struct small_trees *all, struct tree *t)
{
    uint32_t digit[SMALL_NODES_MAX + 1] = {0};
    for (;;) {
        for (uint32_t i = 1; i < t->count; i++) tree_set_shares(t, i, all->shares[digit[i]]);
        tree_finish(t);
        small_trees_usages(all, t);
        uint32_t i = 1;
        for (; i < t->count && digit[i] == all->share_count - 1; i++) digit[i] = 0;
        if (i == t->count) return;
        digit[i]++;
    }
}

/* All trees whose first nodes are given: a next node below each account from least_parent on, or none. */
static inline void small_trees_shapes(struct small_trees *all, const uint32_t *parent, const bool *is_user,
                                      uint32_t count)
{
    if (count > 1) {
        struct tree t;
        tree_init(&t);
        for (uint32_t i = 1; i < count; i++) tree_add(&t, parent[i], is_user[i], 1);
        if (t.user_count > 0) {
            all->shapes++;
            small_trees_shares(all, &t);
        }
        tree_release(&t);
    }
    if (count > all->nodes) return;
    uint32_t more_parent[SMALL_NODES_MAX + 2];
    bool more_user[SMALL_NODES_MAX + 2];
    memcpy(more_parent, parent, count * sizeof *parent);
    memcpy(more_user, is_user, count * sizeof *is_user);
    for (uint32_t p = count > 1 ? parent[count - 1] : 0; p < count; p++) {
        if (is_user[p]) continue;
        more_parent[count] = p;
        for (int user = 0; user < 2; user++) {
            more_user[count] = user;
            small_trees_shapes(all, more_parent, more_user, count + 1);
        }
    }
}

static inline void small_trees_visit(struct small_trees *all)
{
    small_trees_shapes(all, (uint32_t[]){NONE}, (bool[]){false}, 1);
}

#endif
