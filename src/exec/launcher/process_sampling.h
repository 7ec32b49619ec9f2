/* A look at all processes of the machine: whose they are, which job they belong to, and which GPUs they use. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_PROCESS_SAMPLING_H
#define FAIRLEAD_EXEC_LAUNCHER_PROCESS_SAMPLING_H

#include "exec/launcher/launch_table.h"
#include "exec/launcher/process.h"

/* A snapshot with what is derived from it; index i of each list is that of all.list. */
struct process_sampling {
    struct processes all; /* without the threads of the kernel, and those whose user cannot be read */
    ARRAY(uint32_t) uids;
    ARRAY(uint64_t) launch_ids; /* 0: it belongs to no launch */
    uint32_t hidden;            /* processes whose user cannot be read */
};

/* O(processes): reads two files of each. */
void process_sampling_read(const struct launches *l, struct process_sampling *out);
void process_sampling_release(struct process_sampling *s);

#endif
