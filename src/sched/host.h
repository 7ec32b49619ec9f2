/* A host: what it has, what of it is taken, and by which numbers. CPUs and GPUs are numbered 0 to n - 1 here; the
 * executor's side knows how the kernel calls them. Memory is a promise kept in MiB.
 * Lowest free numbers are given first, so a placement follows from the state alone. */
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
    uint32_t free_cpu_count, free_gpu_count; /* of the sets: every pass asks for every job */
    int64_t free_mem_mib;                    /* below zero when a host shrank under running jobs */
};

/* What one task asks for, and the CPUs and GPUs it was given. */
struct placement {
    struct idset cpus, gpus;
    uint64_t mem_mib;
};

/* All of it free. */
void host_init(struct host *h, struct capacity has);
void host_release(struct host *h);

/* Whether a request fits on what is free. */
bool host_fits(const struct host *h, const struct capacity *request);

/* Takes what fits (host_fits) and says what it took; out_placement is the caller's to release. */
void host_take(struct host *h, const struct capacity *request, struct placement *out_placement);

/* Marks a placement made earlier as taken, on a host that may have become smaller since. */
void host_take_again(struct host *h, const struct placement *p);

/* Frees what a placement took; numbers that the host no longer has stay away. */
void host_give_back(struct host *h, const struct placement *p);

/* Empties it; frees nothing on the host. */
void placement_release(struct placement *p);

#endif
