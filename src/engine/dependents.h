/* Which jobs wait for which: the conditions of jobs (fields/dependency_text.h), by the job that they are about. So what
 * an end frees is found in time proportional to it.
 *
 *     (5, NONE)     jobs that wait for the whole of job 5
 *     (5, 3)        jobs that wait for its task 3
 *     (5, BY_TASK)  arrays that wait for it task by task
 *
 * An entry may be out of date: its job has ended since, or waits for something else. Readers check the job.
 * The events that may meet conditions are queued here, and settled when the event that caused them has been applied
 * (dependencies.h). Derived from the rows; built when it is first needed, never stored. */
#ifndef FAIRLEAD_ENGINE_DEPENDENTS_H
#define FAIRLEAD_ENGINE_DEPENDENTS_H

#include "engine/state.h"

/* In place of a task id: dependents task by task. Task ids are smaller. */
#define DEPENDENTS_BY_TASK (NONE - 1)

struct dependent {
    uint32_t job_id; /* of the job that waits */
    uint32_t item;   /* the index of its condition */
    uint32_t next;   /* in the list of the same key, or in that of unused entries; or NONE */
};

/* Something happened to a job (task_id NONE: all of its tasks have begun or were cancelled, or it has ended) or to one
 * of its tasks: it has begun, was cancelled, or has ended. */
struct dependents_cause {
    uint32_t job_id, task_id;
    bool is_end; /* of the job: its last cause */
};

struct dependents {
    bool is_valid;
    ARRAY(struct dependent) entries;
    uint64_t rebuild_at; /* with so many entries it is built again, because most are of jobs that were updated since */
    struct map first;    /* key -> the first entry of its list */
    struct map on_tasks; /* job -> how many conditions were ever indexed about single tasks of it */
    uint32_t unused;     /* the first unused entry, or NONE */
    ARRAY(struct dependents_cause) causes;
    uint32_t causes_taken;
};

/* Indexes the conditions of a job that is new, or has new ones. O(conditions), and O(jobs) the first time. */
void dependents_add(struct state *s, const struct job *j);

/* Adds a job and its condition to the list of (job_id, task_id). */
void dependents_register(struct state *s, uint32_t job_id, uint32_t task_id, uint32_t waiting_job_id, uint32_t item);

/* Empties the list of a key, and returns its first entry or NONE. dependents_take_next returns the entry after it, and
 * gives the entry back; so the job is read before. */
uint32_t dependents_take(struct state *s, uint32_t job_id, uint32_t task_id);
uint32_t dependents_take_next(struct state *s, uint32_t entry);

/* The first entry of a key's list, which stays; or NONE. */
uint32_t dependents_first(const struct state *s, uint32_t job_id, uint32_t task_id);

/* Queues a cause: of a task or a job, and the end of a job. The third one is for tasks that are cancelled: it costs
 * O(tasks) only if a job waits for single ones of them. */
void dependents_note(struct state *s, uint32_t job_id, uint32_t task_id);
void dependents_note_end(struct state *s, uint32_t job_id);
void dependents_note_tasks(struct state *s, uint32_t job_id, const struct idset *tasks);

/* The next cause, in the order in which they were queued; false: there is none. */
bool dependents_next_cause(struct state *s, struct dependents_cause *out);

/* Drops what is kept about a job that has ended, after its last cause. */
void dependents_forget(struct state *s, uint32_t job_id);

/* Drops all; the index is built again when it is needed. */
void dependents_invalidate(struct state *s);
void dependents_free(struct dependents *d); /* NULL is allowed */

#endif
