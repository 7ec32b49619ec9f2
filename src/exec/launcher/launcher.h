/* The launcher: its loop over one daemon's connection, the events of keepers, and signals. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCHER_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCHER_H

#include "exec/launcher/launches.h"

struct launcher_options {
    const char *directory;  /* the state directory, absolute */
    bool no_cgroup;         /* creates no control groups */
    const char *cgroup;     /* the group of version 2 in which those of launches are created; NULL: its own */
    const char *user_slice; /* the group of version 2 that has systemd's slices of users; NULL: at the top */
    struct inherited_attributes inherited;
    struct identity_rules rules; /* is_system: it serves all users, and directory is of system_directory_prepare */
};

/* Runs until a signal ends it, it has been idle for long enough, or a daemon of another version connects: 0. Or fails
 * to set up: ERR_INPUT, ERR_DENIED, ERR_CONFLICT, ERR_IO. */
int launcher_run(const struct launcher_options *options, struct err *e);

#endif
