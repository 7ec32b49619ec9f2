#include "engine/never_runs.h"

#include "base/ensure.h"

void never_runs_begin(struct never_runs *n, const struct state *s)
{
    ensure(cluster_model_make(s, &n->empty, NULL) == 0);
    struct cluster *c = &n->empty.cluster;
    for (uint32_t i = 0; i < c->instances.count; i++) {
        *array_add(&c->order) = i;
        c->instances.items[i].is_off = false;
    }
}

void never_runs_end(struct never_runs *n)
{
    cluster_model_release(&n->empty);
}

/* The slots that a demand would get, at most its smallest number. */
static uint32_t slots_at_most(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    const struct slot_range range = {1, d->ranges[0].min};
    const struct window always = {0, TIMELINE_END};
    struct demand smaller = *d;
    struct allocation allocation;
    smaller.ranges = &range;
    smaller.range_count = 1;
    return place_job(&n->empty.cluster, &smaller, always, NULL, arena, &allocation) ? allocation.slots : 0;
}

const char *never_runs_why(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    struct allocation unused;
    struct buf text = {0};
    if (place_job(&n->empty.cluster, d, (struct window){0, TIMELINE_END}, NULL, arena, &unused)) return NULL;
    uint32_t slots = slots_at_most(n, d, arena);
    bool is_on_one_host = d->environment_count == 0 && slots > 0;
    buf_format(&text, "can never run: asks for %u slot%s%s; at most %u would fit", d->ranges[0].min,
               d->ranges[0].min == 1 ? "" : "s", is_on_one_host ? " on one host" : "", slots);
    const char *result = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return result;
}
