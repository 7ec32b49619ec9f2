/* Ends process trees below keepers. A keeper is the subreaper of its descendants, so whatever one of them forks stays
 * below the keeper, in whatever session. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_TREE_H

/* Sends SIGTERM, then SIGCONT, to every present descendant of this process. O(processes of the machine). */
void process_tree_terminate(void);

/* Sends SIGKILL to the children of this process and to their process groups. Called repeatedly, with children reaped in
 * between, it ends every descendant: see process_tree.c. */
void process_tree_kill_children(void);

#endif
