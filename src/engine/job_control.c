/* Events that change jobs by id, or all jobs of a selection: cancel, requeue. Those that hold and release are in
 * job_hold.c, those that suspend, resume and signal in job_suspend.c. */
#include "engine/job_control.h"

#include <string.h>

#include "engine/job_selection.h"
#include "engine/requeue.h"
#include "engine/requeue_ended.h"
#include "engine/requeue_run.h"
#include "engine/suspension.h"
#include "engine/visibility.h"

/* --- references --------------------------------------------------------------------------------------------------- */

static const char *user_of(const struct state *s, const struct job *j)
{
    return s->assocs.items[j->assoc].user;
}

int job_control_find(struct apply_context *c, const struct actor *actor, struct job_ref ref, uint32_t *out_job)
{
    uint32_t index = state_find_job(c->s, ref.job_id);
    char id[JOB_ID_TEXT_SIZE];
    struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
    struct str job = str_cut(name, '_', &(struct str){0});
    if (index == NONE) return err_subject(c->e, ERR_NOT_FOUND, "job", job, "is not pending or running");
    const struct job *j = &c->s->jobs.items[index];
    if (!job_selection_permits(c->s, actor, j)) return visibility_refuse_job(c->s, actor, job, user_of(c->s, j), c->e);
    if (ref.task_id != NONE) {
        if (!j->is_array)
            return err_subject(c->e, ERR_NOT_FOUND, "job", job, "is not an array; it has no task %u", ref.task_id);
        if (!idset_has(&j->pending, ref.task_id) && state_find_task(c->s, ref.job_id, ref.task_id) == NONE)
            return err_subject(c->e, ERR_NOT_FOUND, "task", name, "is not pending or running");
    }
    *out_job = index;
    return 0;
}

static int check_ref(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    uint32_t unused;
    return job_control_find(c, &event->actor, ref, &unused);
}

static void make_lists(struct state *s, struct job_task_lists *l)
{
    l->is_listed = true;
    l->next = arena_alloc(&s->cycle, (s->tasks.count + (size_t)1) * sizeof *l->next);
    for (uint32_t i = s->tasks.count; i-- > 0;) {
        if (job_state_is_end(s->tasks.items[i].state)) continue;
        l->next[i] = map_get_u64(&l->first, s->tasks.items[i].job_id);
        map_set_u64(&l->first, s->tasks.items[i].job_id, i);
    }
}

bool job_control_counts_first(const struct event *event, struct job_task_lists *l, uint32_t job_id, uint32_t task_id)
{
    uint64_t key = task_key(job_id, task_id);
    if (event->jobs.all) return true;
    bool is_first = map_get_u64(&l->counted, key) == NONE;
    if (is_first) map_set_u64(&l->counted, key, 0);
    return is_first;
}

bool job_control_for_each_task(struct apply_context *c, const struct event *event, struct job_task_lists *l,
                               const struct job *j, job_task_act *act)
{
    uint32_t changed = 0, max = event->jobs.task_max;
    if (j->live_tasks == 0) return false;
    if (!j->is_array) return act(c, event, l, state_find_task(c->s, j->id, 0));
    if (!l->is_listed) make_lists(c->s, l);
    for (uint32_t i = map_get_u64(&l->first, j->id); i != NONE && !c->result->is_unfinished; i = l->next[i]) {
        changed += act(c, event, l, i);
        c->result->is_unfinished = max != 0 && changed == max;
    }
    return changed > 0;
}

static void report_refusal(struct jobs_report *report, struct job_ref ref, const struct err *e)
{
    report->refused[report->refused_count++] =
        (struct job_refusal){ref, e->code, arena_copy(report->arena, str(ERR_SENTENCE(e)))};
}

