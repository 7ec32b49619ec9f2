/* The signals of a command that stays at a terminal. Between requests they are blocked, and read one by one; during a
 * request the first one is kept for later, and a second one ends the command, so that an instance that does not answer
 * does not hold its user. */
#ifndef FAIRLEAD_CLI_TERMINAL_SIGNALS_H
#define FAIRLEAD_CLI_TERMINAL_SIGNALS_H

/* Begins. Returns a descriptor that is readable when there may be a signal; -1: no more descriptors. */
int terminal_signals_open(void);

/* Before and after a request. */
void terminal_signals_begin_request(void);
void terminal_signals_end_request(void);

/* The next signal that has arrived; 0: none. */
int terminal_signals_next(void);

/* Waits for a signal at most so long, and returns it; 0: none. */
int terminal_signals_wait(int timeout_ms);

/* Stops this process until it is continued. */
void terminal_signals_stop(void);

#endif
