/* The program of a relay: its start, its pseudo-terminal or pipes, and its end. */
#ifndef FAIRLEAD_TERMINAL_RELAY_CHILD_H
#define FAIRLEAD_TERMINAL_RELAY_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct relay_child {
    bool has_pty;
    pid_t pid;      /* 0: it has not started */
    bool has_ended; /* status is from waitpid */
    int status;
    int in_fd, out_fd, err_fd; /* none blocks; -1: closed. With a pseudo-terminal in_fd and out_fd are its master */
    int slave_fd; /* open while the program runs, so that reading the master does not fail while nothing else has it */
};

/* Starts the program. Returns 0, or -1 with errno. If it cannot be executed, it says so on its standard error and ends
 * with 127 (not found) or 126, as of a shell. */
int relay_child_start(struct relay_child *c, bool has_pty, uint16_t rows, uint16_t columns, char **arguments);

void relay_child_set_size(const struct relay_child *c, uint16_t rows, uint16_t columns);

/* To the foreground: of a pseudo-terminal what it says, else the program and what it has started. */
void relay_child_signal(const struct relay_child *c, int number);

/* As a lost terminal does: SIGHUP and SIGCONT to the program and the foreground. */
void relay_child_hang_up(const struct relay_child *c);

/* Notices the end of the program. */
void relay_child_reap(struct relay_child *c);

/* Ends this process as the program has ended. */
_Noreturn void relay_child_imitate(const struct relay_child *c);

/* Ends this process by that signal. */
_Noreturn void relay_child_die(int number);

#endif
