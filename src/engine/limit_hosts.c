#include "engine/limit_hosts.h"

#include <string.h>

#include "base/hash.h"

/* What the answer depends on, beside the instances that the job may use. */
struct limit_key {
    uint32_t counter, host_edition; /* of a group without tasks: NONE */
    bool is_full;                   /* it may have no host that is new to it */
};

/* An answer. */
struct limit_answer {
    struct limit_answer *next; /* in its chain */
    uint64_t hash;
    uint32_t rebuild_count, count;
    const struct limit_key *keys; /* count entries */
    const uint64_t *may_use;      /* the instances that the job may use; NULL: all */
    uint64_t **hosts;             /* by limit: the hosts that its group has, by index of the cluster */
    uint32_t *known;              /* by limit: how many of them the job may use */
    const uint64_t *allowed;      /* the instances that are left; that of the job if no group is full */
    bool has_any;
};

enum { CHAINS = 256 };

struct limit_hosts_cache {
    struct limit_answer *chains[CHAINS];
};

struct limit_hosts_cache *limit_hosts_cache_make(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct limit_hosts_cache));
}

static bool may_use(const uint64_t *set, uint32_t instance)
{
    return set == NULL || (set[instance / 64] >> instance % 64 & 1) != 0;
}

/* Sets the bits of the group's hosts; returns how many of them the job may use. */
static uint32_t list_known(const struct limit_hosts *p, const uint64_t *set, uint32_t counter, uint64_t *out)
{
    const struct cluster *c = &p->model->cluster;
    uint32_t count = 0;
    for (uint32_t h = 0; h < c->hosts.count && counter != NONE; h++) {
        const struct limit_counter *k = &p->counts->counters.items[counter];
        const struct sched_host *host = &c->hosts.items[h];
        bool is_usable = false;
        if (!limit_counter_has_host(p->counts, k, p->model->host_of[h])) continue;
        for (uint32_t i = host->first_instance; i < host->first_instance + host->instance_count; i++)
            is_usable |= may_use(set, i);
        out[h / 64] |= UINT64_C(1) << h % 64;
        count += is_usable;
    }
    return count;
}

/* Keeps only instances on hosts that every exhausted group already uses. */
static void confine(const struct limit_hosts *p, struct limit_answer *a)
{
    const struct cluster *c = &p->model->cluster;
    uint64_t *allowed = arena_alloc(p->arena, (c->instances.count / 64 + (size_t)1) * sizeof *allowed);
    for (uint32_t i = 0; i < c->instances.count; i++) {
        uint32_t host = c->instances.items[i].host;
        bool is_left = may_use(a->may_use, i);
        for (uint32_t k = 0; is_left && k < a->count; k++)
            is_left = !a->keys[k].is_full || (a->hosts[k][host / 64] >> host % 64 & 1) != 0;
        if (!is_left) continue;
        allowed[i / 64] |= UINT64_C(1) << i % 64;
        a->has_any = true;
    }
    a->allowed = allowed;
}

static struct limit_answer *find_answer(const struct limit_hosts *p, const struct limit_key *keys, uint32_t count,
                                        const uint64_t *set)
{
    size_t words = p->model->cluster.hosts.count / 64 + (size_t)1;
    struct limit_answer *a = arena_alloc(p->arena, sizeof *a);
    struct limit_key *copy = arena_alloc(p->arena, count * sizeof *copy);
    memcpy(copy, keys, count * sizeof *copy);
    *a = (struct limit_answer){.rebuild_count = p->counts->rebuild_count, .count = count, .keys = copy, .may_use = set};
    a->hosts = arena_alloc(p->arena, count * sizeof *a->hosts);
    a->known = arena_alloc(p->arena, count * sizeof *a->known);
    uint32_t full = 0;
    for (uint32_t i = 0; i < count; i++) {
        a->hosts[i] = arena_alloc(p->arena, words * sizeof **a->hosts);
        a->known[i] = list_known(p, set, keys[i].counter, a->hosts[i]);
        full += keys[i].is_full;
    }
    a->allowed = set;
    a->has_any = true;
    if (full == 0) return a;
    a->has_any = false;
    confine(p, a);
    return a;
}

static size_t set_size(const struct limit_hosts *p)
{
    return (p->model->cluster.instances.count + (size_t)63) / 64 * sizeof(uint64_t);
}

static bool is_answer(const struct limit_hosts *p, const struct limit_answer *a, const struct limit_key *keys,
                      uint32_t count, const uint64_t *set)
{
    if (a->rebuild_count != p->counts->rebuild_count || a->count != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (a->keys[i].counter != keys[i].counter || a->keys[i].host_edition != keys[i].host_edition ||
            a->keys[i].is_full != keys[i].is_full)
            return false;
    }
    if (a->may_use == set) return true;
    return a->may_use != NULL && set != NULL && memcmp(a->may_use, set, set_size(p)) == 0;
}

static const struct limit_answer *answer(const struct limit_hosts *p, const struct limit_key *keys, uint32_t count,
                                         const uint64_t *set)
{
    if (p->cache == NULL) return find_answer(p, keys, count, set);
    uint64_t hash = set != NULL ? hash_bytes(set, set_size(p), 0) : 0;
    for (uint32_t i = 0; i < count; i++)
        hash = hash_u64(hash ^ ((uint64_t)keys[i].counter << 32 | keys[i].host_edition)) + keys[i].is_full;
    struct limit_answer **chain = &p->cache->chains[hash_u64(hash) % CHAINS];
    for (struct limit_answer *a = *chain; a != NULL; a = a->next) {
        if (a->hash == hash && is_answer(p, a, keys, count, set)) return a;
    }
    struct limit_answer *found = find_answer(p, keys, count, set);
    found->hash = hash;
    found->next = *chain;
    return *chain = found;
}

bool limit_hosts_restrict(const struct limit_hosts *p, const struct limit_of_hosts *of, uint32_t count,
                          uint32_t host_min, struct demand *d, struct limit_hit *out_hit)
{
    struct limit_key keys[LIMITS_OF_HOSTS_MAX];
    struct host_limit *limits = arena_alloc(p->arena, count * sizeof *limits);
    uint32_t full = 0, first_full = NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t counter = of[i].hit.counter;
        uint32_t edition = counter != NONE ? p->counts->counters.items[counter].host_edition : 0;
        keys[i] = (struct limit_key){counter, edition, of[i].others_max == 0};
        full += keys[i].is_full;
        if (keys[i].is_full && first_full == NONE) first_full = i;
    }
    const struct limit_answer *a = answer(p, keys, count, d->allowed);
    for (uint32_t i = 0; i < count; i++) {
        limits[i] = (struct host_limit){a->hosts[i], of[i].others_max};
        if (a->known[i] + (uint64_t)of[i].others_max >= host_min) continue;
        *out_hit = of[i].hit;
        return false;
    }
    d->host_limits = limits;
    d->host_limit_count = count;
    d->allowed = a->allowed;
    if (a->has_any) return true;
    *out_hit = of[first_full].hit;
    out_hit->has_more_counters = full > 1;
    return false;
}
