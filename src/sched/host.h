/* A host: its resources, and which of them are free. CPUs and GPUs are numbered 0 to n - 1 here; src/exec translates
 * them to the kernel's numbers. Memory is only counted, in MiB. The lowest free numbers are given first, so a placement
 * follows from the state alone.
 *
 * A GPU may be withheld: it has failed, or somebody else uses it. Who has it keeps it, but then it is not given again.
 * has.gpus counts the GPUs that can be used, so it falls when such a GPU is given back:
 *
 *     has.gpus = gpu_count - those that are withheld and not taken */
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
    struct idset withheld_gpus;              /* none of them is in free_gpus */
    uint32_t gpu_count;                      /* their numbers are below it */
    uint32_t free_cpu_count, free_gpu_count; /* sizes of the sets, which a pass reads for every job */
    int64_t free_mem_mib;                    /* below 0 when the host shrank under running jobs */
};

/* What a task was given on one host: CPUs and GPUs by number, and memory. */
struct placement {
    uint32_t host; /* the caller's number of it */
    struct idset cpus, gpus;
    uint64_t mem_mib;
};

/* A host on which everything is free, but for the GPUs that are withheld; NULL: none is. has.gpus counts them, too. */
void host_init(struct host *h, struct capacity has, const struct idset *withheld_gpus);
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
