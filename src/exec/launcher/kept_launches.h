/* Launches that run, and whose start lines are not in the record log any more: another program has removed or truncated
 * a segment while no launcher ran. Each keeper has a lock, so all of them are found, and has its segment open, so a
 * removed one can be read and written through /proc. Their jobs go on.
 *
 * Of a truncated segment the lines are lost: the launch gets new ones. It counts as started once its keeper has a child
 * that has executed a program. Until that is known, or its keeper has appended a record, the daemon is not told that
 * all launches are known. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_KEPT_LAUNCHES_H
#define FAIRLEAD_EXEC_LAUNCHER_KEPT_LAUNCHES_H

#include "exec/launcher/launch_table.h"

/* Adds an entry for each keeper without one; to be called when the segments have been read. Its lines are read, too:
 * take_lines. O(keepers + their descriptors). */
void kept_launches_find(struct launches *l, void (*take_lines)(struct launches *l, struct log_segment *g));

/* Looks whether a launch without a record has started; to be called again while it has none (is_record_due). */
void kept_launches_note_start(struct launches *l, struct launch_entry *entry);

#endif
