#include "engine/requeue_ended.h"

#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "engine/dependency_targets.h"
#include "engine/job_admission.h"
#include "engine/job_edit.h"
#include "engine/limit_submit.h"
#include "engine/visibility.h"
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
    const struct event_ended_job *jobs = event->ended_jobs;
    uint32_t count = event->ended_job_count;
    if (count == 0) return NULL;
    uint32_t found = search_from(&jobs[0].job_id, sizeof *jobs, count, job_id);
    return found < count && jobs[found].job_id == job_id ? &jobs[found] : NULL;
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
    if (j->ended_us != 0 || event->jobs.task_first != 0) return true;
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
    if (actor_may(actor, PERMISSION_ALL_JOBS) || (actor->user != NULL && strcmp(actor->user, user) == 0)) return 0;
    return visibility_refuse_job(c->s, actor, name_of(id, (struct job_ref){job_id, NONE}), user, c->e);
}

int requeue_ended_refuse_forbidden(struct apply_context *c, uint32_t job_id)
{
    char id[JOB_ID_TEXT_SIZE];
    return err_subject(c->e, ERR_CONFLICT, "job", name_of(id, (struct job_ref){job_id, NONE}),
                       "cannot be requeued: it has requeue=no (--no-requeue)");
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

/* The row of a job that has ended: what a submission is refused for, too. */
static int check_ended_row(struct apply_context *c, struct job *j, uint32_t *out_assoc)
{
    const struct assoc *a = &c->s->assocs.items[j->assoc];
    if (find_objects_again(c, j) != 0) return -1;
    if (find_assoc(c, j->id, a->user, a->account, j->partitions[0], out_assoc) != 0) return -1;
    if (submit_check_counts(c, a->user, j->input_bytes) != 0 || submit_check_user(c, a->user) != 0) return -1;
    return job_admission_check_qos(c, j->qos, *out_assoc);
}

/* What a task waited for is not looked at after its cancellation, so it cannot wait for that again. */
static int check_conditions(struct apply_context *c, const struct job *j, struct job_ref ref)
{
    char id[JOB_ID_TEXT_SIZE];
    struct idset waited = {0};
    if (j->dependency == NULL) return 0;
    bool is_by_task = j->dependency->left == j->dependency->by_task;
    if (!is_by_task)
        idset_copy(&waited, &j->array);
    else
        dependency_list_add_waiting(j->dependency, false, &waited);
    uint32_t task = idset_first(&j->cancelled);
    while (task != NONE && (!idset_has(&waited, task) || (ref.task_id != NONE && ref.task_id != task)))
        task = idset_next(&j->cancelled, task);
    idset_release(&waited);
    if (task == NONE) return 0;
    return err_subject(c->e, ERR_CONFLICT, "job", name_of(id, (struct job_ref){j->id, is_by_task ? task : ref.task_id}),
                       "was cancelled while it waited for other jobs; submit it anew");
}

static int check_task(struct apply_context *c, const struct job *j, struct job_ref ref)
{
    char id[JOB_ID_TEXT_SIZE];
    if (ref.task_id == NONE || (j->is_array && idset_has(&j->array, ref.task_id))) return 0;
    return err_subject(c->e, ERR_NOT_FOUND, "job", name_of(id, (struct job_ref){ref.job_id, NONE}),
                       j->is_array ? "has no task %u" : "is not an array; it has no task %u", ref.task_id);
}

/* A later slice of an array is refused if the job was cancelled, or requeued anew, since the one before it. */
static int check_goes_on(struct apply_context *c, const struct event *event, const struct job *j)
{
    char id[JOB_ID_TEXT_SIZE];
    if (event->jobs.task_first == 0 || event->jobs.task_first == j->requeue_next) return 0;
    return err_subject(c->e, ERR_NOT_FOUND, "job", name_of(id, (struct job_ref){j->id, NONE}),
                       "is not being requeued any more");
}

int requeue_ended_check_brought(struct apply_context *c, const struct event *event, const struct event_ended_job *b,
                                struct job_ref ref, uint32_t *out_assoc)
{
    if (refuse_owner(c, event, b->job_id, b->user) != 0) return -1;
    if (b->row == NULL) {
        if (c->e != NULL) *c->e = b->err;
        return -1;
    }
    if (check_task(c, b->row, ref) != 0 || check_goes_on(c, event, b->row) != 0) return -1;
    if (b->row->forbids_requeue) return requeue_ended_refuse_forbidden(c, b->job_id);
    return find_assoc(c, b->job_id, b->user, b->account, b->row->partitions[0], out_assoc);
}

/* The tasks from event.task_first on that have ended, at most task_max of them. Returns whether there are more. */
static bool take_slice(const struct state *s, const struct event *event, const struct job *j, struct idset *out)
{
    uint32_t id = event->jobs.task_first, count = 0;
    if (!idset_has(&j->array, id)) id = idset_next(&j->array, id);
    for (; id != NONE && count < event->jobs.task_max; id = idset_next(&j->array, id)) {
        if (task_is_live(s, j, id)) continue; /* another request was faster */
        idset_add(out, id);
        count++;
    }
    return id != NONE;
}

bool requeue_ended_tasks(const struct state *s, const struct event *event, const struct job *j, struct job_ref ref,
                         struct idset *out)
{
    if (ref.task_id != NONE)
        idset_add(out, ref.task_id);
    else if (event->jobs.task_max != 0)
        return take_slice(s, event, j, out);
    else
        idset_copy(out, &j->array);
    return false;
}

/* Before the first slice of an array all of its tasks are counted, and none later. */
static int check_limits(struct apply_context *c, const struct event *event, const struct job *j, struct job_ref ref,
                        uint32_t assoc)
{
    struct job row = *j;
    struct idset tasks = {0};
    if (event->jobs.task_first != 0) return 0;
    if (ref.task_id == NONE)
        idset_copy(&tasks, &j->array);
    else
        idset_add(&tasks, ref.task_id);
    row.array = tasks;
    row.assoc = assoc;
    int status = limit_submit_check(c, &row, NULL);
    idset_release(&tasks);
    return status;
}

int requeue_ended_check(struct apply_context *c, const struct event *event, struct job_ref ref, uint32_t *out_assoc)
{
    struct state *s = c->s;
    uint32_t index = dependency_target_row(s, ref.job_id);
    if (index == NONE) return requeue_ended_check_brought(c, event, find_brought(event, ref.job_id), ref, out_assoc);
    struct job *j = &s->jobs.items[index];
    *out_assoc = j->assoc;
    if (refuse_owner(c, event, j->id, s->assocs.items[j->assoc].user) != 0 || check_task(c, j, ref) != 0) return -1;
    if (check_goes_on(c, event, j) != 0) return -1;
    if (j->forbids_requeue) return requeue_ended_refuse_forbidden(c, j->id);
    if (check_conditions(c, j, ref) != 0) return -1;
    if (j->ended_us != 0 && check_ended_row(c, j, out_assoc) != 0) return -1;
    return check_limits(c, event, j, ref, *out_assoc);
}
