/* Accounts and users: the rows of the association tree. A change of its shape makes the derived tree stale; state_tree
 * rebuilds it when it is read next. Deleting an association folds its usage into its parent, so that no account's total
 * usage drops. */
#include <string.h>

#include "base/ensure.h"
#include "engine/assoc_limits.h"
#include "engine/handlers.h"

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

/* shares and priority: as in events, with SHARES_UNSET and PRIORITY_UNSET. */
static uint32_t add_assoc(struct apply_context *c, uint32_t parent, const char *account, const char *user,
                          uint32_t shares, uint32_t priority, bool is_default)
{
    struct assoc row = {.parent = parent,
                        .account = account,
                        .user = user,
                        .shares = shares == SHARES_UNSET ? 1 : shares,
                        .is_default = is_default,
                        .priority = priority == PRIORITY_UNSET ? NONE : priority,
                        .created_us = c->now_us};
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
    if (assoc_limits_read(c, NULL, pairs, count, out_limits) != 0) return fail_of(c, account, user);
    return assoc_limits_check_new(c, account, user, parent, *out_limits);
}

/* The limits of an association after an event. parent: above it after the event. */
static int read_changed_limits(struct apply_context *c, uint32_t index, uint32_t parent, const struct event_pair *pairs,
                               uint32_t count, struct field_value **out_limits)
{
    const struct assoc *a = assoc_at(c, index);
    if (assoc_limits_read(c, a->limits, pairs, count, out_limits) != 0) return fail_of(c, a->account, a->user);
    return assoc_limits_check(c, index, parent, *out_limits);
}

int apply_account_add(struct apply_context *c, const struct event *event)
{
    const struct event_account *wanted = &event->account;
    uint32_t parent = ROOT;
    if (apply_require_operator(c, &event->actor, "add accounts") != 0) return -1;
    if (apply_check_name("account", wanted->name, c->e) != 0 ||
        check_shares(c, "account", wanted->name, wanted->shares) != 0)
        return -1;
    if (wanted->parent != NULL && find_account(c, wanted->parent, &parent) != 0) return -1;
    if (state_find_assoc(c->s, wanted->name, NULL) != NONE) return err_exists(c->e, "account", str(wanted->name));
    if (check_depth(c, parent, 1) != 0) return -1;
    struct field_value *limits;
    if (read_new_limits(c, wanted->name, NULL, parent, wanted->pairs, wanted->count, &limits) != 0) return -1;
    assoc_limits_set(c, add_assoc(c, parent, wanted->name, NULL, wanted->shares, wanted->priority, false), limits);
    return 0;
}

int apply_account_modify(struct apply_context *c, const struct event *event)
{
    const struct event_account *wanted = &event->account;
    uint32_t index = NONE, parent = NONE;
    if (apply_require_operator(c, &event->actor, "modify accounts") != 0) return -1;
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

int apply_account_delete(struct apply_context *c, const struct event *event)
{
    uint32_t index = NONE;
    if (apply_require_operator(c, &event->actor, "delete accounts") != 0) return -1;
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
    delete_assoc(c, index);
    return 0;
}

static int check_can_add_user(struct apply_context *c, const char *user, const char *account, uint32_t parent)
{
    if (state_find_assoc(c->s, account, user) != NONE)
        return err_subject(c->e, ERR_EXISTS, "user", str(user), "is already in account '%s'", account);
    return parent == NONE ? 0 : check_depth(c, parent, 1);
}

static void clear_default(struct apply_context *c, const char *user)
{
    uint32_t index = state_default_assoc(c->s, user);
    if (index == NONE) return;
    assoc_set_default(c->s, index, false);
    apply_note_change(c, TABLE_ASSOC, index);
}

static uint32_t add_user(struct apply_context *c, const char *user, const char *account, uint32_t shares,
                         uint32_t priority, bool make_default)
{
    uint32_t parent = state_find_assoc(c->s, account, NULL);
    if (parent == NONE) parent = add_assoc(c, ROOT, account, NULL, 1, NONE, false);
    if (make_default) clear_default(c, user);
    return add_assoc(c, parent, account, user, shares, priority, state_default_assoc(c->s, user) == NONE);
}

int apply_user_add(struct apply_context *c, const struct event *event)
{
    const struct event_user *wanted = &event->user;
    const char *account = wanted->account ? wanted->account : DEFAULT_ACCOUNT;
    uint32_t parent = NONE;
    if (apply_require_operator(c, &event->actor, "add users") != 0) return -1;
    if (apply_check_name("user", wanted->name, c->e) != 0 || check_shares(c, "user", wanted->name, wanted->shares) != 0)
        return -1;
    bool may_be_created = strcmp(account, DEFAULT_ACCOUNT) == 0;
    if (!may_be_created && find_account(c, account, &parent) != 0) return -1;
    if (check_can_add_user(c, wanted->name, account, parent) != 0) return -1;
    struct field_value *limits;
    if (parent == NONE) parent = state_find_assoc(c->s, account, NULL);
    if (read_new_limits(c, account, wanted->name, parent != NONE ? parent : ROOT, wanted->pairs, wanted->count,
                        &limits) != 0)
        return -1;
    assoc_limits_set(c, add_user(c, wanted->name, account, wanted->shares, wanted->priority, wanted->make_default),
                     limits);
    return 0;
}

/* The user's association in an account, or all of the user's associations (account NULL), in memory of the cycle. */
static int find_user(struct apply_context *c, const struct event_user *wanted, uint32_t **out_indices,
                     uint32_t *out_count)
{
    struct state *s = c->s;
    uint32_t *found = arena_alloc(&s->cycle, (s->assocs.count + (size_t)1) * sizeof *found), count = 0;
    uint32_t account;
    if (wanted->account != NULL && find_account(c, wanted->account, &account) != 0) return -1;
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        const struct assoc *a = &s->assocs.items[i];
        if (a->deleted_us != 0 || a->user == NULL || strcmp(a->user, wanted->name) != 0) continue;
        if (wanted->account == NULL || strcmp(a->account, wanted->account) == 0) found[count++] = i;
    }
    if (count == 0 && wanted->account != NULL)
        return err_subject(c->e, ERR_NOT_FOUND, "user", str(wanted->name), "is not in account '%s'", wanted->account);
    if (count == 0 && state_find_object(s, OBJECT_USER_POLICY, wanted->name) != NONE)
        return err_subject(c->e, ERR_NOT_FOUND, "user", str(wanted->name),
                           "is not in any account; only the ticket policies have this user");
    if (count == 0) return err_not_found(c->e, "user", str(wanted->name));
    *out_indices = found;
    *out_count = count;
    return 0;
}

