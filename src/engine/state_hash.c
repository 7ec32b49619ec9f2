/* The hash of a state: every row that has not ended, by content and id, without derived members. */
#include <string.h>

#include "base/hash.h"
#include "engine/handlers.h"
#include "engine/job_members.h"
#include "fields/limit_fields.h"

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

static uint64_t mix_tres(uint64_t hash, const double *usage_tres)
{
    for (uint32_t i = 0; usage_tres != NULL && i < TRES_MAX; i++) {
        if (usage_tres[i] > 0.0) hash = mix_double(mix(hash, i), usage_tres[i]);
    }
    return hash;
}

static uint64_t mix_value(uint64_t hash, const struct field_value *value)
{
    return mix_text(mix_double(mix(hash, (uint64_t)value->number), value->real), value->text);
}

static uint64_t hash_assoc(const struct state *s, const struct assoc *a)
{
    uint64_t hash = mix(TABLE_ASSOC, a->id);
    hash = mix(hash, a->parent == NONE ? 0 : s->assocs.items[a->parent].id);
    hash = mix_text(mix_text(mix_text(hash, a->account), a->user), a->partition);
    hash = mix(mix(hash, a->shares), a->is_default);
    hash = mix(mix_double(hash, a->usage), (uint64_t)a->created_us);
    hash = mix(mix(hash, a->priority), (uint64_t)a->reset_us);
    hash = mix_tres(mix_double(hash, a->usage_wall), a->usage_tres);
    for (uint32_t i = 0; a->limits != NULL && i < ASSOC_LIMIT_COUNT; i++) {
        if (!field_equal(field_at(&limit_fields, i), &a->limits[i], &limit_fields_defaults[i]))
            hash = mix_value(mix(hash, i), &a->limits[i]);
    }
    return hash;
}

static uint64_t hash_object(enum object_kind kind, const struct object_row *o)
{
    uint64_t hash = mix_text(mix(mix(TABLE_OBJECT, kind), o->id), o->object.name);
    for (uint32_t i = 0; i < object_classes[kind].field_count; i++) hash = mix_value(hash, &o->object.value[i]);
    hash = mix(mix_double(mix(hash, (uint64_t)o->created_us), o->usage), (uint64_t)o->reset_us);
    return mix_tres(mix_double(hash, o->usage_wall), o->usage_tres);
}

/* 0 for a row without usage: it has the same effect as no row. */
static uint64_t hash_owner(const struct usage_owner *o)
{
    uint64_t hash = mix_text(mix_text(TABLE_OWNER, o->user), o->project);
    if (o->at_us == 0 && o->reset_us == 0) return 0;
    for (int r = 0; r < USAGE_RESOURCE_COUNT; r++) hash = mix_double(hash, o->usage.used[r]);
    return mix(mix(hash, (uint64_t)o->at_us), (uint64_t)o->reset_us);
}

/* Every field that decisions depend on. Clears arena. */
static uint64_t hash_job(const struct state *s, const struct job *j, struct arena *arena)
{
    uint64_t hash = TABLE_JOB;
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].home != JOB_HOME_JOB || !job_field_rows[f].is_decisive) continue;
        const struct field_value value = job_member(s, j, f, arena);
        hash = mix_value(mix(hash, f), &value);
    }
    for (uint32_t i = 0; j->min_priorities != NULL && i < j->partition_count; i++) {
        if (j->min_priorities[i].stored != 0) hash = mix(mix(hash, i), j->min_priorities[i].stored);
    }
    arena_clear(arena);
    return hash;
}

static uint64_t hash_task(const struct state *s, const struct task *k, struct arena *arena)
{
    uint64_t hash = mix(mix(TABLE_TASK, k->job_id), s->assocs.items[k->assoc].id);
    for (enum job_field f = 0; f < JOB_FIELD_COUNT; f++) {
        if (job_field_rows[f].home != JOB_HOME_TASK || !job_field_rows[f].is_decisive) continue;
        const struct field_value value = task_member(s, k, f, arena);
        hash = mix_value(mix(hash, f), &value);
    }
    arena_clear(arena);
    return hash;
}

uint64_t state_hash(const struct state *s)
{
    uint64_t hash = mix(mix(s->next_assoc_id, s->next_job_id), s->next_launch_id);
    hash = mix(mix(hash, (uint64_t)s->decay.halflife_us), (uint64_t)s->decay.reference_us);
    hash = mix(mix(hash, (uint64_t)s->usage_reset_us), (uint64_t)s->reset_period_us);
    hash = mix(mix(hash, (uint64_t)s->quarantined_us), (uint64_t)s->conversions.number);
    for (uint32_t i = 0; i < s->conversions.list.count; i++)
        hash = mix(hash, (uint64_t)s->conversions.list.items[i].number);
    for (int i = 0; i < SETTING_COUNT; i++) hash = mix_value(hash, &s->settings.value[i]);
    /* The hashes of rows are added, because the order of rows may differ: tasks are in order of launch, or of (job,
     * task) when they were restored. */
    uint64_t rows = 0;
    struct arena arena = {0};
    for (uint32_t i = 0; i < s->assocs.count; i++) {
        if (s->assocs.items[i].deleted_us == 0) rows += hash_assoc(s, &s->assocs.items[i]);
    }
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        if (s->jobs.items[i].ended_us == 0) rows += hash_job(s, &s->jobs.items[i], &arena);
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        if (!job_state_is_end(s->tasks.items[i].state)) rows += hash_task(s, &s->tasks.items[i], &arena);
    }
    for (int kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < s->objects[kind].count; i++) {
            const struct object_row *o = &s->objects[kind].items[i];
            if (!o->is_deleted) rows += hash_object((enum object_kind)kind, o);
        }
    }
    for (uint32_t i = 0; i < s->owners.count; i++) rows += hash_owner(&s->owners.items[i]);
    arena_release(&arena);
    return mix(hash, rows);
}
