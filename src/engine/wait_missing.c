#include "engine/wait_missing.h"

#include <math.h>

#include "engine/live_cluster.h"

/* Whether an object that offers the resource has so much free now; one that does not offer it does not limit it. */
static bool has_free(const struct offers *offers, uint32_t resource, double amount, int64_t now_us)
{
    const struct offer *o = offers_find(offers, resource);
    return o == NULL || isinf(o->amount) || timeline_at(&o->booked, now_us) <= timeline_limit(o->amount, amount);
}

static bool is_open(const struct cluster *c, const struct demand *d, uint32_t instance)
{
    enum { WORD_BITS = 64 };
    const struct sched_instance *in = &c->instances.items[instance];
    bool is_allowed = d->allowed == NULL || (d->allowed[instance / WORD_BITS] >> instance % WORD_BITS & 1) != 0;
    return is_allowed && !in->is_off && !in->is_overloaded;
}

/* Whether some instance has so much of the resource free, at each level that offers it. */
static bool is_free_somewhere(const struct cluster *c, const struct demand *d, uint32_t resource, double amount,
                              int64_t now_us)
{
    if (!has_free(&c->global, resource, amount, now_us)) return false;
    for (uint32_t i = 0; i < c->instances.count; i++) {
        const struct sched_instance *in = &c->instances.items[i];
        if (is_open(c, d, i) && has_free(&in->offers, resource, amount, now_us) &&
            has_free(&c->hosts.items[in->host].offers, resource, amount, now_us))
            return true;
    }
    return false;
}

static void add_name(struct buf *names, const char *name)
{
    buf_format(names, "%s%s", names->length > 0 ? "," : "", name);
}

static void find_missing(const struct cluster *c, const struct demand *d, int64_t now_us, struct buf *out)
{
    double slots = d->ranges[0].min;
    if (!is_free_somewhere(c, d, SCHED_SLOTS, slots, now_us)) add_name(out, "cpu");
    for (uint32_t i = 0; i < d->need_count; i++) {
        const struct need *n = &d->needs[i];
        const struct sched_resource *resource = &c->resources.items[n->resource];
        double amount = n->amount * (n->scope == NEED_PER_SLOT ? slots : 1.0);
        if (!resource->is_consumable || resource->relation == RELATION_EXCLUSIVE) continue;
        if (!is_free_somewhere(c, d, n->resource, amount, now_us)) add_name(out, resource->name);
    }
}

const char *wait_missing_names(struct wait_missing *w, struct state *s, const struct job *j, int64_t now_us)
{
    struct live_cluster *live = live_cluster_update(s, now_us);
    const struct demand *d = job_demand(&live->demands, j, NONE);
    if (!demand_is_serial(d) || d->range_count == 0) return NULL;
    bool is_known = w->now_us == now_us && w->made == live->made && w->kind == d->kind && d->shape != NONE;
    if (!is_known) {
        buf_clear(&w->names);
        find_missing(&live->model.cluster, d, now_us, &w->names);
        w->kind = d->kind;
        w->made = live->made;
        w->now_us = now_us;
    }
    return w->names.length > 0 ? w->names.text : NULL;
}

void wait_missing_release(struct wait_missing *w)
{
    buf_release(&w->names);
}
