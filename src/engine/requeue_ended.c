#include "engine/requeue_ended.h"

#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"
#include "engine/dependencies.h"
#include "engine/dependency_targets.h"
#include "engine/job_edit.h"
#include "engine/job_waits.h"
#include "engine/limit_submit.h"
#include "engine/requeue.h"
#include "engine/restarts.h"
#include "engine/state_rows.h"
#include "fields/job_id.h"

/* --- the jobs of an event ----------------------------------------------------------------------------------------- */

uint32_t requeue_ended_list(const struct state *s, const struct event *event, struct arena *arena,
                            const uint32_t **out_ids)
{
    uint32_t count = 0, kept = 0;
    if (event->kind != EVENT_REQUEUE || event->jobs.all) return 0;
    struct sort_record *found = arena_alloc(arena, 2 * (event->jobs.count + (size_t)1) * sizeof *found);
    uint32_t *ids = arena_alloc(arena, (event->jobs.count + (size_t)1) * sizeof *ids);
    for (uint32_t i = 0; i < event->jobs.count; i++) {
        uint32_t id = event->jobs.refs[i].job_id;
        if (id > 0 && id < s->next_job_id && dependency_target_row(s, id) == NONE)
            found[count++] = (struct sort_record){.key = id};
    }
    sort_records(found, count, found + count);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || found[i].key != found[i - 1].key) ids[kept++] = (uint32_t)found[i].key;
    }
    *out_ids = ids;
    return kept;
}

static const struct event_ended_job *find_brought(const struct event *event, uint32_t job_id)
{
    for (uint32_t first = 0, last = event->ended_job_count; first < last;) {
        uint32_t middle = first + (last - first) / 2;
        if (event->ended_jobs[middle].job_id == job_id) return &event->ended_jobs[middle];
        if (event->ended_jobs[middle].job_id < job_id)
            first = middle + 1;
        else
            last = middle;
    }
    return NULL;
}

static bool task_is_live(const struct state *s, const struct job *j, uint32_t task_id)
{
    return idset_has(&j->pending, task_id) || state_find_task(s, j->id, task_id) != NONE;
}

