/* A host: its resources, and which of them are free. CPUs and GPUs are numbered 0 to n - 1 here; src/exec translates
 * them to the kernel's numbers. Memory is only counted, in MiB. The lowest free numbers are given first, so a placement
 * follows from the state alone. */
#ifndef FAIRLEAD_SCHED_HOST_H
#define FAIRLEAD_SCHED_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idset.h"

struct capacity {
    uint32_t cpus, gpus;
    uint64_t mem_mib;
};

struct host {
    struct capacity has;
    struct idset free_cpus, free_gpus;
    uint32_t free_cpu_count, free_gpu_count; /* sizes of the sets, which a pass reads for every job */
    int64_t free_mem_mib;                    /* below 0 when the host shrank under running jobs */
};

/* What a task was given on one host: CPUs and GPUs by number, and memory. */
struct placement {
    uint32_t host; /* the caller's number of it */
    struct idset cpus, gpus;
    uint64_t mem_mib;
};

/* A host on which everything is free. */
void host_init(struct host *h, struct capacity has);
void host_release(struct host *h);

/* Whether enough is free for a request. */
bool host_fits(const struct host *h, const struct capacity *request);

/* Takes a request that fits (host_fits). The caller releases out_placement. */
void host_take(struct host *h, const struct capacity *request, struct placement *out_placement);

/* Marks an earlier placement as taken, on a host that may have become smaller since. */
void host_take_again(struct host *h, const struct placement *p);

/* Frees a placement. Numbers from before the host shrank do not come back. */
void host_give_back(struct host *h, const struct placement *p);

/* Frees the memory of a placement; the host is not changed. */
void placement_release(struct placement *p);

#endif
