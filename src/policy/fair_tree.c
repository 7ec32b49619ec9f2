/* Fair Tree, ties merged.
 *
 * The published walk goes down the tree: sort the children of the root by level, give users ranks from N down, enter
 * accounts as they come. It is recursive, and in rank order, so it jumps about in memory. Here the same ranks come
 * from one loop over accounts in index order: an account hands each child account its place, namely
 *
 *     first   the rank its best user gets (N minus the users who are ahead of all of it), 0 while nobody is to walk it
 *     tied    or, when it is tied with a user above, the rank to share; 0 otherwise
 *
 * and since parents come before children (invariant 1 of tree.h), the place is there when the loop arrives. How many
 * users an account has below it depends on the tree's shape only, so places are known without entering.
 *
 *     rank_list(members, first, tied):
 *       for each group of equal keys that has users below, from the highest
 *         its users have rank `tied`, if given, else `first`;  first -= users;  if there were users, tied = their rank
 *         one account:    place = (first, tied);               first -= its users below
 *         more accounts:  their children are one list: rank_list(all of them, first, tied), levels across accounts
 *         tied = 0
 *
 * Invariants
 *   1. A group without users below is passed over and leaves `tied` pending: an empty account is nobody's best user.
 *   2. Every user is in exactly one list that is walked: its fair-share parent's, or the one that was merged into.
 *   3. The order inside a tie decides nothing, so a kept order and a new one give the same bits.
 *   4. Records on the stack at one time are of different nodes: a list's, and those of merged lists below it. So the
 *      stack needs count records and as many again to sort with, and depth is at most TREE_DEPTH_MAX.
 *
 * Kept from pass to pass: each account's children in the order of last time, which is nearly the order of this time. A
 * list is keyed in that order; if it is still sorted, that was all.
 *
 * Cost: O(n) when little changed, else O(n) radix passes on groups, O(g^2) of insertion on groups under fifty.
 * Source: docs/formulas.md 2.1 (the published "Fair Tree Fairshare Algorithm" page). */
#include "policy/fair_tree.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"
#include "policy/level.h"

struct place {
    uint32_t first, tied;
    uint32_t users; /* user associations below, by fair-share parents; 1 for a user */
};

struct rank_order {
    uint32_t count, revision; /* of the tree it is made for */
    uint32_t *nodes;          /* as tree.children, each slice in the order of the last pass */
    struct place *places;     /* by node */
    ARRAY(struct sort_record) stack;
};

struct walk {
    const struct tree *t;
    const double *usage;
    double *factor;
    struct rank_order *order;
};

struct rank_order *rank_order_new(void)
{
    return mem_resize(NULL, 0, sizeof(struct rank_order));
}

static void release(struct rank_order *o)
{
    mem_free(o->nodes);
    mem_free(o->places);
    array_release(&o->stack);
}

void rank_order_free(struct rank_order *order)
{
    if (order == NULL) return;
    release(order);
    mem_free(order);
}

/* Makes the order fit the tree: at first, and when the tree's lists are other ones. */
static void fit(struct rank_order *o, const struct tree *t)
{
    if (o->count == t->count && o->revision == t->revision) return;
    o->nodes = mem_resize(o->nodes, o->count * sizeof *o->nodes, t->count * sizeof *o->nodes);
    o->places = mem_resize(o->places, o->count * sizeof *o->places, t->count * sizeof *o->places);
    o->count = t->count;
    o->revision = t->revision;
    memcpy(o->nodes, t->children, (t->count - 1u) * sizeof *o->nodes);
    memset(o->places, 0, t->count * sizeof *o->places);
    for (uint32_t i = t->count - 1; i > 0; i--) {
        if (t->is_user[i]) o->places[i].users = 1;
        o->places[t->fs_parent[i]].users += o->places[i].users;
    }
}

static void rank_list(struct walk *w, uint32_t base, uint32_t count, uint32_t first, uint32_t tied);

/* Sorts the count records that the stack got last. */
static void sort_top(struct rank_order *o, uint32_t base, uint32_t count)
{
    array_reserve(&o->stack, base + 2 * count);
    sort_records(o->stack.items + base, count, o->stack.items + base + count);
}

