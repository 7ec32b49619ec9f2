/* Ends that the launcher writes in the place of a keeper that is gone. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_ENDS_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_ENDS_H

#include "exec/launcher/launch_table.h"

/* Writes an ENDED record, with the present time, and reports it. If it cannot be written, the next launcher comes to
 * the same conclusion. d->fd may be -1. launch_ends_write_lost: makes it of the launch's last record. */
void launch_ends_write(struct launches *l, struct launch_entry *entry, const struct launch_dir *d,
                       struct launch_record record);
void launch_ends_write_lost(struct launches *l, struct launch_entry *entry, const struct launch_dir *d,
                            struct launch_record record, const char *detail);

/* Whether a process was started in this boot of the machine, so that it may still run. */
bool launch_ends_is_of_this_boot(const struct launches *l, const struct process_identity *identity);

/* The launch has a start record, but no end and no keeper: ends it as lost, after its processes have been killed. */
void launch_ends_begin_orphaned(struct launches *l, struct launch_entry *entry, struct launch_dir *d,
                                const struct process_identity *identity);

/* One round of killing the processes of all launches that are orphaned, with one scan of /proc. */
void launch_ends_kill_orphans(struct launches *l);

#endif
