/* Brings entries into line with the record log. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_RECONCILE_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_RECONCILE_H

#include "exec/launcher/launch_table.h"

/* Finds the launches in the record log, when the launcher starts. If a segment cannot be read now, launches_tick tries
 * again. */
void launch_reconcile_scan(struct launches *l);

/* Reads the segments that may have new lines, and reports the records in them. */
void launch_reconcile_read(struct launches *l);

/* The entry at this index, of which no keeper is watched: its keeper has ended, or is to be found. The segment has been
 * read since. The entry may be forgotten, and then the table has another one there. */
void launch_reconcile(struct launches *l, uint32_t index);

#endif
