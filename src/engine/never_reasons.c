#include "engine/never_reasons.h"

#include "engine/never_cause.h"

void never_reasons_begin(struct never_reasons *r, const struct job_demands *demands, struct arena *arena)
{
    *r = (struct never_reasons){.demands = demands, .arena = arena};
    never_runs_begin(&r->never, demands->s);
}

void never_reasons_end(struct never_reasons *r)
{
    never_runs_end(&r->never);
    array_release(&r->kinds);
    array_release(&r->reasons);
    map_release(&r->by_limits);
    buf_release(&r->key);
    arena_release(&r->scratch);
}

static const char *find_reason(struct never_reasons *r, const struct job *j, const struct demand *d,
                               bool *out_is_of_partitions)
{
    struct never_cause cause;
    struct buf text = {0};
    never_cause_find(&r->never, r->demands, j, NONE, d, &r->scratch, &cause);
    buf_format(&text, "can never run: %s", cause.text);
    const char *reason = arena_copy(r->arena, (struct str){text.text, text.length});
    *out_is_of_partitions = cause.is_of_partitions;
    buf_release(&text);
    arena_clear(&r->scratch);
    return reason;
}

/* Jobs with equal keys have the same reason if all partitions are closed to them. */
static struct str make_key(struct never_reasons *r, const struct job *j)
{
    const struct state *s = r->demands->s;
    int64_t limit_s = s->is_document ? j->document->time_limit_s : j->time_limit_s;
    buf_clear(&r->key);
    for (uint32_t p = 0; p < s->objects[OBJECT_PARTITION].count; p++)
        buf_add_char(&r->key, (char)('0' + job_demand_partition_limit(r->demands, j, NONE, p)));
    buf_add(&r->key, (const char *)&limit_s, sizeof limit_s);
    buf_add_text(&r->key, job_demands_user(r->demands, j));
    return (struct str){r->key.text, r->key.length};
}

static const char *reason_of_partitions(struct never_reasons *r, const struct job *j, const struct demand *d)
{
    struct str key = make_key(r, j);
    uint32_t index = map_get(&r->by_limits, key);
    bool unused;
    if (index != NONE) return r->reasons.items[index];
    map_set(&r->by_limits, (struct str){arena_copy(r->arena, key), key.length}, r->reasons.count);
    return *array_add(&r->reasons) = find_reason(r, j, d, &unused);
}

const char *never_reasons_of(struct never_reasons *r, const struct job *j, const struct demand *d)
{
    while (r->kinds.count <= d->kind) *array_add(&r->kinds) = (struct kind_reason){0};
    struct kind_reason *kind = &r->kinds.items[d->kind];
    if (!kind->is_known) {
        kind->is_known = true;
        kind->is_never = never_runs_is_demand(&r->never, d);
        if (kind->is_never) kind->reason = find_reason(r, j, d, &kind->is_of_partitions);
    }
    return kind->is_of_partitions ? reason_of_partitions(r, j, d) : kind->reason;
}
