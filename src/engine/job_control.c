/* Events that refer to jobs by id: cancel, hold, release, update. */
#include <string.h>

#include "engine/job_edit.h"
#include "engine/job_members.h"
#include "engine/limit_submit.h"
#include "engine/min_priority.h"
#include "engine/requested_resources.h"

/* --- references --------------------------------------------------------------------------------------------------- */

static const char *user_of(const struct state *s, const struct job *j)
{
    return s->assocs.items[j->assoc].user;
}

static bool may_change(const struct state *s, const struct actor *actor, const struct job *j)
{
    return actor->is_operator || (actor->user != NULL && strcmp(actor->user, user_of(s, j)) == 0);
}

/* Finds the job of a reference. The actor may change it, and the task of the reference, if it has one, has not
 * ended. */
static int find_job(struct apply_context *c, const struct actor *actor, struct job_ref ref, uint32_t *out_job)
{
    uint32_t index = state_find_job(c->s, ref.job_id);
    char id[JOB_ID_TEXT_SIZE];
    struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
    struct str job = str_cut(name, '_', &(struct str){0});
    if (index == NONE) return err_subject(c->e, ERR_NOT_FOUND, "job", job, "is not pending or running");
    const struct job *j = &c->s->jobs.items[index];
    if (!may_change(c->s, actor, j))
        return err_subject(c->e, ERR_DENIED, "job", job, "belongs to %s", user_of(c->s, j));
    if (ref.task_id != NONE) {
        if (!j->is_array)
            return err_subject(c->e, ERR_NOT_FOUND, "job", job, "is not an array; it has no task %u", ref.task_id);
        if (!idset_has(&j->pending, ref.task_id) && state_find_task(c->s, ref.job_id, ref.task_id) == NONE)
            return err_subject(c->e, ERR_NOT_FOUND, "task", name, "is not pending or running");
    }
    *out_job = index;
    return 0;
}

static int check_jobs(struct apply_context *c, const struct event *event)
{
    uint32_t unused;
    for (uint32_t i = 0; i < event->jobs.count; i++) {
        if (find_job(c, &event->actor, event->jobs.refs[i], &unused) != 0) return -1;
    }
    return 0;
}

/* Calls act for each reference, or for every job that the actor may change. act returns whether it made a difference.
 * Returns the number of references for which it did. */
static uint32_t for_each_job(struct apply_context *c, const struct event *event,
                             bool (*act)(struct apply_context *, struct job_ref))
{
    const struct event_jobs *wanted = &event->jobs;
    uint32_t count = 0;
    for (uint32_t i = 0; !wanted->all && i < wanted->count; i++) count += act(c, wanted->refs[i]);
    if (!wanted->all) return count;
    for (uint32_t i = 0; i < c->s->jobs.count; i++) {
        const struct job *j = &c->s->jobs.items[i];
        if (j->ended_us != 0 || !may_change(c->s, &event->actor, j)) continue;
        count += act(c, (struct job_ref){j->id, NONE});
    }
    return count;
}

/* --- cancel ------------------------------------------------------------------------------------------------------- */

/* These return whether something was not cancelled yet. */

static bool cancel_task(struct apply_context *c, uint32_t index)
{
    struct task *k = &c->s->tasks.items[index];
    if (job_state_is_end(k->state) || k->is_cancelled) return false;
    k->is_cancelled = true;
    k->state = JOB_COMPLETING;
    apply_note_change(c, TABLE_TASK, index);
    apply_note_decision(c, DECIDE_END, k);
    return true;
}

/* To be called after count pending tasks were moved to cancelled. */
static void note_cancelled(struct apply_context *c, uint32_t job_index, uint32_t count)
{
    struct job *j = &c->s->jobs.items[job_index];
    if (count > 0) j->cancelled_us = c->now_us;
    assoc_count_work(c->s, j->assoc, &(struct work){.pending = count}, -1);
    apply_note_change(c, TABLE_JOB, job_index);
    job_end_if_done(c, job_index, c->now_us);
}

static void cancel_pending(struct apply_context *c, uint32_t job_index, uint32_t task_id)
{
    struct job *j = &c->s->jobs.items[job_index];
    idset_remove(&j->pending, task_id);
    idset_add(&j->cancelled, task_id);
    note_cancelled(c, job_index, 1);
}

/* O(tasks) if tasks of the job are live. */
static bool cancel_all_tasks(struct apply_context *c, uint32_t job_index)
{
    struct job *j = &c->s->jobs.items[job_index];
    uint32_t pending = idset_count(&j->pending);
    bool is_changed = pending > 0;
    for (uint32_t i = 0; i < c->s->tasks.count && j->live_tasks > 0; i++) {
        if (c->s->tasks.items[i].job_id == j->id) is_changed |= cancel_task(c, i);
    }
    idset_add_all(&j->cancelled, &j->pending);
    idset_release(&j->pending);
    if (is_changed) note_cancelled(c, job_index, pending);
    return is_changed;
}

