/* Starts a program in the background, and reports why it ended early. */
#ifndef FAIRLEAD_CLI_SPAWN_H
#define FAIRLEAD_CLI_SPAWN_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

/* The exit status of a child that could not become its program. */
enum { SPAWN_NOT_RUN = 127 };

struct spawn {
    const char *program, *log_path; /* absolute */
    char **arguments;               /* ends with NULL */
    pid_t pid;
    long log_start; /* size of the log before the start */
};

/* The path of the program in the directory of this one, else in PATH; in the arena, or NULL. */
const char *spawn_find_program(const char *name, struct arena *a);

/* Creates a directory and its missing parents, with mode 0700. path: absolute. ERR_INPUT: too long, or not a directory;
 * ERR_IO: it cannot be created. */
int spawn_make_directory(const char *path, struct err *e);

/* In a child: becomes the program arguments[0], with this standard output and error, no further descriptor, and the
 * default handling of signals. arguments ends with NULL. SPAWN_NOT_RUN: it cannot be run. */
_Noreturn void spawn_become(char *const *arguments, int output, int errors);

/* Starts s->program detached, in its own session and in /, with an empty standard input; its output is appended to the
 * log (mode 0600). Sets pid and log_start. ERR_IO. */
int spawn_run(struct spawn *s, struct err *e);

/* Returns 0 while it runs, else 1. out_end (size bytes): "exit status 1"; *out_status: the exit status, or -1 for a
 * signal. */
int spawn_has_ended(const struct spawn *s, char *out_end, size_t size, int *out_status);

/* The last lines that it has logged since the start, in the arena. */
const char *spawn_log_tail(const struct spawn *s, struct arena *a);

#endif
