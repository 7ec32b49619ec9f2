#include "engine/job_selection.h"

#include <string.h>

#include "engine/dependency_targets.h"

static const char *user_of(const struct state *s, const struct job *j)
{
    return s->assocs.items[j->assoc].user;
}

bool job_selection_permits(const struct state *s, const struct actor *actor, const struct job *j)
{
    return actor_may(actor, PERMISSION_ALL_JOBS) || (actor->user != NULL && strcmp(actor->user, user_of(s, j)) == 0);
}

static bool has_account(const struct state *s, struct str name)
{
    struct arena arena = {0};
    bool found = state_find_assoc(s, arena_copy(&arena, name), NULL) != NONE;
    arena_release(&arena);
    return found;
}

static bool has_object(const struct state *s, enum object_kind kind, struct str name)
{
    struct arena arena = {0};
    bool found = state_find_object(s, kind, arena_copy(&arena, name)) != NONE;
    arena_release(&arena);
    return found;
}

int job_selection_check(const struct state *s, const struct job_selection *selection, struct err *e)
{
    const struct {
        enum object_kind kind;
        const char *name;
    } objects[] = {{OBJECT_PARTITION, selection->partition}, {OBJECT_QOS, selection->qos}};
    for (struct str rest = str(selection->account); rest.text != NULL;) {
        struct str item = str_trim(str_cut(rest, ',', &rest));
        if (!has_account(s, item)) return err_not_found(e, "account", item);
    }
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        for (struct str rest = str(objects[i].name); rest.text != NULL;) {
            struct str item = str_trim(str_cut(rest, ',', &rest));
            if (!has_object(s, objects[i].kind, item))
                return err_not_found(e, object_classes[objects[i].kind].name, item);
        }
    }
    return 0;
}

/* Whether a value is the wanted one, or one of several that commas separate. A name may have a comma itself. */
static bool is_among(const char *wanted, const char *value)
{
    if (strcmp(wanted, value) == 0) return true;
    for (struct str rest = str(wanted); rest.text != NULL;) {
        if (str_equal(str_trim(str_cut(rest, ',', &rest)), str(value))) return true;
    }
    return false;
}

static bool is_in_partition(const struct state *s, const struct job *j, const char *partition)
{
    bool found = false;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        const struct object *p = &s->objects[OBJECT_PARTITION].items[j->partitions[i]].object;
        found |= is_among(partition, p->name);
    }
    return found;
}

static bool is_or_any(const char *wanted, const char *value)
{
    return wanted == NULL || is_among(wanted, value);
}

bool job_selection_fits(const struct state *s, const struct event *event, const struct job *j)
{
    const struct job_selection *selection = &event->jobs.selection;
    return j->ended_us == 0 && job_selection_permits(s, &event->actor, j) &&
           is_or_any(selection->user, user_of(s, j)) &&
           is_or_any(selection->account, s->assocs.items[j->assoc].account) &&
           is_or_any(selection->qos, s->objects[OBJECT_QOS].items[j->qos].object.name) &&
           is_or_any(selection->name, j->text->name) &&
           (selection->partition == NULL || is_in_partition(s, j, selection->partition));
}

int job_selection_list(const struct state *s, const struct event *event, struct arena *arena,
                       const struct job_ref **out_refs, uint32_t *out_count, struct err *e)
{
    uint32_t count = 0;
    if (job_selection_check(s, &event->jobs.selection, e) != 0) return -1;
    struct job_ref *refs = arena_alloc_raw(arena, (s->jobs.count + (size_t)1) * sizeof *refs);
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct job *j = &s->jobs.items[i];
        if (job_selection_fits(s, event, j)) refs[count++] = (struct job_ref){j->id, NONE};
    }
    *out_refs = refs;
    *out_count = count;
    return 0;
}

/* The row of a job in memory, or the one that the event brings; NULL: neither. */
static const struct job *find_row(const struct state *s, const struct event *event, uint32_t job_id)
{
    uint32_t index = dependency_target_row(s, job_id);
    if (index != NONE) return &s->jobs.items[index];
    for (uint32_t i = 0; i < event->ended_job_count; i++) {
        if (event->ended_jobs[i].job_id == job_id) return event->ended_jobs[i].row;
    }
    return NULL;
}

bool job_selection_is_known(const struct state *s, struct job_ref ref)
{
    return dependency_target_row(s, ref.job_id) != NONE;
}

uint64_t job_selection_task_weight(uint64_t weight)
{
    enum { TASKS_OF_A_ROW = 64 };
    return 1 + weight / TASKS_OF_A_ROW;
}

/* A job row's sets are written whole, as texts. */
uint64_t job_selection_weight(const struct state *s, const struct event *event, struct job_ref ref)
{
    enum { RANGES_OF_A_ROW = 32, ENDED_JOB_WEIGHT = 4 };
    const struct job *j = find_row(s, event, ref.job_id);
    if (event->kind == EVENT_SIGNAL) return 1; /* it writes no row, so it cannot be cut by tasks either */
    if (j == NULL) return event->kind == EVENT_REQUEUE ? ENDED_JOB_WEIGHT : 1;
    uint64_t ranges = (uint64_t)j->array.ranges.count + j->pending.ranges.count + j->cancelled.ranges.count,
             weight = 1 + ranges / RANGES_OF_A_ROW;
    if (event->kind == EVENT_REQUEUE && j->ended_us != 0) weight += ENDED_JOB_WEIGHT;
    bool is_of_tasks = event->kind == EVENT_REQUEUE || event->kind == EVENT_SUSPEND || event->kind == EVENT_RESUME ||
                       (event->kind == EVENT_CANCEL && !event->jobs.selection.is_of_pending);
    if (ref.task_id != NONE || !is_of_tasks) return weight;
    return weight + (j->ended_us != 0 ? idset_count(&j->array) : j->live_tasks);
}
