#include "daemon/user_lookup.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

enum {
    ENTRY_BYTES = 4096,
    ENTRY_BYTES_MAX = 1 << 24, /* of a group with very many members */
    GROUPS_FIRST = 64,
    GROUPS_MAX = 65536 /* NGROUPS_MAX of Linux */
};

/* glibc returns 0 where all services say that there is no such entry, and the errno of a service that cannot be asked:
 * nslcd that does not run is ENOENT, which the manual page calls "not found". */
static void fail(struct user_lookup *out, int error)
{
    out->result = error == 0 ? USER_UNKNOWN : USER_UNREACHABLE;
    text_format(out->error, sizeof out->error, "%s",
                error == ENOENT ? "a service of it cannot be reached" : strerror(error));
}

/* *out_is_in is set if 0 is returned, else an errno. */
static int find_member(const struct user_lookup *user, const char *name, bool *out_is_in)
{
    *out_is_in = false;
    struct group group, *found = NULL;
    char *bytes = NULL;
    int error = ERANGE;
    if (name[0] == '\0') return 0;
    for (size_t size = ENTRY_BYTES; error == ERANGE && size <= ENTRY_BYTES_MAX; size *= 2) {
        mem_free(bytes);
        bytes = mem_resize(NULL, 0, size);
        error = getgrnam_r(name, &group, bytes, size, &found);
    }
    for (uint32_t i = 0; found != NULL && i < user->groups.list.count; i++)
        *out_is_in |= user->groups.list.items[i] == found->gr_gid;
    mem_free(bytes);
    return found != NULL ? 0 : error;
}

bool user_lookup_is_member(const struct user_lookup *user, const char *name)
{
    bool is_in;
    return find_member(user, name, &is_in) == 0 && is_in;
}

static void find_groups(const struct passwd *entry, struct user_lookup *out)
{
    int count = GROUPS_FIRST;
    for (int room = GROUPS_FIRST; room <= GROUPS_MAX; room = count) {
        gid_t *groups = mem_resize(NULL, 0, (size_t)room * sizeof *groups);
        bool is_whole = getgrouplist(entry->pw_name, entry->pw_gid, groups, &count) >= 0;
        array_clear(&out->groups.list);
        *array_add(&out->groups.list) = entry->pw_gid;
        for (int i = 0; is_whole && i < count; i++) *array_add(&out->groups.list) = groups[i];
        mem_free(groups);
        if (is_whole || count <= room) return;
    }
}

static void find_role(uid_t uid, const struct role_groups *roles, struct user_lookup *out)
{
    bool is_administrator, is_operator;
    int error = find_member(out, roles->administrators, &is_administrator);
    if (error == 0 && !is_administrator) error = find_member(out, roles->operators, &is_operator);
    out->role = ROLE_USER;
    if (uid == 0 || is_administrator)
        out->role = ROLE_ADMINISTRATOR;
    else if (error == 0 && is_operator)
        out->role = ROLE_OPERATOR;
    out->is_role_unsure = uid != 0 && error != 0;
    if (out->is_role_unsure) text_format(out->error, sizeof out->error, "its groups: %s", strerror(error));
}

static void take_entry(const struct passwd *entry, const struct role_groups *roles, struct user_lookup *out)
{
    out->result = USER_FOUND;
    text_format(out->name, sizeof out->name, "%s", entry->pw_name);
    text_format(out->home, sizeof out->home, "%s", entry->pw_dir != NULL ? entry->pw_dir : "");
    find_groups(entry, out);
    find_role(entry->pw_uid, roles, out);
}

void user_lookup_run(uid_t uid, const struct role_groups *roles, struct user_lookup *out)
{
    struct passwd entry, *found = NULL;
    char *bytes = NULL;
    int error = ERANGE;
    *out = (struct user_lookup){0};
    for (size_t size = ENTRY_BYTES; error == ERANGE && size <= ENTRY_BYTES_MAX; size *= 2) {
        mem_free(bytes);
        bytes = mem_resize(NULL, 0, size);
        error = getpwuid_r(uid, &entry, bytes, size, &found);
    }
    if (found != NULL)
        take_entry(found, roles, out);
    else
        fail(out, error);
    mem_free(bytes);
}

void user_lookup_release(struct user_lookup *lookup)
{
    array_release(&lookup->groups.list);
}
