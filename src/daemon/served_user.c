/* The user that a private instance serves. The uid is the identity: it is what the kernel reports of clients, and what
 * jobs run with. The name is what is shown, and what associations have; the database knows the name that the uid had at
 * the last start.
 *
 *     the uid has            then
 *     the same name          nothing
 *     another name           the rows get it, so shares and usage stay those of the user
 *     no name                its rows get the number, and jobs that wait are held: the user was removed. What runs goes
 *     on
 *     not the uid that       waiting jobs run with the new one: a backup that was restored, as on another machine
 *     was served before
 *     a name again           as another name; the jobs stay held until a person releases them
 *
 * If the new name has rows already, both stay as they are.
 *
 * While the instance runs, a request looks the name up again if the last look is LOOKUP_US ago: in a thread, because a
 * directory service may take long. Then only another name is followed. That there is none may be a fault of the
 * directory service, and holding the jobs of a user for that would be worse than an old name. */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/log.h"

enum { ENTRY_BYTES = 16 * 1024 };

#define LOOKUP_US (60 * US_PER_S)

/* A user database that cannot be asked says nothing about the user. */
int daemon_find_user(struct arena *arena, struct actor *out_user, struct err *e)
{
    char number[32];
    errno = 0;
    const struct passwd *entry = getpwuid(geteuid());
    if (entry == NULL && errno != 0)
        return err_set(e, ERR_UNAVAILABLE, "the name of uid %u cannot be found out: %s", geteuid(), strerror(errno));
    text_format(number, sizeof number, "%u", geteuid());
    *out_user = (struct actor){geteuid(), getegid(), arena_copy(arena, str(entry != NULL ? entry->pw_name : number)),
                               ROLE_ADMINISTRATOR};
    return 0;
}

static bool is_number_of(const char *name, uint32_t uid)
{
    char number[32];
    text_format(number, sizeof number, "%u", uid);
    return strcmp(name, number) == 0;
}

int daemon_follow_user(struct daemon *d, const char *command, struct err *e)
{
    const struct actor *user = &d->served_user;
    uint32_t old_uid = 0;
    bool is_renamed;
    if (d->is_system) return 0;
    if (store_served_user(d->store, &old_uid, d->former_user, e) != 0) return -1;
    bool is_known = d->former_user[0] != '\0' && old_uid == user->uid;
    if (is_known && strcmp(d->former_user, user->user) == 0) {
        d->former_user[0] = '\0';
        return 0;
    }
    const struct audit_entry entry = {.at_us = d->now_us,
                                      .uid = user->uid,
                                      .user = user->user,
                                      .command = command,
                                      .name = user->user,
                                      .field = "user",
                                      .before = d->former_user,
                                      .after = user->user};
    if (store_serve_user(d->store, user->uid, user->gid, user->user, is_known ? d->former_user : NULL, &entry,
                         &is_renamed, e) != 0)
        return -1;
    if (is_known)
        log_line(LOG_WARNING, "user-renamed", " uid=%u from=%s to=%s rows=%s", user->uid, d->former_user, user->user,
                 is_renamed ? "renamed" : "kept: the new name has rows already");
    if (!is_known) d->former_user[0] = '\0';
    return 0;
}

int daemon_hold_jobs_of_removed(struct daemon *d, struct err *e)
{
    char reason[sizeof d->state.quarantine];
    const struct actor *user = &d->served_user;
    if (d->former_user[0] == '\0' || !is_number_of(user->user, user->uid)) return 0;
    text_format(reason, sizeof reason, "user '%s' (uid %u) was removed from the system", d->former_user, user->uid);
    return daemon_quarantine(d, reason, NULL, e);
}

/* --- while the instance runs -------------------------------------------------------------------------------------- */

struct name_lookup {
    struct daemon *d;
    uid_t uid;
    char name[STORE_USER_SIZE]; /* empty: none was found */
};

static void look_up_in_thread(void *argument)
{
    struct name_lookup *lookup = argument;
    char bytes[ENTRY_BYTES];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(lookup->uid, &entry, bytes, sizeof bytes, &found) != 0 || found == NULL) return;
    if (strlen(found->pw_name) < sizeof lookup->name)
        text_format(lookup->name, sizeof lookup->name, "%s", found->pw_name);
}

static void end_lookup(void *argument)
{
    struct name_lookup *lookup = argument;
    struct daemon *d = lookup->d;
    d->is_looking_up_user = false;
    bool is_new = lookup->name[0] != '\0' && strcmp(lookup->name, d->served_user.user) != 0;
    if (is_new) text_format(d->found_user, sizeof d->found_user, "%s", lookup->name);
    mem_free(lookup);
    if (is_new && !d->is_stopping) d->turn(d);
}

void daemon_look_up_user(struct daemon *d)
{
    bool is_recent =
        d->user_lookup_us != 0 && d->now_us >= d->user_lookup_us && d->now_us - d->user_lookup_us < LOOKUP_US;
    if (d->pretend != NULL || d->is_system || d->is_looking_up_user || is_recent) return;
    struct name_lookup *lookup = mem_resize(NULL, 0, sizeof *lookup);
    *lookup = (struct name_lookup){.d = d, .uid = d->served_user.uid};
    d->user_lookup_us = d->now_us;
    d->is_looking_up_user = true;
    own_thread_ask(&d->threads, look_up_in_thread, end_lookup, lookup);
}

bool daemon_take_new_name(struct daemon *d)
{
    struct err e;
    const char *old_name = d->served_user.user;
    if (d->found_user[0] == '\0') return false;
    d->served_user.user = arena_copy(&d->arena, str(d->found_user));
    d->found_user[0] = '\0';
    if (daemon_follow_user(d, "lookup", &e) == 0) return true;
    log_line(LOG_ERROR, "name-not-followed", " error=\"%s\"", ERR_SENTENCE(&e)); /* the next lookup finds it again */
    d->served_user.user = old_name;
    return false;
}
