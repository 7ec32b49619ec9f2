/* Random trees of all sizes for the laws of fair share. Usages are whole numbers, so that their sums do not depend on
 * the order. */
#ifndef FAIRLEAD_TESTS_SHARE_WORLD_H
#define FAIRLEAD_TESTS_SHARE_WORLD_H

#include <stdlib.h>

#include "base/rng.h"
#include "policy/tree.h"

/* A tree, own usages, and room for results. */
struct world {
    struct tree tree;
    double *own, *usage, *factor, *factor2;
    struct rng rng;
    uint32_t share_kinds, usage_kinds; /* the number of different values; with few there are many ties */
};

static inline int rounds(int plain)
{
    const char *sanitized = getenv("FAIRLEAD_SANITIZED");
    return sanitized != NULL && sanitized[0] == '1' ? plain / 4 + 1 : plain;
}

static inline double random_usage(struct world *w)
{
    if (rng_below(&w->rng, 5) == 0) return 0;
    return (double)rng_below(&w->rng, w->usage_kinds);
}

static inline uint32_t random_shares(struct world *w)
{
    return rng_below(&w->rng, 20) == 0 ? SHARES_PARENT : rng_below(&w->rng, w->share_kinds + 1);
}

/* A random tree of count nodes. The arrays have space for 1000 more. */
static inline void world_init(struct world *w, uint64_t seed, uint32_t count)
{
    *w = (struct world){.rng = {seed}};
    tree_init(&w->tree);
    static const uint32_t KINDS[] = {2, 3, 10, 1000, 1000000};
    w->share_kinds = KINDS[rng_below(&w->rng, 4)];
    w->usage_kinds = KINDS[rng_below(&w->rng, 5)];
    uint32_t account_count = rng_below(&w->rng, 3) == 0 ? 1 : 1 + count / (1 + rng_below(&w->rng, 40));
    size_t bytes = (count + 1000) * sizeof(double);
    double **arrays[] = {&w->own, &w->usage, &w->factor, &w->factor2};
    for (int a = 0; a < 4; a++) *arrays[a] = calloc(1, bytes);
    while (w->tree.count < count) {
        uint32_t n = w->tree.count, parent = rng_below(&w->rng, n < account_count ? n : account_count);
        bool is_user = n >= account_count;
        if (w->tree.depth[parent] == TREE_DEPTH_MAX) parent = 0;
        uint32_t node = tree_add(&w->tree, parent, is_user, random_shares(w));
        if (is_user || rng_below(&w->rng, 10) == 0) w->own[node] = random_usage(w);
    }
    tree_finish(&w->tree);
}

static inline void world_release(struct world *w)
{
    tree_release(&w->tree);
    free(w->own);
    free(w->usage);
    free(w->factor);
    free(w->factor2);
}

static inline uint32_t random_size(int round)
{
    return round % 50 == 49 ? 5000 : 2 + (uint32_t)round % 49 * 4;
}

/* Copies the tree with its nodes in another order. Returns the new index of each node, which the caller frees. */
static inline uint32_t *world_permute(struct world *w, struct world *out)
{
    uint32_t n = w->tree.count, *index_of = calloc(n, sizeof *index_of), *ready = calloc(n, sizeof *ready), count = 0;
    world_init(out, 0, 1);
    out->own = realloc(out->own, n * sizeof *out->own);
    out->usage = realloc(out->usage, n * sizeof *out->usage);
    out->factor = realloc(out->factor, n * sizeof *out->factor);
    out->own[0] = w->own[0];
    /* A node is ready when its parent is in the new tree. A random ready node is the next one. */
    for (uint32_t i = 1; i < n; i++) {
        if (w->tree.parent[i] == 0) ready[count++] = i;
    }
    while (count > 0) {
        uint32_t pick = rng_below(&w->rng, count), node = ready[pick];
        ready[pick] = ready[--count];
        index_of[node] =
            tree_add(&out->tree, index_of[w->tree.parent[node]], w->tree.is_user[node], w->tree.shares[node]);
        out->own[index_of[node]] = w->own[node];
        if (w->tree.is_user[node]) continue;
        for (uint32_t i = node + 1; i < n; i++) {
            if (w->tree.parent[i] == node) ready[count++] = i;
        }
    }
    tree_finish(&out->tree);
    free(ready);
    return index_of;
}

/* For each account, multiplies the shares that compete below it with one random number. */
static inline void world_scale_shares(struct world *w)
{
    for (uint32_t a = 0; a < w->tree.count; a++) {
        uint32_t times = 1 + rng_below(&w->rng, 2000);
        for (uint32_t c = w->tree.child_start[a]; c < w->tree.child_start[a + 1]; c++) {
            uint32_t child = w->tree.children[c];
            if (w->tree.shares[child] != SHARES_PARENT) w->tree.shares[child] *= times;
        }
    }
    w->tree.is_finished = false;
    tree_finish(&w->tree);
}

#endif
