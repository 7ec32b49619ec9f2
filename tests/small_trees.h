/* Visits all small trees: every shape up to a number of nodes below the root, each node a user or an account, with
 * every assignment of shares and users' usages from small sets.
 *
 * A shape is an ascending list of parents, so every unordered shape occurs at least once. Other orders of siblings
 * occur as other assignments of values. */
#ifndef FAIRLEAD_TESTS_SMALL_TREES_H
#define FAIRLEAD_TESTS_SMALL_TREES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/tree.h"

enum { SMALL_NODES_MAX = 5 };

struct small_trees {
    /* Set by the caller. */
    uint32_t nodes; /* below the root; at most SMALL_NODES_MAX */
    const uint32_t *shares;
    uint32_t share_count;
    int64_t usage_max; /* usages are 0 to usage_max */
    uint64_t stride;   /* every stride-th tree is visited */
    void (*visit)(const struct small_trees *all, const struct tree *t, const int64_t *own);
    void *context;

    /* Progress. A visitor gets a new struct tree when shape_count changes. */
    uint64_t shape_count, visited_count, position;
};

/* The stride of this build: the one with sanitizers visits fewer trees. */
static inline uint64_t small_trees_stride(uint64_t plain, uint64_t sanitized)
{
    const char *value = getenv("FAIRLEAD_SANITIZED");
    return value != NULL && value[0] == '1' ? sanitized : plain;
}

/* Every assignment of usages to users, by counting up. */
static inline void small_trees_usages(struct small_trees *all, const struct tree *t)
{
    int64_t own[SMALL_NODES_MAX + 1] = {0};
    for (;;) {
        if (all->position++ % all->stride == 0) {
            all->visit(all, t, own);
            all->visited_count++;
        }
        uint32_t i = 1;
        for (; i < t->count && (!t->is_user[i] || own[i] == all->usage_max); i++) own[i] = 0;
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

/* All trees that begin with these nodes: the nodes alone, and with one more below each account from the last parent
 * on. */
static inline void small_trees_shapes(struct small_trees *all, const uint32_t *parent, const bool *is_user,
                                      uint32_t count)
{
    if (count > 1) {
        struct tree t;
        tree_init(&t);
        for (uint32_t i = 1; i < count; i++) tree_add(&t, parent[i], is_user[i], 1);
        if (t.user_count > 0) {
            all->shape_count++;
            small_trees_shares(all, &t);
        }
        tree_release(&t);
    }
    if (count > all->nodes) return;
    uint32_t next_parent[SMALL_NODES_MAX + 2];
    bool next_is_user[SMALL_NODES_MAX + 2];
    memcpy(next_parent, parent, count * sizeof *parent);
    memcpy(next_is_user, is_user, count * sizeof *is_user);
    for (uint32_t p = count > 1 ? parent[count - 1] : 0; p < count; p++) {
        if (is_user[p]) continue;
        next_parent[count] = p;
        for (int user = 0; user < 2; user++) {
            next_is_user[count] = user;
            small_trees_shapes(all, next_parent, next_is_user, count + 1);
        }
    }
}

static inline void small_trees_visit(struct small_trees *all)
{
    small_trees_shapes(all, (uint32_t[]){NONE}, (bool[]){false}, 1);
}

#endif
