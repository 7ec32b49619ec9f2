/* Which failures of system calls are the machine's and not the launch's: it has no more descriptors, processes, memory
 * or space, or its disk fails. The same call can succeed later, so a launch that fails for such a reason may be tried
 * again. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SHORTAGE_H
#define FAIRLEAD_EXEC_LAUNCHER_SHORTAGE_H

#include <stdbool.h>

#include "base/err.h"

/* Whether an errno says that the kernel has no descriptor, process, lock or memory to give. Such an error comes from
 * any call, whatever file it is about. A limit of a control group gives the same ones. */
bool shortage_of_kernel(int error_number);

/* Whether an errno says that a file system is full, beyond a quota, read-only or broken. */
bool shortage_of_disk(int error_number);

/* The code of an error about the launcher's own files: ERR_NOT_FOUND, ERR_UNAVAILABLE for a shortage of either kind,
 * otherwise ERR_IO. */
enum err_code shortage_code(int error_number);

#endif
