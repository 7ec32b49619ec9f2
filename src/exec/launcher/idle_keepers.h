/* Keepers that have ended their jobs and wait for the next launch. A launch that finds one costs no fork, no copied
 * page and no exit of a process: a seventh of what a null job costs, or more (bench/bench_null_jobs.py). They wait for
 * a short time only, so that none is left once jobs do not follow each other at once. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_IDLE_KEEPERS_H
#define FAIRLEAD_EXEC_LAUNCHER_IDLE_KEEPERS_H

#include "exec/launcher/launch_table.h"

/* Opens a socket to the keeper that is about to be forked for the entry. Returns the keeper's end; -1: this keeper
 * gets no launch after that one. */
int idle_keepers_open(struct launches *l, struct launch_entry *entry);

/* The keeper of an entry, a child of this launcher, has appended the end of its launch; the entry has no keeper then.
 * It may still be releasing what it had for that launch; it looks for the next one afterwards. */
void idle_keepers_add(struct launches *l, struct launch_entry *entry);

/* Hands the launch of an entry, whose start line is written, to a keeper, and returns its pid; the entry gets its
 * socket. 0: none takes it. frame: see next_launch.h. */
pid_t idle_keepers_give(struct launches *l, struct launch_entry *entry, struct str frame);

/* A child that keeps no launch has stopped or ended: the status is that of waitpid. One that has stopped is killed. */
void idle_keepers_on_child(struct launches *l, pid_t pid, int status);

/* Removes what a keeper that was killed could not remove any more. */
void idle_keepers_remove_left(const struct launches *l, const struct left_groups *left);

/* Ends those that have waited for long enough, and says when to do so again: in milliseconds, -1: there are none. */
void idle_keepers_tick(struct launches *l);
int idle_keepers_wait_ms(const struct launches *l);

/* Ends them all; and those that keep a launch will end after it. */
void idle_keepers_retire(struct launches *l);

/* Whether the process is one of them. O(idle keepers). */
bool idle_keepers_has(const struct launches *l, pid_t pid);

#endif
