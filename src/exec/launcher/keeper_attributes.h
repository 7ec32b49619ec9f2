/* What a process can change of another one of its user, and its children inherit: limits, priorities, CPUs, control
 * groups. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEEPER_ATTRIBUTES_H
#define FAIRLEAD_EXEC_LAUNCHER_KEEPER_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

enum { KEEPER_TEXTS = 3 };

struct keeper_attributes {
    struct rlimit limits[RLIMIT_NLIMITS];
    uint32_t policy, priority;
    int32_t nice, io_priority, oom_score;
    unsigned char cpus[1024];     /* one bit for each */
    uint64_t texts[KEEPER_TEXTS]; /* hashes of what /proc says of control groups and the like */
};

/* Those of this process. False: one of them cannot be read. */
bool keeper_attributes_read(struct keeper_attributes *out);

/* Whether those of this process are still the same. */
bool keeper_attributes_are(const struct keeper_attributes *before);

#endif
