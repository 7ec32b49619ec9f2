/*  I1  A uid that is another person's is stored when all jobs of the uid are held in earlier commits, never before:
 *      after a crash in between they would run as that person. Until then other answers about the uid are dropped: the
 *      next ones come within a minute. */
#include "daemon/known_users.h"

#include <string.h>

#include "base/idset.h"
#include "daemon/log.h"
#include "daemon/users.h"
#include "exec/clock.h"

enum { LOOKS_FOR_REMOVAL = 2, SLICE_JOBS = 128 /* that a turn holds */ };

struct known_user {
    struct store_known_user is;
    uint32_t looks_without_name;
    char reason[700]; /* why its jobs are to be held; empty: they are not */
    uint32_t held_count;
};

struct known_users {
    struct arena arena;
    struct map index_by_uid;
    ARRAY(struct known_user) list;
    ARRAY(uint32_t) held; /* indices of users whose jobs are to be held */
    int64_t refreshed_us; /* time since boot */
};

static struct known_user *add_user(struct known_users *k, const struct store_known_user *is)
{
    map_set_u64(&k->index_by_uid, is->uid, k->list.count);
    struct known_user *added = array_add(&k->list);
    *added = (struct known_user){.is = *is};
    return added;
}

int known_users_open(struct daemon *d, struct err *e)
{
    struct store_known_user *users;
    uint32_t count;
    if (!d->is_system) return 0;
    struct known_users *k = d->known_users = mem_resize(NULL, 0, sizeof *k);
    *k = (struct known_users){0};
    if (store_known_users(d->store, &k->arena, &users, &count, e) != 0) return -1;
    for (uint32_t i = 0; i < count; i++) add_user(k, &users[i]);
    return 0;
}

void known_users_close(struct daemon *d)
{
    struct known_users *k = d->known_users;
    if (k == NULL) return;
    map_release(&k->index_by_uid);
    array_release(&k->list);
    array_release(&k->held);
    arena_release(&k->arena);
    mem_free(k);
    d->known_users = NULL;
}

