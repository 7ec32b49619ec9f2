/* Who may do what: one row for each permission. The checks of the server and of the engine, what 'fairlead whoami' and
 * 'fairlead help permissions' print, and the description of the API come from it. A role has all permissions of the
 * roles before it. */
#ifndef FAIRLEAD_FIELDS_PERMISSIONS_H
#define FAIRLEAD_FIELDS_PERMISSIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "fields/column.h"

enum role { ROLE_USER, ROLE_OPERATOR, ROLE_ADMINISTRATOR, ROLE_COUNT };

enum permission {
    PERMISSION_UNSET, /* no role has it */
    PERMISSION_READ,
    PERMISSION_SUBMIT,
    PERMISSION_OWN_JOBS,
    PERMISSION_MOVE_IN,
    PERMISSION_ALL_JOBS,
    PERMISSION_JOB_FIELDS,
    PERMISSION_OPERATOR_HOLDS,
    PERMISSION_OPERATOR_SUSPENSIONS,
    PERMISSION_HIDDEN,
    PERMISSION_PROCESSES,
    PERMISSION_ACCOUNTS,
    PERMISSION_USERS,
    PERMISSION_SETTINGS,
    PERMISSION_OBJECTS,
    PERMISSION_AUDIT,
    PERMISSION_VERIFY,
    PERMISSION_BACKUP,
    PERMISSION_PRUNE,
    PERMISSION_CLOCK,
    PERMISSION_COUNT
};

struct permission_row {
    const char *name; /* "all_jobs" */
    const char *what; /* an infinitive: "change jobs of other users" */
    enum role role;   /* the first that has it */
};

extern const struct permission_row permissions[PERMISSION_COUNT];
extern const char *const permission_roles[ROLE_COUNT]; /* "user", "operator", "administrator" */

/* A row of 'fairlead whoami': a permission, and whether the client has it. */
enum permission_field {
    PERMISSION_FIELD_NAME,
    PERMISSION_FIELD_WHAT,
    PERMISSION_FIELD_ROLE,
    PERMISSION_FIELD_ALLOWED,
    PERMISSION_FIELD_COUNT
};
extern const struct field_table permission_fields;
extern const struct column_table permission_fields_columns;

static inline bool permission_is_of(enum permission p, enum role role)
{
    return p != PERMISSION_UNSET && role >= permissions[p].role;
}

/* ERR_DENIED unless the role has the permission. what: NULL, or an infinitive that is closer than the row's. user: for
 * the message; NULL: not known. */
int permission_require(enum permission p, enum role role, const char *user, const char *what, struct err *e);

#endif
