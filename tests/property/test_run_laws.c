/* Laws of scheduling runs, on random clusters, against a slow scheduler that knows only seconds: for each job it tries
 * every second from now on, and gives slots one by one.
 *
 *   1. Decisions, starts and allocations equal those of the slow scheduler (reservations in gaps, at multiples of some
 *      resolution), with quotas, too.
 *   2. Nothing is overbooked at any time, at any level, of no pool of a quota, whatever the search.
 *   3. The decision about a job does not depend on the jobs behind it.
 *   4. A job with a minimum duration that cannot start for the whole starts for the longest one that the slow scheduler
 *      finds from there on, second by second; so it delays nothing that was booked before it. One with whole hosts gets
 *      all slots of each, and only of hosts on which nothing else is booked.
 *   5. With every job reserved and run times as stated, a job starts no later in the next run than it was promised. */
#include "../cluster_world.h"

#include <math.h>

#include "base/rng.h"
#include "sched/run.h"

enum { HOSTS_MAX = 5, JOBS_MAX = 14, HORIZON_S = 400, MEMORY_MIB = 100, HOST_SLOTS_MAX = 6, LICENSES = 5 };
enum { QUOTAS = 4, POOLS_MAX = 8, JOB_QUOTAS_MAX = 2 };

struct job {
    uint32_t memory, licenses, tokens; /* tokens: where the first slot is */
    bool has_memory_per_host;          /* otherwise for each slot, like the licenses */
    struct need needs[3];
    struct slot_range range;
    struct demand demand;
    uint32_t environment;
    int64_t duration_s, duration_min_s; /* duration_min_s 0: it is not cut */
    bool wants_reservation;
    uint32_t quotas[JOB_QUOTAS_MAX]; /* of world_quotas; the demand has as many as count */
    struct demand_quota demand_quotas[JOB_QUOTAS_MAX];
};

/* A quota has one pool for all hosts, or one for each of some. */
struct world_quota {
    bool is_of_all;
    uint32_t pool_of[HOSTS_MAX]; /* NONE: none */
};

struct world_pool {
    uint32_t slots, licenses; /* NONE: not limited */
};

static struct world_quota world_quotas[QUOTAS];
static struct world_pool world_pool_limits[POOLS_MAX];
static struct sched_pools world_pools;

struct decided {
    enum run_outcome outcome;
    int64_t start_s, duration_s;
    uint32_t slots[HOSTS_MAX];
    uint32_t first; /* the host of the first slot */
};

/* What is booked in each second. */
struct slow {
    uint32_t host_count, slots_of[HOSTS_MAX];
    uint32_t slots[HOSTS_MAX][HORIZON_S], memory[HOSTS_MAX][HORIZON_S], licenses[HORIZON_S];
    bool token[HOSTS_MAX][HORIZON_S];
    uint32_t pool_slots[POOLS_MAX][HORIZON_S], pool_licenses[POOLS_MAX][HORIZON_S];
};

static const enum allocation_rule rules_of[] = {ALLOCATE_ONE_HOST, ALLOCATE_FILL_UP, ALLOCATE_ROUND_ROBIN,
                                                ALLOCATE_FIXED};

/* --- the slow scheduler ------------------------------------------------------------------------------------------- */

static uint32_t memory_of(const struct job *j, uint32_t slots)
{
    if (slots == 0) return 0;
    return j->has_memory_per_host ? j->memory : j->memory * slots;
}

static uint32_t slow_host_offers(const struct slow *s, const struct job *j, uint32_t host, int64_t from_s,
                                 bool is_first)
{
    uint32_t slots = HOST_SLOTS_MAX;
    for (int64_t t = from_s; t < from_s + j->duration_s; t++) {
        uint32_t free = s->slots_of[host] - s->slots[host][t];
        while (free > 0 && s->memory[host][t] + memory_of(j, free) > MEMORY_MIB) free--;
        if (is_first && j->tokens > 0 && s->token[host][t]) free = 0;
        if (j->demand.is_whole && free < s->slots_of[host]) free = 0;
        if (free < slots) slots = free;
    }
    return slots;
}

static bool slow_has_licenses(const struct slow *s, const struct job *j, int64_t from_s)
{
    for (int64_t t = from_s; t < from_s + j->duration_s; t++) {
        if (s->licenses[t] + j->licenses * j->range.min > LICENSES) return false;
    }
    return true;
}

