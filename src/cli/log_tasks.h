/* The tasks whose output one 'log' prints: those that the rows of the instance have, in the order of the rows. */
#ifndef FAIRLEAD_CLI_LOG_TASKS_H
#define FAIRLEAD_CLI_LOG_TASKS_H

#include "base/array.h"
#include "base/map.h"
#include "cli/command.h"
#include "cli/log_task.h"
#include "wire/wire.h"

struct log_tasks {
    ARRAY(struct log_task) list; /* ended and open ones too, so that each is printed once */
    struct map index;            /* in the list, by job and task */
    uint32_t waiting_count;      /* tasks of the arrays that have no row of their own yet */
    bool has_several;            /* more than one task is asked for */
    bool wants_error, is_following;
};

void log_tasks_release(struct log_tasks *tasks);

/* Takes over the rows of one id ("5", "5_3"), as the instance lists them: attempts in order, and one row for all tasks
 * of an array that have not started. The last attempt counts; of one that waits again, the attempt before, unless it is
 * followed. ERR_NOT_FOUND: no rows. */
int log_tasks_take(struct log_tasks *tasks, const char *id, const struct wire_list *rows, struct err *e);

/* Columns of the longest id; 0 if only one task is asked for. */
uint32_t log_tasks_prefix_width(const struct log_tasks *tasks);

#endif
