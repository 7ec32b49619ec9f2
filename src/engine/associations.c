/* Accounts and users: the rows of the association tree. A change of its shape makes the derived tree stale; state_tree
 * rebuilds it when it is read next. Deleting an association folds its usage into its parent, so that no account's total
 * usage drops.
 *
 * A user in an account has at most one association for all partitions, and one for each partition:
 *
 *     b                    a job in the partition      is of
 *      b  erin                   main                  erin
 *      b  erin  plain            plain                 erin, plain
 *
 * All of them are leaves of the account. A job in several partitions is of the association of the first one, until it
 * starts: a task is of that of the partition that it starts in. */
#include <string.h>

#include "base/ensure.h"
#include "engine/assoc_limits.h"
#include "engine/handlers.h"
#include "engine/partition_names.h"

enum { ROOT = 0 };

static struct assoc *assoc_at(struct apply_context *c, uint32_t index)
{
    ensure(index < c->s->assocs.count);
    return &c->s->assocs.items[index];
}

static int check_shares(struct apply_context *c, const char *kind, const char *name, uint32_t shares)
{
    if (shares == SHARES_UNSET || shares == SHARES_PARENT || shares <= SHARES_MAX) return 0;
    (void)err_number(c->e, "shares", shares, "a whole number from 0 to %u, or 'parent'", SHARES_MAX);
    return err_of(c->e, kind, str(name));
}

static int find_account(struct apply_context *c, const char *name, uint32_t *out_index)
{
    uint32_t index = state_find_assoc(c->s, name, NULL);
    if (index == NONE) return err_not_found(c->e, "account", str(name));
    *out_index = index;
    return 0;
}

static uint32_t depth_of(struct apply_context *c, uint32_t index)
{
    uint32_t depth = 0;
    for (; assoc_at(c, index)->parent != NONE; index = assoc_at(c, index)->parent) depth++;
    return depth;
}

static bool is_within(struct apply_context *c, uint32_t index, uint32_t ancestor)
{
    while (index != NONE && index != ancestor) index = assoc_at(c, index)->parent;
    return index == ancestor;
}

/* The number of levels of associations below this one. */
static uint32_t height_of(struct apply_context *c, uint32_t index)
{
    uint32_t own = depth_of(c, index), height = 0;
    for (uint32_t i = 0; i < c->s->assocs.count; i++) {
        if (assoc_at(c, i)->deleted_us != 0 || !is_within(c, i, index)) continue;
        uint32_t below = depth_of(c, i) - own;
        if (below > height) height = below;
    }
    return height;
}

static int check_depth(struct apply_context *c, uint32_t parent, uint32_t levels)
{
    if (depth_of(c, parent) + levels <= TREE_DEPTH_MAX) return 0;
    return err_subject(c->e, ERR_TOO_LARGE, "account", str(assoc_at(c, parent)->account),
                       "would have more than %d levels of accounts above or below it", TREE_DEPTH_MAX);
}

/* wanted: its names, shares and priority, the last two as in events, with SHARES_UNSET and PRIORITY_UNSET. */
static uint32_t add_assoc(struct apply_context *c, const struct assoc *wanted)
{
    struct assoc row = *wanted;
    if (row.shares == SHARES_UNSET) row.shares = 1;
    if (row.priority == PRIORITY_UNSET) row.priority = NONE;
    row.created_us = c->now_us;
    uint32_t index = assoc_append(c->s, &row);
    apply_note_change(c, TABLE_ASSOC, index);
    apply_note_change(c, TABLE_COUNTERS, 0);
    apply_note_usage_journal(c, USAGE_JOURNAL_SHARES, assoc_at(c, index)->id, 0, assoc_at(c, index)->shares);
    c->s->pass_is_due = true;
    return index;
}

static void set_shares(struct apply_context *c, uint32_t index, uint32_t shares)
{
    struct assoc *a = assoc_at(c, index);
    if (shares == SHARES_UNSET || shares == a->shares) return;
    apply_note_usage_journal(c, USAGE_JOURNAL_SHARES, a->id, a->shares, shares);
    a->shares = shares;
    c->s->tree_is_stale = c->s->pass_is_due = true;
    apply_note_change(c, TABLE_ASSOC, index);
}

