/* The load values of this machine, by their names in Grid Engine, as texts: load_short, load_medium, load_long,
 * load_avg (which is load_medium), cpu, num_proc, arch, mem_*, swap_*, virtual_*, m_*. What cannot be read is left
 * out. */
#ifndef FAIRLEAD_DAEMON_MACHINE_LOAD_H
#define FAIRLEAD_DAEMON_MACHINE_LOAD_H

#include "daemon/load_text.h"
#include "daemon/load_values.h"

struct machine_load {
    struct load_cpu_time last; /* of the last measurement; at first that of the boot */
    struct load_cpu_place *places;
    uint32_t place_count;
};

/* Reads what does not change. */
void machine_load_init(struct machine_load *m);
void machine_load_release(struct machine_load *m);

/* Replaces *io_values by what is measured now. used: the kernel's numbers of the CPUs that jobs have. */
void machine_load_measure(struct machine_load *m, const struct idset *used, struct load_values *io_values);

#endif
