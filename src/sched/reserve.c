/* Serial jobs: on each instance, the offers that the job needs limit its start. Parallel jobs: the times at which a
 * booking begins or ends are tried, from the last one back (without gaps) or from the first one on. */
#include "sched/reserve.h"

#include <math.h>

#include "base/ensure.h"
#include "base/sort.h"

/* --- serial jobs -------------------------------------------------------------------------------------------------- */

/* What may be booked of an offer so that the job can start. */
struct limit {
    const struct timeline *booked;
    double max;
};

struct limits {
    struct limit *items; /* of each need, and of the slots, room for three and one for each quota */
    uint32_t count;
};

static void add_limits(const struct cluster *c, const struct demand *d, const struct offers *o, uint32_t slots,
                       struct limits *out)
{
    const struct offer *own = offers_find(o, SCHED_SLOTS);
    if (own != NULL) out->items[out->count++] = (struct limit){&own->booked, timeline_limit(own->amount, slots)};
    for (uint32_t i = 0; i < d->need_count; i++) {
        const struct need *n = &d->needs[i];
        const struct sched_resource *r = &c->resources.items[n->resource];
        const struct offer *offer = r->is_consumable ? offers_find(o, n->resource) : NULL;
        bool is_exclusive = r->relation == RELATION_EXCLUSIVE;
        if (offer == NULL || (!is_exclusive && isinf(offer->amount))) continue;
        double amount = n->amount * (n->scope == NEED_PER_SLOT ? slots : 1.0);
        out->items[out->count++] =
            (struct limit){&offer->booked, is_exclusive ? exclusive_max(n) : timeline_limit(offer->amount, amount)};
    }
}

static void add_pools(const struct cluster *c, const struct demand *d, uint32_t instance, uint32_t slots,
                      struct limits *out)
{
    const struct demand_quota *list = demand_quotas_in(d, NONE);
    for (uint32_t i = 0; i < d->quota_count && c->pools != NULL; i++) {
        uint32_t pool = demand_pool_on(&list[i], instance);
        if (pool != NONE) add_limits(c, d, &c->pools->list.items[pool].offers, slots, out);
    }
}

static int64_t start_without_gaps(const struct limits *l, int64_t from_us)
{
    int64_t start_us = from_us;
    for (uint32_t i = 0; i < l->count; i++) {
        int64_t free_us = timeline_free_for_ever(l->items[i].booked, from_us, l->items[i].max);
        if (free_us > start_us) start_us = free_us;
    }
    return start_us;
}

/* Each limit moves the start forward until none does. */
static int64_t start_in_gaps(const struct limits *l, int64_t from_us, int64_t duration_us)
{
    int64_t start_us = from_us;
    for (uint32_t agreed = 0, i = 0; l->count > 0 && agreed < l->count && start_us != TIMELINE_END;) {
        int64_t fits_us = timeline_first_fit(l->items[i].booked, start_us, duration_us, l->items[i].max);
        agreed = fits_us == start_us ? agreed + 1 : 1;
        start_us = fits_us;
        i = (i + 1) % l->count;
    }
    return start_us;
}

static int64_t reserve_serial(const struct cluster *c, const struct demand *d, enum reserve_search search,
                              int64_t from_us, struct arena *arena, struct allocation *out)
{
    struct limits limits = {
        .items = arena_alloc_raw(arena, (3 + d->quota_count) * (d->need_count + (size_t)1) * sizeof *limits.items)};
    uint32_t min = d->ranges[0].min, best_slots = min, best = NONE, best_violations = 0;
    int64_t best_us = TIMELINE_END;
    for (uint32_t i = 0; i < c->order.count; i++) {
        uint32_t instance = c->order.items[i];
        if (!place_admits(c, d, instance)) continue;
        const struct sched_instance *in = &c->instances.items[instance];
        uint32_t slots = d->is_whole ? cluster_whole_slots(c, in->host) : min;
        if (slots < min) continue;
        limits.count = 0;
        add_limits(c, d, &c->global, slots, &limits);
        add_limits(c, d, &c->hosts.items[in->host].offers, slots, &limits);
        add_limits(c, d, &in->offers, slots, &limits);
        add_pools(c, d, instance, slots, &limits);
        int64_t start_us = search == RESERVE_IN_GAPS ? start_in_gaps(&limits, from_us, d->duration_us)
                                                     : start_without_gaps(&limits, from_us);
        uint32_t violations = place_violations(c, d, instance);
        if (start_us > best_us || start_us == TIMELINE_END) continue;
        if (start_us == best_us && best != NONE && violations >= best_violations) continue;
        best = instance;
        best_slots = slots;
        best_us = start_us;
        best_violations = violations;
    }
    if (best == NONE) return TIMELINE_END;
    *out = (struct allocation){.environment = NONE, .slots = best_slots, .part_count = 1};
    out->parts = arena_alloc(arena, sizeof *out->parts);
    out->parts[0] = (struct allocation_part){best, best_slots};
    return best_us;
}

