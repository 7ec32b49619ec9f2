/* From rows back to a state, and a state's hash. */
#include <string.h>

#include "base/ensure.h"
#include "engine/internal.h"

/* While rows come in, parent and assoc hold ids; state_restore_done makes them indices. */

void state_restore_assoc(struct state *s, const struct assoc *row, uint32_t parent_id)
{
    ensure(row->id > 0 && (s->assocs.count == 0 || row->id > s->assocs.items[s->assocs.count - 1].id));
    struct assoc *a = array_add(&s->assocs);
    *a = *row;
    a->account = arena_copy(&s->arena, str(row->account));
    a->user = row->user ? arena_copy(&s->arena, str(row->user)) : NULL;
    a->parent = parent_id;
    a->live_jobs = 0;
}

void state_restore_job(struct state *s, const struct job *row, uint32_t assoc_id)
{
    uint32_t index = job_append(s, row);
    s->jobs.items[index].assoc = assoc_id;
    s->jobs.items[index].live_tasks = 0;
}

void state_restore_task(struct state *s, const struct task *row)
{
    task_append(s, row);
}

static int link_assocs(struct state *s, const struct map *by_id, struct err *e)
{
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        struct assoc *a = &s->assocs.items[i];
        if (a->id >= s->next_assoc_id)
            return err_set(e, ERR_INTERNAL, "association %u is beyond the next id %u", a->id, s->next_assoc_id);
        if (strlen(a->account) > NAME_BYTES_MAX || (a->user != NULL && strlen(a->user) > NAME_BYTES_MAX))
            return err_set(e, ERR_INTERNAL, "association %u has a name of over %d bytes", a->id, NAME_BYTES_MAX);
        if (state_find_assoc(s, a->account, a->user) != NONE)
            return err_set(e, ERR_INTERNAL, "association %u stands twice: account %s, user %s", a->id, a->account,
                           a->user ? a->user : "-");
        uint32_t parent = map_get_u64(by_id, a->parent);
        bool is_root = i == 0;
        if (is_root != (parent == NONE) || (parent != NONE && s->assocs.items[parent].user != NULL))
            return err_set(e, ERR_INTERNAL, "association %u has no account %u above it", a->id, a->parent);
        a->parent = parent;
        assoc_index_name(s, i);
    }
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        uint32_t steps = 0;
        for (uint32_t up = i; up != NONE && steps <= TREE_DEPTH_MAX; up = s->assocs.items[up].parent) steps++;
        if (steps > TREE_DEPTH_MAX + 1u)
            return err_set(e, ERR_INTERNAL, "association %u is in a circle", s->assocs.items[i].id);
    }
    return 0;
}

static int link_jobs(struct state *s, const struct map *by_id, struct err *e)
{
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        struct job *j = &s->jobs.items[i];
        uint32_t assoc = map_get_u64(by_id, j->assoc);
        if (assoc == NONE || s->assocs.items[assoc].user == NULL)
            return err_set(e, ERR_INTERNAL, "job %u belongs to association %u, which is no user's", j->id, j->assoc);
        if (j->id >= s->next_job_id)
            return err_set(e, ERR_INTERNAL, "job %u is beyond the next id %u", j->id, s->next_job_id);
        j->assoc = assoc;
        s->assocs.items[assoc].live_jobs++;
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct task *k = &s->tasks.items[i];
        uint32_t job = state_find_job(s, k->job_id);
        if (job == NONE || k->launch_id >= s->next_launch_id || k->state == JOB_PENDING || job_state_is_end(k->state))
            return err_set(e, ERR_INTERNAL, "task %u_%u does not fit its job or the next launch id", k->job_id,
                           k->task_id);
        k->assoc = s->jobs.items[job].assoc;
        s->jobs.items[job].live_tasks++;
    }
    return 0;
}

