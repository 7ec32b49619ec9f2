/* A keeper: the parent process of one job, from before its start until none of its processes runs. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_H

#include "exec/launcher/cgroup.h"
#include "exec/launcher/job_process.h"
#include "exec/launcher/spool.h"

struct keeper_task {
    const struct launch *launch;
    struct launch_dir dir; /* new, locked, its control fifo open */
    const struct spool *spool;
    const struct cgroup_parent *cgroups;
    const struct inherited_attributes *inherited;
    const char *boot_id;  /* of the present boot */
    struct arena *memory; /* holds the launch; released once the job runs */
    struct buf *bytes;    /* holds the launch's script; released likewise */
};

/* To be called in the fork. Closes every descriptor but 0 to 2 and those of the task, keeps the job, and exits. */
_Noreturn void keeper_main(struct keeper_task *task);

/* Whether the process with this pid is a keeper, by its name; false for 0. */
bool keeper_is(pid_t pid);

#endif
