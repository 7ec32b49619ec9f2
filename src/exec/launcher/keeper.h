/* A keeper: the parent process of one job, from before its start until none of its processes runs. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_H

#include "exec/launcher/cgroup.h"
#include "exec/launcher/job_process.h"
#include "exec/launcher/process_identity.h"
#include "exec/launcher/spool.h"

struct keeper_task {
    const struct launch *launch;
    struct process_identity *identity; /* as in the launch's start line, which is synced */
    const struct spool *spool;
    int log_fd;     /* the segment with the start line (segments.h) */
    int keepers_fd; /* launches/keepers */
    int events_fd;  /* the fifo of events */
    int signal_fd;  /* of the launcher: gives a process that reads from it its own signals */
    int next_fd;    /* where the next launch comes from (next_launch.h); -1: there will be none */
    const struct cgroup_parent *cgroups;
    const struct inherited_attributes *inherited;
    const struct identity_rules *rules;
    pid_t launcher_pid;
    struct arena *memory; /* holds the launch; released once the job has run for a while */
    struct buf *bytes;    /* holds the launch's script; released likewise */
};

/* To be called in the fork, with all signals blocked. Closes every descriptor but 0 to 2 and those of the task, keeps
 * the job, and then those that the launcher hands to it, until the launcher closes its socket. */
_Noreturn void keeper_main(struct keeper_task *task);

#endif
