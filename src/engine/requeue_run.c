#include "engine/requeue_run.h"

#include <string.h>

#include "base/ensure.h"
#include "base/search.h"
#include "engine/dependencies.h"
#include "engine/dependency_targets.h"
#include "engine/job_edit.h"
#include "engine/job_waits.h"
#include "engine/requeue.h"
#include "engine/requeue_ended.h"
#include "engine/restarts.h"
#include "engine/state_rows.h"
#include "engine/task_delays.h"

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The number of values up to and with value, which ascend. */
static uint32_t count_up_to(const uint32_t *values, uint32_t count, uint32_t value)
{
    return search_from(values, sizeof *values, count, value + 1);
}

/* Earlier events of the turn have noted changes of jobs by index. by: 1: rows were added; -1: removed. */
static void renumber(struct outcome *o, const uint32_t *values, uint32_t count, uint32_t by)
{
    for (uint32_t i = 0; i < o->changes.count; i++) {
        struct change *change = &o->changes.items[i];
        if (change->table == TABLE_JOB || change->table == TABLE_MIN_PRIORITY || change->table == TABLE_DEPENDENCY)
            change->index += by * count_up_to(values, count, change->index);
    }
    for (uint32_t i = 0; i < o->conditions.count; i++)
        o->conditions.items[i].job += by * count_up_to(values, count, o->conditions.items[i].job);
}

void requeue_run_begin(struct requeue_run *run, struct apply_context *c, const struct event *event)
{
    struct state *s = c->s;
    uint32_t count = 0;
    *run = (struct requeue_run){.c = c, .event = event};
    struct job *rows = arena_alloc(&s->cycle, (event->ended_job_count + (size_t)1) * sizeof *rows);
    uint32_t *ids = arena_alloc(&s->cycle, (event->ended_job_count + (size_t)1) * sizeof *ids),
             *before = arena_alloc(&s->cycle, (event->ended_job_count + (size_t)1) * sizeof *before);
    struct err *e = c->e;
    c->e = NULL;
    for (uint32_t i = 0; i < event->ended_job_count; i++) {
        const struct event_ended_job *b = &event->ended_jobs[i];
        uint32_t assoc;
        if (requeue_ended_check_brought(c, event, b, (struct job_ref){b->job_id, NONE}, &assoc) != 0) continue;
        rows[count] = *b->row;
        rows[count].assoc = assoc;
        ids[count++] = b->job_id;
    }
    c->e = e;
    if (count > 0) {
        job_insert_ended(s, rows, count, before);
        renumber(c->outcome, before, count, 1);
    }
    run->brought = ids;
    run->brought_count = count;
    run->change_count = c->outcome->changes.count;
}

/* Takes out the added rows that have still ended. */
static void remove_unused(struct requeue_run *run)
{
    struct state *s = run->c->s;
    uint32_t count = 0, *indices = arena_alloc(&s->cycle, (run->brought_count + (size_t)1) * sizeof *indices);
    for (uint32_t i = 0; i < run->brought_count; i++) {
        uint32_t index = dependency_target_row(s, run->brought[i]);
        if (s->jobs.items[index].ended_us != 0) indices[count++] = index;
    }
    if (count == 0) return;
    job_remove_ended(s, indices, count);
    renumber(run->c->outcome, indices, count, UINT32_MAX);
}

/* --- requeue ------------------------------------------------------------------------------------------------------ */

/* What was requeued. */
struct requeue_revival {
    struct job before;    /* the job's row */
    struct idset started; /* tasks whose last attempt is no longer the current one */
    bool had_ended;
};

/* The job lives again, and is the last one in the scheduler's list. */
static void join_live(struct apply_context *c, uint32_t index, uint32_t assoc)
{
    struct state *s = c->s;
    struct job *j = &s->jobs.items[index];
    j->assoc = assoc;
    j->ended_us = 0;
    j->list_position = s->next_list_position++;
    job_count_live(s, j, 1);
    s->ended_jobs--;
    map_set_u64(&s->job_by_id, j->id, index);
    job_count_references(s, j, 1);
    job_ensure_usage_owners(s, j);
}

static void leave_live(struct state *s, const struct job *j)
{
    job_count_live(s, j, -1);
    s->ended_jobs++;
    map_remove_u64(&s->job_by_id, j->id);
    job_count_references(s, j, -1);
}

/* An operator ends the holds of tasks that operators had held before their cancellation, unless the request holds. Of a
 * task that was held because it was requeued too often the count is left, too. tasks: to requeue, of which started had
 * a last attempt. */
