/* What a job leaves behind when its keeper was killed. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_ORPHANS_H
#define FAIRLEAD_EXEC_LAUNCHER_ORPHANS_H

#include "exec/launch.h"
#include "exec/launcher/record_log.h"

/* Kills what is found of the job; how many live processes that were. Again and again, until there are none. */
uint32_t orphans_kill(const struct launch_record *started, const struct process_identity *traces);

#endif
