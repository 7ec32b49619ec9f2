/* The unit fairlead-jobs.service, whose control group has those of all jobs of the system instance:
 *
 *     system.slice/fairlead-jobs.service      delegated (Delegate=yes): systemd leaves what is below it alone
 *         keepers                             the process that holds the unit, and all keepers
 *         fairlead-ID-KEY ...                 a job each, with its limits
 *     system.slice/fairlead-launcher.service  the launcher alone
 *
 * A group that gives its children controllers has no processes of its own (cgroups(7)), so jobs and keepers are below
 * the unit's group. They outlive the launcher, and systemd 252 cannot start a unit in such a group again: it puts the
 * new process into the group itself (status 219/CGROUP). So the groups are not in the launcher's unit, which is
 * restarted, but in one that is not. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOBS_GROUP_H
#define FAIRLEAD_EXEC_LAUNCHER_JOBS_GROUP_H

#include "base/err.h"

#define JOBS_GROUP_UNIT "fairlead-jobs.service"
#define JOBS_GROUP_KEEPERS "keepers"

/* Is the unit's process: moves itself to the group of the keepers, tells systemd that the unit is ready, and waits for
 * SIGTERM or SIGINT: 0. Without a hierarchy of version 2 there is no group, and it only waits. ERR_DENIED: this process
 * is not in a group of that unit; ERR_IO: it cannot create the group or move there. */
int jobs_group_hold(struct err *e);

#endif