static void set_priority(struct apply_context *c, uint32_t index, uint32_t priority)
{
    struct assoc *a = assoc_at(c, index);
    if (priority == PRIORITY_UNSET || priority == a->priority) return;
    a->priority = priority;
    c->s->tree_is_stale = c->s->pass_is_due = true;
    apply_note_change(c, TABLE_ASSOC, index);
}

static void fold_tres(struct assoc *from, struct assoc *into)
{
    if (from->usage_tres == NULL) return;
    if (into->usage_tres == NULL) into->usage_tres = mem_resize(NULL, 0, TRES_MAX * sizeof *into->usage_tres);
    for (uint32_t i = 0; i < TRES_MAX; i++) into->usage_tres[i] += from->usage_tres[i];
    mem_free(from->usage_tres);
    from->usage_tres = NULL;
}

static void delete_assoc(struct apply_context *c, uint32_t index)
{
    struct assoc *a = assoc_at(c, index), *parent = assoc_at(c, a->parent);
    assoc_remove_name(c->s, index);
    assoc_set_usage(c->s, a->parent, parent->usage + a->usage);
    assoc_set_usage(c->s, index, 0.0);
    fold_tres(a, parent);
    parent->usage_wall += a->usage_wall;
    a->usage_wall = 0.0;
    a->deleted_us = c->now_us;
    c->s->tree_is_stale = c->s->pass_is_due = true;
    apply_note_usage_journal(c, USAGE_JOURNAL_FOLD, a->id, assoc_reset_us(c->s, a->parent), parent->id);
    apply_note_change(c, TABLE_ASSOC, index);
    apply_note_change(c, TABLE_ASSOC, a->parent);
}

/* Names the account or the user in an error about limits. */
static int fail_of(struct apply_context *c, const char *account, const char *user)
{
    return err_of(c->e, user != NULL ? "user" : "account", str(user != NULL ? user : account));
}

/* The limits that an event gives an association of its own: user NULL: the account. parent: above it. */
static int read_new_limits(struct apply_context *c, const char *account, const char *user, uint32_t parent,
                           const struct event_pair *pairs, uint32_t count, struct field_value **out_limits)
{
    if (assoc_limits_read(c, NULL, parent, pairs, count, out_limits) != 0) return fail_of(c, account, user);
    return assoc_limits_check_new(c, account, user, parent, *out_limits);
}

/* The limits of an association after an event. parent: above it after the event. */
static int read_changed_limits(struct apply_context *c, uint32_t index, uint32_t parent, const struct event_pair *pairs,
                               uint32_t count, struct field_value **out_limits)
{
    const struct assoc *a = assoc_at(c, index);
    if (assoc_limits_read(c, a->limits, parent, pairs, count, out_limits) != 0) return fail_of(c, a->account, a->user);
    return assoc_limits_check(c, index, parent, *out_limits);
}

int apply_account_add(struct apply_context *c, const struct event *event)
{
    const struct event_account *wanted = &event->account;
    uint32_t parent = ROOT;
    if (apply_require(c, &event->actor, PERMISSION_ACCOUNTS, "add accounts") != 0) return -1;
    if (apply_check_name("account", wanted->name, c->e) != 0 ||
        check_shares(c, "account", wanted->name, wanted->shares) != 0)
        return -1;
    if (wanted->parent != NULL && find_account(c, wanted->parent, &parent) != 0) return -1;
    if (state_find_assoc(c->s, wanted->name, NULL) != NONE) return err_exists(c->e, "account", str(wanted->name));
    if (check_depth(c, parent, 1) != 0) return -1;
    struct field_value *limits;
    if (read_new_limits(c, wanted->name, NULL, parent, wanted->pairs, wanted->count, &limits) != 0) return -1;
    const struct assoc row = {
        .parent = parent, .account = wanted->name, .shares = wanted->shares, .priority = wanted->priority};
    assoc_limits_set(c, add_assoc(c, &row), limits);
    return 0;
}

