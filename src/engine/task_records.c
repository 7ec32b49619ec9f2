/* The states of a task from its start (pass.c) to its end, by the records of the executor.
 *
 *     pending --pass--> STARTING --start record--> RUNNING --end record--> an end: COMPLETED, FAILED, CANCELLED,
 *                           \                         \                     ^      TIMEOUT or NODE_FAIL
 *                            \---- cancel, limit ------\----> COMPLETING ---/
 *
 * A RUNNING task can be SUSPENDED (suspension.h), and ends or is ended as well then.
 *
 * A task that is requeued ends as REQUEUED, and its number is pending again (requeue.h). A task whose launch never ran,
 * because the machine could start nothing, is withdrawn: its row is removed, its number is pending again as if it had
 * never been chosen, and launches back off (launch_backoff.h).
 *
 * A record may arrive twice, late, or never. Handlers are idempotent: a record of a phase that the row has passed
 * changes nothing. */
#include <string.h>

#include "base/ensure.h"
#include "base/saturate.h"
#include "engine/dependents.h"
#include "engine/job_waits.h"
#include "engine/live_cluster.h"
#include "engine/min_priority.h"
#include "engine/partition_limits.h"
#include "engine/placements.h"
#include "engine/requeue.h"
#include "engine/suspension.h"
#include "engine/time_limit.h"
#include "engine/usage_sums.h"

/* --- ends --------------------------------------------------------------------------------------------------------- */

void job_end_if_done(struct apply_context *c, uint32_t job_index, int64_t at_us)
{
    struct state *s = c->s;
    ensure(job_index < s->jobs.count);
    struct job *j = &s->jobs.items[job_index];
    if (j->ended_us != 0 || j->live_tasks > 0 || idset_first(&j->pending) != NONE) return;
    j->ended_us = at_us > 0 ? at_us : c->now_us;
    job_count_live(s, j, -1);
    job_count_references(s, j, -1);
    map_remove_u64(&s->job_by_id, j->id);
    s->ended_jobs++;
    dependents_note_end(s, j->id);
    apply_note_change(c, TABLE_JOB, job_index);
    min_priority_forget(c, job_index);
}

/* A task that was launched has begun, or has ended without. Conditions `after` are met once all tasks have. */
static void leave_starting(struct state *s, struct job *j)
{
    ensure(j->starting_tasks > 0);
    j->starting_tasks--;
    if (j->starting_tasks == 0 && idset_first(&j->pending) == NONE) dependents_note(s, j->id, NONE);
}

/* Sets the state of a live task to an end, gives back what it has, and acknowledges its launch. */
static void take_out(struct apply_context *c, uint32_t task_index, enum job_state end)
{
    struct state *s = c->s;
    struct task *k = &s->tasks.items[task_index];
    const struct work work = task_work(k);
    ensure(job_state_is_end(end) && !job_state_is_end(k->state));
    usage_sums_remove_task(s, k);
    k->state = end;
    placements_give_back(s, k);
    live_cluster_remove(s, k);
    assoc_count_work(s, k->assoc, &work, -1);
    task_count_references(s, k, -1);
    map_remove_u64(&s->task_by_launch, k->launch_id);
    map_remove_u64(&s->task_by_id, task_key(k->job_id, k->task_id));
    s->ended_tasks++;
    s->pass_is_due = true;
    struct job *j = &s->jobs.items[state_find_job(s, k->job_id)];
    j->live_tasks--;
    if (k->start_us == 0) leave_starting(s, j);
    launch_backoff_end(&s->launch_backoff, k->launch_id);
    apply_note_change(c, TABLE_TASK, task_index);
    apply_note_decision(c, DECIDE_ACKNOWLEDGE, k);
}

void task_end(struct apply_context *c, uint32_t task_index, enum job_state end)
{
    struct state *s = c->s;
    ensure(task_index < s->tasks.count);
    struct task *k = &s->tasks.items[task_index];
    uint32_t job_index = state_find_job(s, k->job_id);
    ensure(job_index != NONE);
    if (k->end_us < k->start_us) k->end_us = k->start_us;
    if (k->end_us == 0) k->end_us = c->now_us;
    suspension_end(c, k, k->end_us);
    charge_finished(c, k);
    take_out(c, task_index, end);
    struct job *j = &s->jobs.items[job_index];
    if (end != JOB_COMPLETED && end != JOB_REQUEUED) idset_add(&j->failed, k->task_id);
    if (j->is_array && end != JOB_REQUEUED) dependents_note(s, j->id, k->task_id);
    if (end == JOB_REQUEUED) requeue_task(c, job_index, k);
    job_end_if_done(c, job_index, k->end_us);
}

/* Ends a task, or lets it start again. */
static void end_or_requeue(struct apply_context *c, uint32_t task_index, enum job_state end)
{
    struct state *s = c->s;
    struct task *k = &s->tasks.items[task_index];
    requeue_decide(s, &s->jobs.items[state_find_job(s, k->job_id)], k, end);
    task_end(c, task_index, k->requeue != REQUEUE_NO ? JOB_REQUEUED : end);
}