bool requeue_ended_is_of(const struct state *s, const struct event *event, struct job_ref ref)
{
    uint32_t index = dependency_target_row(s, ref.job_id);
    if (index == NONE) return find_brought(event, ref.job_id) != NULL;
    const struct job *j = &s->jobs.items[index];
    if (j->ended_us != 0) return true;
    return ref.task_id != NONE && idset_has(&j->array, ref.task_id) && j->is_array && !task_is_live(s, j, ref.task_id);
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

static struct str name_of(char text[JOB_ID_TEXT_SIZE], struct job_ref ref)
{
    return (struct str){text, job_id_format(text, ref.job_id, ref.task_id)};
}

static int refuse_owner(struct apply_context *c, const struct event *event, uint32_t job_id, const char *user)
{
    char id[JOB_ID_TEXT_SIZE];
    const struct actor *actor = &event->actor;
    if (actor->is_operator || (actor->user != NULL && strcmp(actor->user, user) == 0)) return 0;
    return err_subject(c->e, ERR_DENIED, "job", name_of(id, (struct job_ref){job_id, NONE}), "belongs to %s", user);
}

int requeue_ended_refuse_forbidden(struct apply_context *c, uint32_t job_id)
{
    char id[JOB_ID_TEXT_SIZE];
    return err_subject(c->e, ERR_CONFLICT, "job", name_of(id, (struct job_ref){job_id, NONE}),
                       "must not be requeued, as it was submitted (requeue=no)");
}

static int find_assoc(struct apply_context *c, uint32_t job_id, const char *user, const char *account,
                      uint32_t partition, uint32_t *out_assoc)
{
    char id[JOB_ID_TEXT_SIZE];
    *out_assoc = state_find_assoc_in(c->s, account, user, partition);
    if (*out_assoc != NONE) return 0;
    return err_subject(c->e, ERR_CONFLICT, "job", name_of(id, (struct job_ref){job_id, NONE}),
                       "cannot be requeued: user '%s' is not in account '%s' any more; submit it anew", user, account);
}

/* The object that has the name now. */
static int find_again(struct apply_context *c, uint32_t job_id, enum object_kind kind, uint32_t *index)
{
    char id[JOB_ID_TEXT_SIZE];
    if (*index == NONE) return 0;
    const char *name = c->s->objects[kind].items[*index].object.name;
    uint32_t found = state_find_object(c->s, kind, name);
    if (found == NONE)
        return err_subject(c->e, ERR_CONFLICT, "job", name_of(id, (struct job_ref){job_id, NONE}),
                           "cannot be requeued: %s '%s' was deleted; submit it anew", object_classes[kind].name, name);
    *index = found;
    return 0;
}

static int find_objects_again(struct apply_context *c, struct job *j)
{
    struct job_placing *placing = j->placing;
    int status = find_again(c, j->id, OBJECT_QOS, &j->qos);
    if (status == 0) status = find_again(c, j->id, OBJECT_PROJECT, &j->project);
    if (status == 0) status = find_again(c, j->id, OBJECT_ENVIRONMENT, &j->environment);
    for (uint32_t i = 0; i < j->partition_count && status == 0; i++)
        status = find_again(c, j->id, OBJECT_PARTITION, &j->partitions[i]);
    for (uint32_t i = 0; i < j->request_count && status == 0; i++)
        status = find_again(c, j->id, OBJECT_RESOURCE, &j->requests[i].resource);
    for (uint32_t i = 0; placing != NULL && i < placing->soft_count && status == 0; i++)
        status = find_again(c, j->id, OBJECT_RESOURCE, &placing->soft[i].resource);
    return status;
}

/* The row of a job that has ended. */
static int check_ended_row(struct apply_context *c, struct job *j, uint32_t *out_assoc)
{
    char id[JOB_ID_TEXT_SIZE];
    const struct assoc *a = &c->s->assocs.items[j->assoc];
    if (j->dependency != NULL)
        return err_subject(c->e, ERR_CONFLICT, "job", name_of(id, (struct job_ref){j->id, NONE}),
                           "was cancelled while it waited for other jobs; submit it anew");
    if (find_objects_again(c, j) != 0) return -1;
    if (find_assoc(c, j->id, a->user, a->account, j->partitions[0], out_assoc) != 0) return -1;
    return submit_check_counts(c, a->user);
}

static int check_task(struct apply_context *c, const struct job *j, struct job_ref ref)
{
    char id[JOB_ID_TEXT_SIZE];
    if (ref.task_id == NONE || (j->is_array && idset_has(&j->array, ref.task_id))) return 0;
    return err_subject(c->e, ERR_NOT_FOUND, "job", name_of(id, (struct job_ref){ref.job_id, NONE}),
                       j->is_array ? "has no task %u" : "is not an array; it has no task %u", ref.task_id);
}

static int check_brought(struct apply_context *c, const struct event *event, const struct event_ended_job *b,
                         struct job_ref ref, uint32_t *out_assoc)
{
    char id[JOB_ID_TEXT_SIZE];
    if (refuse_owner(c, event, b->job_id, b->user) != 0) return -1;
    if (b->row == NULL) {
        if (c->e != NULL) *c->e = b->err;
        return -1;
    }
    if (check_task(c, b->row, ref) != 0) return -1;
    if (b->row->forbids_requeue) return requeue_ended_refuse_forbidden(c, b->job_id);
    if (b->has_conditions)
        return err_subject(c->e, ERR_CONFLICT, "job", name_of(id, (struct job_ref){b->job_id, NONE}),
                           "was cancelled while it waited for other jobs; submit it anew");
    return find_assoc(c, b->job_id, b->user, b->account, b->row->partitions[0], out_assoc);
}

/* The tasks of a reference that become pending. */
static void tasks_of(const struct job *j, struct job_ref ref, struct idset *out)
{
    if (ref.task_id == NONE)
        idset_copy(out, &j->array);
    else
        idset_add(out, ref.task_id);
}

static int check_limits(struct apply_context *c, const struct job *j, struct job_ref ref, uint32_t assoc)
{
    struct job row = *j;
    struct idset tasks = {0};
    tasks_of(j, ref, &tasks);
    row.array = tasks;
    row.assoc = assoc;
    int status = limit_submit_check(c, &row, NULL);
    idset_release(&tasks);
    return status;
}

static int check(struct apply_context *c, const struct event *event, struct job_ref ref, uint32_t *out_assoc)
{
    struct state *s = c->s;
    uint32_t index = dependency_target_row(s, ref.job_id);
    if (index == NONE) return check_brought(c, event, find_brought(event, ref.job_id), ref, out_assoc);
    struct job *j = &s->jobs.items[index];
    *out_assoc = j->assoc;
    if (refuse_owner(c, event, j->id, s->assocs.items[j->assoc].user) != 0 || check_task(c, j, ref) != 0) return -1;
    if (j->forbids_requeue) return requeue_ended_refuse_forbidden(c, j->id);
    if (j->ended_us != 0 && check_ended_row(c, j, out_assoc) != 0) return -1;
    return check_limits(c, j, ref, *out_assoc);
}

int requeue_ended_check(struct apply_context *c, const struct event *event, struct job_ref ref)
{
    uint32_t unused;
    return check(c, event, ref, &unused);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The number of values up to and with value, which ascend. */
static uint32_t count_up_to(const uint32_t *values, uint32_t count, uint32_t value)
{
    uint32_t first = 0, last = count;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (values[middle] <= value)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
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
        if (check_brought(c, event, b, (struct job_ref){b->job_id, NONE}, &assoc) != 0) continue;
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
    struct idset started; /* tasks whose last attempt counts no more */
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
    s->assocs.items[assoc].live_jobs++;
    s->ended_jobs--;
    map_set_u64(&s->job_by_id, j->id, index);
    job_count_references(s, j, 1);
    job_ensure_usage_owners(s, j);
}

static void leave_live(struct state *s, const struct job *j)
{
    s->assocs.items[j->assoc].live_jobs--;
    s->ended_jobs++;
    map_remove_u64(&s->job_by_id, j->id);
    job_count_references(s, j, -1);
}

static enum task_requeue requeue_of(const struct requeue_run *run, const struct job *j)
{
    const struct actor *actor = &run->event->actor;
    if (!run->event->jobs.holds) return REQUEUE_YES;
    bool is_own = actor->user != NULL && strcmp(actor->user, run->c->s->assocs.items[j->assoc].user) == 0;
    return is_own ? REQUEUE_HELD : REQUEUE_HELD_BY_OPERATOR;
}

/* An array is held as a whole, which a single task is not. Its age grows while its tasks wait for their delay, as it
 * does while other tasks of an array run. */
static void hold_array(struct apply_context *c, struct job *j, enum task_requeue requeue)
{
    j->is_held = requeue != REQUEUE_YES;
    j->is_held_by_operator = requeue == REQUEUE_HELD_BY_OPERATOR;
    int64_t eligible_us = job_waits_eligible_us(j);
    j->accrue_us = j->is_held ? 0 : eligible_us > c->now_us ? eligible_us : c->now_us;
}

int requeue_run_revive(struct requeue_run *run, struct job_ref ref)
{
    struct apply_context *c = run->c;
    struct state *s = c->s;
    struct idset tasks = {0};
    uint32_t assoc;
    if (check(c, run->event, ref, &assoc) != 0) return -1;
    uint32_t index = dependency_target_row(s, ref.job_id);
    ensure(index != NONE);
    struct job *j = &s->jobs.items[index];
    struct requeue_revival *r = mem_resize(NULL, 0, sizeof *r);
    *r = (struct requeue_revival){.before = job_copy(j), .had_ended = j->ended_us != 0};
    *array_add(&run->revived) = r;
    tasks_of(j, ref, &tasks);
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
    requeue_tasks(c, index, &tasks, requeue_of(run, j));
    if (r->had_ended && j->is_array) hold_array(c, j, requeue_of(run, j));
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
        if (r->had_ended) dependencies_named(c, state_find_job(c->s, r->before.id), NULL);
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
