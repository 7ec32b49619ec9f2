/* A session at the terminal of a job: what this command's standard input, output and signals are to the job's program,
 * until that ends, the command leaves, or the terminal is lost. */
#ifndef FAIRLEAD_CLI_TERMINAL_SESSION_H
#define FAIRLEAD_CLI_TERMINAL_SESSION_H

#include "cli/terminal_link.h"

struct terminal_session_options {
    const char *id; /* of the job or task */
    int signal_fd;  /* of terminal_signals_open */
    bool owns;      /* the command submitted the job: with pipes its signals and its input are the job's */
    bool reads_only;
    bool detaches;            /* if the terminal is lost, the job goes on */
    enum frame_mode expected; /* what the relay is going to say; 0: not known */
    char escape;              /* the character of "~."; 0: none */
};

enum terminal_outcome {
    TERMINAL_EXITED,   /* the program has ended: is_signal, value */
    TERMINAL_DETACHED, /* on request */
    TERMINAL_HUNG_UP,  /* the terminal was lost, or this command was ended: value is the signal */
    TERMINAL_CUT,      /* the relay has gone without a word: it was killed, or its host is being shut down */
    TERMINAL_REFUSED   /* the relay speaks another version */
};

struct terminal_end {
    enum terminal_outcome outcome;
    bool is_signal;
    int value;
    bool has_sent_input;
    int write_errno; /* of standard output, if not everything could be written; 0: all was. EPIPE: its reader has gone */
};

/* Runs a session on a link that is open, and restores the modes of the terminal. */
void terminal_session_run(struct terminal_link *l, const struct terminal_session_options *options,
                          struct terminal_end *out);

#endif