void job_cancel_pending(struct apply_context *c, uint32_t job_index, const struct idset *tasks)
{
    struct job *j = &c->s->jobs.items[job_index];
    uint32_t count = idset_count(tasks);
    idset_add_all(&j->cancelled, tasks);
    job_waits_take(c->s, j, tasks);
    if (count > 0) j->cancelled_us = c->now_us;
    assoc_count_work(c->s, j->assoc, &(struct work){.pending = count}, -1);
    apply_note_change(c, TABLE_JOB, job_index);
    job_end_if_done(c, job_index, c->now_us);
}

/* --- records ------------------------------------------------------------------------------------------------------ */

/* A launch id that this state has not assigned: the database was restored from a backup. The id must not be assigned
 * again. */
static void use_up_launch_id(struct apply_context *c, uint64_t launch_id)
{
    if (launch_id < c->s->next_launch_id || launch_id >= INT64_MAX) return;
    c->s->next_launch_id = launch_id + 1;
    apply_note_change(c, TABLE_COUNTERS, 0);
}

static void note_unknown_launch(struct apply_context *c, enum decision_kind kind, uint64_t launch_id)
{
    use_up_launch_id(c, launch_id);
    *array_add(&c->outcome->decisions) = (struct decision){.kind = kind, .launch_id = launch_id};
}

/* The time of a record, at most now. It can be in the future if the clock was set back. Time in the future is not
 * charged, and the decay reference must not be in the future. */
static int64_t at_most_now(const struct apply_context *c, int64_t record_us)
{
    return record_us < c->now_us ? record_us : c->now_us;
}

/* The record's time may be before the launch, if the clock was set back; that time is not charged either. A start
 * before the last change of the half-life is charged by the new one, because usage is stored as of that change. The
 * journal records this for `fairlead verify`. */
static void set_started(struct apply_context *c, struct task *k, int64_t started_us)
{
    struct job *j = &c->s->jobs.items[state_find_job(c->s, k->job_id)];
    if (k->start_us != 0 || started_us <= 0) return;
    leave_starting(c->s, j);
    if (j->is_array) dependents_note(c->s, j->id, k->task_id);
    int64_t start_us = at_most_now(c, started_us);
    k->start_us = k->charged_us = start_us > k->launch_us ? start_us : k->launch_us;
    if (k->state == JOB_STARTING) k->state = JOB_RUNNING;
    if (launch_backoff_start(&c->s->launch_backoff, k->launch_id)) c->s->pass_is_due = true;
    usage_sums_add_task(c->s, k);
    if (k->start_us < c->s->decay.reference_us) apply_note_late_start(c, k);
}

int apply_started(struct apply_context *c, const struct event *event)
{
    const struct event_record *r = &event->record;
    uint32_t index = map_get_u64(&c->s->task_by_launch, r->launch_id);
    if (index == NONE) { /* no row accounts for it, so it must end */
        note_unknown_launch(c, DECIDE_END, r->launch_id);
        return 0;
    }
    struct task *k = &c->s->tasks.items[index];
    if (k->start_us != 0) return 0;
    set_started(c, k, r->started_us);
    apply_note_change(c, TABLE_TASK, index);
    return 0;
}

int apply_completing(struct apply_context *c, const struct event *event)
{
    const struct event_record *r = &event->record;
    uint32_t index = map_get_u64(&c->s->task_by_launch, r->launch_id);
    if (index == NONE) { /* no row accounts for it, and it is ending */
        use_up_launch_id(c, r->launch_id);
        return 0;
    }
    struct task *k = &c->s->tasks.items[index];
    set_started(c, k, r->started_us);
    suspension_end(c, k, c->now_us);
    k->state = JOB_COMPLETING;
    apply_note_change(c, TABLE_TASK, index);
    return 0;
}

/* Makes the number of a task pending again, as if no pass had chosen it: nothing is charged, and no attempt counts. */
static void withdraw(struct apply_context *c, uint32_t index)
{
    struct state *s = c->s;
    struct task *k = &s->tasks.items[index];
    uint32_t job_index = state_find_job(s, k->job_id);
    struct job *j = &s->jobs.items[job_index];
    k->is_withdrawn = true;
    k->end_us = c->now_us;
    take_out(c, index, JOB_REQUEUED);
    idset_add(&j->pending, k->task_id);
    partition_limits_reset_time(s, j);
    job_waits_find_ready(j);
    assoc_count_work(s, j->assoc, &(struct work){.pending = 1}, 1);
    apply_note_change(c, TABLE_JOB, job_index);
}

/* The machine could not start a task. If its start was reported before that failed, the time until now may have been
 * charged; the attempt counts then, as one that was requeued. */
