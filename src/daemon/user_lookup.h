/* What the user database of the machine says of a user. It may be on the network (LDAP), so an answer can take seconds:
 * only for a thread, or before the loop runs. */
#ifndef FAIRLEAD_DAEMON_USER_LOOKUP_H
#define FAIRLEAD_DAEMON_USER_LOOKUP_H

#include <sys/types.h>

#include "base/array.h"
#include "base/err.h"
#include "engine/event.h"

/* Names of groups; "": none. */
struct role_groups {
    char operators[64], administrators[64];
};

enum user_lookup_result {
    USER_FOUND,
    USER_UNKNOWN,    /* there is no such user */
    USER_UNREACHABLE /* the database could not be asked */
};

struct user_lookup {
    enum user_lookup_result result;
    char name[256];      /* if USER_FOUND */
    char home[512];      /* likewise: the home directory, as far as it fits */
    enum role role;      /* likewise; of uid 0 always ROLE_ADMINISTRATOR */
    bool is_role_unsure; /* the database did not say which groups give a role: it is ROLE_USER */
    struct {
        ARRAY(gid_t) list; /* likewise: all groups, the first is that of the user database */
    } groups;
    char error[160]; /* if USER_UNREACHABLE, or is_role_unsure */
};

/* Looks a user up. *out: to be released, in any case. */
void user_lookup_run(uid_t uid, const struct role_groups *roles, struct user_lookup *out);
/* Whether a user that was found is a member of a group; one that cannot be asked for has no members. May block. */
bool user_lookup_is_member(const struct user_lookup *user, const char *group);
void user_lookup_release(struct user_lookup *lookup);

#endif