static bool slow_place_on_one(const struct job *j, const uint32_t *first_offers, uint32_t host_count,
                              struct decided *out)
{
    for (uint32_t h = 0; h < host_count; h++) {
        if (first_offers[h] < j->range.min) continue;
        out->slots[h] = j->demand.is_whole ? first_offers[h] : j->range.min;
        out->first = h;
        return true;
    }
    return false;
}

/* One slot on each of the hosts, then the others in order; or a number on each. The first host comes first. */
static bool slow_fill(const struct job *j, const uint32_t *first_offers, const uint32_t *offers, uint32_t host_count,
                      const bool *is_chosen, struct decided *out)
{
    uint32_t per_host = j->demand.slots_per_host, left = j->range.min;
    memset(out->slots, 0, sizeof out->slots);
    for (uint32_t i = 0; i <= host_count; i++) {
        uint32_t h = i == 0 ? out->first : i - 1, min = per_host > 0 ? per_host : 1;
        if ((i > 0 && h == out->first) || !is_chosen[h]) continue;
        if ((h == out->first ? first_offers[h] : offers[h]) < min || left < min) return false;
        out->slots[h] = min;
        left -= min;
    }
    for (uint32_t i = 0; i <= host_count && per_host == 0; i++) {
        uint32_t h = i == 0 ? out->first : i - 1, max = h == out->first ? first_offers[h] : offers[h];
        for (; is_chosen[h] && left > 0 && out->slots[h] < max; left--) out->slots[h]++;
    }
    for (uint32_t h = 0; h < host_count && j->demand.is_whole && left == 0; h++) {
        if (is_chosen[h]) out->slots[h] = offers[h];
    }
    return left == 0;
}

/* Tries all sets of hosts: the smallest ones first, then those with the first hosts. */
static bool slow_spread(const struct job *j, const uint32_t *first_offers, const uint32_t *offers, uint32_t host_count,
                        struct decided *out)
{
    for (uint32_t count = j->demand.host_min; count <= j->demand.host_max && count <= host_count; count++) {
        for (out->first = 0; out->first < host_count; out->first++) {
            for (uint32_t set = 1U << host_count; set-- > 0;) {
                bool is_chosen[HOSTS_MAX] = {false};
                if ((uint32_t)__builtin_popcount(set) != count) continue;
                for (uint32_t h = 0; h < host_count; h++) is_chosen[h] = (set >> (host_count - 1 - h) & 1) != 0;
                if (is_chosen[out->first] && slow_fill(j, first_offers, offers, host_count, is_chosen, out))
                    return true;
            }
        }
    }
    return false;
}

/* By the rule of an environment, slot by slot. The first host that may have the first slot comes first. */
static bool slow_place_by_rule(const struct job *j, enum allocation_rule rule, const uint32_t *first_offers,
                               const uint32_t *plain_offers, uint32_t host_count, struct decided *out)
{
    uint32_t offers[HOSTS_MAX], order[HOSTS_MAX], count = 0, left = j->range.min;
    for (out->first = 0; out->first < host_count; out->first++) {
        if (first_offers[out->first] >= (rule == ALLOCATE_FIXED ? 2 : 1)) break;
    }
    if (out->first == host_count) return false;
    order[count++] = out->first;
    for (uint32_t h = 0; h < host_count; h++) {
        offers[h] = h == out->first ? first_offers[h] : plain_offers[h];
        if (h != out->first) order[count++] = h;
    }
    for (uint32_t i = 0; i < host_count && left > 0 && rule != ALLOCATE_ROUND_ROBIN; i++) {
        uint32_t h = order[i];
        for (; left > 0 && out->slots[h] < offers[h]; left--) {
            if (rule == ALLOCATE_FIXED && (out->slots[h] == 2 || offers[h] < 2)) break;
            out->slots[h]++;
        }
    }
    for (bool is_given = true; rule == ALLOCATE_ROUND_ROBIN && left > 0 && is_given;) {
        is_given = false;
        for (uint32_t i = 0; i < host_count && left > 0; i++) {
            if (out->slots[order[i]] == offers[order[i]]) continue;
            out->slots[order[i]]++;
            left--;
            is_given = true;
        }
    }
    return left == 0;
}

/* --- quotas ------------------------------------------------------------------------------------------------------- */

