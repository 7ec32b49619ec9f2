/* What the kernel has added up for all processes that a keeper has waited for, however deep below it. It keeps these
 * sums for as long as the keeper runs, which may keep one launch after the other. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_USAGE_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_USAGE_H

#include <sys/resource.h>

#include "exec/launch.h"
#include "exec/launcher/cgroup.h"

/* Of the children of one launch. All zero: none has been waited for. */
struct keeper_usage {
    int64_t cpu_us, max_rss_kib, io_bytes;
};

/* usage: of a child, from wait4. */
void keeper_usage_add(struct keeper_usage *sum, const struct rusage *usage);

/* Sets the members of an end record. The group knows more if a process ignored the ends of its children; it knows less
 * of I/O that has not reached a device yet; so the larger number counts. */
void keeper_usage_fill(const struct keeper_usage *sum, const struct cgroup_usage *group, struct launch_record *record);

/* Sets the members of a record STARTED that say what the launches before it have used. */
void keeper_usage_note_before(struct launch_record *record);

#endif