static bool cancel_ref(struct apply_context *c, struct job_ref ref)
{
    uint32_t job_index = state_find_job(c->s, ref.job_id);
    if (job_index == NONE) return false; /* an earlier reference to the same job ended it */
    if (ref.task_id == NONE) return cancel_all_tasks(c, job_index);
    uint32_t task = state_find_task(c->s, ref.job_id, ref.task_id);
    if (task != NONE) return cancel_task(c, task);
    bool is_pending = idset_has(&c->s->jobs.items[job_index].pending, ref.task_id);
    if (!is_pending) return false; /* an earlier reference cancelled it */
    cancel_pending(c, job_index, ref.task_id);
    return true;
}

int apply_cancel(struct apply_context *c, const struct event *event)
{
    if (check_jobs(c, event) != 0) return -1;
    c->result->job_count = for_each_job(c, event, cancel_ref);
    c->s->pass_is_due = true;
    return 0;
}

/* --- the scheduler's list ----------------------------------------------------------------------------------------- */

static bool has_decisive_change(struct state *s, const struct job *old, const struct job *new)
{
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].home != JOB_HOME_JOB || !job_field_rows[f].is_decisive) continue;
        const struct field_value before = job_member(s, old, f, &s->cycle), after = job_member(s, new, f, &s->cycle);
        if (!field_equal(job_field_at(f), &before, &after)) return true;
    }
    return false;
}

/* Like Grid Engine's qhold, qrls and qalter (cases e2, h_11). */
static void move_to_list_end(struct state *s, struct job *j)
{
    j->list_position = s->next_list_position++;
}

/* --- hold, release ------------------------------------------------------------------------------------------------ */

/* Returns whether it made a difference. */
static bool set_held(struct apply_context *c, struct job_ref ref, bool is_held)
{
    uint32_t index = state_find_job(c->s, ref.job_id);
    struct job *j = &c->s->jobs.items[index];
    if (j->is_held == is_held || idset_first(&j->pending) == NONE) return false;
    j->is_held = is_held;
    move_to_list_end(c->s, j);
    j->accrue_us = is_held ? 0 : j->begin_us > c->now_us ? j->begin_us : c->now_us;
    apply_note_change(c, TABLE_JOB, index);
    if (is_held) min_priority_forget(c, index);
    c->s->pass_is_due = true;
    return true;
}

static bool hold_ref(struct apply_context *c, struct job_ref ref)
{
    return set_held(c, ref, true);
}

static bool release_ref(struct apply_context *c, struct job_ref ref)
{
    return set_held(c, ref, false);
}

/* Whether the jobs can be held or released. participle: for the message. */
static int check_waiting(struct apply_context *c, const struct event *event, const char *participle)
{
    if (check_jobs(c, event) != 0) return -1;
    for (uint32_t i = 0; i < event->jobs.count; i++) {
        struct job_ref ref = event->jobs.refs[i];
        char id[JOB_ID_TEXT_SIZE];
        struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
        if (ref.task_id != NONE)
            return err_subject(c->e, ERR_CONFLICT, "task", name, "cannot be %s alone; give the job id %u", participle,
                               ref.job_id);
        if (idset_first(&c->s->jobs.items[state_find_job(c->s, ref.job_id)].pending) == NONE)
            return err_subject(c->e, ERR_CONFLICT, "job", name, "has started; only pending jobs can be %s", participle);
    }
    return 0;
}

int apply_hold(struct apply_context *c, const struct event *event)
{
    if (check_waiting(c, event, "held") != 0) return -1;
    c->result->job_count = for_each_job(c, event, hold_ref);
    return 0;
}

int apply_release(struct apply_context *c, const struct event *event)
{
    if (check_waiting(c, event, "released") != 0) return -1;
    c->result->job_count = for_each_job(c, event, release_ref);
    return 0;
}

/* --- update ------------------------------------------------------------------------------------------------------- */

/* MaxWall does not count for a time limit that an operator changes; a new QOS or partition may refuse the job. */
static int check_limits(struct apply_context *c, const struct actor *actor, const struct job *old, struct job *row)
{
    bool has_time = row->time_limit_s != old->time_limit_s;
    if (has_time) row->is_time_exempt = actor->is_operator;
    if (row->qos == old->qos && row->partitions == old->partitions) return 0;
    return limit_submit_check_update(c, row, has_time);
}

static int update(struct apply_context *c, const struct event *event)
{
    const struct event_update *wanted = &event->update;
    uint32_t index;
    if (find_job(c, &event->actor, (struct job_ref){wanted->job_id, NONE}, &index) != 0) return -1;
    struct job row = c->s->jobs.items[index];
    if (job_edit_update(c, &event->actor, &c->s->jobs.items[index], wanted->values, &row) != 0) return -1;
    if (check_limits(c, &event->actor, &c->s->jobs.items[index], &row) != 0) return -1;
    if (has_decisive_change(c->s, &c->s->jobs.items[index], &row)) move_to_list_end(c->s, &row);
    min_priority_update(c, index, &row);
    job_replace(c->s, index, &row);
    c->s->pass_is_due = true;
    apply_note_change(c, TABLE_JOB, index);
    return 0;
}

int apply_update(struct apply_context *c, const struct event *event)
{
    uint32_t added = requested_resources_add(c, event->update.values);
    int status = update(c, event);
    requested_resources_settle(c, added, status != 0);
    return status;
}