int apply_account_modify(struct apply_context *c, const struct event *event)
{
    const struct event_account *wanted = &event->account;
    uint32_t index = NONE, parent = NONE;
    if (apply_require(c, &event->actor, PERMISSION_ACCOUNTS, "modify accounts") != 0) return -1;
    if (find_account(c, wanted->name, &index) != 0 || check_shares(c, "account", wanted->name, wanted->shares) != 0)
        return -1;
    bool has_changes = wanted->parent != NULL || wanted->shares != SHARES_UNSET || wanted->priority != PRIORITY_UNSET;
    if (index == ROOT && (has_changes || (!wanted->resets_usage && wanted->count == 0)))
        return err_subject(c->e, ERR_CONFLICT, "account", str("root"),
                           "has no siblings to share with; only its limits and its RawUsage can be changed");
    if (wanted->parent != NULL) {
        if (find_account(c, wanted->parent, &parent) != 0) return -1;
        if (is_within(c, parent, index))
            return err_subject(c->e, ERR_CONFLICT, "account", str(wanted->name),
                               "cannot be moved below '%s', which is the account itself or below it", wanted->parent);
        if (check_depth(c, parent, 1 + height_of(c, index)) != 0) return -1;
    }
    struct field_value *limits;
    uint32_t new_parent = parent != NONE ? parent : assoc_at(c, index)->parent;
    if (read_changed_limits(c, index, new_parent, wanted->pairs, wanted->count, &limits) != 0) return -1;
    if (wanted->resets_usage) usage_reset_assocs(c, index);
    set_shares(c, index, wanted->shares);
    set_priority(c, index, wanted->priority);
    assoc_limits_set(c, index, limits);
    struct assoc *a = assoc_at(c, index);
    if (parent != NONE && parent != a->parent) {
        assoc_count_work(c->s, a->parent, &a->work, -1);
        a->parent = parent;
        c->s->move_edition++;
        assoc_count_work(c->s, a->parent, &a->work, 1);
        c->s->tree_is_stale = c->s->pass_is_due = true;
        apply_note_change(c, TABLE_ASSOC, index);
    }
    return 0;
}

/* That of new users needs no row, so lists may go on naming it. */
static int check_is_unlisted(struct apply_context *c, const char *account)
{
    const char *field;
    const char *partition = partition_names_find_account(c->s, account, &field);
    if (partition == NULL || strcmp(account, DEFAULT_ACCOUNT) == 0) return 0;
    return err_subject(c->e, ERR_CONFLICT, "account", str(account), "is in use: %s of partition '%s' has it", field,
                       partition);
}

int apply_account_delete(struct apply_context *c, const struct event *event)
{
    uint32_t index = NONE;
    if (apply_require(c, &event->actor, PERMISSION_ACCOUNTS, "delete accounts") != 0) return -1;
    if (find_account(c, event->account.name, &index) != 0) return -1;
    if (index == ROOT)
        return err_subject(c->e, ERR_CONFLICT, "account", str("root"), "cannot be deleted: all others are below it");
    for (uint32_t i = 0; i < c->s->assocs.count; i++) {
        const struct assoc *a = assoc_at(c, i);
        if (a->deleted_us != 0 || a->parent != index) continue;
        return err_subject(c->e, ERR_CONFLICT, "account", str(event->account.name),
                           "is not empty: it has %s '%s'; delete or move that first", a->user ? "user" : "account",
                           a->user ? a->user : a->account);
    }
    if (check_is_unlisted(c, event->account.name) != 0) return -1;
    delete_assoc(c, index);
    return 0;
}

/* --- users -------------------------------------------------------------------------------------------------------- */

