/* This machine: its capacity for jobs, and the kernel's numbers of its CPUs. gpus.h has its GPUs. */
#ifndef FAIRLEAD_DAEMON_MACHINE_H
#define FAIRLEAD_DAEMON_MACHINE_H

#include "base/idset.h"
#include "sched/host.h"

struct machine {
    char name[256];
    char boot_id[40];
    struct capacity has;
    struct idset cpu_ids; /* the kernel's numbers of the CPUs that this process may use, has.cpus of them */
};

/* Fills *out_machine. Falls back to the name "localhost", one CPU, no GPU and an empty boot id. The caller releases
 * it. */
void machine_probe(struct machine *out_machine);
void machine_release(struct machine *m);

/* Translates CPUs that the scheduler numbers 0 to n - 1 to the kernel's numbers: CPU k is the k-th of cpu_ids.
 * out_cpu_ids: initialised by the caller, who releases it; its old contents are lost. Empty, which means "not bound",
 * if a CPU does not exist (host_cpus can be set higher than what the machine has). O(n) */
void machine_cpus(const struct machine *m, const struct idset *numbers, struct idset *out_cpu_ids);

#endif