/* The slots for which a pool has room from a time on. */
static uint32_t slow_pool_room(const struct slow *s, const struct job *j, uint32_t pool, int64_t from_s)
{
    const struct world_pool *limits = &world_pool_limits[pool];
    uint32_t room = j->range.min;
    for (int64_t t = from_s; t < from_s + j->duration_s; t++) {
        while (room > 0 && limits->slots != NONE && s->pool_slots[pool][t] + room > limits->slots) room--;
        while (room > 0 && limits->licenses != NONE &&
               s->pool_licenses[pool][t] + room * j->licenses > limits->licenses)
            room--;
    }
    return room;
}

static uint32_t pool_on(const struct job *j, uint32_t quota, uint32_t host)
{
    return world_quotas[j->quotas[quota]].pool_of[host];
}

/* Lowers an offer of a host to what its pools have left beside taken slots. */
static uint32_t slow_limit(const struct slow *s, const struct job *j, uint32_t host, int64_t from_s, uint32_t offer,
                           const uint32_t *taken)
{
    for (uint32_t q = 0; q < j->demand.quota_count; q++) {
        uint32_t pool = pool_on(j, q, host);
        if (pool == NONE || world_quotas[j->quotas[q]].is_of_all) continue;
        uint32_t room = slow_pool_room(s, j, pool, from_s);
        room = room > taken[pool] ? room - taken[pool] : 0;
        if (room < offer) offer = room;
    }
    return offer;
}

static void slow_take(const struct job *j, uint32_t host, uint32_t slots, uint32_t *taken)
{
    for (uint32_t q = 0; q < j->demand.quota_count; q++) {
        uint32_t pool = pool_on(j, q, host);
        if (pool != NONE && !world_quotas[j->quotas[q]].is_of_all) taken[pool] += slots;
    }
}

static bool slow_pools_of_all_allow(const struct slow *s, const struct job *j, int64_t from_s)
{
    bool allow = true;
    for (uint32_t q = 0; q < j->demand.quota_count; q++) {
        const struct world_quota *quota = &world_quotas[j->quotas[q]];
        allow &= !quota->is_of_all || slow_pool_room(s, j, quota->pool_of[0], from_s) == j->range.min;
    }
    return allow;
}

static bool slow_pools_allow(const struct slow *s, const struct job *j, int64_t from_s, const struct decided *d)
{
    uint32_t taken[POOLS_MAX] = {0};
    bool allow = true;
    for (uint32_t h = 0; h < s->host_count; h++) slow_take(j, h, d->slots[h], taken);
    for (uint32_t p = 0; p < POOLS_MAX; p++) allow &= taken[p] == 0 || taken[p] <= slow_pool_room(s, j, p, from_s);
    return allow;
}

/* What hosts offer if they take of pools one after the other, the host `first` before the others (NONE: in order). */
static void slow_share(const struct slow *s, const struct job *j, int64_t from_s, uint32_t first, uint32_t min,
                       uint32_t max, const uint32_t *first_offers, uint32_t *offers)
{
    uint32_t taken[POOLS_MAX] = {0};
    for (uint32_t i = first == NONE ? 1 : 0; i <= s->host_count; i++) {
        uint32_t h = i == 0 ? first : i - 1;
        if (i > 0 && h == first) continue;
        uint32_t offer = i == 0 ? first_offers[h] : offers[h];
        if (offer > max) offer = max;
        offer = slow_limit(s, j, h, from_s, offer, taken);
        if (offer < min) offer = 0;
        slow_take(j, h, offer, taken);
        offers[h] = offer;
    }
}

static bool slow_distribute(const struct slow *s, const struct job *j, const uint32_t *first_offers,
                            const uint32_t *offers, struct decided *out)
{
    enum allocation_rule rule = j->demand.environment_count > 0 ? rules_of[j->environment] : ALLOCATE_ONE_HOST;
    memset(out->slots, 0, sizeof out->slots);
    if (j->demand.host_max > 0) return slow_spread(j, first_offers, offers, s->host_count, out);
    if (rule == ALLOCATE_ONE_HOST) return slow_place_on_one(j, first_offers, s->host_count, out);
    return slow_place_by_rule(j, rule, first_offers, offers, s->host_count, out);
}

