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
 * Kept from pass to pass: each account's children in the order of last time, which is nearly the order of this time
 * (resort.c). The slots of all accounts are one array that is read from end to end, so that what a slot points to, the
 * usage and the factor of a node that may be anywhere, is asked for well before it is needed.
 *
 * Cost: O(n) when little changed, else O(n) radix passes on groups, O(g^2) of insertion on groups under fifty. Measured
 * by bench/bench_fair_tree.c. Memory: 8 bytes a node, 16 more an account, 32 for each node of the largest list.
 * Source: docs/formulas.md 2.1 (the published "Fair Tree Fairshare Algorithm" page). */
#include "policy/fair_tree.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "policy/level.h"
#include "policy/resort.h"

enum { AHEAD = 24 }; /* slots from the one that is read to the one that is asked for */

#define USER_BIT (UINT32_C(1) << 31) /* a tree has at most 2^30 nodes */

/* A child in an account's list: a user's node with USER_BIT, or an account's place. */
struct slot {
    uint32_t who, shares;
};

struct place {
    uint32_t node;
    uint32_t users; /* user associations below, by fair-share parents */
    uint32_t first, tied;
};

struct rank_order {
    uint32_t count, shapes, finishes; /* of the tree it is made for */
    uint32_t slot_capacity, place_count, place_capacity;
    struct slot *slots;        /* as tree.children, each slice in the order of the last pass; then AHEAD zeros */
    struct place *places;      /* of the accounts, in index order */
    struct sort_record *stack; /* index: a slot's who, extra: its shares */
    uint32_t used, stack_capacity;
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
    mem_free(o->slots);
    mem_free(o->places);
    mem_free(o->stack);
}

void rank_order_free(struct rank_order *order)
{
    if (order == NULL) return;
    release(order);
    mem_free(order);
}

/* Room for at least wanted items, the first kept of which are kept. */
static void *reserve(void *items, size_t size, uint64_t kept, uint64_t wanted, uint32_t *capacity)
{
    ensure(wanted <= UINT32_MAX);
    if (wanted <= *capacity) return items;
    if (kept == 0) {
        mem_free(items);
        items = NULL;
    }
    *capacity = (uint32_t)wanted;
    return mem_resize(items, kept * size, wanted * size);
}

/* Room for count more records, and as many to sort them with. */
static struct sort_record *stack_reserve(struct rank_order *o, uint32_t count)
{
    uint64_t wanted = o->used + 2 * (uint64_t)count;
    o->stack = reserve(o->stack, sizeof *o->stack, o->used, wanted, &o->stack_capacity);
    return o->stack + o->used;
}

/* Places of all accounts with their users, slots in index order. */
static void start_over(struct rank_order *o, const struct tree *t)
{
    uint32_t accounts = t->count - t->user_count, *place_of = mem_resize(NULL, 0, t->count * sizeof *place_of);
    o->places = reserve(o->places, sizeof *o->places, 0, accounts, &o->place_capacity);
    o->slots = reserve(o->slots, sizeof *o->slots, 0, (uint64_t)t->count + AHEAD, &o->slot_capacity);
    o->place_count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->is_user[i]) continue;
        place_of[i] = o->place_count;
        o->places[o->place_count++] = (struct place){.node = i};
    }
    for (uint32_t i = t->count - 1; i > 0; i--) {
        uint32_t users = t->is_user[i] ? 1 : o->places[place_of[i]].users;
        o->places[place_of[t->fs_parent[i]]].users += users;
    }
    for (uint32_t c = 0; c < t->count - 1; c++) {
        uint32_t node = t->children[c];
        o->slots[c].who = t->is_user[node] ? node | USER_BIT : place_of[node];
        o->slots[c].shares = t->shares[node];
    }
    memset(o->slots + t->count - 1, 0, (AHEAD + 1) * sizeof *o->slots);
    mem_free(place_of);
}

static uint32_t node_of(const struct rank_order *o, uint32_t who)
{
    return who & USER_BIT ? who & ~USER_BIT : o->places[who].node;
}

/* Makes the order fit the tree: at first, when its lists are other ones, and when its shares are. */
static void fit(struct rank_order *o, const struct tree *t)
{
    if (o->count != t->count || o->shapes != t->shapes) {
        start_over(o, t);
    } else if (o->finishes != t->finishes) {
        for (uint32_t c = 0; c < t->count - 1; c++) o->slots[c].shares = t->shares[node_of(o, o->slots[c].who)];
    }
    o->count = t->count;
    o->shapes = t->shapes;
    o->finishes = t->finishes;
}

static void rank_list(struct walk *w, uint32_t base, uint32_t count, uint32_t first, uint32_t tied);

/* Whether a record is of an account that somebody is ranked in. */
static bool has_users(const struct rank_order *o, const struct sort_record *r)
{
    return !(r->index & USER_BIT) && o->places[r->index].users > 0;
}

/* Appends an account's children with their levels in it. */
static void push_children(struct walk *w, uint32_t account)
{
    struct rank_order *o = w->order;
    uint64_t all_shares = w->t->level_shares[account];
    double all_usage = w->usage[account];
    for (uint32_t c = w->t->child_start[account]; c < w->t->child_start[account + 1]; c++) {
        struct slot s = o->slots[c];
        uint64_t key = level_key_across(s.shares, w->usage[node_of(o, s.who)], all_shares, all_usage);
        o->stack[o->used++] = (struct sort_record){.key = ~key, .index = s.who};
    }
}

