/* Random trees with usage, for the benchmarks of fair share. */
#ifndef FAIRLEAD_BENCH_SHARE_WORLD_H
#define FAIRLEAD_BENCH_SHARE_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure.h"
#include "policy/tree.h"

/* BY_ACCOUNT: nodes are added account by account. MIXED: users are added in random order. IDLE: as BY_ACCOUNT, but nine
 * accounts in ten have no usage. TIED: all accounts have the same shares and usage. */
enum layout { BY_ACCOUNT, MIXED, IDLE, TIED };

struct world {
    struct tree tree;
    uint32_t *users; /* indices of the users */
    double *own, *usage, *factor;
    struct rng rng;
    enum layout layout;
};

/* Usage of many orders of magnitude, as decay produces; one user in ten has none. */
static inline double random_usage(struct world *w)
{
    return rng_below(&w->rng, 10) == 0 ? 0 : rng_double(&w->rng) * (double)(1u << rng_below(&w->rng, 30));
}

static inline uint32_t random_shares(struct world *w, uint32_t max)
{
    return w->layout == TIED ? 1 : 1 + rng_below(&w->rng, max);
}

static inline bool is_idle(const struct world *w, uint32_t user)
{
    return w->layout == IDLE && w->tree.parent[user] % 10 != 1;
}

static inline void make_tree(struct world *w, uint32_t user_count, uint32_t per_account)
{
    tree_init(&w->tree);
    uint32_t account_count = (user_count + per_account - 1) / per_account, account = 0;
    for (uint32_t a = 0; w->layout == MIXED && a < account_count; a++)
        tree_add(&w->tree, 0, false, random_shares(w, 1000));
    for (uint32_t user = 0; user < user_count; user++) {
        if (w->layout == MIXED) {
            account = 1 + rng_below(&w->rng, account_count);
        } else if (user % per_account == 0) {
            account = tree_add(&w->tree, 0, false, random_shares(w, 1000));
        }
        w->users[user] = tree_add(&w->tree, account, true, random_shares(w, 100));
    }
    tree_finish(&w->tree);
}

static inline void make_world(struct world *w, uint32_t user_count, uint32_t per_account, enum layout layout)
{
    *w = (struct world){.rng = {1}, .layout = layout};
    w->users = malloc(user_count * sizeof *w->users);
    make_tree(w, user_count, per_account);
    size_t bytes = w->tree.count * sizeof(double);
    w->own = calloc(1, bytes);
    w->usage = calloc(1, bytes);
    w->factor = calloc(1, bytes);
    for (uint32_t u = 0; u < user_count; u++) {
        uint32_t user = w->users[u];
        if (!is_idle(w, user)) w->own[user] = layout == TIED ? 1 + user * 7 % per_account : random_usage(w);
    }
}

static inline void free_world(struct world *w)
{
    tree_release(&w->tree);
    free(w->users);
    free(w->own);
    free(w->usage);
    free(w->factor);
}

/* Changes the usage of every hundredth user. */
static inline void change_some(struct world *w)
{
    for (uint32_t c = w->tree.user_count / 100; c > 0; c--) {
        uint32_t u = w->users[rng_below(&w->rng, w->tree.user_count)];
        if (w->layout != TIED && !is_idle(w, u)) w->own[u] = random_usage(w);
    }
}

#endif
