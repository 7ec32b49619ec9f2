#include "engine/never_reasons.h"

#include "engine/never_cause.h"
#include "engine/quota_usage.h"

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
    map_release(&r->by_text);
    buf_release(&r->text);
    arena_release(&r->scratch);
}

static const char *find_reason(struct never_reasons *r, const struct job *j, const struct demand *d,
                               bool *out_is_of_partitions)
{
    struct never_cause cause;
    buf_clear(&r->text);
    never_cause_find(&r->never, r->demands, j, NONE, d, &r->scratch, &cause);
    buf_format(&r->text, "can never run: %s", cause.text);
    *out_is_of_partitions = cause.is_of_partitions;
    arena_clear(&r->scratch);
    const struct str text = {r->text.text, r->text.length};
    uint32_t index = map_get(&r->by_text, text);
    if (index != NONE) return r->reasons.items[index];
    const char *reason = arena_copy(r->arena, text);
    map_set(&r->by_text, (struct str){reason, text.length}, r->reasons.count);
    return *array_add(&r->reasons) = reason;
}

static struct kind_reason *kind_of(struct never_reasons *r, const struct demand *d)
{
    while (r->kinds.count <= d->kind) *array_add(&r->kinds) = (struct kind_reason){0};
    return &r->kinds.items[d->kind];
}

const char *never_reasons_of(struct never_reasons *r, const struct job *j, const struct demand *d)
{
    struct kind_reason *kind = kind_of(r, d);
    if (!kind->is_known) {
        kind->is_known = true;
        kind->is_never = never_runs_is_demand(&r->never, d);
        if (kind->is_never) kind->reason = find_reason(r, j, d, &kind->is_of_partitions);
    }
    bool unused;
    return kind->is_of_partitions ? find_reason(r, j, d, &unused) : kind->reason;
}

const char *never_reasons_of_quotas(struct never_reasons *r, const struct demand *d)
{
    struct kind_reason *kind = kind_of(r, d);
    const char *unused;
    if (kind->is_quota_known) return kind->quota;
    kind->is_quota_known = true;
    buf_clear(&r->text);
    buf_add_text(&r->text, "can never run: ");
    if (quota_usage_lasts(r->demands->m, d, &r->scratch, &r->text, &unused))
        kind->quota = arena_copy(r->arena, (struct str){r->text.text, r->text.length});
    arena_clear(&r->scratch);
    return kind->quota;
}
