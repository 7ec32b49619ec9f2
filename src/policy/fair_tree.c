/* Fair Tree, ties merged.
 *
 * The published walk goes down the tree: it sorts the children of the root by level, gives ranks to users from N down,
 * and enters each account at its position in the order. It is recursive and visits nodes in the order of ranks, which
 * is random access to memory. Here the same ranks come from one loop over accounts in index order. An account passes
 * two numbers to each child account:
 *
 *     first   the rank of the child's best user: N minus the users that come before all of the child's; 0 if its list
 *             is not to be ranked
 *     tied    if the child is tied with a user, the rank of that user, which the child's best users share; 0 otherwise
 *
 * Parents come before children (invariant 1 of tree.h), so both numbers are there when the loop reaches an account. The
 * number of users below an account depends only on the structure of the tree, so ranks are known without entering
 * accounts.
 *
 *     rank_list(members, first, tied):
 *       for each group of equal keys that has users below, from the highest
 *         its users have rank `tied`, if given, else `first`;  first -= users;  if there were users, tied = their rank
 *         one account:    pass (first, tied) to it;            first -= its users below
 *         more accounts:  their children are one list: rank_list(all of them, first, tied), levels across accounts
 *         tied = 0
 *
 * Invariants
 *   1. A group without users below is skipped and does not change `tied`: an empty account has no best user.
 *   2. Every user is in exactly one list that is ranked (if all are wanted): that of its fair-share parent, or one that
 *      it was merged into.
 *   3. The result does not depend on the order inside a tie, so a kept order and a new one give the same bits.
 *   4. The records that are on the stack at the same time belong to different nodes: a list, and merged lists below it.
 *      So the stack needs count records and as many again to sort with, and its depth is at most TREE_DEPTH_MAX lists.
 *
 * Each account's children are kept in the order of the last pass, which is nearly the order of the next one
 * (drop_merge_sort.c). The slots of all accounts are one array that is read from start to end. The usage and the factor
 * of the user that a slot refers to may be anywhere in memory, so they are prefetched PREFETCH_DISTANCE slots ahead.
 * For an account the same instruction prefetches something useless, which costs less than a branch.
 *
 * Cost: O(n) when little changed, else O(n) with radix passes over the lists; lists below a few dozen members are
 * sorted by insertion. bench/bench_fair_tree.c measures it. Memory: 12 bytes a node, 16 more an account, 32 for each
 * record that is on the stack at one time: those of the largest list, or of merged lists. Source: docs/formulas.md 2.1
 * (the published "Fair Tree Fairshare Algorithm" page). */
#include "policy/fair_tree.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "policy/drop_merge_sort.h"
#include "policy/level.h"

enum { PREFETCH_DISTANCE = 24 };

#define USER_BIT (UINT32_C(1) << 31) /* a tree has at most 2^30 nodes */

/* A child in an account's list. member: a user's node with USER_BIT, or the index of an account among the accounts. */
struct slot {
    uint32_t member, shares;
};

struct account {
    uint32_t node;
    uint32_t user_count; /* users below, by fair-share parents */
    uint32_t first, tied;
};

struct rank_order {
    uint32_t count, lists_version, version; /* of the tree that it was built for */
    uint32_t slot_capacity, account_count, account_capacity;
    struct slot *slots; /* as tree.children, each slice in the order of the last pass; then zeros for the prefetches */
    struct account *accounts; /* in index order */
    struct sort_record
        *stack; /* key: complement of the level's key, so that the highest level is first; index: a slot's
                                  member; extra: its shares */
    uint32_t stack_count, stack_capacity;
    uint32_t *account_of, account_of_capacity; /* by node: its index among the accounts, while the order is built */
};

struct walk {
    const struct tree *t;
    const double *usage;
    double *factor;
    struct rank_order *order;
};

/* --- the kept order ----------------------------------------------------------------------------------------------- */

struct rank_order *rank_order_new(void)
{
    return mem_resize(NULL, 0, sizeof(struct rank_order));
}

static void release(struct rank_order *o)
{
    mem_free(o->slots);
    mem_free(o->accounts);
    mem_free(o->stack);
    mem_free(o->account_of);
}

void rank_order_free(struct rank_order *order)
{
    if (order == NULL) return;
    release(order);
    mem_free(order);
}

/* Makes room for at least wanted items, of which the first kept ones keep their values. */
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

/* Makes an array larger that the next pass fills anew. */
static bool try_reserve(void **items, size_t size, uint32_t wanted, uint32_t *capacity)
{
    if (wanted <= *capacity) return true;
    void *larger = mem_try_resize(*items, size * wanted);
    if (larger == NULL) return false;
    *items = larger;
    *capacity = wanted;
    return true;
}

