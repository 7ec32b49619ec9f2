/* A control group for each launch, if this launcher may create one. With a group of version 2 the keeper can kill all
 * of a job at once. With a group that has a cpu controller, of version 2 or 1, it can set the job's share of the CPUs;
 * with a memory or cpuset controller it can keep the job to its memory or CPUs.
 * A group of version 2 also counts what its processes use and what ended ones used: CPU time in every group, memory and
 * I/O with the controllers for them. Source: cgroups(7), and the kernel's cgroup-v2 guide. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_CGROUP_H
#define FAIRLEAD_EXEC_LAUNCHER_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/idset.h"
#include "base/str.h"
#include "base/text.h"
#include "exec/enforcement.h"

/* The groups in which those of launches are created. An empty path: nowhere. */
struct cgroup_parent {
    char path[PATH_MAX];         /* version 2 */
    bool has_memory, has_cpuset; /* version 2 has these controllers here */
    char cpu_path[PATH_MAX];     /* version 1, cpu hierarchy; only if version 2 has no cpu controller here */
    char memory_path[PATH_MAX], cpuset_path[PATH_MAX]; /* likewise, of these controllers */
    char freezer_path[PATH_MAX]; /* version 1; only if version 2 has no groups here, whose freezer each has */
    char keepers_path[PATH_MAX]; /* version 2: the group of the keepers; empty: that of the launcher */
};

/* Finds where this process may create groups. path is directory, which is created if it is missing, or if that is NULL
 * its own group of version 2, if groups can be created there, entered by processes, and killed with cgroup.kill (Linux
 * 5.14); their cpu, memory, cpuset and io controllers are enabled if that is allowed, each by itself. Without one of
 * the first three, its path is the process's own group in that hierarchy of version 1, if groups can be created
 * there. is_system: the group of the unit fairlead-jobs.service (jobs_group.h) comes first, if that gets a memory
 * controller; and if the own group gets none, which is so if it has processes, as a service and a session have, the
 * group "fairlead" at the top of the hierarchy is taken if that gets one. Removes the probes of killed launchers. */
void cgroup_probe(const char *directory, bool is_system, struct cgroup_parent *out);

/* Whether the parent of version 2 was removed: by systemd after the end of its unit, or by root. */
bool cgroup_parent_is_gone(const struct cgroup_parent *parent);

/* What can be enforced with the groups that can be created there. */
struct enforcement cgroup_enforcement(const struct cgroup_parent *parent);

/* The directory of this process's own group, from the texts of /proc/self/cgroup and /proc/self/mountinfo. controller
 * NULL: of version 2; else of the version 1 hierarchy with this controller ("cpu"). False if there is none, or the path
 * does not fit. Pure. */
bool cgroup_find(struct str membership, struct str mounts, const char *controller, char *out, size_t size);

/* Likewise the directory of the unit fairlead-jobs.service, beside the unit of this process. */
bool cgroup_find_jobs_unit(struct str membership, struct str mounts, char *out, size_t size);

struct cgroup {
    char path[PATH_MAX]; /* empty: no group */
};

/* Set the path that the group of a launch gets below its parent, without creating the group. key: the launch's key
 * (process_identity.h), which makes the path unique among instances. */
void cgroup_set_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out);
void cgroup_set_cpu_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key, struct cgroup *out);
void cgroup_set_freezer_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key,
                             struct cgroup *out);
void cgroup_set_memory_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key,
                            struct cgroup *out);
void cgroup_set_cpuset_path(const struct cgroup_parent *parent, uint64_t launch_id, const char *key,
                            struct cgroup *out);

/* The launch in the name of a group. False: it is not one of this instance, or the instance has no id. Pure. */
bool cgroup_parse_name(const char *name, struct str instance_id, uint64_t *out_launch_id);

/* Creates the group. If that fails, its path becomes empty. */
void cgroup_create(struct cgroup *g);

/* Moves a process into the group. False if it cannot. */
bool cgroup_attach(const struct cgroup *g, pid_t pid);

/* Sets the group's CPU weight among its siblings: LAUNCH_CPU_WEIGHT_MIN to LAUNCH_CPU_WEIGHT_MAX. False if the group
 * has no file for it, or the file cannot be written. */
bool cgroup_set_cpu_weight(const struct cgroup *g, uint32_t weight);

/* Limits the memory of the group's processes together, with the cache of the files that they use, of which the kernel
 * takes back what it can; they are not swapped. Beyond it, the kernel kills the processes of a group of version 2, or
 * one of those of version 1. False if the group has no file for it, or it cannot be written. */
bool cgroup_set_memory_limit(const struct cgroup *g, int64_t limit_kib);

/* Whether the group exists and has a memory limit: one access(2). */
bool cgroup_has_memory_limit(const struct cgroup *g);

/* Limits the group's processes to these CPUs. False likewise. */
bool cgroup_set_cpus(const struct cgroup *g, const struct idset *cpus);

/* How many processes of the group the kernel has killed for memory, because of whatever limit; 0 also if it is not
 * known. */
int64_t cgroup_count_oom_kills(const struct cgroup *g);

/* Whether the processes of the group have needed more than its own limit. In version 1 also if the kernel could take
 * back enough cache of files then. */
bool cgroup_has_met_limit(const struct cgroup *g);

/* A descriptor that is readable once the limit of a group of version 1, or of one above it, was reached and the kernel
 * is about to kill; an eventfd, closed on exec. -1: there is none, as for version 2. */
int cgroup_open_oom_event(const struct cgroup *g);

/* What the processes of a group of version 2 have used since it was created, and the groups below it. -1: unknown,
 * because the group has no such file. */
struct cgroup_usage {
    int64_t cpu_us;   /* user and system time */
    int64_t mem_kib;  /* in use now; without the cache of files */
    int64_t io_bytes; /* read from and written to devices */
};

/* Reads the usage of the group at this path; "" is no group. scratch: memory for texts, which the caller releases.
 * cgroup_read_sums: only what is a sum since the group was created, cpu_us and io_bytes; mem_kib is -1. */
void cgroup_read_sums(const char *path, struct buf *scratch, struct cgroup_usage *out);
void cgroup_read_usage(const char *path, struct buf *scratch, struct cgroup_usage *out);

/* Stops every process in the group and below it, whatever it does, or lets it run. False: the group has no freezer, of
 * either version. The kernel stops them within moments. SIGKILL ends a stopped process only in version 2. */
bool cgroup_freeze(const struct cgroup *g, bool is_frozen);

/* Sends SIGKILL to every process in the group and below it, at once. */
void cgroup_kill(const struct cgroup *g);

/* Removes the group and the groups that the job created below it. False if a process is still in one of them.
 * cgroup_remove_wait tries again for up to 100 ms, because a killed process takes a moment to leave. */
bool cgroup_remove(const struct cgroup *g);
bool cgroup_remove_wait(const struct cgroup *g);

#endif
