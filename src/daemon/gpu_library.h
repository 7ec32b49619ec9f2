/* The management library of a vendor, loaded at run time by a GPU probe (gpu_probe.h). */
#ifndef FAIRLEAD_DAEMON_GPU_LIBRARY_H
#define FAIRLEAD_DAEMON_GPU_LIBRARY_H

#include "daemon/gpu_report.h"

struct gpu_library {
    /* Loads and initialises it. 0: it works. 1: it is not there. -1: it does not work; *out_fault says why. */
    int (*open)(char out_fault[GPU_FAULT_SIZE]);
    /* Fills *out, in order of the bus. */
    void (*read)(struct gpu_report *out);
};

extern const struct gpu_library gpu_nvml, gpu_rocm;

/* The first of some names of a library that can be loaded; NULL: none. names: ends with NULL. */
void *gpu_library_load(const char *const *names);

#endif