static void hold_again(const struct requeue_run *run, struct job *j, struct job_ref ref, const struct idset *tasks,
                       const struct idset *started)
{
    const struct idset *exceeding = requeue_exceeding(run->c->s, j);
    struct idset held = {0};
    bool may_release = actor_may(&run->event->actor, PERMISSION_OPERATOR_HOLDS);
    bool holds_alone = run->event->jobs.holds && ref.task_id != NONE;
    if (may_release && !holds_alone && task_delays_held(j, true) != NULL) {
        for (uint32_t id = idset_first(tasks); id != NONE; id = idset_next(tasks, id))
            (void)task_delays_release_task(j, id, true);
        job_waits_find_ready(j);
    }
    if (!j->is_array || exceeding == NULL || may_release) return;
    idset_copy(&held, tasks);
    idset_remove_all(&held, started);
    for (uint32_t id = idset_first(tasks); id != NONE; id = idset_next(tasks, id)) {
        if (!idset_has(exceeding, id)) (void)idset_remove(&held, id);
    }
    task_delays_drop(j, &held);
    for (uint32_t id = idset_first(&held); id != NONE; id = idset_next(&held, id)) task_delays_hold(j, id, true);
    job_waits_find_ready(j);
    idset_release(&held);
}

/* Whether an operator has held the job, or a quarantine, before it was cancelled. Who may not release it, cannot do so
 * by a requeue. */
static bool stays_held(const struct requeue_run *run, const struct job *j)
{
    return j->is_held_by_operator && !actor_may(&run->event->actor, PERMISSION_OPERATOR_HOLDS);
}

static enum task_requeue requeue_of(const struct requeue_run *run, const struct job *j)
{
    const struct actor *actor = &run->event->actor;
    if (stays_held(run, j)) return REQUEUE_HELD_BY_OPERATOR;
    if (!run->event->jobs.holds) return REQUEUE_YES;
    bool is_own = actor->user != NULL && strcmp(actor->user, run->c->s->assocs.items[j->assoc].user) == 0;
    return is_own ? REQUEUE_HELD : REQUEUE_HELD_BY_OPERATOR;
}

/* An immediate job that ended before it started has no restart that says so. Requeued it waits as any other. */
static void end_immediate(struct job *j)
{
    j->is_immediate = false;
    j->immediate_s = 0;
    if (j->rare != NULL) j->rare->cancel_reason = NULL;
}

/* Of an array that had ended. Its age grows while its tasks wait for their delay, as it does while other tasks of
 * an array run. */
static void hold_array(struct apply_context *c, struct job *j, enum task_requeue requeue)
{
    j->is_held = requeue != REQUEUE_YES;
    j->quarantine = QUARANTINE_NO;
    j->is_held_by_operator = requeue == REQUEUE_HELD_BY_OPERATOR;
    int64_t eligible_us = job_waits_eligible_us(j);
    j->accrue_us = j->is_held ? 0 : eligible_us > c->now_us ? eligible_us : c->now_us;
}

/* An array that is requeued as a whole is held as one, with the later slices of its tasks; a task is held alone, unless
 * the hold is the one that the array had before. */
static void hold_tasks(struct requeue_run *run, struct job *j, struct job_ref ref, enum task_requeue requeue,
                       bool had_ended, bool keeps_hold)
{
    bool is_alone = ref.task_id != NONE && !keeps_hold;
    if (had_ended) hold_array(run->c, j, is_alone ? REQUEUE_YES : requeue);
    if (is_alone && requeue != REQUEUE_YES) requeue_hold_task(j, ref.task_id, requeue);
}

static uint32_t last_of(const struct idset *tasks)
{
    return tasks->ranges.items[tasks->ranges.count - 1].last;
}

/* Where the next slice of an array begins: as an event goes on with it, and as the row says, which outlives a crash. */
static void set_next(struct requeue_run *run, struct job *j, bool is_unfinished, const struct idset *tasks)
{
    j->requeue_next = is_unfinished ? last_of(tasks) + 1 : 0;
    run->c->result->is_unfinished = is_unfinished;
    run->c->result->task_next = j->requeue_next;
}

/* A job without a task to start would be no row that can be loaded. All tasks of a later slice may have been requeued
 * by other requests. */
static bool has_nothing_to_do(const struct requeue_run *run, const struct job *j, const struct idset *tasks)
{
    return idset_first(tasks) == NONE && (j->ended_us != 0 || run->event->jobs.task_first == 0);
}

