/* Bulk changes: requests that cancel, hold, release or requeue many jobs. One event about 10^5 jobs would hold up the
 * loop for seconds, so the daemon cuts it into slices, each an event and a part of a commit of its own:
 *
 *     turn: list the jobs, slice 1, commit     turn: slice 2, commit     ...     turn: last slice, commit, answer
 *                                  other requests, ends of jobs, passes
 *
 * Invariants
 *   1. The request is answered after the commit of its last slice, with what became of all of its jobs. Until then
 *      each job is either changed, durably, or as it was; after a crash in between, some are and some are not, and the
 *      client has no answer. Sending the request again does the rest.
 *   2. The jobs of a selection (`all`) are those that it fits when the request is begun. Jobs that are submitted later
 *      are not touched; one that no longer lives when its slice comes is passed over.
 *   3. A request that has to be refused as a whole if one of its references is wrong (no report) is first checked in
 *      slices that change nothing. A job that ended or started since then is passed over.
 *   4. One bulk change is carried out at a time, in the order of their arrival. Requests about few jobs, and everything
 *      else, go on between slices. It goes on if its client disconnects, as every request that was accepted.
 *   5. A commit that fails ends it. What is committed stays, and the error says how many jobs that are.
 *   6. An array is never left half requeued: its row says with which task its requeue goes on (job.requeue_next). After
 *      a start, and after a commit that failed, that is done first, as a bulk change without a request.
 *
 * A slice is measured in units of about one row that is written. How many fit into SLICE_US follows from how long the
 * last ones took, with their commits; the result does not depend on it. */
#ifndef FAIRLEAD_DAEMON_BULK_CHANGES_H
#define FAIRLEAD_DAEMON_BULK_CHANGES_H

#include "base/map.h"
#include "daemon/decided_requests.h"
#include "engine/event.h"

struct daemon;

struct bulk_change {
    struct request *request; /* NULL: it finishes a requeue whose request ended without it */
    struct event event;      /* the request's */
    struct arena arena;      /* of refs */
    const struct job_ref *refs;
    uint32_t ref_count, next;        /* next: the reference with which the next slice begins */
    bool is_listed;                  /* refs are known */
    const struct job_ref *kept_back; /* of a list: its jobs that no pass starts until it is done, by ascending ids */
    uint32_t kept_back_count;
    bool is_selection;    /* refs are all of its jobs, by ascending ids, and those from next on are kept back */
    bool is_checking;     /* invariant 3 */
    bool is_continued;    /* the first tasks of the array at `next` were in an earlier slice */
    uint32_t task_first;  /* of the event, if it is continued */
    struct map seen;      /* references of earlier slices, and of this one, by task_key */
    struct map jobs_seen; /* the jobs of earlier slices */
    uint32_t changed_count, committed_count;
    ARRAY(struct job_refusal) refused; /* texts: in memory of the request's report */
    ARRAY(struct job_ref) changed;     /* of a dry run */
};

struct bulk_changes {
    ARRAY(struct bulk_change *) list; /* the first one is being carried out */
    bool is_resumed;                  /* this turn may go on with one that an earlier turn began */
    uint32_t units_max;               /* of a turn; 0: not known yet */
    uint32_t units, units_left;       /* of this turn */
    int64_t spent_us;                 /* of this turn, on slices */
    bool has_kept;                    /* passes have run without the jobs that were still to be changed */
};

/* To be called at the beginning of a turn. */
void daemon_begin_bulk_turn(struct daemon *d);

/* Takes a request over if it is one about many jobs, and begins with it if no other one is in progress; then it may be
 * in *requests already. False: it is for one event. */
bool daemon_take_bulk(struct daemon *d, struct request *request, struct decided_requests *requests);

/* To be called when the state was loaded from the store, at a start and after a commit that failed: the requeues that
 * are not complete there go on before all other bulk changes. A job that ended before a quarantine is held. */
void daemon_resume_requeues(struct daemon *d);

/* Whether the first one is such a requeue. After a commit that failed it waits for the next turn that something else
 * begins. */
bool daemon_bulk_is_resumed_requeue(const struct daemon *d);

/* Carries out what fits into this turn. Requests that are complete are added to *requests. */
void daemon_advance_bulk(struct daemon *d, struct decided_requests *requests);

/* Whether no pass may run yet, because jobs that are being cancelled or held would start. Else daemon_bulk_keep_back
 * tells the pass which jobs to leave out: those of a selection that are still to be changed. */
bool daemon_bulk_keeps_starts(const struct daemon *d);
void daemon_bulk_keep_back(struct daemon *d, struct event *time);

/* After the commit, which took commit_us. */
void daemon_end_bulk_turn(struct daemon *d, int64_t commit_us);

/* After a commit that failed: adds the one that has begun to *requests, refused; its error is set by the caller. */
void daemon_fail_bulk(struct daemon *d, struct decided_requests *requests);

/* Answers those that are not complete, because the daemon stops. */
void daemon_close_bulk(struct daemon *d);

#endif
