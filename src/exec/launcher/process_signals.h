/* The actions of signals in the launcher and in what it forks. The launcher resets all of them once, so that no job has
 * to. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_SIGNALS_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_SIGNALS_H

/* Resets all actions, whatever the launcher was started with, and ignores SIGPIPE and SIGHUP. To be called at its
 * start. */
void process_signals_init(void);

/* Sets the default actions of the signals that the launcher ignores. Async-signal-safe. */
void process_signals_heed(void);

#endif
