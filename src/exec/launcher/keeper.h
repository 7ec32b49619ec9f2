/* A keeper: the parent of one job, from before its start until nothing of it runs any more. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_H

#include "exec/launcher/cgroup.h"
#include "exec/launcher/job_process.h"
#include "exec/launcher/spool.h"

struct keeper_task {
    const struct launch *launch;
    struct launch_dir dir; /* new, lock held, control open */
    const struct spool *spool;
    const struct cgroup_parent *cgroups;
    const struct inherited_attributes *inherited;
    struct arena *memory; /* where the launch is; released once the job runs */
    struct buf *bytes;    /* what its script points into; likewise */
};

/* Called in the fork; closes every descriptor but 0 to 2 and those of task, keeps the job, exits. */
_Noreturn void keeper_main(struct keeper_task *task);

#endif
