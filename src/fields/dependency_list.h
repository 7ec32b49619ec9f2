/* The conditions of a job that waits for others (dependency_text.h): which are left, and what those mean for its tasks.
 *
 *     items     0 met | 1 afterok:6 | 2 afterok:7(failed) | 3 after:8+5@1764000000
 *
 * A condition keeps its index and its position when others are met, so one that is met costs O(1): the index finds it
 * in memory, the position in the database. Counts of those that are left answer every question about the whole list;
 * only conditions task by task are looked at one by one, of which a job has few. */
#ifndef FAIRLEAD_FIELDS_DEPENDENCY_LIST_H
#define FAIRLEAD_FIELDS_DEPENDENCY_LIST_H

#include "base/idset.h"
#include "base/str.h"

enum { DEPENDENCY_ITEMS_MAX = 10000, DEPENDENCY_BYTES_MAX = 1 << 20, DEPENDENCY_MINUTES_MAX = 60 * 24 * 366 * 10 };

enum dependency_type {
    DEPENDENCY_AFTER,        /* all its tasks have begun, or were cancelled */
    DEPENDENCY_AFTEROK,      /* it has ended, and all its tasks with exit status 0 */
    DEPENDENCY_AFTERNOTOK,   /* it has ended otherwise */
    DEPENDENCY_AFTERANY,     /* it has ended */
    DEPENDENCY_AFTERCORR,    /* task by task: the same task of it has ended with exit status 0 */
    DEPENDENCY_AFTERCORRANY, /* task by task: the same task of it has ended */
    DEPENDENCY_SINGLETON,    /* all jobs of that name and user that were submitted before have ended */
    DEPENDENCY_HOLD_JID,     /* from here on only as given, never as stored */
    DEPENDENCY_HOLD_JID_AD
};

/* A condition. */
struct dependency_item {
    enum dependency_type type;
    bool is_met;      /* it is not there any more */
    bool is_failed;   /* it can never be met */
    struct str name;  /* of jobs; text NULL: by id */
    uint32_t job_id;  /* 0: by name, or a singleton */
    uint32_t task_id; /* NONE: the whole job */
    uint32_t minutes;
    uint32_t position;  /* in the order of the text; ascending, unique in the list */
    int64_t at_us;      /* when it is met; 0: not known yet, and always but after a start with minutes */
    struct idset tasks; /* task by task: those that wait */
};

struct dependency_list {
    struct dependency_item *items;
    uint32_t count, capacity; /* capacity 0: items are not of mem_resize */
    bool is_any;              /* one of them is enough */

    /* Of the conditions that are not met (dependency_list_count). */
    uint32_t left;
    uint32_t by_task; /* task by task */
    uint32_t singletons;
    uint32_t failed, timed;             /* of the others: can never be met; are met at a time that is known */
    int64_t timed_min_us, timed_max_us; /* of the latter */
};

static inline bool dependency_is_by_task(enum dependency_type type)
{
    return type == DEPENDENCY_AFTERCORR || type == DEPENDENCY_AFTERCORRANY || type == DEPENDENCY_HOLD_JID_AD;
}

/* Counts the conditions that are left, after items were set. O(conditions) */
void dependency_list_count(struct dependency_list *list);

/* A copy in memory from mem_resize, which dependency_list_free frees, with the same indices; NULL for NULL, and for a
 * list of which nothing is left. */
struct dependency_list *dependency_list_copy(const struct dependency_list *list);
struct dependency_list *dependency_list_new(bool is_any); /* an empty one, likewise */
void dependency_list_free(struct dependency_list *list);  /* NULL is allowed */

/* These change one condition that is left, by its index, and the counts. O(1) but for the tasks of a condition. A list
 * of alternatives has nothing left once one of them is met. */
void dependency_list_meet(struct dependency_list *list, uint32_t index);
void dependency_list_fail(struct dependency_list *list, uint32_t index); /* not one task by task */
void dependency_list_set_time(struct dependency_list *list, uint32_t index, int64_t at_us);

/* The condition singleton, if it is left; or NONE. list NULL: none. O(conditions) if there is one. */
uint32_t dependency_list_find_singleton(const struct dependency_list *list);

/* Appends a condition to a copy, and takes over its tasks. position NONE: behind all others. Returns its index. */
uint32_t dependency_list_add(struct dependency_list *list, const struct dependency_item *item);

enum dependency_state {
    DEPENDENCY_MET,   /* a task may start */
    DEPENDENCY_WAITS, /* none may yet */
    DEPENDENCY_NEVER  /* none ever may */
};

/* What the conditions mean for the pending tasks at a time; list NULL: none. O(1), and O(conditions + ranges) if some
 * are task by task. */
enum dependency_state dependency_list_state(const struct dependency_list *list, const struct idset *pending,
                                            int64_t now_us);

/* When the conditions that are not task by task are met: 0: they are; INT64_MAX: not known, or never. O(1) */
int64_t dependency_list_ready_us(const struct dependency_list *list);

/* Whether those conditions can never be met. O(1) */
bool dependency_list_is_failed(const struct dependency_list *list);

/* Adds the tasks that wait, task by task, to out_tasks. failed_only: only those that wait for ever. O(conditions) if
 * there are any, otherwise O(1). */
void dependency_list_add_waiting(const struct dependency_list *list, bool failed_only, struct idset *out_tasks);

/* Whether a task, or any task, waits task by task, perhaps for ever. O(conditions x log ranges) if there are any,
 * otherwise O(1). */
bool dependency_list_has_task(const struct dependency_list *list, uint32_t task_id);
bool dependency_list_has_tasks(const struct dependency_list *list);

#endif
