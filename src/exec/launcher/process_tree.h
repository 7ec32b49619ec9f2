/* All descendants of a keeper, which is their subreaper: whatever they fork, in whatever session, stays below it. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/str.h"

/* What /proc/PID/stat tells of a process. */
struct process {
    pid_t pid, parent, group, session;
    char state;
    uint64_t born; /* in ticks since boot: together with pid it names a process for good */
};

struct processes {
    ARRAY(struct process) list;
};

/* Reads the text of a stat file. The command in it may hold anything, parentheses and newlines too. Pure. */
bool process_parse(struct str text, struct process *out);

/* One process; false: there is none. */
bool process_read(pid_t pid, struct process *out);

/* Appends every process there is. */
void processes_read(struct processes *out);

/* Sends a signal to exactly this process: nothing happens when it is gone and its number is another's. False: the
 * kernel refused (EPERM). */
bool process_signal(const struct process *p, int signal);

/* SIGTERM, then SIGCONT, to every descendant of ours there is at the moment. */
void process_tree_terminate(void);

/* SIGKILL to our children and their process groups. Called again and again, with children reaped between, it reaches
 * everyone: see family.c. */
void process_tree_kill_children(void);

#endif
