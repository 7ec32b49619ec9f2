/* This machine: what it has to give out, and what its CPUs are called. */
#ifndef FAIRLEAD_DAEMON_MACHINE_H
#define FAIRLEAD_DAEMON_MACHINE_H

#include "base/idset.h"
#include "sched/host.h"

struct machine {
    char name[256];
    char boot_id[40];
    struct capacity has;
    struct idset cpu_ids; /* the kernel's numbers of the CPUs we may use, has.cpus of them */
    struct idset gpu_ids; /* NVIDIA's minor numbers */
};

/* Finds all of it out anew; what cannot be found out is one CPU, no GPU, an empty boot id. Release it afterwards. */
void machine_probe(struct machine *m);
void machine_release(struct machine *m);

/* The kernel's numbers for CPUs numbered 0 to n - 1 by the scheduler: the k-th CPU that we may use. Where one of them does
 * not exist (host_cpus was set higher than there are): empty, which means "not bound". */
void machine_cpus(const struct machine *m, const struct idset *numbers, struct idset *out_cpu_ids);

#endif
