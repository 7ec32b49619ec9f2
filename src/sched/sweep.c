#include "sched/sweep.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"

/* --- events ------------------------------------------------------------------------------------------------------- */

/* The index of the first event at a time or later. */
static uint32_t first_at(const struct sweep_events *e, int64_t at_us)
{
    uint32_t low = 0, high = e->list.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (e->list.items[middle].at_us < at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double free_in(const struct offers *o, int64_t at_us)
{
    const struct offer *slots = offers_find(o, SCHED_SLOTS);
    return slots == NULL ? INFINITY : timeline_limit(slots->amount, timeline_at(&slots->booked, at_us));
}

/* The slots that are free on a host at a time, for any job. */
static uint32_t free_at(const struct cluster *c, uint32_t host, int64_t at_us)
{
    const struct sched_host *h = &c->hosts.items[host];
    double free = 0.0;
    for (uint32_t i = h->first_instance; i < h->first_instance + h->instance_count; i++)
        free += fmax(0.0, free_in(&c->instances.items[i].offers, at_us)); /* a queue may be overbooked */
    free = fmin(free, free_in(&h->offers, at_us));
    return free < 1.0 ? 0 : free < (double)UINT32_MAX ? (uint32_t)free : UINT32_MAX;
}

static void insert(struct sweep_events *e, struct sweep_event event)
{
    uint32_t at = first_at(e, event.at_us);
    (void)array_add(&e->list);
    memmove(&e->list.items[at + 1], &e->list.items[at], (e->list.count - 1 - at) * sizeof *e->list.items);
    e->list.items[at] = event;
}

static void sort_events(struct sweep_events *e, int64_t now_us)
{
    struct arena arena = {0};
    size_t size = (e->list.count + (size_t)1) * sizeof(struct sort_record);
    struct sort_record *records = arena_alloc_raw(&arena, size), *scratch = arena_alloc_raw(&arena, size);
    for (uint32_t i = 0; i < e->list.count; i++) {
        uint64_t key = (uint64_t)e->list.items[i].at_us - (uint64_t)now_us;
        records[i] = (struct sort_record){.key = key, .index = e->list.items[i].host};
    }
    sort_records(records, e->list.count, scratch);
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->list.count; i++) {
        struct sweep_event event = {now_us + (int64_t)records[i].key, records[i].index, NONE};
        const struct sweep_event *last = count > 0 ? &e->list.items[count - 1] : NULL;
        if (last == NULL || last->at_us != event.at_us || last->host != event.host) e->list.items[count++] = event;
    }
    e->list.count = count;
    arena_release(&arena);
}

static void collect(struct sweep *s, const struct offers *o, uint32_t host)
{
    for (uint32_t i = 0; i < o->list.count; i++) {
        const struct timeline *booked = &o->list.items[i].booked;
        for (uint32_t k = 0; k < booked->changes.count; k++) {
            const struct timeline_change *change = &booked->changes.items[k];
            bool is_end = change->booked < (k > 0 ? change[-1].booked : 0.0);
            struct sweep_events *events = is_end ? &s->ends : &s->begins;
            if (change->at_us > s->now_us) *array_add(&events->list) = (struct sweep_event){change->at_us, host, NONE};
        }
    }
}

void sweep_init(struct sweep *s, const struct cluster *c, int64_t now_us)
{
    *s = (struct sweep){.cluster = c, .now_us = now_us, .rank_is_stale = true};
    for (uint32_t i = 0; i < c->hosts.count; i++) {
        const struct sched_host *h = &c->hosts.items[i];
        collect(s, &h->offers, i);
        for (uint32_t k = h->first_instance; k < h->first_instance + h->instance_count; k++)
            collect(s, &c->instances.items[k].offers, i);
    }
    s->free_now = arena_alloc_raw(&s->arena, (c->hosts.count + (size_t)1) * sizeof *s->free_now);
    for (uint32_t i = 0; i < c->hosts.count; i++) s->free_now[i] = free_at(c, i, now_us);
    sort_events(&s->ends, now_us);
    sort_events(&s->begins, now_us);
}

void sweep_release(struct sweep *s)
{
    array_release(&s->ends.list);
    array_release(&s->new_ends.list);
    array_release(&s->begins.list);
    array_release(&s->new_begins.list);
    array_release(&s->bookings);
    array_release(&s->shapes);
    arena_release(&s->arena);
}

void sweep_booked(struct sweep *s, const struct allocation *a, int64_t from_us, int64_t until_us)
{
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t host = s->cluster->instances.items[a->parts[i].instance].host;
        *array_add(&s->bookings) = (struct sweep_booking){host, from_us, until_us};
        if (from_us > s->now_us) insert(&s->new_begins, (struct sweep_event){from_us, host, NONE});
        if (until_us != TIMELINE_END) insert(&s->new_ends, (struct sweep_event){until_us, host, NONE});
    }
}

