/* A state's hash: every row that has not ended, by content and id. What is derived is not in it. */
#include <string.h>

#include "base/hash.h"
#include "engine/handlers.h"

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
    hash = mix(mix_double(hash, a->usage), (uint64_t)a->created_us);
    hash = mix(mix(hash, a->priority), (uint64_t)a->reset_us);
    for (uint32_t i = 0; a->usage_tres != NULL && i < TRES_MAX; i++) {
        if (a->usage_tres[i] > 0.0) hash = mix_double(mix(hash, i), a->usage_tres[i]);
    }
    return hash;
}

static uint64_t mix_value(uint64_t hash, const struct field_value *value)
{
    return mix_text(mix_double(mix(hash, (uint64_t)value->number), value->real), value->text);
}

static uint64_t hash_object(enum object_kind kind, const struct object_row *o)
{
    uint64_t hash = mix_text(mix(mix(TABLE_OBJECT, kind), o->id), o->object.name);
    for (uint32_t i = 0; i < object_classes[kind].field_count; i++) hash = mix_value(hash, &o->object.value[i]);
    return mix(mix_double(mix(hash, (uint64_t)o->created_us), o->usage), (uint64_t)o->reset_us);
}

/* A row without usage is as good as none. */
static uint64_t hash_owner(const struct owner *o)
{
    uint64_t hash = mix_text(mix_text(TABLE_OWNER, o->user), o->project);
    if (o->at_us == 0 && o->reset_us == 0) return 0;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) hash = mix_double(hash, o->usage.used[r]);
    return mix(mix(hash, (uint64_t)o->at_us), (uint64_t)o->reset_us);
}

static uint32_t id_of(const struct state *s, enum object_kind kind, uint32_t index)
{
    return index == NONE ? 0 : s->objects[kind].items[index].id;
}

static uint64_t hash_terms(const struct state *s, const struct job *j)
{
    uint64_t hash = mix(mix(mix(0, (uint64_t)j->begin_us), (uint64_t)j->accrue_us), (uint64_t)j->deadline_us);
    for (uint32_t i = 0; i < j->partition_count; i++) hash = mix(hash, id_of(s, OBJECT_PARTITION, j->partitions[i]));
    hash = mix(mix(hash, id_of(s, OBJECT_QOS, j->qos)), id_of(s, OBJECT_PROJECT, j->project));
    hash = mix(mix(hash, task_key((uint32_t)j->nice, (uint32_t)j->site)), j->set_priority);
    hash = mix(mix(hash, task_key((uint32_t)j->posix_priority, j->slots_max)),
               task_key(j->job_share, j->override_tickets));
    for (uint32_t i = 0; i < j->request_count; i++) {
        const struct job_request *r = &j->requests[i];
        hash = mix_text(mix_double(mix(hash, id_of(s, OBJECT_RESOURCE, r->resource)), r->amount), r->text);
    }
    for (uint32_t i = 0; j->floors != NULL && i < j->partition_count; i++) {
        if (j->floors[i].stored != 0) hash = mix(mix(hash, i), j->floors[i].stored);
    }
    return hash;
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
    hash = mix(hash, hash_terms(s, j));
    return mix_set(mix_set(mix_set(hash, &j->array), &j->pending), &j->cancelled);
}

static uint64_t hash_task(const struct state *s, const struct task *k)
{
    uint64_t hash = mix(mix(TABLE_TASK, task_key(k->job_id, k->task_id)), s->assocs.items[k->assoc].id);
    hash = mix(mix(mix(hash, k->state), k->cancelled), k->launch_id);
    hash = mix_text(hash, k->boot_id);
    hash = mix(mix(mix(hash, (uint64_t)k->launch_us), (uint64_t)k->start_us), (uint64_t)k->charged_us);
    hash = mix_set(mix_set(hash, &k->placement.cpus), &k->placement.gpus);
    hash = mix(mix(hash, k->placement.mem_mib), id_of(s, OBJECT_PARTITION, k->partition));
    for (uint32_t i = 0; i < k->tres.count; i++)
        hash = mix_double(mix(hash, k->tres.items[i].tres), k->tres.items[i].amount);
    return mix_double(mix_double(hash, k->billing), k->usage_factor);
}

uint64_t state_hash(const struct state *s)
{
    uint64_t hash = mix(mix(s->next_assoc_id, s->next_job_id), s->next_launch_id);
    hash = mix(mix(hash, (uint64_t)s->decay.halflife_us), (uint64_t)s->decay.reference_us);
    hash = mix(mix(hash, (uint64_t)s->usage_reset_us), (uint64_t)s->reset_period_us);
    for (int i = 0; i < SETTING_COUNT; i++) hash = mix_value(hash, &s->settings.value[i]);
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
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < s->objects[kind].count; i++) {
            const struct object_row *o = &s->objects[kind].items[i];
            if (!o->is_deleted) rows += hash_object((enum object_kind)kind, o);
        }
    }
    for (uint32_t i = 0; i < s->owners.count; i++) rows += hash_owner(&s->owners.items[i]);
    return mix(hash, rows);
}