static void end_unstarted(struct apply_context *c, uint32_t index, const struct event_record *r)
{
    struct task *k = &c->s->tasks.items[index];
    bool is_untouched = k->charged_us == k->start_us && k->measured_us == 0;
    launch_backoff_fail(&c->s->launch_backoff, c->now_us, k->launch_id, k->job_id, r->detail);
    if (!k->is_cancelled && k->requeue == REQUEUE_NO && is_untouched) {
        withdraw(c, index);
        return;
    }
    if (!k->is_cancelled && k->requeue == REQUEUE_NO) k->requeue = REQUEUE_YES;
    k->end_us = at_most_now(c, r->at_us);
    if (r->detail != NULL) strncpy(k->detail, r->detail, sizeof k->detail - 1);
    measured_usage_finish(c, k, r);
    end_or_requeue(c, index, k->is_over_limit ? JOB_TIMEOUT : JOB_CANCELLED);
}

int apply_ended(struct apply_context *c, const struct event *event)
{
    const struct event_record *r = &event->record;
    ensure(job_state_is_end(r->end) || r->end == JOB_PENDING);
    uint32_t index = map_get_u64(&c->s->task_by_launch, r->launch_id);
    if (index == NONE) { /* its end is recorded */
        note_unknown_launch(c, DECIDE_ACKNOWLEDGE, r->launch_id);
        return 0;
    }
    struct task *k = &c->s->tasks.items[index];
    if (r->end == JOB_PENDING) {
        end_unstarted(c, index, r);
        return 0;
    }
    set_started(c, k, r->started_us);
    k->end_us = at_most_now(c, r->at_us);
    k->exit_status = r->exit_status;
    k->signal = r->signal;
    k->max_rss_kib = larger_of(k->max_rss_kib, r->max_rss_kib);
    measured_usage_finish(c, k, r);
    enum job_state end = k->is_over_limit && r->end == JOB_CANCELLED ? JOB_TIMEOUT : r->end;
    if (k->is_over_limit && end != JOB_TIMEOUT) { /* it ended by itself after the order */
        k->is_over_limit = false;
        memset(k->detail, 0, sizeof k->detail);
    }
    if (r->detail != NULL && !k->is_over_limit) strncpy(k->detail, r->detail, sizeof k->detail - 1);
    end_or_requeue(c, index, end);
    return 0;
}

/* A live task whose launch may run where another state has it, too, or may have run. */
static void end_elsewhere(struct apply_context *c, uint32_t index, const struct event_synced *synced)
{
    struct task *k = &c->s->tasks.items[index];
    k->end_us = synced->lost_us;
    text_format(k->detail, sizeof k->detail, "%s", synced->elsewhere);
    measured_usage_finish(c, k, NULL);
    task_end(c, index, JOB_NODE_FAIL);
}

/* A live task whose launch the executor does not know: it never started, or its keeper is lost. */
static void resolve_unknown_launch(struct apply_context *c, uint32_t index, const struct event_synced *synced)
{
    struct task *k = &c->s->tasks.items[index];
    if (synced->elsewhere != NULL) {
        end_elsewhere(c, index, synced);
        return;
    }
    bool is_same_boot = strcmp(k->boot_id, synced->boot_id) == 0;
    if (k->start_us == 0 && is_same_boot && !k->is_cancelled && k->requeue == REQUEUE_NO) {
        apply_note_decision(c, DECIDE_START, k);
        time_limit_send(c, k); /* its keeper may run already, without a record, and with an earlier limit */
        return;
    }
    if (k->start_us == 0 && is_same_boot && k->requeue != REQUEUE_NO) {
        end_or_requeue(c, index, JOB_CANCELLED);
        return;
    }
    if (k->start_us == 0 && is_same_boot) {
        strncpy(k->detail, "cancelled before it started", sizeof k->detail - 1);
        task_end(c, index, JOB_CANCELLED);
        return;
    }
    k->end_us = is_same_boot ? c->now_us : synced->lost_us;
    strncpy(k->detail,
            is_same_boot ? "its keeper is gone; its end is unknown" : "the machine was rebooted while it ran",
            sizeof k->detail - 1);
    measured_usage_finish(c, k, NULL);
    end_or_requeue(c, index, JOB_NODE_FAIL);
}

/* What an executor, or a keeper, may not know that it was ordered. */
static void send_orders(struct apply_context *c, const struct task *k)
{
    time_limit_send(c, k);
    if (k->start_us != 0) suspension_send(c, k);
}

int apply_synced(struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    const struct event_synced *synced = &event->synced;
    struct map known = {0};
    for (uint32_t i = 0; i < synced->count; i++) map_set_u64(&known, synced->launch_ids[i], i);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        if (map_get_u64(&known, k->launch_id) == NONE)
            resolve_unknown_launch(c, i, synced);
        else if (k->is_cancelled || k->requeue != REQUEUE_NO)
            apply_note_decision(c, DECIDE_END, k);
        else
            send_orders(c, k);
    }
    map_release(&known);
    cpu_weight_invalidate(s);
    return 0;
}
