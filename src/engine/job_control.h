/* What the events about jobs by id share (job_control.c, job_suspend.c, job_update.c). */
#ifndef FAIRLEAD_ENGINE_JOB_CONTROL_H
#define FAIRLEAD_ENGINE_JOB_CONTROL_H

#include "engine/handlers.h"

struct requeue_run;

/* Finds the index of the job of a reference. The actor may change it, and the task of the reference, if it has one, has
 * not ended. ERR_NOT_FOUND, ERR_DENIED. */
int job_control_find(struct apply_context *c, const struct actor *actor, struct job_ref ref, uint32_t *out_job);

/* Whether the actor is the job's user. */
bool job_control_is_own(const struct state *s, const struct actor *actor, const struct job *j);

/* A change by hand moves a job to the end of the scheduler's list, as Grid Engine's qhold, qrls and qalter do (recorded
 * cases e2, h_11). */
void job_control_move_to_list_end(struct state *s, struct job *j);

/* --- changing many jobs ------------------------------------------------------------------------------------------- */

/* The live tasks of arrays. They are listed when the first array is met, so an event costs O(jobs it is about + live
 * tasks), however many arrays there are. */
struct job_task_lists {
    struct requeue_run *run; /* of a requeue; otherwise NULL */
    struct map done;         /* references that `prepare` has dealt with */
    struct map counted;      /* of a dry run: tasks that an earlier reference names, by task_key */
    bool is_listed;
    struct map first; /* the id of an array -> the index of a live task of it */
    uint32_t *next;   /* by task: the index of another live one of the same array, or NONE; memory of the cycle */
};

/* What an event does with a reference. */
struct job_action {
    int (*check)(struct apply_context *, const struct event *, struct job_ref); /* 0, or -1: refused */
    /* Whether it makes a difference; with is_dry_run, whether it would. References of `all` were not checked. */
    bool (*act)(struct apply_context *, const struct event *, struct job_task_lists *, struct job_ref);
    /* Runs between both; may be NULL. It marks the references that it refuses. */
    int (*prepare)(struct apply_context *, const struct event *, struct job_task_lists *, bool *is_refused);
};

/* Carries out an event about jobs: checks its references, then acts on each. run: of a requeue; otherwise NULL. */
int job_control_change(struct apply_context *c, const struct event *event, const struct job_action *action,
                       struct requeue_run *run);

/* What an action does with a task, by index; whether it makes a difference. */
typedef bool job_task_act(struct apply_context *c, const struct event *event, struct job_task_lists *l, uint32_t task);

/* Calls act for each live task of a job. Returns whether it made a difference for one of them. Tasks for which it makes
 * none do not count for task_max, so the next slice passes over those of this one. */
bool job_control_for_each_task(struct apply_context *c, const struct event *event, struct job_task_lists *l,
                               const struct job *j, job_task_act *act);

/* In a dry run: whether no earlier reference counted the task. With `all` each job occurs once. */
bool job_control_counts_first(const struct event *event, struct job_task_lists *l, uint32_t job_id, uint32_t task_id);

#endif
