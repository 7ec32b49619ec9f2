#include "engine/dependents.h"

#include "base/ensure.h"
#include "fields/dependency_text.h"

static void clear(struct dependents *d)
{
    array_clear(&d->entries);
    array_clear(&d->causes);
    map_clear(&d->first);
    map_clear(&d->on_tasks);
    d->unused = NONE;
    d->causes_taken = 0;
    d->is_valid = false;
}

static void register_in(struct dependents *d, uint32_t job_id, uint32_t task_id, uint32_t waiting_job_id, uint32_t item)
{
    uint64_t key = map_key_of_pair(job_id, task_id);
    uint32_t entry = d->unused;
    if (entry != NONE) {
        d->unused = d->entries.items[entry].next;
    } else {
        entry = d->entries.count;
        (void)array_add(&d->entries);
    }
    d->entries.items[entry] = (struct dependent){waiting_job_id, item, map_get_u64(&d->first, key)};
    map_set_u64(&d->first, key, entry);
    if (task_id >= DEPENDENTS_BY_TASK) return;
    uint32_t count = map_get_u64(&d->on_tasks, job_id);
    map_set_u64(&d->on_tasks, job_id, count == NONE ? 1 : count + 1);
}

static void add_job(struct dependents *d, const struct job *j)
{
    for (uint32_t i = 0; j->dependency != NULL && i < j->dependency->count; i++) {
        const struct dependency_item *item = &j->dependency->items[i];
        if (item->job_id == 0 || item->is_met || item->is_failed || item->at_us != 0) continue;
        register_in(d, item->job_id, dependency_is_by_task(item->type) ? DEPENDENTS_BY_TASK : item->task_id, j->id, i);
    }
}

/* The entries of a job that was updated stay until its targets end. */
enum { FEW_ENTRIES = 1000 };

/* The index, which is built if there is none. */
static struct dependents *dependents_of(struct state *s)
{
    if (s->dependents == NULL) {
        s->dependents = mem_resize(NULL, 0, sizeof *s->dependents);
        *s->dependents = (struct dependents){0};
    }
    struct dependents *d = s->dependents;
    if (d->is_valid) return d;
    clear(d);
    d->is_valid = true;
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].ended_us == 0) add_job(d, &s->jobs.items[i]);
    }
    d->rebuild_at = FEW_ENTRIES + s->jobs.count + 2 * (uint64_t)d->entries.count;
    return d;
}

void dependents_add(struct state *s, const struct job *j)
{
    struct dependents *d = s->dependents;
    bool is_new = d == NULL || !d->is_valid;
    if (!is_new && d->causes.count == 0 && d->entries.count >= d->rebuild_at) {
        clear(d);
        is_new = true;
    }
    d = dependents_of(s);
    if (!is_new) add_job(d, j);
}

void dependents_register(struct state *s, uint32_t job_id, uint32_t task_id, uint32_t waiting_job_id, uint32_t item)
{
    register_in(dependents_of(s), job_id, task_id, waiting_job_id, item);
}

uint32_t dependents_take(struct state *s, uint32_t job_id, uint32_t task_id)
{
    uint64_t key = map_key_of_pair(job_id, task_id);
    uint32_t first = map_get_u64(&dependents_of(s)->first, key);
    if (first != NONE) map_remove_u64(&s->dependents->first, key);
    return first;
}

uint32_t dependents_take_next(struct state *s, uint32_t entry)
{
    struct dependents *d = s->dependents;
    uint32_t next = d->entries.items[entry].next;
    d->entries.items[entry].next = d->unused;
    d->unused = entry;
    return next;
}

uint32_t dependents_first(const struct state *s, uint32_t job_id, uint32_t task_id)
{
    ensure(s->dependents != NULL && s->dependents->is_valid);
    return map_get_u64(&s->dependents->first, map_key_of_pair(job_id, task_id));
}

void dependents_note(struct state *s, uint32_t job_id, uint32_t task_id)
{
    *array_add(&dependents_of(s)->causes) = (struct dependents_cause){.job_id = job_id, .task_id = task_id};
}

void dependents_note_end(struct state *s, uint32_t job_id)
{
    *array_add(&dependents_of(s)->causes) =
        (struct dependents_cause){.job_id = job_id, .task_id = NONE, .is_end = true};
}

void dependents_note_tasks(struct state *s, uint32_t job_id, const struct idset *tasks)
{
    struct dependents *d = dependents_of(s);
    bool has_by_task = map_get_u64(&d->first, map_key_of_pair(job_id, DEPENDENTS_BY_TASK)) != NONE;
    if (!has_by_task && map_get_u64(&d->on_tasks, job_id) == NONE) return;
    for (uint32_t id = idset_first(tasks); id != NONE; id = idset_next(tasks, id)) dependents_note(s, job_id, id);
}

bool dependents_next_cause(struct state *s, struct dependents_cause *out)
{
    struct dependents *d = s->dependents;
    if (d == NULL || d->causes.count == 0) return false;
    if (d->causes_taken < d->causes.count) {
        *out = d->causes.items[d->causes_taken++];
        return true;
    }
    array_clear(&d->causes);
    d->causes_taken = 0;
    return false;
}

void dependents_forget(struct state *s, uint32_t job_id)
{
    uint32_t entry = dependents_take(s, job_id, DEPENDENTS_BY_TASK);
    while (entry != NONE) entry = dependents_take_next(s, entry);
    map_remove_u64(&s->dependents->on_tasks, job_id);
}

void dependents_invalidate(struct state *s)
{
    if (s->dependents != NULL) clear(s->dependents);
}

void dependents_free(struct dependents *d)
{
    if (d == NULL) return;
    array_release(&d->entries);
    array_release(&d->causes);
    map_release(&d->first);
    map_release(&d->on_tasks);
    mem_free(d);
}
