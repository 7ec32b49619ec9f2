#include "engine/recovery.h"

#include "engine/handlers.h"
#include "engine/job_waits.h"
#include "engine/placements.h"
#include "engine/quarantine.h"
#include "engine/restarts.h"
#include "engine/task_text.h"

struct recovery {
    struct apply_context *c;
    struct recovery_counts counts;
};

static void hold(struct recovery *r, uint32_t job_index)
{
    if (quarantine_hold_job(r->c, job_index)) r->counts.held_jobs++;
}

/* --- starts ------------------------------------------------------------------------------------------------------- */

static bool shares_numbers(const struct idset *a, const struct idset *b)
{
    for (uint32_t id = idset_first(a); id != NONE; id = idset_next(a, id)) {
        if (idset_has(b, id)) return true;
    }
    return false;
}

static bool overlaps(const struct task *a, const struct task *b)
{
    for (uint32_t i = 0; i < a->placement_count; i++) {
        for (uint32_t k = 0; k < b->placement_count; k++) {
            const struct placement *p = &a->placements[i], *q = &b->placements[k];
            if (p->host == q->host && (shares_numbers(&p->cpus, &q->cpus) || shares_numbers(&p->gpus, &q->gpus)))
                return true;
        }
    }
    return false;
}

/* Whether the row can be one of this state: the number is pending, its attempt is the next one, and no other task has
 * its CPUs. */
static bool can_start(const struct state *s, const struct job *j, const struct task *row)
{
    if (row->partition == NONE || !idset_has(&j->pending, row->task_id)) return false;
    if (restarts_of(j, row->task_id) != row->restarts || row->launch_id == 0) return false;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!job_state_is_end(s->tasks.items[i].state) && overlaps(&s->tasks.items[i], row)) return false;
    }
    return true;
}

/* As a pass does (pass_decide.c), except that the launch and its places are known. The rows' memory is the state's
 * then. */
static void start_again(struct recovery *r, uint32_t job_index, const struct task *row)
{
    struct apply_context *c = r->c;
    struct state *s = c->s;
    struct job *j = &s->jobs.items[job_index];
    struct task k = *row;
    k.assoc = state_assoc_in_partition(s, j->assoc, k.partition);
    k.cpu_weight = 0;
    bool had_conditions = job_waits_take_task(j, k.task_id);
    j->live_tasks++;
    j->starting_tasks++;
    uint32_t index = task_append(s, &k);
    const struct work work = task_work(&k);
    assoc_count_work(s, j->assoc, &(struct work){.pending = 1}, -1);
    assoc_count_work(s, k.assoc, &work, 1);
    task_count_references(s, &k, 1);
    placements_rebuild(s);
    apply_note_change(c, TABLE_JOB, job_index);
    if (had_conditions) apply_note_change(c, TABLE_DEPENDENCY, job_index);
    apply_note_change(c, TABLE_TASK, index);
    r->counts.started++;
}

/* Returns whether the row was taken. */
static bool recover_start(struct recovery *r, const struct task *row)
{
    struct state *s = r->c->s;
    uint32_t job_index = state_find_job(s, row->job_id);
    if (job_index == NONE || map_get_u64(&s->task_by_launch, row->launch_id) != NONE) return false;
    if (!can_start(s, &s->jobs.items[job_index], row)) {
        hold(r, job_index);
        return false;
    }
    start_again(r, job_index, row);
    return true;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static enum job_state recorded_end(const struct task *row)
{
    if (row->is_withdrawn) return JOB_PENDING;
    return row->state == JOB_REQUEUED ? JOB_CANCELLED : row->state; /* k->requeue makes it REQUEUED again */
}

static void recover_end(struct recovery *r, const struct task *row)
{
    struct state *s = r->c->s;
    uint32_t index = map_get_u64(&s->task_by_launch, row->launch_id);
    if (index == NONE) return;
    struct task *k = &s->tasks.items[index];
    k->is_cancelled = row->is_cancelled;
    k->is_over_limit = row->is_over_limit;
    k->requeue = row->requeue;
    const struct event event = {.kind = EVENT_ENDED,
                                .record = {.launch_id = row->launch_id,
                                           .at_us = row->end_us,
                                           .started_us = row->start_us,
                                           .end = recorded_end(row),
                                           .exit_status = row->exit_status,
                                           .signal = row->signal,
                                           .cpu_us = row->cpu_us,
                                           .max_rss_kib = row->max_rss_kib,
                                           .io_bytes = row->io_bytes,
                                           .detail = row->detail}};
    (void)apply_ended(r->c, &event);
    r->counts.ended++;
}

/* All tasks of the job had ended, or were cancelled. */
static void recover_job_end(struct recovery *r, uint32_t job_id)
{
    struct state *s = r->c->s;
    uint32_t index = state_find_job(s, job_id);
    if (index == NONE || idset_first(&s->jobs.items[index].pending) == NONE) return;
    job_cancel_pending(r->c, index, &s->jobs.items[index].pending);
    r->counts.cancelled_jobs++;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void shift(struct task *row, int64_t shift_us)
{
    int64_t *const times[] = {&row->launch_us,        &row->start_us,         &row->charged_us,
                              &row->end_us,           &row->measured_us,      &row->measured_from_us,
                              &row->charged_as_of_us, &row->suspended_from_us};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (*times[i] != 0) *times[i] += shift_us;
    }
}

static void recover_task(struct recovery *r, struct str line, int64_t shift_us)
{
    struct task row;
    if (task_text_parse(r->c->s, line, &row, NULL) != 0) { /* it names an object of a missing commit */
        uint32_t job_index = state_find_job(r->c->s, task_text_job_id(line));
        if (job_index != NONE) hold(r, job_index);
        return;
    }
    shift(&row, shift_us);
    bool is_taken = false;
    if (row.is_withdrawn || job_state_is_end(row.state))
        recover_end(r, &row);
    else
        is_taken = recover_start(r, &row);
    if (!is_taken) task_text_release(&row);
}

/* Numbers that the missing commits have assigned are not assigned again. */
static void raise_counters(struct recovery *r, const struct event_recovery *known)
{
    struct state *s = r->c->s;
    if (known->next_job_id > s->next_job_id) {
        r->counts.lost_jobs = known->next_job_id - s->next_job_id;
        s->next_job_id = known->next_job_id;
    }
    if (known->next_launch_id > s->next_launch_id) s->next_launch_id = known->next_launch_id;
    apply_note_change(r->c, TABLE_COUNTERS, 0);
}

int apply_recovery(struct apply_context *c, const struct event *event)
{
    const struct event_recovery *known = &event->recovery;
    struct recovery r = {.c = c};
    raise_counters(&r, known);
    for (uint32_t i = 0; i < known->task_count; i++) recover_task(&r, known->tasks[i], known->shift_us);
    for (uint32_t i = 0; i < known->ended_job_count; i++) recover_job_end(&r, known->ended_jobs[i]);
    c->s->launch_backoff = (struct launch_backoff){0}; /* what failed then says nothing about now */
    if (known->counts != NULL) *known->counts = r.counts;
    return 0;
}
