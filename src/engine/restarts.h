/* How often the tasks of a job were requeued, as sets: the first one has the tasks that were requeued at least once,
 * the second one those that were at least twice. Most jobs have none. As text "3-7;5": task 5 twice, 3 to 7 once. */
#ifndef FAIRLEAD_ENGINE_RESTARTS_H
#define FAIRLEAD_ENGINE_RESTARTS_H

#include "engine/state.h"

/* How often a task was requeued. O(restarts) */
uint32_t restarts_of(const struct job *j, uint32_t task_id);

/* Counts one more. */
void restarts_add(struct job *j, uint32_t task_id);

/* Appends them as restarts_parse reads them back. */
void restarts_format(const struct job *j, struct buf *out);

/* Replaces the sets of a row that is being built. ERR_INPUT names field. */
int restarts_parse(struct job *row, struct str text, const char *field, struct err *e);

/* Frees the sets. */
void restarts_release(struct job *j);

#endif
