/* Hold and release, of jobs and of single tasks of arrays.
 *
 *     job      job.is_held, is_held_by_operator: no pending task of it starts
 *     task     a hold of its own among the job's delays (task_delays.h): only this one does not start
 *
 * A release of the job also ends the holds of its tasks. A release of one task of a held job leaves the others held,
 * each for itself. Slurm splits such tasks off into jobs of their own instead. */
#include "engine/job_control.h"
#include "engine/job_waits.h"
#include "engine/min_priority.h"
#include "engine/requeue.h"
#include "engine/task_delays.h"

/* --- jobs --------------------------------------------------------------------------------------------------------- */

/* These return whether it made a difference. */

static bool set_held(struct apply_context *c, const struct event *event, uint32_t index, bool is_held,
                     bool is_by_operator)
{
    struct job *j = &c->s->jobs.items[index];
    if (j->is_held == is_held && j->is_held_by_operator == is_by_operator) return false;
    if (event->jobs.is_dry_run) return true;
    j->quarantine = QUARANTINE_NO;
    j->is_held = is_held;
    j->is_held_by_operator = is_by_operator;
    job_control_move_to_list_end(c->s, j);
    j->accrue_us = job_waits_accrual_us(j, c->now_us);
    apply_note_change(c, TABLE_JOB, index);
    if (is_held) min_priority_forget(c, index);
    c->s->pass_is_due = true;
    return true;
}

/* The hold counts once the quarantine is over. */
static bool hold_in_quarantine(struct apply_context *c, const struct event *event, uint32_t index,
                               enum job_quarantine quarantine)
{
    struct job *j = &c->s->jobs.items[index];
    if (j->quarantine >= quarantine) return false;
    if (event->jobs.is_dry_run) return true;
    j->quarantine = quarantine;
    apply_note_change(c, TABLE_JOB, index);
    return true;
}

/* --- tasks -------------------------------------------------------------------------------------------------------- */

/* After a change of holds of tasks. The age grows while one may start. */
static void settle(struct apply_context *c, uint32_t index)
{
    struct job *j = &c->s->jobs.items[index];
    int64_t accrual_us = job_waits_accrual_us(j, c->now_us);
    if (accrual_us == 0 || j->accrue_us == 0) j->accrue_us = accrual_us;
    if (j->waits_by_task && idset_first(&j->ready) == NONE) min_priority_forget(c, index);
    apply_note_change(c, TABLE_JOB, index);
    c->s->pass_is_due = true;
}

static bool hold_task(struct apply_context *c, const struct event *event, uint32_t index, uint32_t task_id)
{
    struct job *j = &c->s->jobs.items[index];
    enum task_hold before = task_delays_hold_of(j, task_id);
    bool is_by_operator = before == TASK_HOLD_BY_OPERATOR || !job_control_is_own(c->s, &event->actor, j);
    if (!idset_has(&j->pending, task_id)) return false;
    if (before == (is_by_operator ? TASK_HOLD_BY_OPERATOR : TASK_HOLD_BY_USER)) return false;
    if (event->jobs.is_dry_run) return true;
    task_delays_hold(j, task_id, is_by_operator);
    job_waits_find_ready_task(j, task_id);
    settle(c, index);
    return true;
}

/* Instead of the job each of its tasks is held. */
static void split_hold(struct job *j)
{
    if (!j->is_held) return;
    task_delays_hold_all(j, &j->pending, j->is_held_by_operator);
    j->is_held = j->is_held_by_operator = false;
    job_waits_find_ready(j);
}

static bool release_task(struct apply_context *c, const struct event *event, uint32_t index, uint32_t task_id)
{
    struct job *j = &c->s->jobs.items[index];
    if (!j->is_held && task_delays_hold_of(j, task_id) == TASK_HOLD_NONE) return false;
    if (event->jobs.is_dry_run) return true;
    split_hold(j);
    for (int by_operator = 0; by_operator < 2; by_operator++) (void)task_delays_release_task(j, task_id, by_operator);
    job_waits_find_ready_task(j, task_id);
    settle(c, index);
    return true;
}

static bool release_all_tasks(struct apply_context *c, const struct event *event, uint32_t index)
{
    struct job *j = &c->s->jobs.items[index];
    bool may_all = actor_may(&event->actor, PERMISSION_OPERATOR_HOLDS);
    if (task_delays_held(j, false) == NULL && (!may_all || task_delays_held(j, true) == NULL)) return false;
    if (event->jobs.is_dry_run) return true;
    (void)task_delays_release_all(j, false);
    if (may_all) (void)task_delays_release_all(j, true);
    job_waits_find_ready(j);
    settle(c, index);
    return true;
}

/* --- hold --------------------------------------------------------------------------------------------------------- */

/* A hold by an operator stays one. */
static bool hold_ref(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                     struct job_ref ref)
{
    (void)lists;
    uint32_t index = state_find_job(c->s, ref.job_id);
    const struct job *j = &c->s->jobs.items[index];
    if (ref.task_id != NONE) return hold_task(c, event, index, ref.task_id);
    if (idset_first(&j->pending) == NONE) return false;
    bool is_own_job = job_control_is_own(c->s, &event->actor, j);
    if (j->quarantine != QUARANTINE_NO)
        return hold_in_quarantine(c, event, index, is_own_job ? QUARANTINE_AND_USER : QUARANTINE_AND_OPERATOR);
    return set_held(c, event, index, true, j->is_held_by_operator || !is_own_job);
}

