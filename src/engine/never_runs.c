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

static bool fits(const struct never_runs *n, const struct demand *d, struct arena *arena,
                 struct allocation *out_allocation)
{
    return place_job(&n->empty.cluster, d, (struct window){0, TIMELINE_END}, NULL, arena, out_allocation);
}

/* The slots that a demand would get, at most its smallest number. */
static uint32_t max_slots(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    const struct slot_range range = {1, d->ranges[0].min};
    struct demand smaller = *d;
    struct allocation allocation;
    smaller.ranges = &range;
    smaller.range_count = 1;
    return fits(n, &smaller, arena, &allocation) ? allocation.slots : 0;
}

/* The hosts that a demand would get, at most its smallest number. */
static uint32_t max_hosts(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    uint32_t hosts = n->empty.cluster.hosts.count;
    for (hosts = hosts < d->host_min ? hosts : d->host_min; hosts > 0; hosts--) {
        uint32_t slots = hosts * (d->slots_per_host > 0 ? d->slots_per_host : 1);
        const struct slot_range range = {slots, slots};
        struct demand smaller = *d;
        struct allocation unused;
        smaller.ranges = &range;
        smaller.range_count = 1;
        smaller.host_min = smaller.host_max = hosts;
        if (fits(n, &smaller, arena, &unused)) break;
    }
    return hosts;
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* " on one host", " on 2 to 4 hosts" */
static void add_hosts(struct buf *text, const struct demand *d, uint32_t slots)
{
    bool is_range = d->host_max > d->host_min && d->host_max != UINT32_MAX;
    if (demand_is_serial(d) && slots > 0) buf_add_text(text, " on one host");
    if (d->host_max == 0) return;
    if (is_range)
        buf_format(text, " on %u to %u hosts", d->host_min, d->host_max);
    else if (d->host_max != UINT32_MAX)
        buf_format(text, " on %u host%s", d->host_min, plural(d->host_min));
    if (d->slots_per_host > 0) buf_format(text, ", %u on each", d->slots_per_host);
}

static void add_why(const struct never_runs *n, const struct demand *d, struct arena *arena, struct buf *text)
{
    uint32_t hosts = max_hosts(n, d, arena), slots = max_slots(n, d, arena);
    buf_add_text(text, "can never run: asks for ");
    if (hosts < d->host_min) {
        buf_format(text, "%u hosts", d->host_min);
        if (d->slots_per_host > 0) buf_format(text, " with %u slots each", d->slots_per_host);
        buf_format(text, "; at most %u would fit", hosts);
        return;
    }
    buf_format(text, "%u slot%s", d->ranges[0].min, plural(d->ranges[0].min));
    add_hosts(text, d, slots);
    buf_format(text, "; at most %u would fit", slots);
}

const char *never_runs_why(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    struct allocation unused;
    struct buf text = {0};
    if (fits(n, d, arena, &unused)) return NULL;
    add_why(n, d, arena, &text);
    const char *result = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return result;
}
