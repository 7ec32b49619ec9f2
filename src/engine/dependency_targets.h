/* What has become of a job, or of a task of it, that others wait for. */
#ifndef FAIRLEAD_ENGINE_DEPENDENCY_TARGETS_H
#define FAIRLEAD_ENGINE_DEPENDENCY_TARGETS_H

#include "engine/event.h"
#include "fields/dependency_text.h"

/* A job that others wait for: in memory, or a fact about one that has ended; or neither. */
struct dependency_target {
    const struct job *job;
    const struct event_end *end;
};

enum target_outcome {
    TARGET_PENDING, /* a task of it is pending, or was launched and has not begun: the launch may be withdrawn */
    TARGET_STARTED, /* all have begun, and not all have ended */
    TARGET_OK,      /* all have ended with exit status 0 */
    TARGET_NOT_OK   /* they have ended otherwise */
};

/* Finds a job in memory, also one that ended in this turn, or else the fact. Returns false if there is neither.
 * O(log jobs + log ends) */
bool dependency_target_find(const struct state *s, const struct event *event, uint32_t job_id,
                            struct dependency_target *out);

/* A job in memory, by index, or NONE. O(log jobs) */
uint32_t dependency_target_row(const struct state *s, uint32_t job_id);

/* All task numbers; that of a job that is not an array is 0. */
const struct idset *dependency_target_tasks(const struct dependency_target *t);
bool dependency_target_is_array(const struct dependency_target *t);

/* task_id: one of its tasks, or NONE for all. */
enum target_outcome dependency_target_outcome(const struct state *s, const struct dependency_target *t,
                                              uint32_t task_id);

/* The latest start of its tasks. Returns now_us if no row has it any more, because the task that began last may have
 * ended. O(1) for a task, O(its tasks) for a whole array. */
int64_t dependency_target_start_us(const struct state *s, const struct dependency_target *t, uint32_t task_id,
                                   int64_t now_us);

/* What an outcome means for a condition. */
enum dependency_state dependency_target_meets(enum dependency_type type, enum target_outcome outcome);

#endif
