/* Tasks of arrays that were requeued and do not start before a time, because a task that fails at once would otherwise
 * start again at once; and those that are held until they are released: by their user, or by an operator, or because
 * they were requeued too often. (A job that is no array has a begin, or is held. The hold of an array holds all of its
 * tasks, beside their own holds.) A task may have a time and a hold, but only one hold.
 *
 * As text "1764000060:3-7;1764000120:5;held_by_user:4;held:9": until when, in seconds since the epoch, and which. A
 * pass drops the delays that have ended (delay_ends.h), so which tasks are ready follows from the rows, whatever the
 * clock does. */
#ifndef FAIRLEAD_ENGINE_TASK_DELAYS_H
#define FAIRLEAD_ENGINE_TASK_DELAYS_H

#include "base/quantity.h"
#include "engine/state.h"
#include "fields/limits.h"

/* Delays a task until at_us, which is rounded up to a second. O(delays) */
void task_delays_add(struct state *s, struct job *j, uint32_t task_id, int64_t at_us);

/* The ends of the delays of tasks that are held, by an operator and by a user: none comes. */
#define TASK_DELAYS_HELD_US ((int64_t)TIME_US_MAX)
#define TASK_DELAYS_HELD_BY_USER_US (TASK_DELAYS_HELD_US - US_PER_S)

enum task_hold { TASK_HOLD_NONE, TASK_HOLD_BY_USER, TASK_HOLD_BY_OPERATOR, TASK_HOLD_COUNT };

/* Holds a pending task, instead of a hold of the other kind. O(delays + log ranges) */
void task_delays_hold(struct job *j, uint32_t task_id, bool is_by_operator);

/* Holds all pending tasks of a job; those that an operator holds stay so. O(delays + ranges) */
void task_delays_hold_all(struct job *j, const struct idset *tasks, bool is_by_operator);

/* End a hold of that kind. Return whether there was one. */
bool task_delays_release_task(struct job *j, uint32_t task_id, bool is_by_operator);
bool task_delays_release_all(struct job *j, bool is_by_operator);

/* The tasks with such a hold; NULL: none has. O(1) */
const struct idset *task_delays_held(const struct job *j, bool is_by_operator);

/* Whether a task of it has a hold of its own. O(1) */
bool task_delays_has_held(const struct job *j);

/* O(log ranges) */
enum task_hold task_delays_hold_of(const struct job *j, uint32_t task_id);

/* Drops the delays of tasks that are cancelled, but for the holds of operators: a requeue does not end them.
 * O(delays + ranges) */
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