/* Checks each reference. *out_is_refused: one entry for each, in the cycle. */
static int check_refs(struct apply_context *c, const struct event *event, const struct job_action *action,
                      bool **out_is_refused)
{
    const struct event_jobs *wanted = &event->jobs;
    struct err *e = c->e, refusal;
    int status = 0;
    *out_is_refused = arena_alloc(&c->s->cycle, wanted->count + (size_t)1);
    if (wanted->report != NULL) c->e = &refusal;
    for (uint32_t i = 0; !wanted->all && i < wanted->count && status == 0; i++) {
        if (action->check(c, event, wanted->refs[i]) == 0) continue;
        (*out_is_refused)[i] = true;
        if (wanted->report == NULL)
            status = -1;
        else
            report_refusal(wanted->report, wanted->refs[i], &refusal);
    }
    c->e = e;
    return status;
}

static void act_on(struct apply_context *c, const struct event *event, const struct job_action *action,
                   struct job_task_lists *lists, struct job_ref ref)
{
    struct jobs_report *report = event->jobs.report;
    if (!action->act(c, event, lists, ref)) return;
    c->result->job_count++;
    if (report != NULL) report->changed[report->changed_count++] = ref;
}

static void act_on_refs(struct apply_context *c, const struct event *event, const struct job_action *action,
                        struct job_task_lists *lists, const bool *is_refused)
{
    struct map seen = {0};
    for (uint32_t i = 0; i < event->jobs.count; i++) {
        struct job_ref ref = event->jobs.refs[i];
        uint64_t key = task_key(ref.job_id, ref.task_id);
        if (is_refused[i] || map_get_u64(&seen, key) != NONE) continue;
        map_set_u64(&seen, key, 0);
        act_on(c, event, action, lists, ref);
    }
    map_release(&seen);
}

static void act_on_all(struct apply_context *c, const struct event *event, const struct job_action *action,
                       struct job_task_lists *lists)
{
    const struct event_jobs *wanted = &event->jobs;
    for (uint32_t i = 0; wanted->count == 0 && i < c->s->jobs.count; i++) {
        const struct job *j = &c->s->jobs.items[i];
        if (job_selection_fits(c->s, event, j)) act_on(c, event, action, lists, (struct job_ref){j->id, NONE});
    }
    for (uint32_t i = 0; i < wanted->count; i++) {
        if (state_find_job(c->s, wanted->refs[i].job_id) != NONE) act_on(c, event, action, lists, wanted->refs[i]);
    }
}

int job_control_change(struct apply_context *c, const struct event *event, const struct job_action *action,
                       struct requeue_run *run)
{
    const struct event_jobs *wanted = &event->jobs;
    struct jobs_report *report = wanted->report;
    struct job_task_lists lists = {.run = run};
    bool *is_refused;
    if (report != NULL) {
        size_t changed_max = (wanted->all && wanted->count == 0 ? c->s->jobs.count : wanted->count) + (size_t)1;
        report->refused = arena_alloc(report->arena, (wanted->count + (size_t)1) * sizeof *report->refused);
        report->changed = arena_alloc(report->arena, changed_max * sizeof *report->changed);
        report->refused_count = report->changed_count = 0;
    }
    if (job_selection_check(c->s, &wanted->selection, c->e) != 0 || check_refs(c, event, action, &is_refused) != 0)
        return -1;
    int status = action->prepare != NULL ? action->prepare(c, event, &lists, is_refused) : 0;
    if (status == 0 && wanted->all) act_on_all(c, event, action, &lists);
    if (status == 0 && !wanted->all) act_on_refs(c, event, action, &lists, is_refused);
    map_release(&lists.first);
    map_release(&lists.done);
    map_release(&lists.counted);
    return status;
}

/* --- cancel ------------------------------------------------------------------------------------------------------- */

/* These return whether something was not cancelled yet. */

static bool cancel_task(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                        uint32_t index)
{
    struct task *k = &c->s->tasks.items[index];
    if (job_state_is_end(k->state) || k->is_cancelled) return false;
    if (event->jobs.selection.is_of_suspended && k->state != JOB_SUSPENDED) return false;
    if (event->jobs.is_dry_run) return job_control_counts_first(event, lists, k->job_id, k->task_id);
    suspension_end(c, k, c->now_us);
    k->is_cancelled = true;
    k->requeue = REQUEUE_NO;
    k->state = JOB_COMPLETING;
    apply_note_change(c, TABLE_TASK, index);
    apply_note_decision(c, DECIDE_END, k);
    return true;
}

