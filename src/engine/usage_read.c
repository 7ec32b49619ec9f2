#include "engine/usage_read.h"

#include <string.h>

#include "base/ensure.h"

const struct job *usage_read_job(const struct state *s, const struct task *k)
{
    uint32_t index = state_find_job(s, k->job_id);
    ensure(index != NONE);
    return &s->jobs.items[index];
}

bool usage_read_is_of_qos(const struct state *s, const struct task *k, uint32_t qos)
{
    return k->partition_qos == qos || usage_read_job(s, k)->qos == qos;
}

double usage_read_rate(const struct task *k, uint32_t kind)
{
    if (kind == USAGE_WALL) return k->usage_factor;
    return kind == TRES_BILLING ? task_rate(k) : tres_amount_of(&k->tres, kind) * k->usage_factor;
}

static double stored_of(uint32_t kind, double billing, const double *tres, double wall)
{
    if (kind == USAGE_WALL) return wall;
    if (kind == TRES_BILLING) return billing;
    return tres != NULL ? tres[kind] : 0.0;
}

double usage_read_assoc_stored(const struct assoc *a, uint32_t kind)
{
    return stored_of(kind, a->usage, a->usage_tres, a->usage_wall);
}

double usage_read_qos_stored(const struct object_row *qos, uint32_t kind)
{
    return stored_of(kind, qos->usage, qos->usage_tres, qos->usage_wall);
}

/* --- associations ------------------------------------------------------------------------------------------------- */

static void add_running(const struct state *s, uint32_t kind, int64_t now_us, double *own)
{
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (!task_is_charged(k)) continue;
        int64_t from_us = usage_read_begin(s, k, s->assocs.items[k->assoc].reset_us);
        own[s->node_of.items[k->assoc]] +=
            usage_charge(s->decay.halflife_us, usage_read_rate(k, kind), from_us, now_us);
    }
}

/* As usage_read_own of TRES_BILLING, which the shares need in every pass: from the copy that is read sequentially. */
double *state_own_usage(struct state *s, int64_t now_us, struct arena *arena)
{
    const struct tree *t = state_tree(s);
    double *own = arena_alloc_raw(arena, t->count * sizeof *own);
    double scale = decay_scale(&s->decay, now_us);
    for (uint32_t node = 0; node < t->count; node++) own[node] = s->usage_of.items[node] * scale;
    add_running(s, TRES_BILLING, now_us, own);
    return own;
}

double *usage_read_own(struct state *s, uint32_t kind, int64_t now_us, struct arena *arena)
{
    ensure(kind == USAGE_WALL || kind < s->policy.tres.count);
    const struct tree *t = state_tree(s);
    double *own = arena_alloc_raw(arena, t->count * sizeof *own);
    double scale = decay_scale(&s->decay, now_us);
    for (uint32_t node = 0; node < t->count; node++)
        own[node] = usage_read_assoc_stored(&s->assocs.items[s->assoc_of.items[node]], kind) * scale;
    add_running(s, kind, now_us, own);
    return own;
}

double *usage_read_below(struct state *s, uint32_t kind, int64_t now_us, struct arena *arena)
{
    double *usage = usage_read_own(s, kind, now_us, arena);
    tree_sum_usage(state_tree(s), usage, usage);
    return usage;
}

/* --- QOS ---------------------------------------------------------------------------------------------------------- */

void usage_read_qos(const struct state *s, uint32_t qos, int64_t now_us, double out_usage[USAGE_KIND_COUNT])
{
    ensure(qos < s->objects[OBJECT_QOS].count);
    const struct object_row *q = &s->objects[OBJECT_QOS].items[qos];
    int64_t halflife_us = usage_read_has_decay(q) ? s->decay.halflife_us : 0;
    double scale = usage_read_has_decay(q) ? decay_scale(&s->decay, now_us) : 1.0;
    for (uint32_t kind = 0; kind < USAGE_KIND_COUNT; kind++) out_usage[kind] = usage_read_qos_stored(q, kind) * scale;
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (!task_is_charged(k) || !usage_read_is_of_qos(s, k, qos)) continue;
        int64_t from_us = usage_read_begin(s, k, q->reset_us);
        double charge_of_one = usage_charge(halflife_us, k->usage_factor, from_us, now_us);
        out_usage[TRES_BILLING] += usage_charge(halflife_us, task_rate(k), from_us, now_us);
        out_usage[USAGE_WALL] += charge_of_one;
        for (uint32_t t = 0; t < k->tres.count; t++)
            out_usage[k->tres.items[t].tres] += k->tres.items[t].amount * charge_of_one;
    }
}

double state_qos_usage(const struct state *s, uint32_t qos, int64_t now_us)
{
    double usage[USAGE_KIND_COUNT];
    usage_read_qos(s, qos, now_us, usage);
    return usage[TRES_BILLING];
}
