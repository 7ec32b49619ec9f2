/* Processes, and the tree of all descendants of a keeper. The keeper is their subreaper, so whatever a descendant forks
 * stays below the keeper, in whatever session. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/str.h"

/* The fields of /proc/PID/stat that are used here (proc(5)). */
struct process {
    pid_t pid, parent, group, session;
    char state;           /* 'R', 'S', 'Z' ... */
    uint64_t start_ticks; /* when it started, in clock ticks since boot; with pid it identifies a process for good */
};

struct processes {
    ARRAY(struct process) list;
};

/* Parses the text of a stat file. The command name in it may contain anything, even parentheses and newlines. Pure. */
bool process_parse(struct str text, struct process *out);

/* Reads one process. False if it does not exist. */
bool process_read(pid_t pid, struct process *out);

/* Appends every process of the machine. O(processes): reads a file of /proc for each. */
void processes_read(struct processes *out);

/* Sends a signal to exactly this process; does nothing if it is gone, even if its pid has been given to another
 * process. False if the kernel refused (EPERM). */
bool process_signal(const struct process *p, int signal);

/* Sends SIGTERM, then SIGCONT, to every present descendant of this process. O(processes of the machine). */
void process_tree_terminate(void);

/* Sends SIGKILL to the children of this process and to their process groups. Called repeatedly, with children reaped in
 * between, it ends every descendant: see process_tree.c. */
void process_tree_kill_children(void);

#endif
