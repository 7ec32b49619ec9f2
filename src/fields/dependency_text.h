/* What a job waits for, as text:
 *
 *     afterok:5:6,after:7+10      5 and 6 have ended well, and 10 minutes have passed since 7 started
 *     afterany:5_3?afternotok:8   one of them is enough
 *     aftercorr:5,singleton       each task waits for the same task of array 5; no two jobs of that name at a time
 *
 *     list        conditions joined by , (all of them) or by ? (any of them), not by both
 *     condition   TYPE:JOB[:JOB...]; each job is a condition of its own
 *     JOB         a job, a task (5_3), or the name of a job
 *
 * hold_jid and hold_jid_ad are afterany and aftercorrany as Grid Engine has them: a name may be a pattern, and a job
 * that does not exist is not waited for.
 *
 * The same text, with ids only and one job for each condition, is the column `dependency` of a job and what a listing
 * shows: the conditions that are not met yet. It has marks that a person need not give, and which are computed again
 * where one does:
 *
 *     after:7+10@1764000000       the time at which the condition is met, in seconds since the epoch
 *     aftercorr:5_[0-3]           the tasks that still wait
 *     afterok:5(failed)           the condition can never be met
 *
 * Source: Slurm 22.05, sbatch(1), --dependency; Grid Engine 8.1.9, qsub(1), -hold_jid and -hold_jid_ad. */
#ifndef FAIRLEAD_FIELDS_DEPENDENCY_TEXT_H
#define FAIRLEAD_FIELDS_DEPENDENCY_TEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/idset.h"
#include "base/str.h"
#include "base/text.h"

enum { DEPENDENCY_ITEMS_MAX = 10000, DEPENDENCY_BYTES_MAX = 1 << 20, DEPENDENCY_MINUTES_MAX = 60 * 24 * 366 * 10 };

enum dependency_type {
    DEPENDENCY_AFTER,        /* it has no pending task: all have started, or were cancelled */
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
    bool is_failed;
    struct str name;  /* of jobs; text NULL: by id */
    uint32_t job_id;  /* 0: by name, or a singleton */
    uint32_t task_id; /* NONE: the whole job */
    uint32_t minutes;
    int64_t at_us;      /* when it is met; 0: not known yet, and always but after a start with minutes */
    struct idset tasks; /* task by task: those that wait */
};

struct dependency_list {
    struct dependency_item *items;
    uint32_t count;
    bool is_any; /* one of them is enough */
};

static inline bool dependency_is_by_task(enum dependency_type type)
{
    return type == DEPENDENCY_AFTERCORR || type == DEPENDENCY_AFTERCORRANY || type == DEPENDENCY_HOLD_JID_AD;
}

/* Reads a list; an empty text is an empty one. All its memory is of the arena, names are views of the text. ERR_INPUT,
 * ERR_TOO_LARGE: more than DEPENDENCY_ITEMS_MAX conditions. The error is about the field dependency. O(length). */
int dependency_text_parse(struct str text, struct arena *arena, struct dependency_list *out, struct err *e);

/* The check of the field. */
int dependency_text_check(struct str text, const char *what, struct err *e);

/* Appends the list as it is stored; nothing if it is empty. */
void dependency_text_format(const struct dependency_list *list, struct buf *out);

/* A copy in memory from mem_resize, which dependency_list_free frees; NULL for NULL, and for an empty list. */
struct dependency_list *dependency_list_copy(const struct dependency_list *list);
void dependency_list_free(struct dependency_list *list); /* NULL is allowed */

enum dependency_state {
    DEPENDENCY_MET,   /* a task may start */
    DEPENDENCY_WAITS, /* none may yet */
    DEPENDENCY_NEVER  /* none ever may */
};

/* What the stored conditions mean for the pending tasks at a time; list NULL: none. O(conditions + ranges). */
enum dependency_state dependency_list_state(const struct dependency_list *list, const struct idset *pending,
                                            int64_t now_us);

/* When the conditions that are not task by task are met: 0: they are; INT64_MAX: not known, or never. */
int64_t dependency_list_ready_us(const struct dependency_list *list);

/* Whether those conditions can never be met. */
bool dependency_list_is_failed(const struct dependency_list *list);

/* Adds the tasks that wait, task by task, to out_tasks. failed_only: only those that wait for ever. */
void dependency_list_add_waiting(const struct dependency_list *list, bool failed_only, struct idset *out_tasks);

#endif