/* Where hosts share pools, they are tried as if each had them alone, then one after the other. */
static bool slow_place(const struct slow *s, const struct job *j, int64_t from_s, struct decided *out)
{
    static const uint32_t nothing[POOLS_MAX];
    uint32_t first_offers[HOSTS_MAX], offers[HOSTS_MAX], shared[HOSTS_MAX], first = NONE;
    bool has_rule = j->demand.environment_count > 0, is_fixed = has_rule && rules_of[j->environment] == ALLOCATE_FIXED;
    uint32_t min = is_fixed ? 2 : 1, max = is_fixed ? 2 : j->range.min;
    if (!slow_has_licenses(s, j, from_s) || !slow_pools_of_all_allow(s, j, from_s)) return false;
    for (uint32_t h = 0; h < s->host_count; h++) {
        first_offers[h] = slow_limit(s, j, h, from_s, slow_host_offers(s, j, h, from_s, true), nothing);
        offers[h] = slow_limit(s, j, h, from_s, slow_host_offers(s, j, h, from_s, false), nothing);
    }
    if (slow_distribute(s, j, first_offers, offers, out) && slow_pools_allow(s, j, from_s, out)) return true;
    if (j->demand.quota_count == 0 || (!has_rule && j->demand.host_max == 0)) return false;
    if (j->demand.slots_per_host > 0) min = j->demand.slots_per_host;
    for (uint32_t h = s->host_count; has_rule && h-- > 0;) {
        if (first_offers[h] >= min) first = h;
    }
    memcpy(shared, offers, sizeof shared);
    slow_share(s, j, from_s, first, min, max, first_offers, shared);
    for (uint32_t h = 0; h < s->host_count; h++) {
        if (first_offers[h] > shared[h]) first_offers[h] = shared[h];
    }
    return slow_distribute(s, j, first_offers, shared, out) && slow_pools_allow(s, j, from_s, out);
}

static void slow_book_pools(struct slow *s, const struct job *j, const struct decided *d, int64_t t)
{
    for (uint32_t q = 0; q < j->demand.quota_count; q++) {
        for (uint32_t h = 0; h < s->host_count; h++) {
            uint32_t pool = pool_on(j, q, h);
            if (pool == NONE) continue;
            s->pool_slots[pool][t] += d->slots[h];
            s->pool_licenses[pool][t] += j->licenses * d->slots[h];
        }
    }
}

static void slow_book(struct slow *s, const struct job *j, const struct decided *d)
{
    for (int64_t t = d->start_s; t < d->start_s + d->duration_s; t++) {
        for (uint32_t h = 0; h < s->host_count; h++) {
            s->slots[h][t] += d->slots[h];
            s->memory[h][t] += memory_of(j, d->slots[h]);
        }
        if (j->tokens > 0) s->token[d->first][t] = true;
        slow_book_pools(s, j, d, t);
        s->licenses[t] += j->licenses * j->range.min;
    }
}

/* Now, for the longest duration that fits. */
static bool slow_place_shorter(const struct slow *s, const struct job *j, struct decided *out)
{
    struct job shorter = *j;
    shorter.demand.ranges = &shorter.range;
    while (j->duration_min_s > 0 && shorter.duration_s > j->duration_min_s) {
        shorter.duration_s--;
        if (!slow_place(s, &shorter, 0, out)) continue;
        out->duration_s = shorter.duration_s;
        return true;
    }
    return false;
}

/* Now, or at the earliest multiple of a number of seconds. */
static struct decided slow_decide(struct slow *s, const struct job *j, int64_t step_s, bool reserves)
{
    struct decided d = {.outcome = RUN_WAITS};
    for (int64_t t = 0; t + j->duration_s < HORIZON_S && (t == 0 || reserves); t += step_s) {
        d.duration_s = j->duration_s;
        if (!slow_place(s, j, t, &d) && (t > 0 || !slow_place_shorter(s, j, &d))) continue;
        d.outcome = t == 0 ? RUN_STARTS : RUN_RESERVED;
        d.start_s = t;
        slow_book(s, j, &d);
        return d;
    }
    return (struct decided){.outcome = RUN_WAITS};
}

/* --- random worlds ------------------------------------------------------------------------------------------------ */

