/* A low weight for the processes that users have outside jobs: nice 19, of each thread and of the autogroup of its
 * session (sched(7)), without which nice values of one session would not count against another one.
 *
 * What each process had before is in DIR/low-weight before it is changed, so the next launcher can give it back:
 *
 *     boot=<id of the boot>
 *     <pid> <start ticks> <uid> <session> <nice> <nice of the autogroup>
 *     slice <uid> <weight>                                     (slice_weights.h)
 *
 * A process that is forked by one with a low weight has it, too, and gets back what its parent, or another process of
 * its session, had. Cannot be given back: to a process none of whose relatives is known any more. Threads that had
 * different values all get that of the first one. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LOW_WEIGHT_H
#define FAIRLEAD_EXEC_LAUNCHER_LOW_WEIGHT_H

#include "exec/launcher/launch_table.h"
#include "exec/launcher/process.h"
#include "exec/launcher/slice_weights.h"

enum { LOW_WEIGHT_NICE = 19 };

struct low_process {
    pid_t pid, session;
    uint64_t start_ticks;
    uint32_t uid;
    int32_t nice, group_nice; /* before */
};

struct low_weights {
    ARRAY(struct low_process) list;
    struct map index_by_pid;
    struct slice_weights slices;
    bool is_unwritten; /* the lists are not in the file yet */
};

/* Reads what an earlier launcher has left. user_slice: as of slice_weights_find. */
void low_weights_open(struct low_weights *w, const struct launches *l, const char *user_slice);
void low_weights_release(struct low_weights *w);

/* Gives the processes of these users outside jobs a low weight, and all others theirs back. Leaves out users that are
 * no persons (job_identity_is_person), and does nothing in a private launcher, or while it is not known what belongs to
 * jobs. O(processes). */
void low_weights_set(struct low_weights *w, const struct launches *l, const uint32_t *uids, uint32_t count);

/* What an order does in this launcher. */
enum enforcement_outside low_weights_enforcement(const struct low_weights *w, const struct launches *l);

/* Whether a process has a low weight by this. */
bool low_weights_has(const struct low_weights *w, const struct process *p);

/* Parses a line of a process. Pure. */
bool low_weight_parse(struct str line, struct low_process *out);

#endif