void sweep_reordered(struct sweep *s)
{
    s->rank_is_stale = true;
}

static bool is_on_one_host(const struct cluster *c, const struct demand *d)
{
    if (d->environment_count == 0) return d->host_max == 0;
    return c->environments.items[d->environments[0]].rule == ALLOCATE_ONE_HOST;
}

/* The sweep knows for each host what it offers as the first one. */
static bool has_special_first_host(const struct cluster *c, const struct demand *d)
{
    return is_on_one_host(c, d) ? d->masters != NULL : demand_has_special_first(d);
}

bool sweep_serves(const struct sweep *s, const struct demand *d)
{
    const struct cluster *c = s->cluster;
    if (d->is_whole || d->environment_count > 1 || d->quota_count > 0 || has_special_first_host(c, d)) return false;
    if (offers_find(&c->global, SCHED_SLOTS) != NULL) return false;
    for (uint32_t i = 0; i < d->need_count; i++) {
        bool is_consumable = c->resources.items[d->needs[i].resource].is_consumable;
        if (is_consumable && offers_find(&c->global, d->needs[i].resource) != NULL) return false;
    }
    if (d->environment_count == 0) return true;
    const struct offer *slots = offers_find(&c->environments.items[d->environments[0]].offers, SCHED_SLOTS);
    return slots == NULL || isinf(slots->amount);
}

/* What is free on a host when a booking ends. */
static uint32_t free_after(const struct sweep *s, struct sweep_event *end)
{
    if (end->free == NONE) end->free = free_at(s->cluster, end->host, end->at_us);
    return end->free;
}

/* The next time at which a booking ends, after a time. */
static int64_t next_end(const struct sweep *s, int64_t after_us)
{
    const struct sweep_events *both[] = {&s->ends, &s->new_ends};
    int64_t next_us = TIMELINE_END;
    for (int i = 0; i < 2; i++) {
        uint32_t at = first_at(both[i], after_us + 1);
        if (at < both[i]->list.count && both[i]->list.items[at].at_us < next_us)
            next_us = both[i]->list.items[at].at_us;
    }
    return next_us;
}

/* --- jobs on one host --------------------------------------------------------------------------------------------- */

static void update_rank(struct sweep *s)
{
    const struct cluster *c = s->cluster;
    if (!s->rank_is_stale) return;
    if (s->rank == NULL) s->rank = arena_alloc_raw(&s->arena, (c->instances.count + (size_t)1) * sizeof *s->rank);
    for (uint32_t i = 0; i < c->order.count; i++) s->rank[c->order.items[i]] = i;
    s->rank_is_stale = false;
}

/* Tries the hosts that offer enough, in the order of their instances. */
static bool place_on_one(struct sweep *s, const struct demand *d, int64_t at_us, const uint32_t *hosts, uint32_t count,
                         struct arena *arena, struct allocation *out)
{
    const struct cluster *c = s->cluster;
    uint32_t max = 0, n = 0;
    for (uint32_t i = 0; i < count; i++) max += c->hosts.items[hosts[i]].instance_count;
    size_t size = (max + (size_t)1) * sizeof(struct sort_record);
    struct sort_record *records = arena_alloc_raw(arena, size), *scratch = arena_alloc_raw(arena, size);
    uint32_t *instances = arena_alloc_raw(arena, (max + (size_t)1) * sizeof *instances);
    update_rank(s);
    for (uint32_t i = 0; i < count; i++) {
        const struct sched_host *h = &c->hosts.items[hosts[i]];
        for (uint32_t k = 0; k < h->instance_count; k++) {
            uint32_t instance = h->first_instance + k;
            records[n++] = (struct sort_record){.key = s->rank[instance], .index = instance};
        }
    }
    sort_records(records, n, scratch);
    for (uint32_t i = 0; i < n; i++) instances[i] = records[i].index;
    const struct place_scope scope = {.instances = instances, .count = n};
    return place_job(c, d, window_of(d, at_us), &scope, arena, out);
}

struct one_host_search {
    struct sweep *s;
    const struct demand *d;
    uint32_t slots;
    ARRAY(uint32_t) hosts; /* that offer enough at the time */
};

