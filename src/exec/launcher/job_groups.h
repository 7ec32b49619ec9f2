/* The control groups of one launch beside that of version 2, which is in its process_identity: one in each hierarchy of
 * version 1 that has what version 2 lacks. Their paths follow from the launch, so the next launcher can remove them. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_GROUPS_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_GROUPS_H

#include "exec/launch.h"
#include "exec/launcher/cgroup.h"
#include "exec/launcher/process_identity.h"

struct job_groups {
    struct cgroup cpu;            /* carries the CPU weight; created when one is ordered */
    struct cgroup freezer;        /* created when the launch is suspended */
    struct cgroup memory, cpuset; /* created before the job; its process enters them by itself */
    bool enforces_memory;         /* one of the groups has the launch's memory limit */
};

/* Creates what the launch's limits of memory and CPUs need, and sets them; also those of the group of version 2. What
 * cannot be had is left out. */
void job_groups_prepare(const struct cgroup_parent *parents, const struct launch *launch,
                        const struct process_identity *identity, struct job_groups *out);

/* Why the kernel has killed processes of the launch for memory: not at all; because the launch needed more than its own
 * limit; or because a group above its groups did, or the machine has no more. */
enum kernel_kill { KERNEL_KILL_NONE, KERNEL_KILL_OWN_LIMIT, KERNEL_KILL_OTHERS };
enum kernel_kill job_groups_kernel_kill(const struct job_groups *groups, const struct process_identity *identity);

/* The groups that the launch may have, as another launcher knows them. */
void job_groups_find(const struct cgroup_parent *parents, uint64_t launch_id, const struct process_identity *identity,
                     struct job_groups *out);

/* Removes them and the group of version 2. False: a process is still in one of them. job_groups_remove_wait: as
 * cgroup_remove_wait. */
bool job_groups_remove(const struct job_groups *groups, const struct process_identity *identity);
bool job_groups_remove_wait(const struct job_groups *groups, const struct process_identity *identity);

/* The launches of an instance that have left a group of version 2, or one of version 1. They are told by their names,
 * if the instance has an id. */
struct job_group_ids {
    ARRAY(uint64_t) list;
};
void job_groups_list(const struct cgroup_parent *parents, struct str instance_id, struct job_group_ids *out);

/* Removes the groups of such a launch. False: one of them has a process. */
bool job_groups_remove_left(const struct cgroup_parent *parents, struct str instance_id, uint64_t launch_id);

#endif
