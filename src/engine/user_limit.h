/* The limit of running tasks of a user (maxujobs) in a plan: tasks that the plan starts count. All zero: none so
 * far. */
#ifndef FAIRLEAD_ENGINE_USER_LIMIT_H
#define FAIRLEAD_ENGINE_USER_LIMIT_H

#include "engine/state.h"

struct user_limit {
    struct map started; /* user -> tasks that start */
};

/* How many more tasks of a job's user may start; UINT32_MAX: no limit. */
uint32_t user_limit_room(const struct user_limit *u, const struct state *s, const struct job *j);

/* Counts tasks of a job that start. */
void user_limit_start(struct user_limit *u, const struct state *s, const struct job *j, uint32_t tasks);

/* Frees what it counts with; it counts nothing then. */
void user_limit_release(struct user_limit *u);

#endif