/* " for partition 'plain'", or "", for messages; in memory of the cycle. */
static const char *for_partition(struct apply_context *c, const char *partition)
{
    struct buf text = {0};
    if (partition == NULL) return "";
    buf_format(&text, " for partition '%s'", partition);
    const char *copy = arena_copy(&c->s->cycle, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

int assoc_fail_not_in(struct apply_context *c, const char *user, const char *account, const char *partition)
{
    return err_subject(c->e, ERR_NOT_FOUND, "user", str(user), "is not in account '%s'%s", account,
                       for_partition(c, partition));
}

static uint32_t find_assoc(const struct state *s, const char *account, const char *user, const char *partition)
{
    return partition != NULL ? state_find_assoc_of_partition(s, account, user, partition)
                             : state_find_assoc(s, account, user);
}

static int check_can_add_user(struct apply_context *c, const char *user, const char *account, const char *partition,
                              uint32_t parent)
{
    if (find_assoc(c->s, account, user, partition) != NONE)
        return err_subject(c->e, ERR_EXISTS, "user", str(user), "is already in account '%s'%s", account,
                           for_partition(c, partition));
    return parent == NONE ? 0 : check_depth(c, parent, 1);
}

static int check_partition(struct apply_context *c, const char *partition)
{
    if (partition == NULL || state_find_object(c->s, OBJECT_PARTITION, partition) != NONE) return 0;
    return err_not_found(c->e, "partition", str(partition));
}

static void clear_default(struct apply_context *c, const char *user)
{
    uint32_t index = state_default_assoc(c->s, user);
    if (index == NONE) return;
    assoc_set_default(c->s, index, false);
    apply_note_change(c, TABLE_ASSOC, index);
}

/* The user's live jobs that the new association is for belong to it from now on; started tasks keep theirs. O(jobs) if
 * the user has any in that account. */
static void take_jobs(struct apply_context *c, uint32_t added)
{
    struct state *s = c->s;
    const struct assoc *new = assoc_at(c, added);
    uint32_t jobs = 0;
    for (uint32_t i = added; i != NONE; i = assoc_at(c, i)->next_of_user)
        jobs += strcmp(assoc_at(c, i)->account, new->account) == 0 ? assoc_at(c, i)->live_jobs : 0;
    for (uint32_t i = 0; i < s->jobs.count && jobs > 0; i++) {
        const struct job *j = &s->jobs.items[i];
        const struct assoc *a = assoc_at(c, j->assoc);
        if (j->ended_us != 0 || strcmp(a->user, new->user) != 0 || strcmp(a->account, new->account) != 0) continue;
        jobs--;
        uint32_t assoc = state_assoc_in_partition(s, j->assoc, j->partitions[0]);
        if (assoc == j->assoc) continue;
        job_set_assoc(s, i, assoc);
        apply_note_change(c, TABLE_JOB, i);
    }
}

/* wanted: its account has a name. */
static uint32_t add_user(struct apply_context *c, const struct event_user *wanted)
{
    const char *account = wanted->account;
    uint32_t parent = state_find_assoc(c->s, account, NULL);
    if (parent == NONE) parent = add_assoc(c, &(struct assoc){.account = account, .shares = 1, .priority = NONE});
    if (wanted->make_default) clear_default(c, wanted->name);
    const struct assoc row = {.parent = parent,
                              .account = account,
                              .user = wanted->name,
                              .partition = wanted->partition,
                              .shares = wanted->shares,
                              .is_default = state_default_assoc(c->s, wanted->name) == NONE,
                              .priority = wanted->priority};
    uint32_t index = add_assoc(c, &row);
    take_jobs(c, index);
    return index;
}

int apply_user_add(struct apply_context *c, const struct event *event)
{
    struct event_user wanted = event->user;
    if (wanted.account == NULL) wanted.account = DEFAULT_ACCOUNT;
    uint32_t parent = NONE;
    if (apply_require(c, &event->actor, PERMISSION_USERS, "add users") != 0) return -1;
    if (apply_check_name("user", wanted.name, c->e) != 0 || check_shares(c, "user", wanted.name, wanted.shares) != 0)
        return -1;
    bool may_be_created = strcmp(wanted.account, DEFAULT_ACCOUNT) == 0;
    if (!may_be_created && find_account(c, wanted.account, &parent) != 0) return -1;
    if (check_partition(c, wanted.partition) != 0 ||
        check_can_add_user(c, wanted.name, wanted.account, wanted.partition, parent) != 0)
        return -1;
    struct field_value *limits;
    if (parent == NONE) parent = state_find_assoc(c->s, wanted.account, NULL);
    if (read_new_limits(c, wanted.account, wanted.name, parent != NONE ? parent : ROOT, wanted.pairs, wanted.count,
                        &limits) != 0)
        return -1;
    assoc_limits_set(c, add_user(c, &wanted), limits);
    return 0;
}

static bool is_wanted(const struct event_user *wanted, const struct assoc *a)
{
    if (a->deleted_us != 0 || a->user == NULL || strcmp(a->user, wanted->name) != 0) return false;
    if (wanted->account != NULL && strcmp(a->account, wanted->account) != 0) return false;
    if (wanted->partition != NULL) return a->partition != NULL && strcmp(a->partition, wanted->partition) == 0;
    return wanted->account == NULL || a->partition == NULL;
}

static int fail_no_user(struct apply_context *c, const struct event_user *wanted)
{
    struct state *s = c->s;
    const char *of_partition = for_partition(c, wanted->partition);
    bool is_partition_missing = wanted->account != NULL && state_user_is_in_account(s, wanted->name, wanted->account);
    if (is_partition_missing && wanted->partition == NULL)
        return err_subject(c->e, ERR_NOT_FOUND, "user", str(wanted->name),
                           "is in account '%s' for single partitions only; name the partition, too", wanted->account);
    if (wanted->account != NULL) return assoc_fail_not_in(c, wanted->name, wanted->account, wanted->partition);
    if (wanted->partition != NULL && map_get(&s->first_of_user, str(wanted->name)) != NONE)
        return err_subject(c->e, ERR_NOT_FOUND, "user", str(wanted->name), "is not in any account%s", of_partition);
    if (state_find_object(s, OBJECT_USER_POLICY, wanted->name) != NONE)
        return err_subject(c->e, ERR_NOT_FOUND, "user", str(wanted->name),
                           "is not in any account; only the ticket policies have this user");
    return err_not_found(c->e, "user", str(wanted->name));
}

/* The associations that an event names, at least one, in memory of the cycle. */
static int find_user(struct apply_context *c, const struct event_user *wanted, uint32_t **out_indices,
                     uint32_t *out_count)
{
    struct state *s = c->s;
    uint32_t *found = arena_alloc(&s->cycle, (s->assocs.count + (size_t)1) * sizeof *found), count = 0;
    uint32_t account;
    if (wanted->account != NULL && find_account(c, wanted->account, &account) != 0) return -1;
    if (check_partition(c, wanted->partition) != 0) return -1;
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        if (is_wanted(wanted, &s->assocs.items[i])) found[count++] = i;
    }
    if (count == 0) return fail_no_user(c, wanted);
    *out_indices = found;
    *out_count = count;
    return 0;
}

static int check_one_account(struct apply_context *c, const struct event_user *wanted, const uint32_t *indices,
                             uint32_t count)
{
    uint32_t accounts = 1;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t same = 0;
        while (strcmp(assoc_at(c, indices[same])->account, assoc_at(c, indices[i])->account) != 0) same++;
        accounts += same == i;
    }
    if (accounts == 1) return 0;
    return err_subject(c->e, ERR_INPUT, "user", str(wanted->name),
                       "is in %u accounts; name the one to become the default", accounts);
}