/* Quotas whose pools are of all hosts, or of some hosts, together or each. */
static void make_quotas(struct cluster_world *w, uint32_t host_count, struct rng *rng)
{
    uint32_t pools = 0;
    for (uint32_t q = 0; q < QUOTAS; q++) {
        struct world_quota *quota = &world_quotas[q];
        uint32_t count = 1 + rng_below(rng, 2);
        quota->is_of_all = rng_below(rng, 2);
        for (uint32_t h = 0; h < host_count; h++) {
            uint32_t pool = rng_below(rng, count + 1);
            quota->pool_of[h] = quota->is_of_all ? pools : pool < count ? pools + pool : NONE;
        }
        pools += count;
    }
    for (uint32_t p = 0; p < POOLS_MAX; p++) {
        struct world_pool *limits = &world_pool_limits[p];
        struct sched_pool *pool = array_add(&world_pools.list);
        *limits = (struct world_pool){rng_below(rng, 4) ? 1 + rng_below(rng, 9) : NONE,
                                      rng_below(rng, 3) ? NONE : rng_below(rng, 4)};
        if (limits->slots != NONE) world_offer(&pool->offers, SCHED_SLOTS, limits->slots);
        if (limits->licenses != NONE) world_offer(&pool->offers, LICENSE, limits->licenses);
    }
    w->c.pools = &world_pools;
}

static void release_world(struct cluster_world *w)
{
    for (uint32_t i = 0; i < world_pools.list.count; i++) offers_release(&world_pools.list.items[i].offers);
    array_release(&world_pools.list);
    world_release(w);
}

static void make_cluster(struct cluster_world *w, struct slow *s, struct rng *rng)
{
    static const char *const names[HOSTS_MAX] = {"a", "b", "c", "d", "e"};
    world_init(w);
    *s = (struct slow){.host_count = 1 + rng_below(rng, HOSTS_MAX)};
    for (uint32_t h = 0; h < s->host_count; h++) {
        s->slots_of[h] = 1 + rng_below(rng, HOST_SLOTS_MAX);
        world_host(w, names[h]);
        world_offer(&w->c.hosts.items[h].offers, MEMORY, MEMORY_MIB);
        world_offer(&w->c.hosts.items[h].offers, TOKEN, 1);
        world_offer(&w->c.hosts.items[h].offers, SCHED_SLOTS, s->slots_of[h]);
        world_instance(w, names[h], s->slots_of[h]);
    }
    world_environment(w, "one", ALLOCATE_ONE_HOST, 0, 999);
    world_environment(w, "fill", ALLOCATE_FILL_UP, 0, 999);
    world_environment(w, "rr", ALLOCATE_ROUND_ROBIN, 0, 999);
    world_environment(w, "two", ALLOCATE_FIXED, 2, 999);
    bool is_limited = rng_below(rng, 2);
    for (uint32_t i = 0; i < w->c.environments.count && !is_limited; i++) /* the sweep serves them */
        w->c.environments.items[i].offers.list.items[0].amount = INFINITY;
    make_quotas(w, s->host_count, rng);
}

/* Jobs that run already, on some of the hosts. */
static void make_running(struct cluster_world *w, struct slow *s, struct rng *rng)
{
    for (uint32_t h = 0; h < s->host_count; h++) {
        for (uint32_t left = s->slots_of[h], slots; left > 0 && rng_below(rng, 3) > 0; left -= slots) {
            int64_t end_s = 1 + rng_below(rng, 40);
            slots = 1 + rng_below(rng, left);
            struct offers *o = &w->c.instances.items[h].offers;
            const struct timeline_booking booking = {0, end_s * SECOND, slots};
            timeline_book(&o->list.items[0].booked, &booking);
            timeline_book(&offers_find(&w->c.hosts.items[h].offers, SCHED_SLOTS)->booked, &booking);
            for (int64_t t = 0; t < end_s; t++) s->slots[h][t] += slots;
        }
    }
}

static uint32_t list_needs(struct job *j)
{
    uint32_t count = 0;
    enum need_scope scope = j->has_memory_per_host ? NEED_PER_HOST : NEED_PER_SLOT;
    if (j->licenses > 0)
        j->needs[count++] = (struct need){LICENSE, NEED_PER_SLOT, j->licenses, NULL, true, false, NULL};
    if (j->tokens > 0) j->needs[count++] = (struct need){TOKEN, NEED_PER_JOB, j->tokens, NULL, true, false, NULL};
    if (j->memory > 0) j->needs[count++] = (struct need){MEMORY, scope, j->memory, NULL, true, false, NULL};
    return count;
}

