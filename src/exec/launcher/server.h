/* The launcher's loop: one daemon's connection, keepers' events, signals. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SERVER_H
#define FAIRLEAD_EXEC_LAUNCHER_SERVER_H

#include "exec/launcher/launches.h"

struct server_options {
    const char *directory; /* absolute */
    bool no_cgroup;
    struct inherited inherited;
};

/* Serves until it is told to end, is idle for long enough, or is greeted in another version: 0. */
int server_run(const struct server_options *options, struct err *e);

#endif