int apply_user_modify(struct apply_context *c, const struct event *event)
{
    const struct event_user *wanted = &event->user;
    uint32_t *indices, count;
    if (apply_require(c, &event->actor, PERMISSION_USERS, "modify users") != 0) return -1;
    if (check_shares(c, "user", wanted->name, wanted->shares) != 0 || find_user(c, wanted, &indices, &count) != 0)
        return -1;
    if (wanted->make_default && check_one_account(c, wanted, indices, count) != 0) return -1;
    struct field_value **limits = arena_alloc(&c->s->cycle, count * sizeof *limits);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = assoc_at(c, indices[i])->parent;
        if (read_changed_limits(c, indices[i], parent, wanted->pairs, wanted->count, &limits[i]) != 0) return -1;
    }
    if (wanted->resets_usage && wanted->account == NULL && wanted->partition == NULL) usage_reset_user(c, wanted->name);
    for (uint32_t i = 0; i < count; i++) {
        if (wanted->resets_usage) usage_reset_assocs(c, indices[i]);
        set_shares(c, indices[i], wanted->shares);
        set_priority(c, indices[i], wanted->priority);
        assoc_limits_set(c, indices[i], limits[i]);
    }
    if (wanted->make_default) {
        clear_default(c, wanted->name);
        assoc_set_default(c->s, indices[0], true);
        apply_note_change(c, TABLE_ASSOC, indices[0]);
    }
    return 0;
}