static void cancel_pending(struct apply_context *c, uint32_t job_index, uint32_t task_id)
{
    struct idset tasks = {0};
    idset_add(&tasks, task_id);
    job_cancel_pending(c, job_index, &tasks);
    idset_release(&tasks);
}

/* Of a dry run: whether an earlier reference leaves a pending task. */
static bool count_pending(const struct event *event, struct job_task_lists *lists, const struct job *j)
{
    bool is_first = false;
    if (event->jobs.all) return true;
    for (uint32_t id = idset_first(&j->pending); id != NONE; id = idset_next(&j->pending, id))
        is_first |= job_control_counts_first(event, lists, j->id, id);
    return is_first;
}

/* Tasks that it has not come to stay ended. */
static void break_off_requeue(struct apply_context *c, const struct event *event, uint32_t job_index)
{
    struct job *j = &c->s->jobs.items[job_index];
    if (j->requeue_next == 0 || event->jobs.is_dry_run || event->jobs.selection.is_of_live) return;
    j->requeue_next = 0;
    apply_note_change(c, TABLE_JOB, job_index);
}

static bool cancel_all_tasks(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                             uint32_t job_index)
{
    struct job *j = &c->s->jobs.items[job_index];
    const struct job_selection *selection = &event->jobs.selection;
    bool has_pending = !selection->is_of_live && idset_first(&j->pending) != NONE, is_changed = has_pending;
    break_off_requeue(c, event, job_index);
    if (has_pending && event->jobs.is_dry_run) is_changed = count_pending(event, lists, j);
    if (!selection->is_of_pending) is_changed |= job_control_for_each_task(c, event, lists, j, cancel_task);
    if (has_pending && !event->jobs.is_dry_run) job_cancel_pending(c, job_index, &j->pending);
    return is_changed;
}

static bool cancel_ref(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                       struct job_ref ref)
{
    uint32_t job_index = state_find_job(c->s, ref.job_id);
    if (job_index == NONE) return false; /* an earlier reference to the same job ended it */
    if (ref.task_id == NONE) return cancel_all_tasks(c, event, lists, job_index);
    uint32_t task = state_find_task(c->s, ref.job_id, ref.task_id);
    if (task != NONE) return cancel_task(c, event, lists, task);
    bool is_pending = idset_has(&c->s->jobs.items[job_index].pending, ref.task_id);
    if (!is_pending) return false; /* an earlier reference cancelled it */
    if (event->jobs.is_dry_run) return job_control_counts_first(event, lists, ref.job_id, ref.task_id);
    cancel_pending(c, job_index, ref.task_id);
    return true;
}

int apply_cancel(struct apply_context *c, const struct event *event)
{
    static const struct job_action cancel = {.check = check_ref, .act = cancel_ref};
    if (job_control_change(c, event, &cancel, NULL) != 0) return -1;
    c->s->pass_is_due |= !event->jobs.is_dry_run;
    return 0;
}

/* --- the scheduler's list ----------------------------------------------------------------------------------------- */

void job_control_move_to_list_end(struct state *s, struct job *j)
{
    j->list_position = s->next_list_position++;
}

bool job_control_is_own(const struct state *s, const struct actor *actor, const struct job *j)
{
    return actor->user != NULL && strcmp(actor->user, user_of(s, j)) == 0;
}

/* --- requeue ------------------------------------------------------------------------------------------------------ */

static bool requeue_live(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                         uint32_t index)
{
    struct task *k = &c->s->tasks.items[index];
    const struct job *j = &c->s->jobs.items[state_find_job(c->s, k->job_id)];
    if (job_state_is_end(k->state) || k->is_cancelled || k->requeue != REQUEUE_NO) return false;
    if (event->jobs.is_dry_run) return job_control_counts_first(event, lists, k->job_id, k->task_id);
    enum task_requeue held = job_control_is_own(c->s, &event->actor, j) ? REQUEUE_HELD : REQUEUE_HELD_BY_OPERATOR;
    k->requeue = event->jobs.holds ? held : REQUEUE_YES;
    suspension_end(c, k, c->now_us);
    k->state = JOB_COMPLETING;
    apply_note_change(c, TABLE_TASK, index);
    apply_note_decision(c, DECIDE_END, k);
    return true;
}

