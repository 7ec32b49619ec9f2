/* The history of a private instance, as 'fairleadd --export-history' prints it: this program has no SQLite. */
#ifndef FAIRLEAD_CLI_HISTORY_SOURCE_H
#define FAIRLEAD_CLI_HISTORY_SOURCE_H

#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct history_source {
    const char *directory;
    const char *instance; /* its id, in the arena */
    uint64_t ended_jobs, live_jobs;
    pid_t pid;
    FILE *lines, *errors;
    char *line; /* the last one, of getline */
    size_t line_size;
    bool has_ended;
};

/* A job, or a part of one with many starts. */
struct history_part {
    uint64_t id, task_count;
    struct str json; /* valid until the next call */
};

/* Starts the program, and reads what the instance is. The caller closes it, also after -1. ERR_INPUT with the program's
 * words; ERR_UNAVAILABLE: it cannot be started. */
int history_source_open(struct history_source *h, const char *directory, struct arena *arena, struct err *e);

/* 1: a part; 0: there are no more; -1 with *e: the program failed. */
int history_source_next(struct history_source *h, struct history_part *out, struct err *e);
void history_source_close(struct history_source *h);

#endif
