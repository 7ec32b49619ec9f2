#include "sched/quota.h"

#include "base/ensure.h"

/* The pools that may be taken of, by index; a demand of another cluster has none here. */
static uint32_t pool_count(const struct cluster *c)
{
    return c->pools != NULL ? c->pools->list.count : 0;
}

struct quota_use quota_use_make(const struct cluster *c, const struct demand *d, uint32_t environment,
                                struct window window, struct arena *arena)
{
    struct quota_use u = {.c = c, .d = d, .window = window};
    if (d->quota_count == 0 || pool_count(c) == 0) return u;
    u.list = demand_quotas_in(d, environment);
    u.count = d->quota_count;
    if (demand_is_serial(d)) return u;
    size_t size = pool_count(c) * sizeof *u.kept;
    u.kept = arena_alloc(arena, size);
    u.taken = arena_alloc(arena, size);
    u.touched = arena_alloc_raw(arena, size);
    return u;
}

bool quota_use_has_partial(const struct quota_use *u)
{
    bool found = false;
    for (uint32_t i = 0; i < u->count && !found; i++) found = u->list[i].by_instance != NULL;
    return found;
}

void quota_use_begin(struct quota_use *u, bool is_shared)
{
    u->is_shared = is_shared;
    u->touched_count = 0;
    for (uint32_t i = 0; u->kept != NULL && i < pool_count(u->c); i++) u->kept[i] = u->taken[i] = 0;
}

static uint32_t room_of_pool(const struct quota_use *u, uint32_t pool, uint32_t max, bool needs_master)
{
    uint64_t before = u->kept != NULL ? (uint64_t)u->kept[pool] + u->taken[pool] : 0;
    uint64_t wanted = max + before < UINT32_MAX ? max + before : UINT32_MAX;
    const struct offers *o = &u->c->pools->list.items[pool].offers;
    uint32_t room = room_of_object(u->c, o, u->d, u->window, (uint32_t)wanted, needs_master);
    return room > before ? (uint32_t)(room - before) : 0;
}

uint32_t quota_use_all(const struct quota_use *u, uint32_t max)
{
    for (uint32_t i = 0; i < u->count; i++) {
        if (u->list[i].by_instance == NULL && u->list[i].pool != NONE)
            max = room_of_pool(u, u->list[i].pool, max, true);
    }
    return max;
}

uint32_t quota_use_room(const struct quota_use *u, uint32_t instance, uint32_t max, bool needs_master)
{
    for (uint32_t i = 0; i < u->count && max > 0; i++) {
        uint32_t pool = u->list[i].by_instance != NULL ? u->list[i].by_instance[instance] : NONE;
        if (pool != NONE) max = room_of_pool(u, pool, max, needs_master);
    }
    return max;
}

void quota_use_take(struct quota_use *u, uint32_t instance, uint32_t slots)
{
    for (uint32_t i = 0; i < u->count && u->kept != NULL && slots > 0; i++) {
        uint32_t pool = u->list[i].by_instance != NULL ? u->list[i].by_instance[instance] : NONE;
        if (pool == NONE) continue;
        if (u->taken[pool] == 0) u->touched[u->touched_count++] = pool;
        u->taken[pool] += slots;
    }
}

void quota_use_end_host(struct quota_use *u, bool keeps)
{
    for (uint32_t i = 0; i < u->touched_count; i++) {
        uint32_t pool = u->touched[i];
        if (keeps && u->is_shared) u->kept[pool] += u->taken[pool];
        u->taken[pool] = 0;
    }
    u->touched_count = 0;
}

/* --- the whole of an allocation ----------------------------------------------------------------------------------- */

/* What it takes of a pool. */
struct pool_part {
    uint32_t slots, hosts;
    bool has_master;
};

/* What an allocation takes of the pool that its part at `first` takes of. is_first: no part before it takes of it. */
static struct pool_part part_of_pool(const struct cluster *c, const struct demand_quota *q, const struct allocation *a,
                                     uint32_t pool)
{
    struct pool_part part = {0};
    uint32_t last_host = NONE;
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t instance = a->parts[i].instance, host = c->instances.items[instance].host;
        bool is_first_on_host = host != last_host;
        last_host = host;
        if (demand_pool_on(q, instance) != pool) continue;
        part.slots += a->parts[i].slots;
        part.hosts += is_first_on_host;
        part.has_master |= i == 0;
    }
    return part;
}

static bool has_room(const struct offer *o, double amount, struct window window)
{
    return timeline_max(&o->booked, window.from_us, window.until_us) <= timeline_limit(o->amount, amount);
}

static bool pool_allows(const struct cluster *c, const struct demand *d, uint32_t pool, const struct pool_part *part,
                        struct window window)
{
    const struct offers *offers = &c->pools->list.items[pool].offers;
    const struct offer *slots = offers_find(offers, SCHED_SLOTS);
    bool allows = slots == NULL || has_room(slots, part->slots, window);
    for (uint32_t i = 0; i < d->need_count && allows; i++) {
        const struct need *n = &d->needs[i];
        const struct offer *o = offers_find(offers, n->resource);
        uint32_t times = n->scope == NEED_PER_SLOT   ? part->slots
                         : n->scope == NEED_PER_HOST ? part->hosts
                                                     : part->has_master;
        if (o != NULL && times > 0) allows = has_room(o, n->amount * times, window);
    }
    return allows;
}

static bool is_first_of_pool(const struct demand_quota *q, const struct allocation *a, uint32_t part)
{
    uint32_t pool = demand_pool_on(q, a->parts[part].instance);
    for (uint32_t i = 0; i < part; i++) {
        if (demand_pool_on(q, a->parts[i].instance) == pool) return false;
    }
    return pool != NONE;
}

bool quota_allows(const struct cluster *c, const struct demand *d, const struct allocation *a, struct window window)
{
    bool allows = true;
    if (d->quota_count == 0 || pool_count(c) == 0) return true;
    const struct demand_quota *list = demand_quotas_in(d, a->environment);
    for (uint32_t i = 0; i < d->quota_count && allows; i++) {
        for (uint32_t p = 0; p < a->part_count && allows; p++) {
            if (!is_first_of_pool(&list[i], a, p)) continue;
            uint32_t pool = demand_pool_on(&list[i], a->parts[p].instance);
            const struct pool_part part = part_of_pool(c, &list[i], a, pool);
            allows = pool_allows(c, d, pool, &part, window);
        }
    }
    return allows;
}
