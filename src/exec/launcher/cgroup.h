/* A control group for each launch, if this launcher may create one. With a group of version 2 the keeper can kill all
 * of a job at once. With a group that has a cpu controller, of version 2 or 1, it can set the job's share of the CPUs.
 * A group of version 2 also counts what its processes use and what ended ones used: CPU time in every group, memory and
 * I/O with the controllers for them. Source: cgroups(7), and the kernel's cgroup-v2 guide. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_CGROUP_H
#define FAIRLEAD_EXEC_LAUNCHER_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "base/text.h"

/* The groups in which those of launches are created. An empty path: nowhere. */
struct cgroup_parent {
    char path[PATH_MAX];     /* version 2 */
    char cpu_path[PATH_MAX]; /* version 1, cpu hierarchy; only if version 2 has no cpu controller here */
};

/* Finds where this process may create groups. path is its own group of version 2 if groups can be created there,
 * entered by processes, and killed with cgroup.kill (Linux 5.14); their cpu, memory and io controllers are
 * enabled if that is allowed, each by itself. Without the cpu controller, cpu_path is the process's own group in the
 * cpu hierarchy of version 1, if groups can be created there. */
void cgroup_probe(struct cgroup_parent *out);

/* The directory of this process's own group, from the texts of /proc/self/cgroup and /proc/self/mountinfo. controller
 * NULL: of version 2; else of the version 1 hierarchy with this controller ("cpu"). False if there is none, or the path
 * does not fit. Pure. */
bool cgroup_find(struct str membership, struct str mounts, const char *controller, char *out, size_t size);

struct cgroup {
    char path[PATH_MAX]; /* empty: no group */
};

/* Set the path that the group of a launch gets below its parent, without creating the group. key: the launch's key
 * (process_identity.h), which makes the path unique among instances. */
void cgroup_set_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out);
void cgroup_set_cpu_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out);

/* Creates the group. If that fails, its path becomes empty. */
void cgroup_create(struct cgroup *g);

/* Moves a process into the group. False if it cannot. */
bool cgroup_attach(const struct cgroup *g, pid_t pid);

/* Sets the group's CPU weight among its siblings: LAUNCH_CPU_WEIGHT_MIN to LAUNCH_CPU_WEIGHT_MAX. False if the group
 * has no file for it, or the file cannot be written. */
bool cgroup_set_cpu_weight(const struct cgroup *g, uint32_t weight);

/* What the processes of a group of version 2 have used since it was created, and the groups below it. -1: unknown,
 * because the group has no such file. */
struct cgroup_usage {
    int64_t cpu_us;   /* user and system time */
    int64_t mem_kib;  /* in use now; without the cache of files */
    int64_t io_bytes; /* read from and written to devices */
};

/* Reads the usage of the group at this path; "" is no group. scratch: memory for texts, which the caller releases. */
void cgroup_read_usage(const char *path, struct buf *scratch, struct cgroup_usage *out);

/* Sends SIGKILL to every process in the group and below it, at once. */
void cgroup_kill(const struct cgroup *g);

/* Removes the group and the groups that the job created below it. False if a process is still in one of them.
 * cgroup_remove_wait tries again for up to 100 ms, because a killed process takes a moment to leave. */
bool cgroup_remove(const struct cgroup *g);
bool cgroup_remove_wait(const struct cgroup *g);

#endif