void known_users_refresh(struct daemon *d)
{
    struct known_users *k = d->known_users;
    int64_t now_us = clock_boot_us();
    bool is_due = k != NULL && now_us - k->refreshed_us >= (int64_t)USERS_FRESH_S * US_PER_S;
    if (!is_due) return;
    k->refreshed_us = now_us;
    for (uint32_t i = 0; i < d->state.jobs.count; i++) {
        const struct job *j = &d->state.jobs.items[i];
        if (j->ended_us == 0) users_refresh(d->users, j->uid);
    }
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

static void want_hold(struct known_users *k, struct known_user *user)
{
    const uint32_t index = (uint32_t)(user - k->list.items);
    for (uint32_t i = 0; i < k->held.count; i++) {
        if (k->held.items[i] == index) return;
    }
    *array_add(&k->held) = index;
}

static void miss(struct known_users *k, struct known_user *user)
{
    if (user->is.is_removed || ++user->looks_without_name < LOOKS_FOR_REMOVAL) return;
    text_format(user->reason, sizeof user->reason, "held: user '%s' (uid %u) was removed from the machine",
                user->is.name, user->is.uid);
    user->is.is_removed = true;
    want_hold(k, user);
}

/* Another name with the same home directory. Returns whether rows have changed. */
static bool rename_user(struct daemon *d, struct known_user *user, const char *name)
{
    struct err e;
    bool is_renamed = false;
    struct store_known_user renamed = user->is;
    const char *old = user->is.name;
    const struct audit_entry entry = {.at_us = d->now_us,
                                      .uid = d->served_user.uid,
                                      .user = d->served_user.user,
                                      .command = "lookup",
                                      .name = name,
                                      .field = "user",
                                      .before = old,
                                      .after = name};
    renamed.name = arena_copy(&d->known_users->arena, str(name));
    renamed.is_removed = false;
    if (store_rename_user(d->store, &renamed, old, &entry, &is_renamed, &e) != 0) {
        log_line(LOG_ERROR, "name-not-followed", " error=\"%s\"",
                 ERR_SENTENCE(&e)); /* the next lookup finds it again */
        return false;
    }
    user->is = renamed;
    log_line(LOG_WARNING, "user-renamed", " uid=%u from=%s to=%s rows=%s", renamed.uid, old, name,
             is_renamed ? "renamed" : "kept: the new name has rows already");
    return true;
}

/* Another name with another home directory. */
static void replace_user(struct known_users *k, struct known_user *user, const struct user_lookup *answer)
{
    text_format(user->reason, sizeof user->reason, "held: uid %u was user '%s' and is now user '%s'", user->is.uid,
                user->is.name, answer->name);
    user->is.name = arena_copy(&k->arena, str(answer->name));
    user->is.home = arena_copy(&k->arena, str(answer->home));
    user->is.is_removed = false;
    want_hold(k, user);
}

/* Returns whether rows have changed. *out_is_new: what is known has. */
static bool take_answer(struct daemon *d, uint32_t uid, const struct user_lookup *answer, bool *out_is_new)
{
    struct known_users *k = d->known_users;
    uint32_t index = map_get_u64(&k->index_by_uid, uid);
    struct known_user *user = index != NONE ? &k->list.items[index] : NULL;
    bool is_found = answer->result == USER_FOUND && answer->name[0] != '\0';
    if (user != NULL && user->reason[0] != '\0') return false; /* I1 */
    if (!is_found) {
        if (user != NULL) miss(k, user);
        return false;
    }
    *out_is_new = user == NULL || strcmp(user->is.home, answer->home) != 0 || user->is.is_removed;
    if (user == NULL)
        user = add_user(k, &(struct store_known_user){.uid = uid,
                                                      .name = arena_copy(&k->arena, str(answer->name)),
                                                      .home = arena_copy(&k->arena, str(answer->home))});
    user->looks_without_name = 0;
    bool is_same = strcmp(user->is.name, answer->name) == 0;
    bool has_same_home = strcmp(user->is.home, answer->home) == 0;
    if (!is_same && has_same_home && !user->is.is_removed) return rename_user(d, user, answer->name);
    if (!is_same) {
        replace_user(k, user, answer);
        return false;
    }
    if (!has_same_home) user->is.home = arena_copy(&k->arena, str(answer->home));
    user->is.is_removed = false;
    return false;
}

bool known_users_follow(struct daemon *d)
{
    struct known_users *k = d->known_users;
    const struct user_lookup *answer;
    uint32_t uid;
    bool has_changed = false;
    struct err e;
    struct {
        ARRAY(struct store_known_user) rows;
    } new = {0};
    while (k != NULL && users_next_answer(d->users, &uid, &answer)) {
        bool is_new = false;
        has_changed |= take_answer(d, uid, answer, &is_new);
        if (is_new && k->list.items[map_get_u64(&k->index_by_uid, uid)].reason[0] != '\0') continue; /* I1 */
        if (is_new) *array_add(&new.rows) = k->list.items[map_get_u64(&k->index_by_uid, uid)].is;
    }
    if (new.rows.count > 0 && store_put_known_users(d->store, new.rows.items, new.rows.count, &e) != 0)
        log_line(LOG_ERROR, "users-not-stored", " error=\"%s\"", ERR_SENTENCE(&e));
    array_release(&new.rows);
    return has_changed;
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

bool known_users_has_holds(const struct daemon *d)
{
    return d->known_users != NULL && d->known_users->held.count > 0;
}

/* The instance acts as an administrator, under its own name. */
static bool apply_own(struct daemon *d, struct event *event)
{
    struct err e;
    struct event_result result = {0};
    event->actor = d->served_user;
    event->actor.role = ROLE_ADMINISTRATOR;
    if (engine_apply(&d->state, d->now_us, event, &d->outcome, &result, &e) == 0) return true;
    log_line(LOG_ERROR, "jobs-not-held", " error=\"%s\"", ERR_SENTENCE(&e));
    return false;
}

static bool hold_job(struct daemon *d, uint32_t job_id, const char *reason)
{
    const struct job_ref ref = {job_id, NONE};
    struct job_values values = {0};
    values.value[JOB_FIELD_ADMIN_COMMENT] = field_text(reason);
    values.is_given[JOB_FIELD_ADMIN_COMMENT] = true;
    return apply_own(d, &(struct event){.kind = EVENT_HOLD, .jobs = {.refs = &ref, .count = 1}}) &&
           apply_own(d, &(struct event){.kind = EVENT_UPDATE, .update = {.job_id = job_id, .values = &values}});
}

static bool is_to_hold(const struct job *j, const struct known_user *user)
{
    if (j->ended_us != 0 || j->uid != user->is.uid || idset_first(&j->pending) == NONE) return false;
    const char *comment = job_rare(j)->admin_comment;
    return !j->is_held || comment == NULL || strcmp(comment, user->reason) != 0;
}

/* Holds the next jobs of the user. Returns how many; 0: all are held, and that is committed. */
static uint32_t hold_slice(struct daemon *d, const struct known_user *user)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->state.jobs.count && count < SLICE_JOBS; i++) {
        const struct job *j = &d->state.jobs.items[i];
        if (is_to_hold(j, user) && hold_job(d, j->id, user->reason)) count++;
    }
    return count;
}

void known_users_hold(struct daemon *d)
{
    struct err e;
    if (!known_users_has_holds(d)) return;
    struct known_users *k = d->known_users;
    struct known_user *user = &k->list.items[k->held.items[k->held.count - 1]];
    uint32_t count = hold_slice(d, user);
    user->held_count += count;
    if (count > 0) return;
    log_line(LOG_WARNING, "user-lost", " uid=%u name=%s jobs=%u reason=\"%s\"", user->is.uid, user->is.name,
             user->held_count, user->reason);
    user->reason[0] = '\0';
    user->held_count = 0;
    k->held.count--;
    if (store_put_known_users(d->store, &user->is, 1, &e) != 0)
        log_line(LOG_ERROR, "users-not-stored", " error=\"%s\"", ERR_SENTENCE(&e));
}