int apply_user_modify(struct apply_context *c, const struct event *event)
{
    const struct event_user *wanted = &event->user;
    uint32_t *indices, count;
    if (apply_require_operator(c, &event->actor, "modify users") != 0) return -1;
    if (check_shares(c, "user", wanted->name, wanted->shares) != 0 || find_user(c, wanted, &indices, &count) != 0)
        return -1;
    if (wanted->make_default && count > 1)
        return err_subject(c->e, ERR_INPUT, "user", str(wanted->name),
                           "is in %u accounts; name the one to become the default", count);
    struct field_value **limits = arena_alloc(&c->s->cycle, count * sizeof *limits);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = assoc_at(c, indices[i])->parent;
        if (read_changed_limits(c, indices[i], parent, wanted->pairs, wanted->count, &limits[i]) != 0) return -1;
    }
    if (wanted->resets_usage && wanted->account == NULL) usage_reset_user(c, wanted->name);
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

/* If the user's default association was deleted, the oldest remaining one becomes the default. */
static void renew_default(struct apply_context *c, const char *user)
{
    if (state_default_assoc(c->s, user) != NONE) return;
    for (uint32_t i = 0; i < c->s->assocs.count; i++) {
        const struct assoc *a = assoc_at(c, i);
        if (a->deleted_us != 0 || a->user == NULL || strcmp(a->user, user) != 0) continue;
        assoc_set_default(c->s, i, true);
        apply_note_change(c, TABLE_ASSOC, i);
        return;
    }
}

int apply_user_delete(struct apply_context *c, const struct event *event)
{
    const struct event_user *wanted = &event->user;
    uint32_t *indices, count;
    if (apply_require_operator(c, &event->actor, "delete users") != 0) return -1;
    if (find_user(c, wanted, &indices, &count) != 0) return -1;
    for (uint32_t i = 0; i < count; i++) {
        const struct assoc *a = assoc_at(c, indices[i]);
        if (a->live_jobs > 0)
            return err_subject(c->e, ERR_CONFLICT, "user", str(a->user),
                               "has %u %s pending or running in account '%s'; cancel %s first", a->live_jobs,
                               a->live_jobs == 1 ? "job" : "jobs", a->account, a->live_jobs == 1 ? "it" : "them");
    }
    for (uint32_t i = 0; i < count; i++) delete_assoc(c, indices[i]);
    renew_default(c, wanted->name);
    return 0;
}

/* --- submissions -------------------------------------------------------------------------------------------------- */

int assoc_find_named(struct apply_context *c, const char *account, const char *user, uint32_t *out_assoc)
{
    uint32_t unused;
    if (find_account(c, account, &unused) != 0) return -1;
    *out_assoc = state_find_assoc(c->s, account, user);
    if (*out_assoc != NONE) return 0;
    return err_subject(c->e, ERR_NOT_FOUND, "user", str(user), "is not in account '%s'", account);
}

int assoc_for_submission(struct apply_context *c, const struct actor *actor, const char *account, uint32_t *out_assoc,
                         uint32_t *out_nearest)
{
    struct state *s = c->s;
    ensure(actor->user != NULL);
    uint32_t own = state_default_assoc(s, actor->user), assoc = own;
    bool is_enforced = (s->policy.enforce & ENFORCE_ASSOCIATIONS) != 0;
    if (account != NULL && !is_enforced) {
        uint32_t named = state_find_assoc(s, account, actor->user);
        if (named != NONE) assoc = named;
    } else if (account != NULL && (own != NONE || strcmp(account, DEFAULT_ACCOUNT) != 0) &&
               assoc_find_named(c, account, actor->user, &assoc) != 0) {
        return -1;
    }
    uint32_t nearest = assoc;
    if (assoc == NONE) {
        uint32_t parent = state_find_assoc(s, DEFAULT_ACCOUNT, NULL);
        if (apply_check_name("user", actor->user, c->e) != 0 ||
            check_can_add_user(c, actor->user, DEFAULT_ACCOUNT, parent) != 0)
            return -1;
        nearest = parent != NONE ? parent : ROOT;
    }
    *out_assoc = assoc;
    *out_nearest = nearest;
    return 0;
}

uint32_t assoc_add_for_submission(struct apply_context *c, const struct actor *actor)
{
    return add_user(c, actor->user, DEFAULT_ACCOUNT, 1, NONE, false);
}