/* --- parallel jobs ------------------------------------------------------------------------------------------------ */

struct candidate_times {
    const struct cluster *c;
    const struct demand *d;
    int64_t from_us;
    ARRAY(struct sort_record) times; /* key: microseconds from from_us on */
};

static void add_times(struct candidate_times *t, const struct offers *o)
{
    for (uint32_t i = 0; i < o->list.count; i++) {
        const struct timeline *booked = &o->list.items[i].booked;
        for (uint32_t k = 0; k < booked->changes.count; k++) {
            int64_t at_us = booked->changes.items[k].at_us;
            if (at_us <= t->from_us) continue;
            *array_add(&t->times) = (struct sort_record){.key = (uint64_t)at_us - (uint64_t)t->from_us};
        }
    }
}

/* Those of a quota in an environment, or without one. */
static void add_quota_times(struct candidate_times *t, const struct demand_quota *q, uint64_t use)
{
    struct sched_pools *pools = t->c->pools;
    uint32_t count = q->by_instance != NULL ? t->c->instances.count : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pool = demand_pool_on(q, i);
        if (pool == NONE || pools->list.items[pool].scratch.use == use) continue;
        pools->list.items[pool].scratch = (struct pool_scratch){.use = use};
        add_times(t, &pools->list.items[pool].offers);
    }
}

/* Those of the pools from which the job takes, each once. */
static void add_pool_times(struct candidate_times *t)
{
    const struct demand *d = t->d;
    uint32_t environments = d->environment_count > 0 ? d->environment_count : 1;
    uint64_t use = ++t->c->pools->use_count;
    for (uint32_t i = 0; i < environments * d->quota_count; i++) add_quota_times(t, &d->quotas[i], use);
}

/* All of them, ascending, each once. */
static void find_times(struct candidate_times *t, struct arena *arena)
{
    const struct cluster *c = t->c;
    add_times(t, &c->global);
    for (uint32_t i = 0; i < c->hosts.count; i++) add_times(t, &c->hosts.items[i].offers);
    for (uint32_t i = 0; i < c->instances.count; i++) add_times(t, &c->instances.items[i].offers);
    for (uint32_t i = 0; i < t->d->environment_count; i++)
        add_times(t, &c->environments.items[t->d->environments[i]].offers);
    if (t->d->quota_count > 0 && c->pools != NULL) add_pool_times(t);
    struct sort_record *scratch = arena_alloc_raw(arena, (t->times.count + (size_t)1) * sizeof *scratch);
    sort_records(t->times.items, t->times.count, scratch);
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->times.count; i++) {
        if (i == 0 || t->times.items[i].key != t->times.items[i - 1].key) t->times.items[count++] = t->times.items[i];
    }
    t->times.count = count;
}

static int64_t time_of(const struct candidate_times *t, uint32_t i)
{
    return t->from_us + (int64_t)t->times.items[i].key;
}

static bool fits_at(const struct candidate_times *t, int64_t at_us, struct arena *scratch)
{
    struct allocation unused;
    arena_clear(scratch);
    return place_job(t->c, t->d, window_of(t->d, at_us), NULL, scratch, &unused);
}

/* From the last time back, as long as the job fits. */
static int64_t last_run_of_fits(const struct candidate_times *t, struct arena *scratch)
{
    int64_t start_us = TIMELINE_END;
    for (uint32_t i = t->times.count; i-- > 0;) {
        if (!fits_at(t, time_of(t, i), scratch)) return start_us;
        start_us = time_of(t, i);
    }
    return fits_at(t, t->from_us, scratch) ? t->from_us : start_us;
}

static int64_t first_fit(const struct candidate_times *t, struct arena *scratch)
{
    if (fits_at(t, t->from_us, scratch)) return t->from_us;
    for (uint32_t i = 0; i < t->times.count; i++) {
        if (fits_at(t, time_of(t, i), scratch)) return time_of(t, i);
    }
    return TIMELINE_END;
}

static int64_t reserve_parallel(const struct cluster *c, const struct demand *d, enum reserve_search search,
                                int64_t from_us, struct arena *arena, struct allocation *out)
{
    struct candidate_times t = {.c = c, .d = d, .from_us = from_us};
    find_times(&t, arena);
    struct arena scratch = {0};
    int64_t start_us = search == RESERVE_IN_GAPS ? first_fit(&t, &scratch) : last_run_of_fits(&t, &scratch);
    if (start_us != TIMELINE_END) ensure(place_job(c, d, window_of(d, start_us), NULL, arena, out));
    arena_release(&scratch);
    array_release(&t.times);
    return start_us;
}

int64_t reserve_job(const struct cluster *c, const struct demand *d, enum reserve_search search, int64_t from_us,
                    struct arena *arena, struct allocation *out_allocation)
{
    ensure(d->range_count > 0);
    return demand_is_serial(d) ? reserve_serial(c, d, search, from_us, arena, out_allocation)
                               : reserve_parallel(c, d, search, from_us, arena, out_allocation);
}
