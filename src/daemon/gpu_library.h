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

struct gpu_function {
    const char *name;
    void *function; /* where its address is put */
    bool is_optional;
};

/* Loads the library, unless *io_library is loaded, by the first of its names that can be, which end with NULL, and
 * finds count functions in it. 0; 1: there is none of these names; -1: it lacks a function, which *out_fault says. */
int gpu_library_load(const char *const *names, const struct gpu_function *functions, size_t count, void **io_library,
                     char out_fault[GPU_FAULT_SIZE]);

#endif
