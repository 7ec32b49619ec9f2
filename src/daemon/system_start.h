/* The first steps of a system instance, as root: its directories, its launcher, and the account that it runs as. */
#ifndef FAIRLEAD_DAEMON_SYSTEM_START_H
#define FAIRLEAD_DAEMON_SYSTEM_START_H

#include <stdbool.h>

#include "base/err.h"

#define SYSTEM_ACCOUNT "fairlead"
#define SYSTEM_STATE "/var/lib/fairlead"
#define SYSTEM_SOCKET "/run/fairlead/fairlead.sock"

struct system_start {
    const char *account;            /* that the daemon runs as */
    const char *state, *socket;     /* absolute paths */
    const char *launcher_directory; /* of the launcher, which is root's */
    const char *launcher_path;      /* the program */
    const char *cgroup;             /* where the launcher creates control groups, absolute; NULL: it finds out */
    bool allow_root;                /* jobs of root and of system accounts are run */
};

/* Started by root: creates the directories of state and socket for the account if they are missing, starts the launcher
 * unless it serves already, and becomes the account for good. Started by the account: does nothing, because systemd has
 * done all that. ERR_INPUT: the account does not exist, a path is not absolute, or a directory is not the account's;
 * ERR_DENIED: neither root nor the account has started it, or the identity could not be changed; ERR_IO,
 * ERR_UNAVAILABLE. */
int system_start(const struct system_start *s, struct err *e);

#endif