/* The oldest association of a user, which has the smallest index; account NULL: in any account. O(associations of the
 * user) */
static uint32_t oldest_of_user(const struct state *s, const char *user, const char *account)
{
    uint32_t oldest = NONE;
    for (uint32_t i = map_get(&s->first_of_user, str(user)); i != NONE; i = s->assocs.items[i].next_of_user) {
        const struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || (account != NULL && strcmp(a->account, account) != 0)) continue;
        if (i < oldest) oldest = i;
    }
    return oldest;
}

/* After the association with the user's default account was deleted. The account stays the default while the user is in
 * it. */
static void renew_default(struct apply_context *c, const char *user, const char *account)
{
    uint32_t oldest = oldest_of_user(c->s, user, account);
    if (oldest == NONE) oldest = oldest_of_user(c->s, user, NULL);
    if (oldest == NONE) return;
    assoc_set_default(c->s, oldest, true);
    apply_note_change(c, TABLE_ASSOC, oldest);
}

/* Tasks may run as those of an association that no job is of: their job is of another one since. */
static int check_has_no_jobs(struct apply_context *c, const struct assoc *a)
{
    uint32_t count = a->live_jobs > 0 ? a->live_jobs : a->work.running;
    const char *what = a->live_jobs > 0 ? "job" : "task";
    if (count == 0) return 0;
    return err_subject(c->e, ERR_CONFLICT, "user", str(a->user),
                       "has %u %s%s pending or running in account '%s'%s; cancel %s first", count, what,
                       count == 1 ? "" : "s", a->account, for_partition(c, a->partition), count == 1 ? "it" : "them");
}

int apply_user_delete(struct apply_context *c, const struct event *event)
{
    const struct event_user *wanted = &event->user;
    uint32_t *indices, count;
    if (apply_require(c, &event->actor, PERMISSION_USERS, "delete users") != 0) return -1;
    if (find_user(c, wanted, &indices, &count) != 0) return -1;
    for (uint32_t i = 0; i < count; i++) {
        if (check_has_no_jobs(c, assoc_at(c, indices[i])) != 0) return -1;
    }
    uint32_t old_default = state_default_assoc(c->s, wanted->name);
    for (uint32_t i = 0; i < count; i++) delete_assoc(c, indices[i]);
    bool was_default = old_default != NONE && assoc_at(c, old_default)->deleted_us != 0;
    if (was_default) renew_default(c, wanted->name, assoc_at(c, old_default)->account);
    return 0;
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

int assoc_check_new_user(struct apply_context *c, const char *user)
{
    uint32_t parent = state_find_assoc(c->s, DEFAULT_ACCOUNT, NULL);
    if (apply_check_name("user", user, c->e) != 0) return -1;
    return check_can_add_user(c, user, DEFAULT_ACCOUNT, NULL, parent);
}

uint32_t assoc_add_new_user(struct apply_context *c, const char *user)
{
    return add_user(c, &(struct event_user){.name = user, .account = DEFAULT_ACCOUNT, .shares = 1, .priority = NONE});
}
