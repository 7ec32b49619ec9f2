#include "engine/limit_place.h"

#include <string.h>

#include "base/ensure.h"

/* Counters on whose hosts a task has to be. */
enum { CONFINED_MAX = 8 };
struct confinement {
    uint32_t counters[CONFINED_MAX];
    uint32_t count;
};

/* A size that a task may have. */
struct size {
    uint32_t slots, hosts;
};

static bool is_node_hit(const struct limit_hit *hit)
{
    return hit->tres == TRES_NODE && hit->counter != NONE && hit->requested <= hit->limit;
}

/* Whether the limits let a task of that size start, on hosts of the counters to which it is confined. Each time that
 * hosts are too many, one counter more confines it; out_hit names the first one, or the limit that blocks. */
static bool admits(const struct limit_places *p, const struct job *j, uint32_t partition, const struct size *size,
                   struct confinement *out, struct limit_hit *out_hit)
{
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    limits_request(p->s, j, partition, size->slots, size->hosts, amounts, &r);
    r.new_hosts = size->hosts;
    r.confined = out->counters;
    struct limit_hit hit;
    for (out->count = 0; !limits_admit(p->s, p->counts, &r, p->now_us, &hit); out->count++) {
        bool is_final = !is_node_hit(&hit) || out->count == CONFINED_MAX;
        if (is_final || out->count == 0) *out_hit = hit;
        if (is_final) return false;
        out->counters[out->count] = hit.counter;
        r.confined_count = out->count + 1;
    }
    return true;
}

/* The instances of the demand whose hosts all counters have tasks on. Returns false if there is none. */
static bool confine(const struct limit_places *p, const struct confinement *to, struct demand *d)
{
    const struct cluster *c = &p->model->cluster;
    size_t words = c->instances.count / 64 + (size_t)1;
    uint64_t *allowed = arena_alloc(p->arena, words * sizeof *allowed);
    bool has_any = false;
    for (uint32_t i = 0; i < c->instances.count; i++) {
        uint32_t host = p->model->host_of[c->instances.items[i].host];
        bool is_allowed = d->allowed == NULL || (d->allowed[i / 64] >> i % 64 & 1) != 0;
        for (uint32_t k = 0; is_allowed && k < to->count; k++)
            is_allowed = limit_counter_has_host(p->counts, &p->counts->counters.items[to->counters[k]], host);
        if (!is_allowed) continue;
        allowed[i / 64] |= UINT64_C(1) << i % 64;
        has_any = true;
    }
    d->allowed = allowed;
    return has_any;
}

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

/* The largest number of slots that is admitted; the smallest one is. */
static uint32_t find_slots(const struct limit_places *p, const struct job *j, uint32_t partition, struct size size,
                           uint32_t max, struct confinement *confined)
{
    struct limit_hit unused;
    uint32_t low = size.slots;
    while (low < max) {
        uint32_t middle = low + (max - low + 1) / 2;
        size.slots = middle;
        if (admits(p, j, partition, &size, confined, &unused))
            low = middle;
        else
            max = middle - 1;
    }
    size.slots = low;
    ensure(admits(p, j, partition, &size, confined, &unused));
    return low;
}

static bool admits_hosts(const struct limit_places *p, const struct job *j, uint32_t partition, uint32_t slots_min,
                         uint32_t hosts, uint32_t confined_min)
{
    const struct size size = {hosts > slots_min ? hosts : slots_min, hosts};
    struct confinement confined;
    struct limit_hit unused;
    return admits(p, j, partition, &size, &confined, &unused) && confined.count == confined_min;
}

/* The largest number of hosts that is admitted without being confined further than the smallest one: a task that may
 * be on any host does not wait for several ones that its group has. More hosts are admitted by no limit that does not
 * admit fewer: with slots_min slots in all, what is on each of them does not become more. */
static uint32_t find_hosts(const struct limit_places *p, const struct job *j, uint32_t partition,
                           const struct size *min, uint32_t max, uint32_t confined_min)
{
    uint32_t low = min->hosts;
    while (low < max) {
        uint32_t middle = low + (max - low + 1) / 2;
        if (admits_hosts(p, j, partition, min->slots, middle, confined_min))
            low = middle;
        else
            max = middle - 1;
    }
    return low;
}

/* NULL: there is no host to which it is confined. */
static const struct demand *restricted(const struct limit_places *p, const struct demand *d, uint32_t slots_max,
                                       uint32_t hosts_max, const struct confinement *confined,
                                       struct limit_hit *out_hit)
{
    struct demand *own = arena_alloc(p->arena, sizeof *own);
    *own = *d;
    own->shape = NONE;
    if (slots_max < d->ranges[d->range_count - 1].max) cut_ranges(p, slots_max, own);
    if (hosts_max < own->host_max) own->host_max = hosts_max;
    if (confined->count == 0 || confine(p, confined, own)) return own;
    out_hit->has_more_counters = confined->count > 1;
    return NULL;
}

/* The most hosts that a job may get in its parallel environments; which ones it gets, only its placement says. */
static uint32_t environment_hosts(const struct limit_places *p, const struct demand *d, uint32_t slots)
{
    const struct cluster *c = &p->model->cluster;
    uint32_t host_max = 1;
    for (uint32_t i = 0; i < d->environment_count; i++) {
        const struct sched_environment *e = &c->environments.items[d->environments[i]];
        uint32_t hosts = slots < c->hosts.count ? slots : c->hosts.count;
        if (e->rule == ALLOCATE_ONE_HOST) hosts = 1;
        if (e->rule == ALLOCATE_FIXED && e->slots_per_host > 0) hosts = (slots - 1) / e->slots_per_host + 1;
        if (hosts > host_max) host_max = hosts;
    }
    return host_max;
}

const struct demand *limit_place(const struct limit_places *p, const struct job *j, uint32_t partition,
                                 const struct demand *d, struct limit_hit *out_hit)
{
    bool is_spread = d->environment_count > 0;
    const struct size min = {d->ranges[0].min, d->host_min > 0 ? d->host_min : 1};
    struct size max = {d->ranges[d->range_count - 1].max, min.hosts};
    struct confinement confined;
    struct limit_hit unused;
    *out_hit = (struct limit_hit){.reason = PENDING_NONE, .tres = NONE, .counter = NONE};
    if (is_spread) max.hosts = environment_hosts(p, d, max.slots);
    if (d->host_max > 0) max.hosts = d->host_max < max.slots ? d->host_max : max.slots;
    if (max.hosts < min.hosts) max.hosts = min.hosts;
    /* MinTRES is compared with the smallest size, and the other limits admit none if they do not admit that one. */
    if (!admits(p, j, partition, &min, &confined, out_hit)) return NULL;
    uint32_t confined_min = confined.count;
    bool has_one_size = max.slots == min.slots && max.hosts == min.hosts;
    if (has_one_size ||
        (admits(p, j, partition, &max, &confined, &unused) && (is_spread || confined.count == confined_min)))
        return confined.count == 0 ? d : restricted(p, d, max.slots, max.hosts, &confined, out_hit);
    struct size size = {min.slots, is_spread ? max.hosts : min.hosts};
    if (is_spread && !admits(p, j, partition, &size, &confined, out_hit)) return NULL;
    size.hosts = find_hosts(p, j, partition, &size, max.hosts, confined_min);
    if (!is_spread && size.slots < size.hosts) size.slots = size.hosts;
    size.slots = find_slots(p, j, partition, size, max.slots, &confined);
    return restricted(p, d, size.slots, size.hosts, &confined, out_hit);
}
