/* The life of launches: they are found on disk, started, watched, measured and acknowledged. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_LAUNCHES_H
#define FAIRLEAD_EXEC_LAUNCHER_LAUNCHES_H

#include "exec/launcher/launch_table.h"

/* Finds the launches on disk. Forgets those that never ran, and begins to end those without a keeper. ERR_IO: the
 * directory of launches cannot be listed. */
int launches_scan(struct launches *l, struct err *e);

/* The daemon's orders; those to launches that run are in launch_orders.h. launches_start: the launch is to be started;
 * if its id is known already, reports its last record instead. frame: the message with it. Their memory has to stay
 * until launches_start_all starts all of these launches, after one sync; memory and bytes: see struct keeper_task.
 * launches_acknowledge: the daemon has committed the end of this launch. */
enum { LAUNCHES_STARTING_MAX = 64 }; /* in l->starting, when launches_start_all has to be called */
void launches_start(struct launches *l, const struct launch *launch, struct str frame);
void launches_start_all(struct launches *l, struct arena *memory, struct buf *bytes);
void launches_acknowledge(struct launches *l, uint64_t id);

/* Reports the usage of every launch that has started and whose keeper runs. O(processes of the machine). */
void launches_measure(struct launches *l);

/* To be called when keepers have sent their launch ids, because they have written records. */
void launches_on_notices(struct launches *l, const uint64_t *ids, size_t count);

/* To be called when a keeper's pidfd has become readable. */
void launches_on_keeper_exit(struct launches *l, uint64_t id);

/* To be called when a child of the launcher has ended or was stopped (SIGCHLD). */
void launches_on_child(struct launches *l);

/* launches_tick: to be called after each wait of the loop, which lasts at most launches_wait_ms; -1: without limit. */
void launches_tick(struct launches *l);
int launches_wait_ms(const struct launches *l);

#endif
