/* A second implementation of Fair Tree, written from the published description only, slow and with exact fractions. It
 * reads only the parents, kinds and shares of a tree, and usages that are whole numbers.
 *
 *   Siblings are sorted by level = S / U. Users with equal levels have one rank. In the order, an account stands for
 *   its children, which are sorted by the same rule. The children of accounts with equal levels are sorted together.
 *   A user with the level of an account has the rank of that account's best user.
 *
 * So a list of siblings gives a list of classes, best first; a class is a set of users with one rank.
 *
 *   classes(list) = for each set of equal levels, from the highest:
 *                     below = classes(children of all its accounts)
 *                     its users and below[0] together, if it has users; then the rest of below */
#ifndef FAIRLEAD_TESTS_FAIR_TREE_REFERENCE_H
#define FAIRLEAD_TESTS_FAIR_TREE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "policy/tree.h"

struct fraction {
    __int128 numerator, denominator; /* infinity: 1 / 0 */
};

struct reference {
    const struct tree *t;
    const int64_t *own;
    int64_t *total, *all_shares;
    uint32_t *fs_parent;
    struct fraction *level;
    uint32_t *class_of; /* of users */
};

static inline int reference_compare(struct fraction a, struct fraction b)
{
    __int128 left = a.numerator * b.denominator, right = b.numerator * a.denominator;
    return (left > right) - (left < right);
}

static inline void reference_levels(struct reference *r)
{
    const struct tree *t = r->t;
    for (uint32_t i = 0; i < t->count; i++) {
        for (uint32_t a = i; a != NONE; a = t->parent[a]) r->total[a] += r->own[i];
    }
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t p = t->parent[i];
        while (p != 0 && t->shares[p] == SHARES_PARENT) p = t->parent[p];
        r->fs_parent[i] = p;
        if (t->shares[i] != SHARES_PARENT) r->all_shares[p] += t->shares[i];
    }
    for (uint32_t i = 1; i < t->count; i++) {
        int64_t usage = r->total[i], all_usage = r->total[r->fs_parent[i]];
        if (t->shares[i] == 0) {
            r->level[i] = (struct fraction){0, 1};
        } else if (t->shares[i] == SHARES_PARENT || usage == 0 || all_usage == 0) {
            r->level[i] = (struct fraction){1, 0};
        } else {
            r->level[i] =
                (struct fraction){(__int128)t->shares[i] * all_usage, (__int128)usage * r->all_shares[r->fs_parent[i]]};
        }
    }
}

/* Numbers the classes of a list, starting with first. Returns their count. */
static inline uint32_t reference_classes(struct reference *r, const uint32_t *list, uint32_t count, uint32_t first)
{
    const struct tree *t = r->t;
    uint32_t *children = malloc((t->count + 1) * sizeof *children), next = first;
    bool *done = calloc(count + 1, sizeof *done);
    for (;;) {
        uint32_t best = NONE;
        for (uint32_t i = 0; i < count; i++) {
            if (!done[i] && (best == NONE || reference_compare(r->level[list[i]], r->level[best]) > 0)) best = list[i];
        }
        if (best == NONE) break;
        bool has_users = false;
        uint32_t child_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (done[i] || reference_compare(r->level[list[i]], r->level[best]) != 0) continue;
            done[i] = true;
            if (t->is_user[list[i]]) {
                has_users = true;
                r->class_of[list[i]] = next;
                continue;
            }
            for (uint32_t c = 1; c < t->count; c++) {
                if (r->fs_parent[c] == list[i]) children[child_count++] = c;
            }
        }
        uint32_t below = child_count > 0 ? reference_classes(r, children, child_count, next) : 0;
        next += has_users && below == 0 ? 1 : below;
    }
    free(done);
    free(children);
    return next - first;
}

/* The factors as exact ranks. out_rank: for a user, N minus the number of users in better classes; 0 for accounts. */
static inline void reference_ranks(const struct tree *t, const int64_t *own, uint32_t *out_rank)
{
    uint32_t n = t->count;
    struct reference r = {.t = t, .own = own};
    r.total = calloc(n, sizeof *r.total);
    r.all_shares = calloc(n, sizeof *r.all_shares);
    r.fs_parent = calloc(n, sizeof *r.fs_parent);
    r.level = calloc(n, sizeof *r.level);
    r.class_of = calloc(n, sizeof *r.class_of);
    reference_levels(&r);
    uint32_t *list = calloc(n, sizeof *list), count = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (r.fs_parent[i] == 0) list[count++] = i;
    }
    reference_classes(&r, list, count, 0);
    for (uint32_t i = 0; i < n; i++) {
        out_rank[i] = 0;
        if (!t->is_user[i]) continue;
        out_rank[i] = t->user_count;
        for (uint32_t j = 0; j < n; j++) out_rank[i] -= t->is_user[j] && r.class_of[j] < r.class_of[i];
    }
    free(list);
    free(r.total);
    free(r.all_shares);
    free(r.fs_parent);
    free(r.level);
    free(r.class_of);
}

#endif
