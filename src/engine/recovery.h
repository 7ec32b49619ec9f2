/* Recovery: what is known of commits that are missing from the database, because its log was damaged or a backup was
 * put in its place. The daemon has written beside the database which tasks these commits started and ended
 * (daemon/commit_log.h). They are started and ended again in the rows, and nowhere else: no task of them runs twice,
 * and no end is forgotten. A task that cannot be taken over leaves its job held by an operator. */
#ifndef FAIRLEAD_ENGINE_RECOVERY_H
#define FAIRLEAD_ENGINE_RECOVERY_H

#include "engine/state.h"

/* What became of the tasks. */
struct recovery_counts {
    uint32_t started, ended; /* taken over */
    uint32_t cancelled_jobs; /* whose end was among the commits, without a task */
    uint32_t held_jobs;      /* because a task of theirs could not be taken over */
    uint32_t lost_jobs;      /* job ids that were assigned in the commits: these jobs cannot be recovered */
};

#endif
