#include "engine/limit_place.h"

#include <string.h>

#include "base/ensure.h"

/* A size that a task may have. */
struct size {
    uint32_t slots, hosts;
};

static void request_of(const struct limit_places *p, const struct job *j, uint32_t partition, const struct size *size,
                       struct tres_amount *amounts, struct limit_request *out)
{
    limits_request(p->s, j, partition, size->slots, size->hosts, amounts, out);
}

/* Whether the limits let a task of that size start, on hosts that its groups have already. */
static bool admits(const struct limit_places *p, const struct job *j, uint32_t partition, const struct size *size,
                   struct limit_hit *out_hit)
{
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    request_of(p, j, partition, size, amounts, &r);
    return limits_admit(p->s, p->counts, &r, p->now_us, out_hit);
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* The largest number of slots that is admitted; the smallest one is. */
static uint32_t find_slots(const struct limit_places *p, const struct job *j, uint32_t partition, struct size size,
                           uint32_t max)
{
    struct limit_hit unused;
    uint32_t low = size.slots;
    while (low < max) {
        uint32_t middle = low + (max - low + 1) / 2;
        size.slots = middle;
        if (admits(p, j, partition, &size, &unused))
            low = middle;
        else
            max = middle - 1;
    }
    return low;
}

/* The largest number of hosts that is admitted; the smallest one is. Each has a slot. */
static uint32_t find_hosts(const struct limit_places *p, const struct job *j, uint32_t partition,
                           const struct size *min, uint32_t max)
{
    struct limit_hit unused;
    uint32_t low = min->hosts;
    while (low < max) {
        uint32_t middle = low + (max - low + 1) / 2;
        const struct size wide = {middle > min->slots ? middle : min->slots, middle};
        if (admits(p, j, partition, &wide, &unused))
            low = middle;
        else
            max = middle - 1;
    }
    return low;
}

/* The largest number of slots that a host may give a job, at most max: MaxTRESPerNode in a parallel environment, which
 * distributes the slots. Where not even one is allowed, max: the limit is the reason then. */
static uint32_t find_slots_of_host(const struct limit_places *p, const struct job *j, uint32_t partition, uint32_t max)
{
    uint32_t low = 0, high = max;
    while (low < high) {
        const struct size size = {low + (high - low + 1) / 2, 1};
        struct tres_amount amounts[TRES_MAX];
        struct limit_request r;
        request_of(p, j, partition, &size, amounts, &r);
        if (limits_admit_host(p->s, p->counts, &r))
            low = size.slots;
        else
            high = size.slots - 1;
    }
    return low > 0 ? low : max;
}

/* The numbers of hosts that the rules of a job's parallel environments can give it, with so many slots on each. Which
 * of them it gets, only its placement says. */
static void find_environment_hosts(const struct limit_places *p, const struct demand *d, uint32_t each,
                                   uint32_t *out_min, uint32_t *out_max)
{
    const struct cluster *c = &p->model->cluster;
    uint32_t slots_min = d->ranges[0].min, slots_max = d->ranges[d->range_count - 1].max;
    *out_min = UINT32_MAX;
    *out_max = 1;
    for (uint32_t i = 0; i < d->environment_count; i++) {
        const struct sched_environment *e = &c->environments.items[d->environments[i]];
        uint32_t min = (slots_min - 1) / each + 1, max = slots_max < c->hosts.count ? slots_max : c->hosts.count;
        if (e->rule == ALLOCATE_ONE_HOST) min = max = 1;
        if (e->rule == ALLOCATE_FIXED && e->slots_per_host > 0) {
            min = (slots_min - 1) / e->slots_per_host + 1;
            max = (slots_max - 1) / e->slots_per_host + 1;
        }
        if (min < *out_min) *out_min = min;
        if (max > *out_max) *out_max = max;
    }
    if (*out_max < *out_min) *out_max = *out_min;
}

/* --- restricted demands ------------------------------------------------------------------------------------------- */

/* The range up to a maximum, which is at least the minimum. */
static void cut_ranges(const struct limit_places *p, uint32_t max, struct demand *d)
{
    struct slot_range *ranges = arena_alloc(p->arena, d->range_count * sizeof *ranges);
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->range_count && d->ranges[i].min <= max; i++) {
        ranges[count] = d->ranges[i];
        if (ranges[count].max > max) ranges[count].max = max;
        count++;
    }
    d->ranges = ranges;
    d->range_count = count;
}

static bool is_allowed(const struct demand *d, uint32_t instance)
{
    return d->allowed == NULL || (d->allowed[instance / 64] >> instance % 64 & 1) != 0;
}

