/* The relay of a job with a terminal: the job's first process, which runs as the job's user. It has the program's
 * pseudo-terminal, or its pipes, and a socket at which clients (frames.h) see and control the program.
 *
 *     keeper ── relay ──┬── program, on the pseudo-terminal or the pipes
 *                       ├── output file of the job
 *                       └── socket of the job ── 'fairlead run', 'fairlead attach'
 *
 *  I1  The program starts when the first client has connected, so that it finds the right size and no output is lost;
 *      or after RELAY_START_WAIT_S, if the job goes on without a terminal.
 *  I2  The relay keeps the last RING_SIZE bytes of each stream. Output that a client has not taken keeps the program
 *      waiting, as a pipe does; one that only reads skips what it was too slow for. Without a client nothing waits.
 *  I3  A client has the uid of the job or is root, as the kernel says (SO_PEERCRED).
 *  I4  The relay ends as the program does, with its exit status or by its signal, once all clients have all output. If
 *      the relay is killed, the program is, too (PR_SET_PDEATHSIG), and the keeper ends what is left.
 *  I5  Neither daemon nor launcher takes part, so they can be killed and replaced meanwhile. */
#ifndef FAIRLEAD_TERMINAL_RELAY_H
#define FAIRLEAD_TERMINAL_RELAY_H

#define RELAY_NAME "fairlead-relay" /* argv[0] of a relay */

/* The arguments of a relay: its name, and these; then the program with its own. */
enum {
    RELAY_ARGUMENT_SOCKET = 1, /* the number of the descriptor that listens */
    RELAY_ARGUMENT_MODE,       /* "pty" or "pipes" */
    RELAY_ARGUMENT_HANGUP,     /* "end" or "detach": what follows if the command that submitted the job is lost */
    RELAY_ARGUMENT_PROGRAM
};

enum {
    RELAY_START_WAIT_S = 120, /* for the first client */
    RELAY_HANGUP_S = 5,       /* from SIGHUP to the end of the job */
    RELAY_CLIENTS_MAX = 16
};

/* Does not return. */
_Noreturn void relay_main(int argc, char **argv);

#endif
