/* Fair Tree as Slurm 22.05.8 on x86-64 computes it, bit for bit, for sites that compare with Slurm or migrate from it.
 *
 * Its arithmetic: shares are a quotient of two whole numbers in 64 bits. Usage is summed in 80 bits, and divided by the
 * fair-share parent's in 80 bits. The level is the quotient of the two in 80 bits, and levels are compared exactly.
 *
 * Its walk differs from the published one (fair_tree.c) in one point: tied sibling accounts are not merged. The second
 * one is entered with the mark `tied`, so that its first association shares the rank given last.
 *
 *     visit(list, tied_in)      ranks count down from N; `last`: the rank given last, `left`: the next untied one
 *       sort by level, highest first; at equal levels users first; else in their order
 *       previous = 4294967294
 *       for each member: tied = the first's, if tied_in; else previous == level
 *         user: unless tied, last = left;  factor = last / N;  left -= 1
 *         account: visit(children, tied)
 *         previous = level
 *
 * Two points are surprising. A SHARES_PARENT account has Slurm's "not set", 4294967294, as its level. It has no
 * children of its own, but it is a member of the list, so after one of them `previous` is that number; and the first
 * member of a list is compared with that number, too. Siblings that tie are ranked in index order, so the tree must be
 * built in Slurm's own order.
 *
 * Cost: O(n log g), g the size of the largest list of siblings. Nothing is kept from pass to pass.
 * Source: docs/formulas.md 2.2; recorded answers in tests/conformance/slurm. */
#include "policy/fair_tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/ensure.h"

static const long double NOT_SET = 4294967294.0L;

struct member {
    long double level;
    uint32_t node;
    bool is_user;
};

struct slurm_walk {
    const struct tree *t;
    const long double *usage;
    double *factor, *level; /* level may be NULL */
    struct member *stack;   /* the lists from the root to the current one, and room to sort that one */
    uint32_t stack_count;
    uint32_t last, left;
};

bool fair_tree_slurm_available(void)
{
    return LDBL_MANT_DIG == 64;
}

/* slurmctld stores usage across restarts as text with six decimals. In memory it has the 80-bit number nearest to that
 * text, which is not the double nearest to it: those of 0.1 differ in the additional eleven bits. From 2^43 on, 80 bits
 * have no sixth decimal either. */
static long double as_stored(double usage)
{
    return usage < 0x1p43 ? rintl(usage * 1e6L) / 1e6L : usage;
}

void fair_tree_slurm_sum(const struct tree *t, const double *own, long double *out_total)
{
    ensure(t->count > 0);
    memset(out_total, 0, t->count * sizeof *out_total);
    for (uint32_t i = 0; i < t->count; i++) {
        if (own[i] == 0) continue;
        long double stored = as_stored(own[i]);
        for (uint32_t a = i; a != NONE; a = t->parent[a]) out_total[a] += stored;
    }
}

static long double level_of(const struct slurm_walk *w, uint32_t node)
{
    const struct tree *t = w->t;
    uint32_t account = t->fs_parent[node];
    if (t->shares[node] == SHARES_PARENT) return t->is_user[node] ? HUGE_VALL : NOT_SET;
    if (t->shares[node] == 0) return 0;
    double shares = (double)t->shares[node] / (double)t->level_shares[account];
    long double used = w->usage[account] == 0 ? 0 : w->usage[node] / w->usage[account];
    return used == 0 ? HUGE_VALL : shares / used;
}

static bool comes_after(const struct member *a, const struct member *b)
{
    if (a->level != b->level) return a->level < b->level;
    return !a->is_user && b->is_user;
}

/* Merges the sorted halves [0, half) and [half, count) of from into to. Equal members of the first half come first. */
static void merge(const struct member *from, uint32_t half, uint32_t count, struct member *to)
{
    for (uint32_t a = 0, b = half, out = 0; out < count; out++) {
        bool take_b = a == half || (b < count && comes_after(&from[a], &from[b]));
        to[out] = take_b ? from[b++] : from[a++];
    }
}

static void sort_members(struct member *members, uint32_t count, struct member *scratch)
{
    if (count < 2) return;
    uint32_t half = count / 2;
    sort_members(members, half, scratch);
    sort_members(members + half, count - half, scratch);
    merge(members, half, count, scratch);
    memcpy(members, scratch, count * sizeof *members);
}

/* Pushes the account's children on the stack, sorted. */
static void push_children(struct slurm_walk *w, uint32_t account)
{
    const struct tree *t = w->t;
    uint32_t base = w->stack_count, count = t->child_start[account + 1] - t->child_start[account];
    for (uint32_t c = t->child_start[account]; c < t->child_start[account + 1]; c++) {
        uint32_t node = t->children[c];
        struct member m = {.level = level_of(w, node), .node = node, .is_user = t->is_user[node]};
        if (w->level != NULL && t->shares[node] != SHARES_PARENT) w->level[node] = (double)m.level;
        w->stack[w->stack_count++] = m;
    }
    sort_members(w->stack + base, count, w->stack + base + count);
}

static void visit(struct slurm_walk *w, uint32_t account, bool tied_in)
{
    uint32_t base = w->stack_count;
    push_children(w, account);
    uint32_t end = w->stack_count;
    long double previous = NOT_SET;
    for (uint32_t i = base; i < end; i++) {
        struct member m = w->stack[i];
        bool tied = (i == base && tied_in) || previous == m.level;
        if (m.is_user) {
            if (!tied) w->last = w->left;
            w->factor[m.node] = (double)w->last / w->t->user_count;
            w->left--;
        } else {
            visit(w, m.node, tied);
        }
        previous = m.level;
    }
    w->stack_count = base;
}

/* A node is in one list at a time, and at most as many records again are needed to sort with. */
size_t fair_tree_slurm_memory(uint32_t count)
{
    return arena_size(2 * (size_t)count, sizeof(struct member));
}

void fair_tree_slurm(const struct tree *t, const long double *usage, struct arena *arena, double *out_factor,
                     double *out_level)
{
    ensure(t->is_finished);
    ensure(fair_tree_slurm_available());
    struct slurm_walk w = {.t = t, .usage = usage, .factor = out_factor, .level = out_level};
    w.stack = arena_alloc_raw(arena, fair_tree_slurm_memory(t->count));
    w.last = w.left = t->user_count;
    memset(out_factor, 0, t->count * sizeof *out_factor);
    if (out_level != NULL) {
        for (uint32_t i = 0; i < t->count; i++) out_level[i] = NAN;
    }
    visit(&w, 0, false);
}
