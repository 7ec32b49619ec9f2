/* Ends that the launcher writes in the place of a keeper that is gone. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCH_ENDS_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCH_ENDS_H

#include "exec/launcher/launch_table.h"

/* Appends an ENDED record, with the present time, to the launch's segment, and reports it. If it cannot be written, or
 * the launch is an older one, the next launcher comes to the same conclusion. launch_ends_write_lost: makes it of the
 * launch's last record. */
void launch_ends_write(struct launches *l, struct launch_entry *entry, struct launch_record record);
void launch_ends_write_lost(struct launches *l, struct launch_entry *entry, struct launch_record record,
                            const char *detail);

/* The end of a launch whose keeper has ended before the job was started; and of one that runs where this directory was
 * copied from. */
void launch_ends_write_never_ran(struct launches *l, struct launch_entry *entry);
void launch_ends_write_copied(struct launches *l, struct launch_entry *entry);

/* Whether a process was started in this boot of the machine, so that it may still run. */
bool launch_ends_is_of_this_boot(const struct launches *l, const struct process_identity *identity);

/* The launch has started, but has no end and no keeper: ends it as lost, after its processes have been killed.
 * identity: may be the entry's own. */
void launch_ends_begin_orphaned(struct launches *l, struct launch_entry *entry,
                                const struct process_identity *identity);

/* Remove control groups of launches that have ended, whose keepers were killed before they did: of one launch, or of
 * all that bear the instance's id. What still has processes is tried again by launches_tick, which calls
 * launch_ends_sweep_groups. */
void launch_ends_remove_groups(struct launches *l, const struct launch_entry *entry);
void launch_ends_find_groups(struct launches *l);
void launch_ends_sweep_groups(struct launches *l);

/* One round of killing the processes of all launches that are orphaned, with one scan of /proc. */
void launch_ends_kill_orphans(struct launches *l);

#endif
