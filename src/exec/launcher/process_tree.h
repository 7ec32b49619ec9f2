/* Ends process trees below keepers. A keeper is the subreaper of its descendants, so whatever one of them forks stays
 * below the keeper, in whatever session. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H

#include "exec/launcher/cgroup.h"
#include "exec/launcher/process.h"

/* Calls act with every present descendant of a process that is not a zombie. O(threads of these). */
void process_tree_walk(pid_t root, void (*act)(const struct process *p, void *context), void *context);

/* Sends SIGTERM, then SIGCONT, to every present descendant of this process. O(threads of these). */
void process_tree_terminate(void);

/* Moves every present descendant of this process, and those that they fork meanwhile, into a control group.
 * O(threads of these). */
void process_tree_attach(const struct cgroup *group);

/* Sends SIGKILL to the children of this process and to their process groups. Called repeatedly, with children reaped in
 * between, it ends every descendant: see process_tree.c. */
void process_tree_kill_children(void);

/* Whether every child of this process is a zombie. Of those that it cannot reap, another process is the tracer
 * (ptrace(2)), and may keep them for ever. */
bool process_tree_is_dead(void);

#endif
