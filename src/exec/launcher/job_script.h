/* The file with a job's script, launches/ID.script: only the job's user can read it, and no user can write it or keep a
 * link to it. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_JOB_SCRIPT_H
#define FAIRLEAD_EXEC_LAUNCHER_JOB_SCRIPT_H

#include "exec/launch.h"
#include "exec/launcher/spool.h"

/* Writes the script of a launch. A file that an earlier attempt has left is replaced. ERR_IO. */
int job_script_write(const struct spool *s, const struct launch *launch, struct err *e);

/* Removes the file, if it exists. */
void job_script_remove(const struct spool *s, uint64_t launch_id);

#endif