/* By invariant 4 the stack never has more than two records for each node. */
bool rank_order_reserve(struct rank_order **io_order, uint32_t count)
{
    ensure(count <= TREE_COUNT_MAX);
    struct rank_order *o = *io_order;
    if (o == NULL) {
        o = mem_try_resize(NULL, sizeof *o);
        if (o == NULL) return false;
        *o = (struct rank_order){0};
        *io_order = o;
    }
    return try_reserve((void **)&o->slots, sizeof *o->slots, count + PREFETCH_DISTANCE, &o->slot_capacity) &&
           try_reserve((void **)&o->accounts, sizeof *o->accounts, count, &o->account_capacity) &&
           try_reserve((void **)&o->stack, sizeof *o->stack, 2 * count, &o->stack_capacity) &&
           try_reserve((void **)&o->account_of, sizeof *o->account_of, count, &o->account_of_capacity);
}

/* Makes room for count more records, and for as many to sort them with. Returns where they go. */
static struct sort_record *stack_reserve(struct rank_order *o, uint32_t count)
{
    uint64_t wanted = o->stack_count + 2 * (uint64_t)count;
    o->stack = reserve(o->stack, sizeof *o->stack, o->stack_count, wanted, &o->stack_capacity);
    return o->stack + o->stack_count;
}

/* Builds the accounts with their numbers of users, and the slots in index order. */
static void build(struct rank_order *o, const struct tree *t)
{
    uint32_t account_count = t->count - t->user_count;
    o->account_of = reserve(o->account_of, sizeof *o->account_of, 0, t->count, &o->account_of_capacity);
    uint32_t *account_of = o->account_of;
    o->accounts = reserve(o->accounts, sizeof *o->accounts, 0, account_count, &o->account_capacity);
    o->slots = reserve(o->slots, sizeof *o->slots, 0, (uint64_t)t->count + PREFETCH_DISTANCE, &o->slot_capacity);
    o->account_count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->is_user[i]) continue;
        account_of[i] = o->account_count;
        o->accounts[o->account_count++] = (struct account){.node = i};
    }
    for (uint32_t i = t->count - 1; i > 0; i--) {
        uint32_t users = t->is_user[i] ? 1 : o->accounts[account_of[i]].user_count;
        o->accounts[account_of[t->fs_parent[i]]].user_count += users;
    }
    for (uint32_t c = 0; c < t->count - 1; c++) {
        uint32_t node = t->children[c];
        o->slots[c].member = t->is_user[node] ? node | USER_BIT : account_of[node];
        o->slots[c].shares = t->shares[node];
    }
    memset(o->slots + t->count - 1, 0, (PREFETCH_DISTANCE + 1) * sizeof *o->slots);
}

static uint32_t node_of(const struct rank_order *o, uint32_t member)
{
    return member & USER_BIT ? member & ~USER_BIT : o->accounts[member].node;
}

/* Updates the order to the tree: rebuilds it if the tree's lists changed, and copies the shares if only these did. */
static void update(struct rank_order *o, const struct tree *t)
{
    if (o->count != t->count || o->lists_version != t->lists_version) {
        build(o, t);
    } else if (o->version != t->version) {
        for (uint32_t c = 0; c < t->count - 1; c++) o->slots[c].shares = t->shares[node_of(o, o->slots[c].member)];
    }
    o->count = t->count;
    o->lists_version = t->lists_version;
    o->version = t->version;
}

/* --- ranking ------------------------------------------------------------------------------------------------------ */

static void rank_list(struct walk *w, uint32_t base, uint32_t count, uint32_t first, uint32_t tied);

/* Whether a record is an account with users below. */
static bool has_users(const struct rank_order *o, const struct sort_record *r)
{
    return !(r->index & USER_BIT) && o->accounts[r->index].user_count > 0;
}

/* Appends an account's children with the levels that they have in it. */
static void push_children(struct walk *w, uint32_t account)
{
    struct rank_order *o = w->order;
    uint64_t all_shares = w->t->level_shares[account];
    double all_usage = w->usage[account];
    for (uint32_t c = w->t->child_start[account]; c < w->t->child_start[account + 1]; c++) {
        struct slot s = o->slots[c];
        uint64_t key = level_key_across(s.shares, w->usage[node_of(o, s.member)], all_shares, all_usage);
        o->stack[o->stack_count++] = (struct sort_record){.key = ~key, .index = s.member};
    }
}

/* Ranks the children of tied accounts as one list. The accounts are among the records [from, to) of the group. */
static void rank_merged(struct walk *w, uint32_t from, uint32_t to, uint32_t first, uint32_t tied)
{
    struct rank_order *o = w->order;
    uint32_t base = o->stack_count, count = 0;
    for (uint32_t r = from; r < to; r++) {
        if (!has_users(o, &o->stack[r])) continue;
        uint32_t account = o->accounts[o->stack[r].index].node;
        count += w->t->child_start[account + 1] - w->t->child_start[account];
    }
    struct sort_record *records = stack_reserve(o, count);
    for (uint32_t r = from; r < to; r++) {
        if (has_users(o, &o->stack[r])) push_children(w, o->accounts[o->stack[r].index].node);
    }
    ensure(o->stack_count == base + count);
    drop_merge_sort(records, count, records + count);
    rank_list(w, base, count, first, tied);
    o->stack_count = base;
}