static void look_at(struct one_host_search *o, struct sweep_event *end)
{
    const struct window window = window_of(o->d, end->at_us);
    if (free_after(o->s, end) < o->slots) return;
    if (place_host_offers(o->s->cluster, o->d, window, end->host, o->slots, o->slots) > 0)
        *array_add(&o->hosts) = end->host;
}

static int64_t reserve_on_one(struct sweep *s, const struct demand *d, int64_t from_us, struct arena *arena,
                              struct allocation *out)
{
    struct one_host_search o = {.s = s, .d = d, .slots = d->ranges[0].min};
    uint32_t a = first_at(&s->ends, from_us), b = first_at(&s->new_ends, from_us);
    struct sweep_event *ends = s->ends.list.items, *new_ends = s->new_ends.list.items;
    int64_t start_us = TIMELINE_END;
    while (start_us == TIMELINE_END && (a < s->ends.list.count || b < s->new_ends.list.count)) {
        int64_t at_us = a < s->ends.list.count ? ends[a].at_us : TIMELINE_END;
        if (b < s->new_ends.list.count && new_ends[b].at_us < at_us) at_us = new_ends[b].at_us;
        array_clear(&o.hosts);
        for (; a < s->ends.list.count && ends[a].at_us == at_us; a++) look_at(&o, &ends[a]);
        for (; b < s->new_ends.list.count && new_ends[b].at_us == at_us; b++) look_at(&o, &new_ends[b]);
        if (o.hosts.count > 0 && place_on_one(s, d, at_us, o.hosts.items, o.hosts.count, arena, out)) start_us = at_us;
    }
    array_release(&o.hosts);
    return start_us;
}

/* --- jobs on several hosts ---------------------------------------------------------------------------------------- */

struct wide_search {
    struct sweep *s;
    const struct demand *d;
    uint32_t slots_per_host; /* on each host; 0: any number */
    struct sweep_shape *shape;
    uint32_t slots; /* the job's */
};

/* The slots that a host must have at least. */
static uint32_t host_min(const struct wide_search *w)
{
    return w->slots_per_host > 0 ? w->slots_per_host : 1;
}

static uint32_t counted(const struct wide_search *w, uint32_t offered)
{
    return w->slots_per_host == 0 || offered == 0 ? offered : w->slots_per_host;
}

static uint32_t bucket_of(uint32_t offered)
{
    return offered < SWEEP_BUCKETS ? offered : SWEEP_BUCKETS - 1;
}

static void set_offered(struct wide_search *w, uint32_t host, uint32_t slots)
{
    uint32_t *offered = &w->shape->offered[host], *hosts_with = w->shape->hosts_with;
    w->shape->total -= counted(w, *offered);
    hosts_with[bucket_of(*offered)]--;
    *offered = slots;
    hosts_with[bucket_of(*offered)]++;
    w->shape->total += counted(w, *offered);
}

/* Whether so many hosts as the job asks for may offer enough together. place_job knows whether they do. */
static bool may_fit(const struct wide_search *w)
{
    uint32_t left = w->d->host_max, hosts = 0;
    uint64_t slots_max = 0;
    if (w->shape->total < w->slots || left == 0) return w->shape->total >= w->slots;
    for (uint32_t b = SWEEP_BUCKETS - 1; b > 0 && left > 0; b--) {
        uint32_t count = w->shape->hosts_with[b] < left ? w->shape->hosts_with[b] : left;
        uint32_t each = b < SWEEP_BUCKETS - 1 ? counted(w, b) : w->slots;
        left -= count;
        hosts += count;
        slots_max += (uint64_t)count * each;
    }
    return slots_max >= w->slots && hosts >= w->d->host_min;
}

static void look_again(struct wide_search *w, uint32_t host)
{
    const struct window window = window_of(w->d, w->shape->at_us);
    set_offered(w, host, place_host_offers(w->s->cluster, w->d, window, host, host_min(w), w->slots));
}

static void look_at_end(struct wide_search *w, struct sweep_event *end)
{
    if (free_after(w->s, end) < host_min(w))
        set_offered(w, end->host, 0);
    else
        look_again(w, end->host);
}

/* After bookings were added in the window: what offers nothing offers nothing then. */
static void look_for_less(struct wide_search *w, uint32_t host)
{
    if (w->shape->offered[host] > 0) look_again(w, host);
}

static void begin_shape(struct wide_search *w)
{
    const struct cluster *c = w->s->cluster;
    *w->shape = (struct sweep_shape){.at_us = w->s->now_us, .bookings = w->s->bookings.count};
    w->shape->offered = arena_alloc(&w->s->arena, (c->hosts.count + (size_t)1) * sizeof *w->shape->offered);
    w->shape->hosts_with = arena_alloc(&w->s->arena, SWEEP_BUCKETS * sizeof *w->shape->hosts_with);
    w->shape->hosts_with[0] = c->hosts.count;
    for (uint32_t i = 0; i < c->hosts.count; i++) {
        if (w->s->free_now[i] >= host_min(w)) look_again(w, i);
    }
}