/* The hosts on which a group has tasks, as bits. Returns how many of them the job may have. */
static uint32_t list_known(const struct limit_places *p, const struct demand *d, const struct limit_of_hosts *l,
                           uint64_t *out)
{
    const struct cluster *c = &p->model->cluster;
    uint32_t count = 0;
    for (uint32_t h = 0; h < c->hosts.count && l->hit.counter != NONE; h++) {
        const struct limit_counter *k = &p->counts->counters.items[l->hit.counter];
        const struct sched_host *host = &c->hosts.items[h];
        bool may_have = false;
        if (!limit_counter_has_host(p->counts, k, p->model->host_of[h])) continue;
        for (uint32_t i = host->first_instance; i < host->first_instance + host->instance_count; i++)
            may_have |= is_allowed(d, i);
        out[h / 64] |= UINT64_C(1) << h % 64;
        count += may_have;
    }
    return count;
}

/* Leaves the instances on hosts that all groups have which may have no further one. Returns whether there is any. */
static bool confine(const struct limit_places *p, const struct host_limit *limits, uint32_t count, struct demand *d)
{
    const struct cluster *c = &p->model->cluster;
    uint64_t *allowed = arena_alloc(p->arena, (c->instances.count / 64 + (size_t)1) * sizeof *allowed);
    bool has_any = false;
    for (uint32_t i = 0; i < c->instances.count; i++) {
        uint32_t host = c->instances.items[i].host;
        bool may_have = is_allowed(d, i);
        for (uint32_t k = 0; may_have && k < count; k++)
            may_have = limits[k].others_max > 0 || (limits[k].hosts[host / 64] >> host % 64 & 1) != 0;
        if (!may_have) continue;
        allowed[i / 64] |= UINT64_C(1) << i % 64;
        has_any = true;
    }
    d->allowed = allowed;
    return has_any;
}

/* Restricts a demand by limits of hosts. Returns whether hosts are left for it; if not, out_hit has the limit. */
static bool restrict_hosts(const struct limit_places *p, const struct limit_of_hosts *of, uint32_t count,
                           uint32_t host_min, struct demand *d, struct limit_hit *out_hit)
{
    size_t words = p->model->cluster.hosts.count / 64 + (size_t)1;
    struct host_limit *limits = arena_alloc(p->arena, (count + (size_t)1) * sizeof *limits);
    uint32_t full = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *hosts = arena_alloc(p->arena, words * sizeof *hosts);
        uint32_t known = list_known(p, d, &of[i], hosts);
        limits[i] = (struct host_limit){hosts, of[i].others_max};
        full += of[i].others_max == 0;
        if (known + (uint64_t)of[i].others_max >= host_min) continue;
        *out_hit = of[i].hit;
        return false;
    }
    d->host_limits = limits;
    d->host_limit_count = count;
    if (full == 0 || confine(p, limits, count, d)) return true;
    uint32_t first = 0;
    while (of[first].others_max > 0) first++;
    *out_hit = of[first].hit;
    out_hit->has_more_counters = full > 1;
    return false;
}

const struct demand *limit_place(const struct limit_places *p, const struct job *j, uint32_t partition,
                                 const struct demand *d, struct limit_hit *out_hit)
{
    bool is_spread = d->environment_count > 0;
    struct size min = {d->ranges[0].min, d->host_min > 0 ? d->host_min : 1};
    struct size max = {d->ranges[d->range_count - 1].max, min.hosts};
    uint32_t each = is_spread ? find_slots_of_host(p, j, partition, max.slots) : max.slots;
    if (is_spread) find_environment_hosts(p, d, each, &min.hosts, &max.hosts);
    if (d->host_max > 0) max.hosts = d->host_max < max.slots ? d->host_max : max.slots;
    if (max.hosts < min.hosts) max.hosts = min.hosts;
    /* MinTRES is compared with the smallest size, and the other limits admit none if they do not admit that one. */
    *out_hit = (struct limit_hit){.reason = PENDING_NONE, .tres = NONE, .counter = NONE};
    if (!admits(p, j, partition, &min, out_hit)) return NULL;
    struct limit_hit unused;
    struct size size = max;
    bool has_one_size = max.slots == min.slots && max.hosts == min.hosts;
    if (!has_one_size && !admits(p, j, partition, &max, &unused)) {
        size.hosts = find_hosts(p, j, partition, &min, max.hosts);
        size.slots = size.hosts > min.slots ? size.hosts : min.slots;
        size.slots = find_slots(p, j, partition, size, max.slots);
    }
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    struct limit_of_hosts of[LIMITS_OF_HOSTS_MAX];
    request_of(p, j, partition, &min, amounts, &r);
    uint32_t count = limits_list_hosts(p->s, p->counts, &r, size.hosts, of);
    bool is_cut = size.slots < max.slots || size.hosts < max.hosts || each < max.slots;
    if (count == 0 && !is_cut) return d;
    struct demand *own = arena_alloc(p->arena, sizeof *own);
    *own = *d;
    own->shape = NONE;
    if (size.slots < max.slots) cut_ranges(p, size.slots, own);
    if (size.hosts < max.hosts) own->host_max = size.hosts;
    if (each < max.slots && is_spread) own->slots_per_host_max = each;
    if (count > 0) *out_hit = of[0].hit;
    return count == 0 || restrict_hosts(p, of, count, min.hosts, own, out_hit) ? own : NULL;
}
