/* The GPU probe: a process of the daemon's program (fairleadd --probe-gpus VENDOR) that loads the management library of
 * a vendor, if the machine has it, and reports the GPUs (gpu_report.h) for each line that it reads. It is a process of
 * its own because such a library is the driver's code: it may crash, and a call may never return while a GPU is broken.
 * It has the rights of the daemon's account, which are those of any user. */
#ifndef FAIRLEAD_DAEMON_GPU_PROBE_H
#define FAIRLEAD_DAEMON_GPU_PROBE_H

#include "daemon/gpu_report.h"

/* Whether a name is that of a vendor. */
bool gpu_probe_find_vendor(const char *name, enum gpu_vendor *out);

/* Serves standard input until its end; returns the exit status. */
int gpu_probe_run(enum gpu_vendor vendor);

#endif