/* A booking outside of the window counts when the window comes to it (begins). */
static void resume_shape(struct wide_search *w)
{
    const struct window window = window_of(w->d, w->shape->at_us);
    for (; w->shape->bookings < w->s->bookings.count; w->shape->bookings++) {
        const struct sweep_booking *b = &w->s->bookings.items[w->shape->bookings];
        if (b->from_us < window.until_us && b->until_us > window.from_us) look_for_less(w, b->host);
    }
}

/* In any order: a host that is looked at offers what it offers in the whole window. */
static void look_at_begins(struct wide_search *w, const struct sweep_events *begins, int64_t from_us, int64_t until_us)
{
    const struct sweep_event *items = begins->list.items;
    for (uint32_t i = first_at(begins, from_us); i < begins->list.count && items[i].at_us < until_us; i++)
        look_for_less(w, items[i].host);
}

/* The first event at that time or later, or the end of the list. */
static struct sweep_event *event_at(const struct sweep_events *e, int64_t at_us)
{
    return e->list.count > 0 ? e->list.items + first_at(e, at_us) : NULL;
}

/* Moves the window to a later time. The last end on a host decides what it offers, so both lists are gone through in
 * the order of time. */
static void advance(struct wide_search *w, int64_t to_us)
{
    struct sweep *s = w->s;
    int64_t old_us = w->shape->at_us;
    int64_t old_end_us = window_of(w->d, old_us).until_us, new_end_us = window_of(w->d, to_us).until_us;
    struct sweep_event *a = event_at(&s->ends, old_us + 1);
    struct sweep_event *b = event_at(&s->new_ends, old_us + 1);
    struct sweep_event *a_end = event_at(&s->ends, to_us + 1);
    struct sweep_event *b_end = event_at(&s->new_ends, to_us + 1);
    w->shape->at_us = to_us;
    while (a < a_end || b < b_end) {
        bool is_old = b == b_end || (a < a_end && a->at_us <= b->at_us);
        look_at_end(w, is_old ? a++ : b++);
    }
    look_at_begins(w, &s->begins, old_end_us, new_end_us);
    look_at_begins(w, &s->new_begins, old_end_us, new_end_us);
}

static bool place_wide(struct wide_search *w, struct arena *arena, struct allocation *out)
{
    const struct cluster *c = w->s->cluster;
    if (!may_fit(w)) return false;
    uint32_t *instances = arena_alloc_raw(arena, (c->order.count + (size_t)1) * sizeof *instances), count = 0;
    for (uint32_t i = 0; i < c->order.count; i++) {
        uint32_t instance = c->order.items[i];
        if (counted(w, w->shape->offered[c->instances.items[instance].host]) > 0) instances[count++] = instance;
    }
    const struct place_scope scope = {.instances = instances, .count = count};
    return place_job(c, w->d, window_of(w->d, w->shape->at_us), &scope, arena, out);
}

static int64_t reserve_wide(struct wide_search *w, int64_t from_us, struct arena *arena, struct allocation *out)
{
    if (w->shape->offered == NULL)
        begin_shape(w);
    else
        resume_shape(w);
    if (w->shape->at_us < from_us) advance(w, from_us);
    while (w->shape->at_us == w->s->now_us || !place_wide(w, arena, out)) {
        int64_t next_us = next_end(w->s, w->shape->at_us);
        if (next_us == TIMELINE_END) return TIMELINE_END;
        advance(w, next_us);
    }
    return w->shape->at_us;
}

int64_t sweep_reserve(struct sweep *s, const struct demand *d, int64_t from_us, struct arena *arena,
                      struct allocation *out_allocation)
{
    if (is_on_one_host(s->cluster, d)) return reserve_on_one(s, d, from_us, arena, out_allocation);
    struct sweep_shape new = {0};
    if (d->shape != NONE) {
        array_reserve(&s->shapes, d->shape + 1);
        while (s->shapes.count <= d->shape) (void)array_add(&s->shapes);
    }
    struct wide_search w = {
        .s = s, .d = d, .slots_per_host = cluster_slots_per_host(s->cluster, d), .slots = d->ranges[0].min};
    w.shape = d->shape != NONE ? &s->shapes.items[d->shape] : &new;
    return reserve_wide(&w, from_us, arena, out_allocation);
}
