/* Uploads: submissions whose script, arguments or environment are long. One transaction with 60 MiB would hold up the
 * loop for a quarter of a second, so the daemon stores them before it decides:
 *
 *     request -> thread: hash -> round: pieces, commit ... round: pieces, commit -> turn: decide, commit, answer
 *                                 other requests, everything else
 *
 * Invariants
 *   1. A job is accepted by the last commit alone. Before it the database has pieces that no job has; they are removed,
 *      also after a crash, piece by piece (store_remove_loose).
 *   2. One upload is in progress at a time, in the order of arrival; and only while none is, pieces are removed, before
 *      the next one begins.
 *   3. While a thread copies the write-ahead log, no pieces are stored: otherwise what the loop has to copy itself
 *      afterwards would grow with the upload (checkpoint_thread.c). */
#ifndef FAIRLEAD_DAEMON_UPLOADS_H
#define FAIRLEAD_DAEMON_UPLOADS_H

#include <uv.h>

#include "daemon/decided_requests.h"
#include "store/store.h"

struct daemon;

struct upload {
    struct daemon *d;
    struct request *request;
    struct job_script script; /* in memory of the request */
    struct store_upload *stored;
    bool is_preparing, is_done, has_failed;
    struct err err;
};

struct uploads {
    ARRAY(struct upload *) list; /* the first one is in progress */
    struct upload *decided;      /* in this turn, whose commit needs it */
    bool has_rests;              /* there may be pieces of no job */
    bool waits_for_commit;       /* they could not be removed */
    uv_idle_t idle;              /* runs while there is something to store or to remove */
};

void uploads_init(struct daemon *d);

/* Takes a request over if it submits a long script and would be accepted now; whether it is, is decided once the script
 * is stored. False: it can be decided at once. */
bool uploads_take(struct daemon *d, struct request *request);

/* The first one, if it is completely stored, or has failed: the turn has to decide it. It stays valid until
 * uploads_end_turn, to be called in each turn, after its commit: has_committed: there was one. */
const struct upload *uploads_next_done(struct daemon *d);
void uploads_end_turn(struct daemon *d, bool has_committed, bool has_failed);

/* There may be pieces of no job: after a prune. */
void uploads_look_for_rests(struct daemon *d);

/* Goes on, if there is something to do and nothing to wait for. */
void uploads_schedule(struct daemon *d);

/* Answers those that are not complete, because the daemon stops. */
void uploads_close(struct daemon *d);

#endif
