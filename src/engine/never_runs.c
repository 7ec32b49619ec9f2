#include "engine/never_runs.h"

#include "base/ensure.h"
#include "base/number.h"

void never_runs_begin(struct never_runs *n, const struct state *s)
{
    ensure(cluster_model_make(s, &n->empty, NULL) == 0);
    struct cluster *c = &n->empty.cluster;
    n->has_sensors = cluster_model_has_sensors(s);
    for (uint32_t i = 0; i < c->instances.count; i++) {
        *array_add(&c->order) = i;
        c->instances.items[i].is_off = n->empty.has_left[i];
    }
}

void never_runs_end(struct never_runs *n)
{
    cluster_model_release(&n->empty);
}

const struct never_runs *never_runs_kept(struct state *s)
{
    /* Resources that a submission requests for the first time are there before it is accepted. */
    uint64_t edition = (1 + (uint64_t)s->rules_edition + s->host_edition) << 32 | s->objects[OBJECT_RESOURCE].count;
    if (s->never_runs == NULL) {
        s->never_runs = mem_resize(NULL, 0, sizeof *s->never_runs);
        *s->never_runs = (struct never_runs){0};
    }
    if (s->never_runs->edition == edition) return s->never_runs;
    if (s->never_runs->edition != 0) never_runs_end(s->never_runs);
    never_runs_begin(s->never_runs, s);
    s->never_runs->edition = edition;
    return s->never_runs;
}

void never_runs_drop(struct state *s)
{
    if (s->never_runs == NULL) return;
    if (s->never_runs->edition != 0) never_runs_end(s->never_runs);
    mem_free(s->never_runs);
    s->never_runs = NULL;
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

/* Load values change, so that a job that needs another one waits. */
static struct demand without_loads(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    struct demand other = *d;
    struct need *needs = arena_alloc(arena, (d->need_count + (size_t)1) * sizeof *needs);
    other.need_count = 0;
    for (uint32_t i = 0; i < d->need_count; i++) {
        uint32_t resource = d->needs[i].resource;
        bool may_come = n->has_sensors && !cluster_model_offers(&n->empty, resource);
        if (!may_come && !cluster_model_is_load(&n->empty, resource)) needs[other.need_count++] = d->needs[i];
    }
    other.needs = needs;
    return other;
}

/* The need without which the demand would fit; NULL: no single one. */
static const struct need *find_blocking(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    struct need *needs = arena_alloc(arena, (d->need_count + (size_t)1) * sizeof *needs);
    for (uint32_t i = 0; i < d->need_count; i++) {
        struct demand other = *d;
        struct allocation unused;
        other.need_count = 0;
        for (uint32_t k = 0; k < d->need_count; k++) {
            if (k != i) needs[other.need_count++] = d->needs[k];
        }
        other.needs = needs;
        if (fits(n, &other, arena, &unused)) return &d->needs[i];
    }
    return NULL;
}

/* "asks for gres/gpu=5; that is more than there is" */
static void add_need(const struct never_runs *n, const struct demand *d, const struct need *need, struct buf *text)
{
    static const char *const scopes[] = {
        [NEED_PER_SLOT] = " for each slot", [NEED_PER_HOST] = " on each host", [NEED_PER_JOB] = ""};
    char amount[NUMBER_TEXT_SIZE];
    amount[number_format_shortest(amount, need->amount)] = '\0';
    bool is_of_many = need->scope == NEED_PER_SLOT ? d->ranges[0].min > 1 : !demand_is_serial(d);
    buf_format(text, "can never run: asks for %s=%s%s; ", n->empty.cluster.resources.items[need->resource].name,
               need->text != NULL ? need->text : amount, is_of_many ? scopes[need->scope] : "");
    buf_add_text(text, need->text != NULL ? "no host has that" : "that is more than there is");
}

const char *never_runs_why(const struct never_runs *n, const struct demand *d, struct arena *arena)
{
    struct allocation unused;
    struct buf text = {0};
    const struct demand lasting = without_loads(n, d, arena);
    if (fits(n, &lasting, arena, &unused)) return NULL;
    bool fits_partly = max_slots(n, &lasting, arena) > 0 || (lasting.host_min > 1 && max_hosts(n, &lasting, arena) > 0);
    const struct need *blocking = fits_partly ? NULL : find_blocking(n, &lasting, arena);
    if (blocking != NULL)
        add_need(n, &lasting, blocking, &text);
    else
        add_why(n, &lasting, arena, &text);
    const char *result = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return result;
}