/* Whether the job, or the task, can be held or released. participle: for the message. */
static int check_waiting(struct apply_context *c, const struct event *event, struct job_ref ref, const char *participle)
{
    char id[JOB_ID_TEXT_SIZE];
    struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
    uint32_t index;
    bool is_task = ref.task_id != NONE;
    if (job_control_find(c, &event->actor, ref, &index) != 0) return -1;
    const struct idset *pending = &c->s->jobs.items[index].pending;
    if (is_task ? idset_has(pending, ref.task_id) : idset_first(pending) != NONE) return 0;
    return err_subject(c->e, ERR_CONFLICT, is_task ? "task" : "job", name, "has started; only pending %s can be %s",
                       is_task ? "tasks" : "jobs", participle);
}

static int check_hold(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    return check_waiting(c, event, ref, "held");
}

int apply_hold(struct apply_context *c, const struct event *event)
{
    static const struct job_action hold = {.check = check_hold, .act = hold_ref};
    return job_control_change(c, event, &hold, NULL);
}

/* --- release ------------------------------------------------------------------------------------------------------ */

/* Of a job that was held before. */
static bool end_quarantine(struct apply_context *c, const struct event *event, uint32_t index)
{
    struct job *j = &c->s->jobs.items[index];
    if (event->jobs.is_dry_run) return true;
    j->is_held_by_operator = j->quarantine == QUARANTINE_AND_OPERATOR;
    j->quarantine = QUARANTINE_NO;
    apply_note_change(c, TABLE_JOB, index);
    return true;
}

/* Of all jobs, those that a quarantine holds go back to who held them and their tasks before; a job that is named is
 * released. */
static bool release_ref(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                        struct job_ref ref)
{
    (void)lists;
    uint32_t index = state_find_job(c->s, ref.job_id);
    const struct job *j = &c->s->jobs.items[index];
    bool gives_back = event->jobs.all && j->quarantine != QUARANTINE_NO;
    if (idset_first(&j->pending) == NONE ||
        (j->is_held_by_operator && !actor_may(&event->actor, PERMISSION_OPERATOR_HOLDS)))
        return false;
    if (ref.task_id != NONE) return release_task(c, event, index, ref.task_id);
    if (gives_back && j->quarantine > QUARANTINE_ALONE) return end_quarantine(c, event, index);
    bool has_released = !gives_back && release_all_tasks(c, event, index);
    return set_held(c, event, index, false, false) || has_released;
}

/* The job's hold is the quarantine's, which an operator ends for a whole job. */
static int check_quarantine(struct apply_context *c, const struct job *j, struct str task)
{
    if (j->quarantine == QUARANTINE_NO) return 0;
    return err_subject(c->e, ERR_CONFLICT, "task", task, "is of a job that a quarantine holds; release job %u", j->id);
}

static int refuse_release(struct apply_context *c, const struct job *j, struct job_ref ref, bool is_of_tasks)
{
    char id[JOB_ID_TEXT_SIZE];
    struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
    bool is_task = ref.task_id != NONE;
    const char *what = is_task ? "task" : "job";
    if (is_of_tasks)
        return err_subject(c->e, ERR_DENIED, what, name,
                           "has tasks that are held by an operator, or because they were requeued too often; only an "
                           "operator can release them");
    uint32_t max = is_task || !j->is_array ? requeue_max_reached(c->s, j, is_task ? ref.task_id : 0) : 0;
    if (max == 0)
        return err_subject(c->e, ERR_DENIED, what, name, "is held by an operator; only an operator can release it");
    return err_subject(c->e, ERR_DENIED, what, name,
                       "is held, because it was requeued %u time%s, which is the maximum; only an operator can "
                       "release it",
                       max, max == 1 ? "" : "s");
}

/* Only an operator releases what an operator holds, or what was requeued too often. */
static int check_release(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    char id[JOB_ID_TEXT_SIZE];
    if (check_waiting(c, event, ref, "released") != 0) return -1;
    const struct job *j = &c->s->jobs.items[state_find_job(c->s, ref.job_id)];
    bool is_task = ref.task_id != NONE;
    bool is_of_tasks =
        !is_task && !j->is_held && task_delays_held(j, true) != NULL && task_delays_held(j, false) == NULL;
    bool is_by_operator = j->is_held_by_operator || is_of_tasks ||
                          (is_task && task_delays_hold_of(j, ref.task_id) == TASK_HOLD_BY_OPERATOR);
    if (is_by_operator && !actor_may(&event->actor, PERMISSION_OPERATOR_HOLDS))
        return refuse_release(c, j, ref, is_of_tasks);
    struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
    return is_task ? check_quarantine(c, j, name) : 0;
}

int apply_release(struct apply_context *c, const struct event *event)
{
    static const struct job_action release = {.check = check_release, .act = release_ref};
    return job_control_change(c, event, &release, NULL);
}
