/* Threads of their own for what waits for others: who a uid is (the user database may be on the network), and the
 * launcher. libuv's pool has four threads, and reads long bodies, plans and verifies there: a few slow requests would
 * delay every client that is not known yet. */
#ifndef FAIRLEAD_DAEMON_OWN_THREAD_H
#define FAIRLEAD_DAEMON_OWN_THREAD_H

#include <uv.h>

enum { OWN_THREAD_WAIT_S = 1 };

struct own_thread;
struct own_threads {
    uv_loop_t *loop;
    struct own_thread *first; /* that have not ended */
};

/* Starts libuv's pool, too, which ends the program if its threads cannot be started when it is first used: so that is
 * at the start of the daemon, and not when jobs have taken all processes that its user may have. */
void own_threads_begin(struct own_threads *threads, uv_loop_t *loop);

/* Calls run in a thread, and done in the loop afterwards. If the machine has no more threads, in one of the pool. */
void own_thread_run(struct own_threads *threads, void (*run)(void *), void (*done)(void *), void *argument);

/* Likewise, for a run that may never return, because it asks the user database: own_threads_end does not wait long for
 * it. It may touch nothing but the argument. */
void own_thread_ask(struct own_threads *threads, void (*run)(void *), void (*done)(void *), void *argument);

/* Waits for all of them, and calls done for each; before the loop is closed. What asks is left alone after
 * OWN_THREAD_WAIT_S: it has done nothing that counts, and ends with the program. */
void own_threads_end(struct own_threads *threads);

#endif
