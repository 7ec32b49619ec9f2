/* Brings entries into line with what is on disk. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_RECONCILE_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_RECONCILE_H

#include "exec/launcher/launch_table.h"

/* The entry at this index, whose keeper may run or not. It may be forgotten, and then the table has another one
 * there. */
void launch_reconcile(struct launches *l, uint32_t index);

/* A keeper has written a record: reads and reports the newest one. */
void launch_reconcile_record(struct launches *l, uint64_t id);

#endif
