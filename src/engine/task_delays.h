/* Tasks of arrays that were requeued and do not start before a time, because a task that fails at once would otherwise
 * start again at once; and those that were requeued too often, which are held until they are released. (A job that is
 * no array has a begin, or is held.) As text "1764000060:3-7;1764000120:5;held:9": until when, in seconds since the
 * epoch, and which. A pass drops the delays that have ended (delay_ends.h), so which tasks are ready follows from the
 * rows, whatever the clock does. */
#ifndef FAIRLEAD_ENGINE_TASK_DELAYS_H
#define FAIRLEAD_ENGINE_TASK_DELAYS_H

#include "engine/state.h"

/* Delays a task until at_us, which is rounded up to a second. O(delays) */
void task_delays_add(struct state *s, struct job *j, uint32_t task_id, int64_t at_us);

/* The end of the delay of tasks that are held: none comes. */
#define TASK_DELAYS_HELD_US ((int64_t)TIME_US_MAX)

/* Holds a task, which has no other delay. */
void task_delays_hold(struct job *j, uint32_t task_id);

/* The tasks that are held; NULL: none is. O(1) */
const struct idset *task_delays_held(const struct job *j);

/* Drops the delays of tasks that are not pending any more. O(delays + ranges) */
void task_delays_drop(struct job *j, const struct idset *tasks);

/* Adds the tasks that are delayed beyond now_us to out_tasks. O(delays) */
void task_delays_add_waiting(const struct job *j, int64_t now_us, struct idset *out_tasks);

/* O(delays x log ranges) */
bool task_delays_has_task(const struct job *j, uint32_t task_id);

/* When the first delay ends; 0: there is none that ends. O(1) */
int64_t task_delays_next_us(const struct job *j);

/* Drops the delays that have ended. Returns whether there was one. O(delays) */
bool task_delays_end(struct job *j, int64_t now_us);

/* Appends them as task_delays_parse reads them back into a row that is being built. ERR_INPUT names field. */
void task_delays_format(const struct job *j, struct buf *out);
int task_delays_parse(struct job *row, struct str text, const char *field, struct err *e);

/* Frees them. */
void task_delays_release(struct job *j);

#endif
