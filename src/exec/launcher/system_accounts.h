/* The accounts that a system launcher has to know at its start: its daemon's, and where the uids of persons begin. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SYSTEM_ACCOUNTS_H
#define FAIRLEAD_EXEC_LAUNCHER_SYSTEM_ACCOUNTS_H

#include <sys/types.h>

#include "base/err.h"

enum { MIN_UID_DEFAULT = 1000 };

/* Finds the uid of the daemon's account. May block. ERR_DENIED: the account is missing, with what to do, or is root's
 * although that is not allowed; ERR_UNAVAILABLE: the user database does not answer. */
int system_accounts_find_daemon(const char *name, bool allows_root, uid_t *out_uid, struct err *e);

/* The value of UID_MIN in the text of a login.defs(5); MIN_UID_DEFAULT if it has none that can be read. Pure. */
uid_t system_accounts_parse_min_uid(struct str text);

/* The same of /etc/login.defs. */
uid_t system_accounts_read_min_uid(void);

#endif
