/* The submission hook: a program of the site that is asked about each submission before the daemon decides it.
 *
 *     request -> check -> thread: write the document, run the program -> turn: decide (or first uploads.h), answer
 *                            other requests, everything else
 *
 * Invariants
 *   1. No job is accepted without the program's consent while the setting submit_hook names one: if it cannot be run,
 *      takes too long or is killed, the submission is refused.
 *   2. SUBMIT_HOOKS_MAX programs run at a time, SUBMIT_HOOKS_USER_MAX of them about submissions of one user, so one
 *      whose submissions take long delays no other. The rest wait, in the order of arrival.
 *   3. A client gives up after two minutes without an answer (api/client/client.h) and cannot know then whether its job
 *      was accepted. So a submission is refused that has waited SUBMIT_HOOKS_WAIT_S, to which the time limit of those
 *      that run is added, and its own; hook_timeout_s is at most a minute.
 *   4. Before a submission is asked about it is checked; what changes meanwhile is found when it is decided. */
#ifndef FAIRLEAD_DAEMON_SUBMIT_HOOKS_H
#define FAIRLEAD_DAEMON_SUBMIT_HOOKS_H

#include "base/array.h"
#include "base/text.h"
#include "daemon/decided_requests.h"
#include "fields/settings.h"

enum { SUBMIT_HOOKS_MAX = 8, SUBMIT_HOOKS_USER_MAX = 2, SUBMIT_HOOKS_WAIT_S = 45 };

struct daemon;
struct submit_hook;

struct submit_hooks {
    ARRAY(struct submit_hook *) list; /* in the order of arrival, until they are decided */
    uint32_t running_count;
    int stop_fd;        /* readable once the daemon stops */
    struct buf failure; /* of the program at its last run, so that it is logged once; empty: none */
};

int submit_hooks_open(struct daemon *d, struct err *e);

/* Takes a request over if it is a submission, the site has a program, and it would be accepted now. */
bool submit_hooks_take(struct daemon *d, struct request *request);

/* Decides the requests about which the program has decided; the turn answers them. */
void submit_hooks_decide(struct daemon *d, struct decided_requests *requests);

/* Ends the programs that run; before the daemon waits for its threads. */
void submit_hooks_stop(struct daemon *d);

/* Answers the submissions that are not decided, because the daemon stops. */
void submit_hooks_close(struct daemon *d);

/* For struct server_host: whether the daemon can run the programs that the value of a setting names. */
int daemon_check_program(void *context, enum setting setting, const char *value, struct err *e);

#endif