static void set_quotas(struct job *j)
{
    for (uint32_t q = 0; q < j->demand.quota_count; q++) {
        const struct world_quota *quota = &world_quotas[j->quotas[q]];
        j->demand_quotas[q] = quota->is_of_all ? (struct demand_quota){.pool = quota->pool_of[0]}
                                               : (struct demand_quota){NONE, quota->pool_of};
    }
    j->demand.quotas = j->demand_quotas;
}

/* A number of hosts instead of an environment, sometimes with as many slots on each. */
static void ask_for_hosts(struct job *j, struct rng *rng)
{
    struct demand *d = &j->demand;
    d->environment_count = 0;
    d->host_min = 1 + rng_below(rng, 4);
    d->host_max = d->host_min + rng_below(rng, 2) * rng_below(rng, 3);
    if (rng_below(rng, 4) == 0) d->slots_per_host = 1 + rng_below(rng, 3);
    if (j->range.min < d->host_min) j->range.min = d->host_min;
    if (d->slots_per_host > 0)
        j->range.min = d->slots_per_host * (d->host_min + rng_below(rng, d->host_max - d->host_min + 1));
    j->range.max = j->range.min;
}

/* Sometimes whole hosts, or a shorter time. */
static void ask_for_more(struct job *j, struct rng *rng)
{
    if (j->demand.environment_count == 0 && rng_below(rng, 3) == 0) {
        j->demand.is_whole = true;
        j->demand.quota_count = j->licenses = j->tokens = 0;
        j->demand.need_count = list_needs(j);
    }
    if (rng_below(rng, 4) > 0) j->duration_min_s = 1 + rng_below(rng, (uint32_t)j->duration_s);
    j->demand.duration_min_us = j->duration_min_s * SECOND;
}

/* Sometimes a copy of an earlier job, with the same shape, or another duration. jobs: count earlier ones. */
static void make_job(struct job *j, const struct job *jobs, uint32_t count, struct rng *rng)
{
    uint32_t copied = count > 0 && rng_below(rng, 3) == 0 ? rng_below(rng, count) : NONE;
    if (copied != NONE) {
        *j = jobs[copied];
        j->demand.needs = j->needs;
        j->demand.environments = &j->environment;
        j->demand.ranges = &j->range;
        set_quotas(j);
        if (rng_below(rng, 2) == 0) return;
        j->demand.shape = count;
        j->duration_s = 1 + rng_below(rng, 20);
        j->demand.duration_us = j->duration_s * SECOND;
        j->duration_min_s = rng_below(rng, 2) * (1 + rng_below(rng, (uint32_t)j->duration_s));
        j->demand.duration_min_us = j->duration_min_s * SECOND;
        return;
    }
    *j = (struct job){.duration_s = 1 + rng_below(rng, 20), .environment = rng_below(rng, COUNT(rules_of))};
    uint32_t slots = 1 + rng_below(rng, 8);
    bool is_serial = rng_below(rng, 3) == 0;
    if (is_serial) slots = 1;
    if (rules_of[j->environment] == ALLOCATE_FIXED && !is_serial) slots += slots % 2;
    j->range = (struct slot_range){slots, slots};
    j->wants_reservation = rng_below(rng, 2);
    j->has_memory_per_host = rng_below(rng, 3) == 0;
    j->memory = rng_below(rng, 3) * 20;
    j->licenses = rng_below(rng, 5) == 0;
    j->tokens = rng_below(rng, 4) == 0;
    j->demand = (struct demand){.shape = count,
                                .kind = count,
                                .needs = j->needs,
                                .need_count = list_needs(j),
                                .environments = &j->environment,
                                .environment_count = !is_serial,
                                .ranges = &j->range,
                                .range_count = 1,
                                .duration_us = j->duration_s * SECOND};
    if (!is_serial && rng_below(rng, 3) == 0) ask_for_hosts(j, rng);
    j->demand.quota_count = rng_below(rng, 2) * (1 + rng_below(rng, JOB_QUOTAS_MAX));
    j->quotas[0] = rng_below(rng, QUOTAS);
    j->quotas[1] = (j->quotas[0] + 1) % QUOTAS;
    j->demand.bare_kind = JOBS_MAX + count;
    ask_for_more(j, rng);
    set_quotas(j);
}

/* --- comparisons -------------------------------------------------------------------------------------------------- */

