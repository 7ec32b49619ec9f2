/* Control groups for each launch, where this launcher may make them: in version 2, so that all of a job can be killed at
 * once; and with a cpu controller, version 2's or 1's, so that a job's share of the CPUs can be set. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_CGROUP_H
#define FAIRLEAD_EXEC_LAUNCHER_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* Where groups are made; a path that is empty: nowhere. */
struct cgroup_parent {
    char path[PATH_MAX];     /* v2 */
    char cpu_path[PATH_MAX]; /* v1's cpu hierarchy; only where v2 has no cpu controller for us */
};

/* Our own group on the cgroup2 file system, if groups can be made in it, processes moved into them, and those killed
 * with cgroup.kill (Linux 5.14), with the cpu controller switched on for what is below where that is allowed; else our own
 * group of version 1's cpu hierarchy, if groups can be made there. */
void cgroup_probe(struct cgroup_parent *out);

/* The directory of our group in the texts of /proc/self/cgroup and /proc/self/mountinfo, or false. controller NULL: of v2;
 * else of the v1 hierarchy that has it ("cpu"). Pure. */
bool cgroup_find(struct str membership, struct str mounts, const char *controller, char *out, size_t size);

struct cgroup {
    char path[PATH_MAX]; /* empty: none */
};

/* Where the groups of a launch would be: nowhere yet. key: of its traces. */
void cgroup_set_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out);
void cgroup_set_cpu_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out);

/* Makes it; its path becomes empty when that cannot be done. */
void cgroup_create(struct cgroup *g);
bool cgroup_attach(const struct cgroup *g, pid_t pid);

/* Its part of the CPUs among its siblings: 1 to 10000, 100 is ordinary. False: it has no such file, or may not be written. */
bool cgroup_set_cpu_weight(const struct cgroup *g, uint32_t weight);
void cgroup_kill(const struct cgroup *g); /* SIGKILL to all in it and below, at one moment */

/* Removes it and the groups a job made below. False: something still runs in it. _soon: waits up to 100 ms for what
 * was killed and is not quite gone. */
bool cgroup_remove(const struct cgroup *g);
bool cgroup_remove_wait(const struct cgroup *g);

#endif
