/* The orphans of a launch: the processes of a job whose keeper was killed. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_ORPHANS_H
#define FAIRLEAD_EXEC_LAUNCHER_ORPHANS_H

#include "exec/launch.h"
#include "exec/launcher/process_identity.h"

/* Kills every orphan that it finds, and returns how many it found alive. To be called repeatedly until it returns 0.
 * O(processes of the machine): reads two files of /proc for each. */
uint32_t orphans_kill(const struct launch_record *started, const struct process_identity *identity);

#endif