/* The children of accounts that are tied, as one list: those in the group's records [from, to). */
static void rank_merged(struct walk *w, uint32_t from, uint32_t to, uint32_t first, uint32_t tied)
{
    struct rank_order *o = w->order;
    uint32_t base = o->used, count = 0;
    for (uint32_t r = from; r < to; r++) {
        if (!has_users(o, &o->stack[r])) continue;
        uint32_t account = o->places[o->stack[r].index].node;
        count += w->t->child_start[account + 1] - w->t->child_start[account];
    }
    struct sort_record *records = stack_reserve(o, count);
    for (uint32_t r = from; r < to; r++) {
        if (has_users(o, &o->stack[r])) push_children(w, o->places[o->stack[r].index].node);
    }
    ensure(o->used == base + count);
    resort_records(records, count, records + count);
    rank_list(w, base, count, first, tied);
    o->used = base;
}

/* A group of equal keys, records [from, to): its users, then its accounts. Returns the users it had in all. */
static uint32_t rank_group(struct walk *w, uint32_t from, uint32_t to, uint32_t first, uint32_t tied)
{
    struct rank_order *o = w->order;
    uint32_t rank = tied != 0 ? tied : first, users = 0, accounts = 0, below = 0;
    struct place *place = NULL;
    double factor = (double)rank / w->t->user_count;
    for (uint32_t r = from; r < to; r++) {
        uint32_t who = o->stack[r].index;
        if (who & USER_BIT) {
            w->factor[who & ~USER_BIT] = factor;
            users++;
        } else if (o->places[who].users > 0) {
            place = &o->places[who];
            below += place->users;
            accounts++;
        }
    }
    ensure(users + below <= first);
    if (users > 0) tied = rank;
    if (accounts == 1) {
        place->first = first - users;
        place->tied = tied;
    } else if (accounts > 1) {
        rank_merged(w, from, to, first - users, tied);
    }
    return users + below;
}

/* The ranks of a sorted list, records [base, base + count) of the stack. */
static void rank_list(struct walk *w, uint32_t base, uint32_t count, uint32_t first, uint32_t tied)
{
    uint32_t end = base + count;
    for (uint32_t from = base, to; from < end; from = to) {
        const struct sort_record *records = w->order->stack;
        if (end - from > AHEAD) __builtin_prefetch(&w->factor[records[from + AHEAD].index & ~USER_BIT], 1);
        for (to = from + 1; to < end && records[to].key == records[from].key;) to++;
        uint32_t users = rank_group(w, from, to, first, tied);
        if (users == 0) continue;
        first -= users;
        tied = 0;
    }
}

/* An account's own list, from its slice of the kept order, which is put in the new order. */
static void rank_account(struct walk *w, const struct place *place)
{
    struct rank_order *o = w->order;
    uint32_t start = w->t->child_start[place->node], count = w->t->child_start[place->node + 1] - start;
    struct slot *slots = o->slots + start;
    struct sort_record *records = stack_reserve(o, count);
    bool unused = w->usage[place->node] == 0;
    for (uint32_t c = 0; c < count; c++) {
        uint32_t ahead = slots[c + AHEAD].who & ~USER_BIT, node = node_of(o, slots[c].who);
        __builtin_prefetch(&w->usage[ahead]);
        __builtin_prefetch(&w->factor[ahead], 1);
        uint64_t key = level_key(slots[c].shares, unused ? 0 : w->usage[node]);
        records[c] = (struct sort_record){.key = ~key, .index = slots[c].who, .extra = slots[c].shares};
    }
    o->used = count;
    if (resort_records(records, count, records + count)) {
        for (uint32_t c = 0; c < count; c++) slots[c] = (struct slot){records[c].index, records[c].extra};
    }
    rank_list(w, 0, count, place->first, place->tied);
    o->used = 0;
}

/* The accounts whose own lists decide the ranks of those who are wanted, by node: those above each. (Whose list is merged
 * into another's is ranked with that one.) The caller's to free. */
static bool *find_needed(const struct tree *t, const bool *wanted)
{
    bool *needed = mem_resize(NULL, 0, t->count * sizeof *needed);
    for (uint32_t i = 1; i < t->count; i++) {
        if (!wanted[i]) continue;
        for (uint32_t above = t->fs_parent[i]; above != NONE && !needed[above]; above = t->fs_parent[above])
            needed[above] = true;
    }
    return needed;
}

void fair_tree_rank(const struct tree *t, const double *usage, struct rank_order *order, double *out_factor)
{
    fair_tree_rank_wanted(t, usage, NULL, order, out_factor);
}

void fair_tree_rank_wanted(const struct tree *t, const double *usage, const bool *wanted, struct rank_order *order,
                           double *out_factor)
{
    ensure(t->finished);
    bool *needed = wanted != NULL ? find_needed(t, wanted) : NULL;
    struct rank_order once = {0};
    struct walk w = {.t = t, .usage = usage, .factor = out_factor, .order = order != NULL ? order : &once};
    struct rank_order *o = w.order;
    fit(o, t);
    o->places[0].first = t->user_count;
    for (uint32_t p = 0; p < o->place_count; p++) {
        struct place *place = &o->places[p];
        out_factor[place->node] = 0;
        if (place->first != 0 && (needed == NULL || needed[place->node])) rank_account(&w, place);
        place->first = place->tied = 0;
    }
    mem_free(needed);
    if (order == NULL) release(&once);
}

double fair_tree_level(const struct tree *t, const double *usage, uint32_t node)
{
    uint32_t account = t->fs_parent[node];
    if (account == NONE || t->shares[node] == SHARES_PARENT) return NAN;
    return level_value(t->shares[node], usage[node], t->level_shares[account], usage[account]);
}

void fair_tree_levels(const struct tree *t, const double *usage, double *out_level)
{
    ensure(t->finished);
    for (uint32_t i = 0; i < t->count; i++) out_level[i] = fair_tree_level(t, usage, i);
}
