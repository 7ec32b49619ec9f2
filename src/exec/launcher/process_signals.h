/* The actions of signals in the launcher and in what it forks. The launcher resets all of them once, and blocks
 * signals instead of ignoring them, so that no job has to reset any. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_SIGNALS_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_SIGNALS_H

/* Resets all actions, whatever the launcher was started with, and blocks all signals. To be called at its start. */
void process_signals_init(void);

#endif
