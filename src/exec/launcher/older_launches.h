/* Launches that an older launcher has started, each with a directory of its own (struct launch_dir in spool.h). They
 * are served until they have ended: keepers outlive launchers of their version. Their records are files, an order is a
 * line in a fifo, and they notify the launcher of each record through launcher.events. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_OLDER_LAUNCHES_H
#define FAIRLEAD_EXEC_LAUNCHER_OLDER_LAUNCHES_H

#include "exec/launcher/launch_table.h"

/* Adds an entry for each directory, and reconciles it. ERR_IO: the directories cannot be listed. */
int older_launches_scan(struct launches *l, struct err *e);

/* Brings the entry at this index into line with what is on disk. Its keeper may run or not. It may be forgotten, and
 * then the table has another one there. */
void older_launch_reconcile(struct launches *l, uint32_t index);

/* A keeper has written a record: reads and reports the newest one. */
void older_launch_read(struct launches *l, struct launch_entry *entry);

/* Sends a line to the keeper. False: it cannot be sent now, or its keeper is gone. */
bool older_launch_send(const struct launches *l, const struct launch_entry *entry, const char *line);

#endif