static struct decided decide(struct run *run, const struct job *j)
{
    const struct run_decision decision = run_job(run, &j->demand, j->wants_reservation);
    struct decided d = {.outcome = decision.outcome};
    if (decision.outcome == RUN_WAITS) return d;
    d.start_s = decision.start_us / SECOND;
    d.duration_s = decision.duration_us / SECOND;
    d.first = decision.allocation.parts[0].instance;
    for (uint32_t i = 0; i < decision.allocation.part_count; i++)
        d.slots[decision.allocation.parts[i].instance] += decision.allocation.parts[i].slots;
    return d;
}

static void check_offers(const struct offers *o)
{
    for (uint32_t i = 0; i < o->list.count; i++) {
        double max = timeline_max(&o->list.items[i].booked, 0, TIMELINE_END);
        assert_true(max <= timeline_limit(o->list.items[i].amount, 0.0));
    }
}

static void check_nothing_is_overbooked(const struct cluster *c)
{
    check_offers(&c->global);
    for (uint32_t i = 0; i < c->hosts.count; i++) check_offers(&c->hosts.items[i].offers);
    for (uint32_t i = 0; i < c->instances.count; i++) check_offers(&c->instances.items[i].offers);
    for (uint32_t i = 0; i < c->environments.count; i++) check_offers(&c->environments.items[i].offers);
    for (uint32_t i = 0; i < c->pools->list.count; i++) check_offers(&c->pools->list.items[i].offers);
}

static void decisions_equal_the_slow_ones(void **unused)
{
    (void)unused;
    uint32_t reserved = 0, started = 0, spread = 0, limited = 0, cut = 0, whole = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct rng rng = {.state = seed};
        struct cluster_world w;
        static struct slow slow;
        struct run run;
        struct job jobs[JOBS_MAX];
        make_cluster(&w, &slow, &rng);
        make_running(&w, &slow, &rng);
        int64_t step_s = rng_below(&rng, 2) ? 1 + rng_below(&rng, 9) : 1;
        const struct run_rules rules = {.reservations = rng_below(&rng, 2) ? RUN_RESERVE_REQUESTED : RUN_RESERVE_ALL,
                                        .reservation_max = 1 + rng_below(&rng, JOBS_MAX),
                                        .resolution_us = step_s * SECOND,
                                        .search = RESERVE_IN_GAPS};
        run_begin(&run, &w.c, &rules, 0, &w.arena);
        for (uint32_t i = 0, count = 1 + rng_below(&rng, JOBS_MAX), reservations = 0; i < count; i++) {
            make_job(&jobs[i], jobs, i, &rng);
            const struct job *j = &jobs[i];
            bool reserves =
                reservations < rules.reservation_max && (rules.reservations == RUN_RESERVE_ALL || j->wants_reservation);
            struct decided expected = slow_decide(&slow, j, step_s, reserves), found = decide(&run, j);
            reservations += expected.outcome == RUN_RESERVED;
            reserved += expected.outcome == RUN_RESERVED;
            started += expected.outcome == RUN_STARTS;
            assert_int_equal(found.outcome, expected.outcome);
            assert_int_equal(found.start_s, expected.start_s);
            assert_int_equal(found.duration_s, expected.duration_s);
            assert_memory_equal(found.slots, expected.slots, sizeof found.slots);
            assert_int_equal(found.first, expected.first);
            spread += j->demand.host_max > 0 && expected.outcome != RUN_WAITS;
            cut += expected.outcome != RUN_WAITS && expected.duration_s < j->duration_s;
            whole += j->demand.is_whole && expected.outcome != RUN_WAITS;
            limited += j->demand.quota_count > 0 && expected.outcome != RUN_WAITS;
        }
        check_nothing_is_overbooked(&w.c);
        run_end(&run);
        release_world(&w);
    }
    print_message("# %u jobs started, %u reserved; %u on a number of hosts, %u with quotas, %u for less than the whole "
                  "time, %u on whole hosts\n",
                  started, reserved, spread, limited, cut, whole);
    assert_true(started > 1000 && reserved > 1000 && spread > 1000 && limited > 1000 && cut > 100 && whole > 1000);
}