/* Ranks a group of equal keys, records [from, to): its users, then its accounts. Returns the number of its users, those
 * below its accounts included. */
static uint32_t rank_group(struct walk *w, uint32_t from, uint32_t to, uint32_t first, uint32_t tied)
{
    struct rank_order *o = w->order;
    uint32_t rank = tied != 0 ? tied : first, users = 0, accounts = 0, below = 0;
    struct account *account = NULL;
    double factor = (double)rank / w->t->user_count;
    for (uint32_t r = from; r < to; r++) {
        uint32_t member = o->stack[r].index;
        if (member & USER_BIT) {
            w->factor[member & ~USER_BIT] = factor;
            users++;
        } else if (o->accounts[member].user_count > 0) {
            account = &o->accounts[member];
            below += account->user_count;
            accounts++;
        }
    }
    ensure(users + below <= first);
    if (users > 0) tied = rank;
    if (accounts == 1) {
        account->first = first - users;
        account->tied = tied;
    } else if (accounts > 1) {
        rank_merged(w, from, to, first - users, tied);
    }
    return users + below;
}

/* Ranks a sorted list, the records [base, base + count) of the stack. */
static void rank_list(struct walk *w, uint32_t base, uint32_t count, uint32_t first, uint32_t tied)
{
    uint32_t end = base + count;
    for (uint32_t from = base, to; from < end; from = to) {
        const struct sort_record *records = w->order->stack;
        if (end - from > PREFETCH_DISTANCE) {
            __builtin_prefetch(&w->factor[records[from + PREFETCH_DISTANCE].index & ~USER_BIT], 1);
        }
        for (to = from + 1; to < end && records[to].key == records[from].key;) to++;
        uint32_t users = rank_group(w, from, to, first, tied);
        if (users == 0) continue;
        first -= users;
        tied = 0;
    }
}

/* Ranks an account's own list. Its slice of the kept order is sorted and kept for the next pass. */
static void rank_account(struct walk *w, const struct account *account)
{
    struct rank_order *o = w->order;
    uint32_t start = w->t->child_start[account->node], count = w->t->child_start[account->node + 1] - start;
    struct slot *slots = o->slots + start;
    struct sort_record *records = stack_reserve(o, count);
    bool is_unused = w->usage[account->node] == 0; /* then the usages below do not count: all levels are infinite */
    for (uint32_t c = 0; c < count; c++) {
        uint32_t ahead = slots[c + PREFETCH_DISTANCE].member & ~USER_BIT, node = node_of(o, slots[c].member);
        __builtin_prefetch(&w->usage[ahead]);
        __builtin_prefetch(&w->factor[ahead], 1);
        uint64_t key = level_key(slots[c].shares, is_unused ? 0 : w->usage[node]);
        records[c] = (struct sort_record){.key = ~key, .index = slots[c].member, .extra = slots[c].shares};
    }
    o->stack_count = count;
    if (drop_merge_sort(records, count, records + count)) {
        for (uint32_t c = 0; c < count; c++) slots[c] = (struct slot){records[c].index, records[c].extra};
    }
    rank_list(w, 0, count, account->first, account->tied);
    o->stack_count = 0;
}

/* By node: the accounts above wanted nodes. Their own lists decide the ranks of the wanted nodes. (A list that is
 * merged into another one is ranked together with that one.) The caller frees the result. */
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
    ensure(t->is_finished);
    bool *needed = wanted != NULL ? find_needed(t, wanted) : NULL;
    struct rank_order temporary = {0};
    struct walk w = {.t = t, .usage = usage, .factor = out_factor, .order = order != NULL ? order : &temporary};
    struct rank_order *o = w.order;
    update(o, t);
    o->accounts[0].first = t->user_count;
    for (uint32_t a = 0; a < o->account_count; a++) {
        struct account *account = &o->accounts[a];
        out_factor[account->node] = 0;
        if (account->first != 0 && (needed == NULL || needed[account->node])) rank_account(&w, account);
        account->first = account->tied = 0;
    }
    mem_free(needed);
    if (order == NULL) release(&temporary);
}

/* --- levels ------------------------------------------------------------------------------------------------------- */

double fair_tree_level(const struct tree *t, const double *usage, uint32_t node)
{
    ensure(t->is_finished && node < t->count);
    uint32_t account = t->fs_parent[node];
    if (account == NONE || t->shares[node] == SHARES_PARENT) return NAN;
    return level_value(t->shares[node], usage[node], t->level_shares[account], usage[account]);
}

void fair_tree_levels(const struct tree *t, const double *usage, double *out_level)
{
    ensure(t->is_finished);
    for (uint32_t i = 0; i < t->count; i++) out_level[i] = fair_tree_level(t, usage, i);
}
