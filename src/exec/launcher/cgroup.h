/* A control group (v2) for each launch, where this launcher may make one: then all of a job can be killed at once. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_CGROUP_H
#define FAIRLEAD_EXEC_LAUNCHER_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* Where groups are made; path empty: nowhere. */
struct cgroup_parent {
    char path[PATH_MAX];
};

/* Our own group on the cgroup2 file system, if groups can be made in it, processes moved into them, and those killed
 * with cgroup.kill (Linux 5.14). */
void cgroup_probe(struct cgroup_parent *out);

/* The directory of the v2 group in the texts of /proc/self/cgroup and /proc/self/mountinfo, or false. Pure. */
bool cgroup_find(struct str membership, struct str mounts, char *out, size_t size);

struct cgroup {
    char path[PATH_MAX]; /* empty: none */
};

/* Where a group of that name would be: nowhere yet. */
void cgroup_place(const struct cgroup_parent *parent, const char *name, struct cgroup *out);

/* Makes it; its path becomes empty when that cannot be done. */
void cgroup_make(struct cgroup *g);
bool cgroup_add(const struct cgroup *g, pid_t pid);
void cgroup_kill(const struct cgroup *g); /* SIGKILL to all in it and below, at one moment */

/* Removes it and the groups a job made below. False: something still runs in it. _soon: waits up to 100 ms for what
 * was killed and is not quite gone. */
bool cgroup_remove(const struct cgroup *g);
bool cgroup_remove_soon(const struct cgroup *g);

#endif