/* The children of accounts that are tied, as one list: the group's records [from, to) with users below. */
static void rank_merged(struct walk *w, uint32_t from, uint32_t to, uint32_t first, uint32_t tied)
{
    const struct tree *t = w->t;
    struct rank_order *o = w->order;
    uint32_t base = o->stack.count;
    for (uint32_t r = from; r < to; r++) {
        uint32_t account = o->stack.items[r].index;
        if (t->is_user[account] || o->places[account].users == 0) continue;
        for (uint32_t c = t->child_start[account]; c < t->child_start[account + 1]; c++) {
            uint32_t node = o->nodes[c];
            uint64_t key =
                level_key_across(t->shares[node], w->usage[node], t->level_shares[account], w->usage[account]);
            *array_add(&o->stack) = (struct sort_record){.key = ~key, .index = node};
        }
    }
    uint32_t count = o->stack.count - base;
    sort_top(o, base, count);
    rank_list(w, base, count, first, tied);
    o->stack.count = base;
}

/* A group of equal keys, records [from, to): its users, then its accounts. Returns the users it had in all. */
static uint32_t rank_group(struct walk *w, uint32_t from, uint32_t to, uint32_t first, uint32_t tied)
{
    struct rank_order *o = w->order;
    double rank = tied != 0 ? tied : first, factor = rank / w->t->user_count;
    uint32_t users = 0, accounts = 0, below = 0, account = NONE;
    for (uint32_t r = from; r < to; r++) {
        uint32_t node = o->stack.items[r].index;
        if (w->t->is_user[node]) {
            w->factor[node] = factor;
            users++;
        } else if (o->places[node].users > 0) {
            account = node;
            accounts++;
            below += o->places[node].users;
        }
    }
    if (users > 0) tied = (uint32_t)rank;
    if (accounts == 1) {
        o->places[account].first = first - users;
        o->places[account].tied = tied;
    } else if (accounts > 1) {
        rank_merged(w, from, to, first - users, tied);
    }
    return users + below;
}

/* The ranks of a sorted list, records [base, base + count) of the stack. */
static void rank_list(struct walk *w, uint32_t base, uint32_t count, uint32_t first, uint32_t tied)
{
    for (uint32_t from = base, to; from < base + count; from = to) {
        const struct sort_record *records = w->order->stack.items;
        for (to = from + 1; to < base + count && records[to].key == records[from].key;) to++;
        uint32_t users = rank_group(w, from, to, first, tied);
        if (users == 0) continue;
        first -= users;
        tied = 0;
    }
}

/* An account's own list, from its slice of the kept order, which is put in the new order. */
static void rank_account(struct walk *w, uint32_t account)
{
    const struct tree *t = w->t;
    struct rank_order *o = w->order;
    uint32_t *nodes = o->nodes + t->child_start[account], count = t->child_start[account + 1] - t->child_start[account];
    bool unused = w->usage[account] == 0;
    array_reserve(&o->stack, 2 * count);
    for (uint32_t c = 0; c < count; c++) {
        uint64_t key = level_key(t->shares[nodes[c]], unused ? 0 : w->usage[nodes[c]]);
        o->stack.items[c] = (struct sort_record){.key = ~key, .index = nodes[c]};
    }
    o->stack.count = count;
    sort_top(o, 0, count);
    for (uint32_t c = 0; c < count; c++) nodes[c] = o->stack.items[c].index;
    rank_list(w, 0, count, o->places[account].first, o->places[account].tied);
    o->stack.count = 0;
}

void fair_tree_rank(const struct tree *t, const double *usage, struct rank_order *order, double *out_factor)
{
    ensure(t->finished);
    struct rank_order once = {0};
    struct walk w = {.t = t, .usage = usage, .factor = out_factor, .order = order != NULL ? order : &once};
    fit(w.order, t);
    struct place *places = w.order->places;
    places[0].first = t->user_count;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->is_user[i]) continue;
        out_factor[i] = 0;
        if (places[i].first != 0) rank_account(&w, i);
        places[i].first = places[i].tied = 0;
    }
    if (order == NULL) release(&once);
}

void fair_tree_levels(const struct tree *t, const double *usage, double *out_level)
{
    ensure(t->finished);
    out_level[0] = NAN;
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t account = t->fs_parent[i];
        out_level[i] = t->shares[i] == SHARES_PARENT
                           ? NAN
                           : level_value(t->shares[i], usage[i], t->level_shares[account], usage[account]);
    }
}
