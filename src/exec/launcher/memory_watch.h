/* Looks at the memory of the launches that have a limit which no control group enforces, all of them together. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_MEMORY_WATCH_H
#define FAIRLEAD_EXEC_LAUNCHER_MEMORY_WATCH_H

#include "exec/launcher/launch_table.h"

/* Plans the first look, if the launch has a limit; to be called for each launch that is started or found. */
void memory_watch_add(struct launches *l, const struct launch_entry *entry);

/* If it is time: looks, and orders the keepers of launches that seem to be over their limit to check it. O(processes of
 * the machine), at most a twentieth of the time. */
void memory_watch_tick(struct launches *l);

/* When memory_watch_tick has to be called, in ms; -1: not at all. */
int memory_watch_wait_ms(const struct launches *l);

#endif
