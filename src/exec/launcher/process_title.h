/* What ps shows for a process that was forked and not executed. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_TITLE_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_TITLE_H

/* Remembers where main's arguments are. */
void process_title_init(int argc, char **argv);

/* Writes over them, as far as there is room, and names the process (15 bytes of it). argv is of no use afterwards. */
void process_title_set(const char *title);

#endif
