/* What a job leaves behind when its keeper was killed. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_REMAINS_H
#define FAIRLEAD_EXEC_LAUNCHER_REMAINS_H

#include "exec/launch.h"
#include "exec/launcher/journal.h"

/* Kills what is found of the job; how many live processes that were. Again and again, until there are none. */
uint32_t remains_kill(const struct launch_record *started, const struct traces *traces);

#endif