static void nothing_is_overbooked_without_gaps(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct rng rng = {.state = seed * 7919};
        struct cluster_world w, shorter;
        static struct slow slow;
        struct run run, run_of_shorter;
        struct job jobs[JOBS_MAX];
        const struct run_rules rules = {
            .reservations = RUN_RESERVE_ALL, .reservation_max = 8, .search = RESERVE_WITHOUT_GAPS};
        make_cluster(&w, &slow, &rng);
        struct sched_pools pools = world_pools, pools_of_shorter;
        world_pools = (struct sched_pools){0};
        rng.state = seed * 7919;
        make_cluster(&shorter, &slow, &rng);
        pools_of_shorter = world_pools;
        world_pools = pools;
        shorter.c.pools = &pools_of_shorter;
        run_begin(&run, &w.c, &rules, 0, &w.arena);
        run_begin(&run_of_shorter, &shorter.c, &rules, 0, &shorter.arena);
        for (uint32_t i = 0; i < JOBS_MAX; i++) {
            make_job(&jobs[i], jobs, i, &rng);
            struct decided d = decide(&run, &jobs[i]);
            if (i >= JOBS_MAX / 2) continue;
            struct decided same = decide(&run_of_shorter, &jobs[i]);
            assert_memory_equal(&d, &same, sizeof d);
        }
        check_nothing_is_overbooked(&w.c);
        run_end(&run);
        run_end(&run_of_shorter);
        release_world(&w);
        world_pools = pools_of_shorter;
        release_world(&shorter);
    }
}

/* --- promises ----------------------------------------------------------------------------------------------------- */

/* Runs the world second by second: what starts is booked again in every later run until its end. */
static void promises_are_kept(void **unused)
{
    (void)unused;
    uint32_t kept = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng = {.state = seed * 104729};
        struct cluster_world w;
        static struct slow empty;
        struct job jobs[JOBS_MAX];
        struct decided decisions[JOBS_MAX];
        int64_t promise_s[JOBS_MAX];
        bool has_started[JOBS_MAX] = {false};
        const struct run_rules rules = {
            .reservations = RUN_RESERVE_ALL, .reservation_max = JOBS_MAX, .search = RESERVE_IN_GAPS};
        uint64_t cluster_seed = rng.state;
        make_cluster(&w, &empty, &rng);
        release_world(&w);
        for (uint32_t i = 0; i < JOBS_MAX; i++) {
            make_job(&jobs[i], jobs, i, &rng);
            jobs[i].duration_min_s = jobs[i].demand.duration_min_us = 0; /* one before others may take their gaps */
            promise_s[i] = HORIZON_S;
        }
        for (int64_t now_s = 0; now_s < HORIZON_S; now_s++) {
            struct rng same = {.state = cluster_seed};
            struct run run;
            make_cluster(&w, &empty, &same);
            for (uint32_t i = 0; i < JOBS_MAX; i++) {
                int64_t end_s = decisions[i].start_s + jobs[i].duration_s;
                if (!has_started[i] || end_s <= now_s) continue;
                struct allocation_part parts[HOSTS_MAX];
                struct allocation a = {.environment = jobs[i].demand.environment_count ? jobs[i].environment : NONE,
                                       .parts = parts};
                for (uint32_t k = 0; k <= HOSTS_MAX; k++) {
                    uint32_t h = k == 0 ? decisions[i].first : k - 1;
                    if (decisions[i].slots[h] == 0 || (k > 0 && h == decisions[i].first)) continue;
                    a.slots += decisions[i].slots[h];
                    parts[a.part_count++] = (struct allocation_part){h, decisions[i].slots[h]};
                }
                cluster_book(&w.c, &jobs[i].demand, &a, decisions[i].start_s * SECOND, end_s * SECOND);
            }
            run_begin(&run, &w.c, &rules, now_s * SECOND, &w.arena);
            for (uint32_t i = 0; i < JOBS_MAX; i++) {
                if (has_started[i]) continue;
                decisions[i] = decide(&run, &jobs[i]);
                has_started[i] = decisions[i].outcome == RUN_STARTS;
                if (decisions[i].outcome == RUN_WAITS) continue; /* it never fits */
                assert_true(decisions[i].start_s <= promise_s[i]);
                kept += promise_s[i] < HORIZON_S && has_started[i];
                promise_s[i] = decisions[i].start_s;
            }
            run_end(&run);
            release_world(&w);
        }
    }
    print_message("# %u promises kept\n", kept);
    assert_true(kept > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decisions_equal_the_slow_ones),
                                       cmocka_unit_test(nothing_is_overbooked_without_gaps),
                                       cmocka_unit_test(promises_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