int requeue_run_revive(struct requeue_run *run, struct job_ref ref)
{
    struct apply_context *c = run->c;
    struct state *s = c->s;
    struct idset tasks = {0};
    uint32_t assoc;
    if (requeue_ended_check(c, run->event, ref, &assoc) != 0) return -1;
    uint32_t index = dependency_target_row(s, ref.job_id);
    ensure(index != NONE);
    struct job *j = &s->jobs.items[index];
    bool is_unfinished = requeue_ended_tasks(s, run->event, j, ref, &tasks);
    if (has_nothing_to_do(run, j, &tasks)) {
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, ref.job_id, ref.task_id);
        return err_subject(c->e, ERR_CONFLICT, "job", str(id), "has no ended task to requeue");
    }
    struct requeue_revival *r = mem_resize(NULL, 0, sizeof *r);
    *r = (struct requeue_revival){.before = job_copy(j), .had_ended = j->ended_us != 0};
    *array_add(&run->revived) = r;
    if (ref.task_id == NONE) set_next(run, j, is_unfinished, &tasks);
    idset_copy(&r->started, &tasks);
    idset_remove_all(&r->started, &j->cancelled);
    for (uint32_t id = idset_first(&r->started); id != NONE; id = idset_next(&r->started, id)) restarts_add(j, id);
    idset_remove_all(&j->cancelled, &tasks);
    idset_remove_all(&j->failed, &tasks);
    if (idset_first(&j->cancelled) == NONE) {
        j->cancelled_us = 0;
        j->is_cancelled_by_rule = false;
    }
    if (r->had_ended) join_live(c, index, assoc);
    if (r->had_ended) end_immediate(j);
    const enum job_quarantine quarantine = stays_held(run, j) ? j->quarantine : QUARANTINE_NO;
    const enum task_requeue requeue = requeue_of(run, j);
    const bool keeps_job_hold = stays_held(run, j);
    requeue_tasks(c, index, &tasks, requeue, requeue_delay_us(s));
    if (j->is_array) hold_tasks(run, j, ref, requeue, r->had_ended, keeps_job_hold);
    if (r->had_ended) j->quarantine = quarantine;
    hold_again(run, j, ref, &tasks, &r->started);
    idset_release(&tasks);
    return 0;
}

static void revival_free(struct requeue_revival *r)
{
    idset_release(&r->started);
    mem_free(r);
}

static void undo(struct apply_context *c, struct requeue_revival *r)
{
    struct state *s = c->s;
    uint32_t index = dependency_target_row(s, r->before.id);
    struct job *j = &s->jobs.items[index];
    uint32_t added = idset_count(&j->pending) - idset_count(&r->before.pending);
    assoc_count_work(s, j->assoc, &(struct work){.pending = added}, -1);
    if (r->had_ended) leave_live(s, j);
    job_release(j);
    *j = r->before;
    apply_note_change(c, TABLE_JOB, index); /* for what follows the rows by their ids */
    revival_free(r);
}

void requeue_run_undo(struct requeue_run *run)
{
    while (run->revived.count > 0) undo(run->c, run->revived.items[--run->revived.count]);
    run->c->outcome->changes.count = run->change_count;
}

/* --- attempts ----------------------------------------------------------------------------------------------------- */

/* The words are those of the store, which changes the rows that are not in memory. */
static void mark_attempt(struct task *k)
{
    char detail[sizeof k->detail];
    memcpy(detail, k->detail, sizeof detail);
    text_format(k->detail, sizeof k->detail, "%s, then requeued by request%s%s", job_state_name(k->state),
                detail[0] != '\0' ? ": " : "", detail);
    k->state = JOB_REQUEUED;
}

/* In memory are those that ended lately. */
static void mark_attempts_in_memory(struct apply_context *c)
{
    struct state *s = c->s;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        if (!job_state_is_end(k->state) || k->state == JOB_REQUEUED) continue;
        uint32_t job = state_find_job(s, k->job_id);
        if (job == NONE || k->restarts >= restarts_of(&s->jobs.items[job], k->task_id)) continue;
        mark_attempt(k);
        apply_note_change(c, TABLE_TASK, i);
    }
}

static void note_attempts(struct apply_context *c, const struct requeue_revival *r)
{
    for (uint32_t i = 0; i < r->started.ranges.count; i++) {
        const struct idset_range *range = &r->started.ranges.items[i];
        *array_add(&c->outcome->requeued) = (struct requeued_tasks){r->before.id, range->first, range->last};
    }
}

void requeue_run_end(struct requeue_run *run)
{
    struct apply_context *c = run->c;
    for (uint32_t i = 0; i < run->revived.count; i++) {
        struct requeue_revival *r = run->revived.items[i];
        note_attempts(c, r);
        if (r->had_ended) {
            uint32_t index = state_find_job(c->s, r->before.id);
            dependencies_named(c, index, NULL);
            submit_ensure_user(c, c->s->assocs.items[c->s->jobs.items[index].assoc].user);
        }
        job_release(&r->before);
        revival_free(r);
    }
    if (run->revived.count > 0) {
        mark_attempts_in_memory(c);
        c->s->pass_is_due = true;
    }
    array_release(&run->revived);
    remove_unused(run);
}
