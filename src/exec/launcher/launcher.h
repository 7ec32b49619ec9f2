/* The launcher's loop: one daemon's connection, keepers' events, signals. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCHER_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCHER_H

#include "exec/launcher/launches.h"

struct launcher_options {
    const char *directory; /* absolute */
    bool no_cgroup;
    struct inherited_attributes inherited;
};

/* Serves until it is told to end, is idle for long enough, or is greeted in another version: 0. */
int launcher_run(const struct launcher_options *options, struct err *e);

#endif
