/* Starting fairleadd in the background, and saying why it did not come up. */
#ifndef FAIRLEAD_CLI_SPAWN_H
#define FAIRLEAD_CLI_SPAWN_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

struct spawn {
    const char *program, *log_path; /* absolute */
    char **arguments;               /* closed by NULL */
    pid_t pid;
    long log_start; /* where the log ended before */
};

/* The program of that name beside our own, else in PATH: a path in arena, or NULL. */
const char *spawn_find_program(const char *name, struct arena *a);

/* Makes a directory and those above it, mode 0700 where they are new. */
int spawn_make_directory(const char *path, struct err *e);

/* Starts s->program detached: a session of its own, in /, standard input empty, the others appended to the log (mode
 * 0600). Sets pid and log_start. */
int spawn_run(struct spawn *s, struct err *e);

/* 1 with how it ended ("exit status 1") and that status, or -1 for a signal; 0 while it runs. */
int spawn_has_ended(const struct spawn *s, char *out_how, size_t size, int *out_status);

/* What it has logged since, at most its last lines: in arena. */
const char *spawn_log_tail(const struct spawn *s, struct arena *a);

#endif
