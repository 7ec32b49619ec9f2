/* A listing again and again: on the whole screen of a terminal, where it can be scrolled, or one below the other where
 * nothing can be drawn. It goes on while the instance is away, and ends with q, Ctrl-C or a signal. */
#ifndef FAIRLEAD_CLI_WATCH_H
#define FAIRLEAD_CLI_WATCH_H

#include "cli/command.h"

enum { WATCH_INTERVAL_S = 2, WATCH_INTERVAL_S_MAX = 3600 };

struct watch {
    int (*write)(struct call *call, const void *context, struct err *e); /* appends the listing to call->out */
    const void *context;
    uint64_t interval_s;
    const char *empty_text; /* in place of a listing without lines */
};

/* Returns the exit status, or -1 with *e. */
int watch_run(struct call *call, const struct watch *w, struct err *e);

/* Only one below the other. why: the reason, for a note; NULL: no note. */
int watch_run_plain(struct call *call, const struct watch *w, const char *why, struct err *e);

#endif
