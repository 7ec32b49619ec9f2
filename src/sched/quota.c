#include "sched/quota.h"

#include "base/ensure.h"

/* The pools that may be taken of, by index; a demand of another cluster has none here. */
static uint32_t pool_count(const struct cluster *c)
{
    return c->pools != NULL ? c->pools->list.count : 0;
}

/* The scratch memory of a pool, 0 if it was last used otherwise. */
static struct pool_scratch *scratch_of(const struct cluster *c, uint32_t pool, uint64_t use)
{
    struct pool_scratch *s = &c->pools->list.items[pool].scratch;
    if (s->use != use) *s = (struct pool_scratch){.use = use, .next = NONE};
    return s;
}

struct quota_use quota_use_make(const struct cluster *c, const struct demand *d, uint32_t environment,
                                struct window window)
{
    struct quota_use u = {.c = c, .d = d, .window = window, .touched = NONE};
    if (d->quota_count == 0 || pool_count(c) == 0) return u;
    u.list = demand_quotas_in(d, environment);
    u.count = d->quota_count;
    u.is_counting = !demand_is_serial(d);
    u.use = ++c->pools->use_count;
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
    u->touched = NONE;
    if (u->count > 0) u->use = ++u->c->pools->use_count;
}

static uint32_t room_of_pool(const struct quota_use *u, uint32_t pool, uint32_t max, bool needs_master)
{
    const struct pool_scratch *s = u->is_counting ? scratch_of(u->c, pool, u->use) : NULL;
    uint64_t before = s != NULL ? (uint64_t)s->kept + s->taken : 0;
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
    for (uint32_t i = 0; i < u->count && u->is_counting && slots > 0; i++) {
        uint32_t pool = u->list[i].by_instance != NULL ? u->list[i].by_instance[instance] : NONE;
        if (pool == NONE) continue;
        struct pool_scratch *s = scratch_of(u->c, pool, u->use);
        if (s->taken == 0) {
            s->next = u->touched;
            u->touched = pool;
        }
        s->taken += slots;
    }
}

void quota_use_end_host(struct quota_use *u, bool keeps)
{
    for (uint32_t pool = u->touched; pool != NONE;) {
        struct pool_scratch *s = scratch_of(u->c, pool, u->use);
        if (keeps && u->is_shared) s->kept += s->taken;
        s->taken = 0;
        pool = s->next;
    }
    u->touched = NONE;
}

/* --- the whole of an allocation ----------------------------------------------------------------------------------- */

static bool has_room(const struct offer *o, double amount, struct window window)
{
    return timeline_max(&o->booked, window.from_us, window.until_us) <= timeline_limit(o->amount, amount);
}

/* part: what the allocation takes of the pool. */
static bool pool_allows(const struct cluster *c, const struct demand *d, uint32_t pool, const struct pool_scratch *part,
                        struct window window)
{
    const struct offers *offers = &c->pools->list.items[pool].offers;
    const struct offer *slots = offers_find(offers, SCHED_SLOTS);
    bool allows = slots == NULL || has_room(slots, part->taken, window);
    for (uint32_t i = 0; i < d->need_count && allows; i++) {
        const struct need *n = &d->needs[i];
        const struct offer *o = offers_find(offers, n->resource);
        uint32_t times = n->scope == NEED_PER_SLOT   ? part->taken
                         : n->scope == NEED_PER_HOST ? part->hosts
                                                     : part->has_master;
        if (o != NULL && times > 0) allows = has_room(o, n->amount * times, window);
    }
    return allows;
}

/* Adds up what an allocation takes from each pool of a quota: its slots, the hosts on which the first part takes from
 * it, as in booking (cluster_taken), and whether the job's first part does. Returns the first of these pools; NONE. */
static uint32_t count_parts(const struct cluster *c, const struct demand_quota *q, const struct allocation *a,
                            uint64_t use)
{
    uint32_t first = NONE, last_host = NONE;
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t instance = a->parts[i].instance, host = c->instances.items[instance].host;
        uint32_t pool = demand_pool_on(q, instance);
        bool is_first_on_host = host != last_host;
        last_host = host;
        if (pool == NONE) continue;
        struct pool_scratch *s = scratch_of(c, pool, use);
        if (s->taken == 0) {
            s->next = first;
            first = pool;
        }
        s->taken += a->parts[i].slots;
        s->hosts += is_first_on_host;
        s->has_master |= i == 0;
    }
    return first;
}

bool quota_allows(const struct cluster *c, const struct demand *d, const struct allocation *a, struct window window)
{
    bool allows = true;
    if (d->quota_count == 0 || pool_count(c) == 0) return true;
    const struct demand_quota *list = demand_quotas_in(d, a->environment);
    for (uint32_t i = 0; i < d->quota_count && allows; i++) {
        uint64_t use = ++c->pools->use_count;
        uint32_t pool = count_parts(c, &list[i], a, use);
        while (pool != NONE && allows) {
            const struct pool_scratch *part = scratch_of(c, pool, use);
            allows = pool_allows(c, d, pool, part, window);
            pool = part->next;
        }
    }
    return allows;
}