static bool requeue_ref(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                        struct job_ref ref)
{
    uint32_t job = state_find_job(c->s, ref.job_id);
    if (map_get_u64(&lists->done, task_key(ref.job_id, ref.task_id)) != NONE) return true;
    if (job == NONE) return false; /* of a dry run: an earlier reference would requeue it */
    const struct job *j = &c->s->jobs.items[job];
    if (j->live_tasks == 0 || j->forbids_requeue) return false; /* of all jobs */
    if (ref.task_id == NONE) return job_control_for_each_task(c, event, lists, j, requeue_live);
    uint32_t index = state_find_task(c->s, ref.job_id, ref.task_id);
    return index != NONE && requeue_live(c, event, lists, index);
}

static int check_requeue(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    char id[JOB_ID_TEXT_SIZE];
    struct str name = {id, job_id_format(id, ref.job_id, ref.task_id)};
    uint32_t index = state_find_job(c->s, ref.job_id), unused;
    if (requeue_ended_is_of(c->s, event, ref)) return requeue_ended_check(c, event, ref, &unused);
    struct str job = str_cut(name, '_', &(struct str){0});
    if (index == NONE) return err_not_found(c->e, "job", job);
    const struct job *j = &c->s->jobs.items[index];
    if (ref.task_id != NONE && j->is_array && !idset_has(&j->array, ref.task_id))
        return err_subject(c->e, ERR_NOT_FOUND, "job", job, "has no task %u", ref.task_id);
    if (check_ref(c, event, ref) != 0) return -1;
    bool is_live = ref.task_id == NONE ? j->live_tasks > 0 : state_find_task(c->s, ref.job_id, ref.task_id) != NONE;
    if (j->forbids_requeue) return requeue_ended_refuse_forbidden(c, ref.job_id);
    if (!is_live)
        return err_subject(c->e, ERR_CONFLICT, ref.task_id == NONE ? "job" : "task", name,
                           "is pending; only a running or ended job can be requeued");
    return 0;
}

/* Requeues the references that have ended: of whole jobs, or of single tasks. */
static int revive_refs(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                       bool *is_refused, bool is_of_tasks)
{
    const struct event_jobs *wanted = &event->jobs;
    struct err *e = c->e, refusal;
    int status = 0;
    if (wanted->report != NULL) c->e = &refusal;
    for (uint32_t i = 0; i < wanted->count && status == 0; i++) {
        struct job_ref ref = wanted->refs[i];
        if ((ref.task_id != NONE) != is_of_tasks) continue;
        if (is_refused[i] || !requeue_ended_is_of(c->s, event, ref)) continue;
        is_refused[i] = requeue_run_revive(lists->run, ref) != 0;
        if (!is_refused[i])
            map_set_u64(&lists->done, task_key(ref.job_id, ref.task_id), 0);
        else if (wanted->report != NULL)
            report_refusal(wanted->report, ref, &refusal);
        else
            status = -1;
    }
    c->e = e;
    return status;
}

/* Requeues what has ended, before what runs: a limit may refuse one because of those before it, and then nothing else
 * has changed yet. Whole jobs come before tasks: once a task is pending again, its array has not ended. */
static int requeue_ended(struct apply_context *c, const struct event *event, struct job_task_lists *lists,
                         bool *is_refused)
{
    const struct event_jobs *wanted = &event->jobs;
    if (wanted->all) return 0;
    int status = revive_refs(c, event, lists, is_refused, false);
    if (status == 0) status = revive_refs(c, event, lists, is_refused, true);
    if (status != 0 || wanted->is_dry_run) requeue_run_undo(lists->run);
    return status;
}

int apply_requeue(struct apply_context *c, const struct event *event)
{
    static const struct job_action requeue = {.check = check_requeue, .act = requeue_ref, .prepare = requeue_ended};
    struct requeue_run run;
    requeue_run_begin(&run, c, event);
    int status = job_control_change(c, event, &requeue, &run);
    requeue_run_end(&run);
    return status;
}
