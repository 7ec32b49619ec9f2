/* The title of this process: what ps shows for a process that was forked and did not execute a program. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_TITLE_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_TITLE_H

#include <stdbool.h>
#include <sys/types.h>

/* Remembers the memory of main's arguments. To be called once, at the start of main. */
void process_title_init(int argc, char **argv);

/* Writes the title over the arguments, cut to their size, and names the process (comm) by its first 15 bytes. argv must
 * not be used after that. */
void process_title_set(const char *title);

/* Whether the process with this pid has that name (comm); false for 0. */
bool process_title_is(pid_t pid, const char *name);

#endif
