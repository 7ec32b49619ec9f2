#include "sched/cluster.h"

#include "base/ensure.h"

void offers_release(struct offers *o)
{
    for (uint32_t i = 0; i < o->list.count; i++) timeline_release(&o->list.items[i].booked);
    array_release(&o->list);
}

void cluster_release(struct cluster *c)
{
    offers_release(&c->global);
    for (uint32_t i = 0; i < c->hosts.count; i++) offers_release(&c->hosts.items[i].offers);
    for (uint32_t i = 0; i < c->instances.count; i++) offers_release(&c->instances.items[i].offers);
    for (uint32_t i = 0; i < c->environments.count; i++) offers_release(&c->environments.items[i].offers);
    array_release(&c->resources);
    array_release(&c->hosts);
    array_release(&c->instances);
    array_release(&c->environments);
    array_release(&c->order);
}

uint32_t cluster_whole_slots(const struct cluster *c, uint32_t host)
{
    const struct offer *slots = offers_find(&c->hosts.items[host].offers, SCHED_SLOTS);
    return slots == NULL || slots->amount < 1.0 || slots->amount >= (double)NONE ? 0 : (uint32_t)slots->amount;
}

/* --- what an allocation takes ------------------------------------------------------------------------------------- */

struct taker {
    const struct cluster *cluster;
    const char *pool; /* of the offers; NULL: they are no pool's */
    uint32_t pool_index;
    void (*take)(const struct taken *taken, void *context);
    void *context;
};

static void take_of(const struct taker *t, enum sched_level level, const char *object, const struct offers *offers,
                    uint32_t resource, double amount, bool is_exclusive)
{
    struct offer *offer = offers_find(offers, resource);
    if (offer == NULL || amount == 0.0 || !t->cluster->resources.items[resource].is_consumable) return;
    const struct taken taken = {offer, level, object, t->pool, t->pool_index, amount, is_exclusive};
    t->take(&taken, t->context);
}

static void take(const struct taker *t, enum sched_level level, const char *object, const struct offers *offers,
                 uint32_t resource, double amount)
{
    take_of(t, level, object, offers, resource, amount, false);
}

/* A level's part of the needs. is_first: of the first part on a host (or of the job), which takes what is needed
 * once. */
static void take_needs(const struct taker *t, enum sched_level level, const char *object, const struct offers *offers,
                       const struct demand *d, uint32_t slots, bool is_first_on_host, bool is_first)
{
    for (uint32_t i = 0; i < d->need_count; i++) {
        const struct need *n = &d->needs[i];
        bool counts = n->scope == NEED_PER_SLOT || (n->scope == NEED_PER_HOST ? is_first_on_host : is_first);
        double amount = n->amount * (n->scope == NEED_PER_SLOT ? slots : 1.0);
        if (counts) take_of(t, level, object, offers, n->resource, amount, n->is_exclusive);
    }
    take(t, level, object, offers, SCHED_SLOTS, slots);
}

/* The number of hosts, for what is needed once on each of them. Parts on a host are adjacent. */
static uint32_t host_count(const struct cluster *c, const struct allocation *a)
{
    uint32_t count = 0, last = NONE;
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t host = c->instances.items[a->parts[i].instance].host;
        count += host != last;
        last = host;
    }
    return count;
}

static void take_global(const struct taker *t, const struct demand *d, const struct allocation *a)
{
    const struct cluster *c = t->cluster;
    for (uint32_t i = 0; i < d->need_count; i++) {
        const struct need *n = &d->needs[i];
        uint32_t times = n->scope == NEED_PER_SLOT ? a->slots : n->scope == NEED_PER_HOST ? host_count(c, a) : 1;
        take_of(t, LEVEL_GLOBAL, "global", &c->global, n->resource, n->amount * times, n->is_exclusive);
    }
    take(t, LEVEL_GLOBAL, "global", &c->global, SCHED_SLOTS, a->slots);
}

static void take_pools(const struct taker *t, const struct demand *d, const struct allocation *a, uint32_t part,
                       bool is_first_on_host)
{
    const struct demand_quota *list = demand_quotas_in(d, a->environment);
    for (uint32_t i = 0; i < d->quota_count && t->cluster->pools != NULL; i++) {
        uint32_t index = demand_pool_on(&list[i], a->parts[part].instance);
        if (index == NONE) continue;
        const struct sched_pool *pool = &t->cluster->pools->list.items[index];
        struct taker of_pool = *t;
        of_pool.pool = pool->text;
        of_pool.pool_index = index;
        take_needs(&of_pool, LEVEL_QUOTA, pool->set, &pool->offers, d, a->parts[part].slots, is_first_on_host,
                   part == 0);
    }
}

void cluster_taken(const struct cluster *c, const struct demand *d, const struct allocation *a,
                   void (*take_one)(const struct taken *taken, void *context), void *context)
{
    const struct taker t = {.cluster = c, .take = take_one, .context = context};
    uint32_t last_host = NONE;
    if (a->environment != NONE) {
        const struct sched_environment *e = &c->environments.items[a->environment];
        take(&t, LEVEL_ENVIRONMENT, e->name, &e->offers, SCHED_SLOTS, a->slots);
    }
    take_global(&t, d, a);
    for (uint32_t i = 0; i < a->part_count; i++) {
        const struct allocation_part *part = &a->parts[i];
        const struct sched_instance *instance = &c->instances.items[part->instance];
        const struct sched_host *host = &c->hosts.items[instance->host];
        bool is_first_on_host = instance->host != last_host;
        take_needs(&t, LEVEL_HOST, host->name, &host->offers, d, part->slots, is_first_on_host, i == 0);
        take_needs(&t, LEVEL_INSTANCE, instance->name, &instance->offers, d, part->slots, is_first_on_host, i == 0);
        if (d->quota_count > 0) take_pools(&t, d, a, i, is_first_on_host);
        last_host = instance->host;
    }
}

/* --- booking ------------------------------------------------------------------------------------------------------ */

/* context: a booking of +1 or -1. */
static void book(const struct taken *taken, void *context)
{
    struct timeline_booking booking = *(const struct timeline_booking *)context;
    booking.amount *= taken->amount + (taken->is_exclusive ? EXCLUSIVE_AMOUNT : 0.0);
    timeline_book(&taken->offer->booked, &booking);
}

void cluster_book(struct cluster *c, const struct demand *d, const struct allocation *a, int64_t from_us,
                  int64_t until_us)
{
    struct timeline_booking booking = {.from_us = from_us, .until_us = until_us, .amount = 1.0};
    cluster_taken(c, d, a, book, &booking);
}

void cluster_unbook(struct cluster *c, const struct demand *d, const struct allocation *a, int64_t from_us,
                    int64_t until_us)
{
    struct timeline_booking booking = {.from_us = from_us, .until_us = until_us, .amount = -1.0};
    cluster_taken(c, d, a, book, &booking);
}
