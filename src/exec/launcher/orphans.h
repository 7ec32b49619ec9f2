/* Kills what is left of jobs whose keepers were killed. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_ORPHANS_H
#define FAIRLEAD_EXEC_LAUNCHER_ORPHANS_H

#include "exec/launch.h"
#include "exec/launcher/process_identity.h"

/* A launch without a keeper. */
struct orphan_launch {
    pid_t first_pid; /* of the job's first process */
    const struct process_identity *identity;
    uint32_t alive_count; /* orphans_kill: the processes that were found alive */
};

/* Sends SIGKILL to every process of the launches, and counts those of each. One scan of /proc serves all of them.
 * O(processes of the machine + launches). */
void orphans_kill(struct orphan_launch *launches, uint32_t count);

#endif
