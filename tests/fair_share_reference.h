/* A second implementation of classic and depth-oblivious fair share: recursive, slow and in long double. Each
 * definition of docs/formulas.md 2.4 and 2.5 is a function that calls the others. It reads only the parents, kinds and
 * shares of a tree, and usages. */
#ifndef FAIRLEAD_TESTS_FAIR_SHARE_REFERENCE_H
#define FAIRLEAD_TESTS_FAIR_SHARE_REFERENCE_H

#include <math.h>
#include <stdbool.h>

#include "policy/tree.h"

struct share_reference {
    const struct tree *t;
    const double *own;
    bool is_oblivious;
    long double dampening;
};

static inline bool reference_is_parent(const struct share_reference *r, uint32_t n)
{
    return r->t->shares[n] == SHARES_PARENT;
}

static inline uint32_t reference_fs_parent(const struct share_reference *r, uint32_t n)
{
    uint32_t p = r->t->parent[n];
    return p == 0 || !reference_is_parent(r, p) ? p : reference_fs_parent(r, p);
}

static inline long double reference_total(const struct share_reference *r, uint32_t n)
{
    long double sum = r->own[n];
    for (uint32_t c = 1; c < r->t->count; c++) {
        if (r->t->parent[c] == n) sum += reference_total(r, c);
    }
    return sum;
}

static inline long double reference_norm_usage(const struct share_reference *r, uint32_t n)
{
    long double all = reference_total(r, 0);
    return all == 0 ? 0 : fminl(reference_total(r, n) / all, 1);
}

/* The sum of the shares, or of the usage, of a's fair-share children without `parent`. */
static inline long double reference_level(const struct share_reference *r, uint32_t a, bool of_usage)
{
    long double sum = 0;
    for (uint32_t c = 1; c < r->t->count; c++) {
        if (reference_fs_parent(r, c) != a || reference_is_parent(r, c)) continue;
        sum += of_usage ? reference_norm_usage(r, c) : r->t->shares[c];
    }
    return sum;
}

static inline long double reference_fraction(const struct share_reference *r, uint32_t n)
{
    long double all = reference_level(r, reference_fs_parent(r, n), false);
    return all == 0 ? 0 : r->t->shares[n] / all;
}

/* The product over the node and all its ancestors but the root, without those with `parent`. */
static inline long double reference_norm_shares(const struct share_reference *r, uint32_t n)
{
    if (n == 0) return 1;
    if (reference_is_parent(r, n)) return reference_norm_shares(r, reference_fs_parent(r, n));
    long double product = 1;
    for (uint32_t a = n; a != 0; a = r->t->parent[a]) {
        if (!reference_is_parent(r, a)) product *= reference_fraction(r, a);
    }
    return product;
}

static inline long double reference_effective_usage(const struct share_reference *r, uint32_t n);

static inline long double reference_oblivious(const struct share_reference *r, uint32_t n, uint32_t p)
{
    long double shares = reference_norm_shares(r, n), above = reference_norm_shares(r, p);
    long double used = reference_norm_usage(r, n), effective = reference_effective_usage(r, p);
    if (shares == 0 || above == 0 || used == 0 || effective == 0) return used;
    long double parents = effective / above, own = (used / shares) / (reference_level(r, p, true) / above);
    long double steep = 5 * logl(parents), k = logl(parents) * logl(own) >= 0 ? 1 : 1 / (1 + steep * steep);
    return parents * powl(own, k) * shares;
}

static inline long double reference_effective_usage(const struct share_reference *r, uint32_t n)
{
    if (n == 0) return 1;
    uint32_t p = reference_fs_parent(r, n);
    long double used = reference_norm_usage(r, n);
    if (p == 0) return used;
    if (reference_is_parent(r, n)) return reference_effective_usage(r, p);
    if (r->is_oblivious) return reference_oblivious(r, n, p);
    long double above = reference_effective_usage(r, p);
    return reference_level(r, p, false) == 0 ? above : used + (above - used) * reference_fraction(r, n);
}

static inline long double reference_factor(const struct share_reference *r, uint32_t n)
{
    uint32_t f = n != 0 && reference_is_parent(r, n) && reference_fs_parent(r, n) != 0 ? reference_fs_parent(r, n) : n;
    long double shares = reference_norm_shares(r, f);
    return shares <= 0 ? 0 : exp2l(-(reference_effective_usage(r, f) / shares) / r->dampening);
}

#endif