int state_restore_done(struct state *s, struct err *e)
{
    struct map by_id = {0};
    if (s->assocs.count == 0 || s->assocs.items[0].id != 1)
        return err_set(e, ERR_INTERNAL, "there is no root association");
    for (uint32_t i = 0; i < s->assocs.count; i++) map_set_u64(&by_id, s->assocs.items[i].id, i);
    int result = link_assocs(s, &by_id, e);
    if (result == 0) result = link_jobs(s, &by_id, e);
    map_release(&by_id);
    if (result != 0) return -1;
    s->tree_is_stale = true;
    rebuild_host(s);
    return 0;
}

/* --- hash --------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return hash_u64(hash ^ hash_u64(value + UINT64_C(0x9e3779b97f4a7c15)));
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return text ? hash_bytes(text, strlen(text), hash) : mix(hash, 0);
}

static uint64_t mix_double(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mix(hash, bits);
}

static uint64_t mix_set(uint64_t hash, const struct idset *set)
{
    for (uint32_t i = 0; i < set->ranges.count; i++)
        hash = mix(hash, task_key(set->ranges.items[i].first, set->ranges.items[i].last));
    return mix(hash, set->ranges.count);
}

static uint64_t hash_assoc(const struct state *s, const struct assoc *a)
{
    uint64_t hash = mix(TABLE_ASSOC, a->id);
    hash = mix(hash, a->parent == NONE ? 0 : s->assocs.items[a->parent].id);
    hash = mix_text(mix_text(hash, a->account), a->user);
    hash = mix(mix(hash, a->shares), a->is_default);
    return mix(mix_double(hash, a->usage), (uint64_t)a->created_us);
}

static uint64_t hash_job(const struct state *s, const struct job *j)
{
    uint64_t hash = mix(mix(TABLE_JOB, j->id), s->assocs.items[j->assoc].id);
    hash = mix(hash, task_key(j->uid, j->gid));
    hash = mix_text(mix_text(hash, j->name), j->directory);
    hash = mix_text(mix_text(mix_text(hash, j->out_pattern), j->err_pattern), j->command);
    hash = mix(mix(hash, task_key(j->request.cpus, j->request.gpus)), j->request.mem_mib);
    hash = mix(mix(hash, (uint64_t)j->time_limit_s), (uint64_t)j->submit_us);
    hash = mix(mix(mix(hash, j->held), j->is_array), j->array_limit);
    return mix_set(mix_set(mix_set(hash, &j->array), &j->pending), &j->cancelled);
}

static uint64_t hash_task(const struct state *s, const struct task *k)
{
    uint64_t hash = mix(mix(TABLE_TASK, task_key(k->job_id, k->task_id)), s->assocs.items[k->assoc].id);
    hash = mix(mix(mix(hash, k->state), k->cancelled), k->launch_id);
    hash = mix_text(hash, k->boot_id);
    hash = mix(mix(mix(hash, (uint64_t)k->launch_us), (uint64_t)k->start_us), (uint64_t)k->charged_us);
    hash = mix_set(mix_set(hash, &k->placement.cpus), &k->placement.gpus);
    return mix(mix(hash, k->placement.mem_mib), hash_bytes(&k->billing, sizeof k->billing, 0));
}

uint64_t state_hash(const struct state *s)
{
    uint64_t hash = mix(mix(s->next_assoc_id, s->next_job_id), s->next_launch_id);
    hash = mix(mix(hash, (uint64_t)s->decay.halflife_us), (uint64_t)s->decay.reference_us);
    for (int i = 0; i < SETTING_COUNT; i++) {
        const struct field_value *value = &s->settings.value[i];
        hash = mix(mix(hash, (uint64_t)value->number), hash_bytes(&value->real, sizeof value->real, 0));
        hash = mix(hash, hash_bytes(value->text, strlen(value->text), 0));
    }
    /* Rows are added up: tasks stand in order of launch here and of (job, task) there. */
    uint64_t rows = 0;
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        if (s->assocs.items[i].deleted_us == 0) rows += hash_assoc(s, &s->assocs.items[i]);
    }
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].ended_us == 0) rows += hash_job(s, &s->jobs.items[i]);
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!job_state_is_end(s->tasks.items[i].state)) rows += hash_task(s, &s->tasks.items[i]);
    }
    return mix(hash, rows);
}
