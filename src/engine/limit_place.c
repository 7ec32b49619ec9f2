#include "engine/limit_place.h"

#include "base/sort.h"
#include "engine/limit_hosts.h"
#include "engine/limit_size.h"

static void request_of(const struct limit_places *p, const struct job *j, uint32_t partition,
                       const struct limit_size *size, struct tres_amount *amounts, struct limit_request *out)
{
    limits_request(p->s, j, partition, size->slots, size->hosts, amounts, out);
}

/* Whether the limits let a task of that size start, on hosts that its groups have already. */
static bool admits(const struct limit_places *p, const struct job *j, uint32_t partition, const struct limit_size *size,
                   struct limit_hit *out_hit)
{
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    request_of(p, j, partition, size, amounts, &r);
    return limits_admit(p->s, p->counts, &r, p->now_us, out_hit);
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* The largest number of slots that is admitted; the smallest one is. */
static uint32_t find_slots(const struct limit_places *p, const struct job *j, uint32_t partition,
                           struct limit_size size, uint32_t max)
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
                           const struct limit_size *min, uint32_t max)
{
    struct limit_hit unused;
    uint32_t low = min->hosts;
    while (low < max) {
        uint32_t middle = low + (max - low + 1) / 2;
        const struct limit_size wide = {middle > min->slots ? middle : min->slots, middle};
        if (admits(p, j, partition, &wide, &unused))
            low = middle;
        else
            max = middle - 1;
    }
    return low;
}

/* What an environment, or the demand without one, makes of the slots. */
static struct limit_spread spread_in(const struct limit_places *p, const struct demand *d, uint32_t index)
{
    struct limit_spread spread = {.slots_min = d->ranges[0].min,
                                  .slots_max = d->ranges[d->range_count - 1].max,
                                  .host_min = d->host_min > 0 ? d->host_min : 1,
                                  .slots_per_host = d->slots_per_host};
    uint32_t max = d->slots_per_host > 0 ? d->slots_per_host : p->model->largest_slots;
    uint32_t needed = max > 0 ? (spread.slots_min - 1) / max + 1 : 1;
    if (d->host_max > 1 && needed > spread.host_min && needed <= d->host_max) spread.host_min = needed;
    if (d->environment_count == 0) return spread;
    const struct sched_environment *e = &p->model->cluster.environments.items[d->environments[index]];
    spread.has_environment = true;
    spread.rule = e->rule;
    spread.slots_per_host = e->slots_per_host;
    return spread;
}

/* The largest number of hosts that a rule of an environment can give slots to. */
static uint32_t max_hosts(const struct limit_places *p, const struct limit_spread *spread)
{
    uint32_t hosts = p->model->cluster.hosts.count, max = spread->slots_max;
    if (spread->rule == ALLOCATE_ONE_HOST) return 1;
    if (spread->rule == ALLOCATE_FIXED) return (max - 1) / spread->slots_per_host + 1;
    return max < hosts ? max : hosts;
}

/* The smallest and the largest size that a job can have, with so many slots on each host of an environment. Which of
 * them it gets, only its placement says. */
static void find_sizes(const struct limit_places *p, const struct demand *d, uint32_t each, struct limit_size *out_min,
                       struct limit_size *out_max)
{
    *out_min = (struct limit_size){UINT32_MAX, UINT32_MAX};
    *out_max = (struct limit_size){d->ranges[d->range_count - 1].max, 1};
    for (uint32_t i = 0; i == 0 || i < d->environment_count; i++) {
        const struct limit_spread spread = spread_in(p, d, i);
        const struct limit_size min = limit_size_min(&spread, each);
        uint32_t hosts = spread.has_environment ? max_hosts(p, &spread) : min.hosts;
        if (min.slots < out_min->slots) out_min->slots = min.slots;
        if (min.hosts < out_min->hosts) out_min->hosts = min.hosts;
        if (hosts > out_max->hosts) out_max->hosts = hosts;
    }
    if (d->host_max > 0) out_max->hosts = d->host_max < out_max->slots ? d->host_max : out_max->slots;
    if (out_max->hosts < out_min->hosts) out_max->hosts = out_min->hosts;
}

/* --- whole hosts -------------------------------------------------------------------------------------------------- */

static bool is_allowed(const struct demand *d, uint32_t instance)
{
    return d->allowed == NULL || (d->allowed[instance / 64] >> instance % 64 & 1) != 0;
}

/* The slots of the whole host of an instance, if the demand may have it; else 0. */
static uint32_t whole_slots(const struct limit_places *p, const struct demand *d, uint32_t instance)
{
    const struct cluster *c = &p->model->cluster;
    uint32_t slots = is_allowed(d, instance) ? cluster_whole_slots(c, c->instances.items[instance].host) : 0;
    return demand_is_serial(d) && slots < d->ranges[0].min ? 0 : slots;
}

/* The smallest number of slots of a host that is above another one; 0: there is none. */
static uint32_t next_slots(const struct limit_places *p, const struct demand *d, uint32_t above)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->model->cluster.instances.count; i++) {
        uint32_t slots = whole_slots(p, d, i);
        if (slots > above && (next == 0 || slots < next)) next = slots;
    }
    return next;
}

/* The maximum number of slots that the job gets if no host of it has more than `each` of them. */
static struct limit_size whole_size(const struct demand *d, uint32_t smallest, uint32_t each)
{
    uint32_t hosts = demand_is_serial(d) ? 1 : (d->ranges[0].min - 1) / smallest + 1;
    if (hosts < d->host_min) hosts = d->host_min;
    if (d->host_max > 0 && hosts > d->host_max) hosts = d->host_max;
    uint64_t slots = (uint64_t)hosts * each;
    return (struct limit_size){slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX, hosts};
}

/* The demand with only those instances whose hosts have at most so many slots. */
static struct demand *keep_hosts(const struct limit_places *p, const struct demand *d, uint32_t each)
{
    struct demand *own = arena_alloc(p->arena, sizeof *own);
    uint64_t *allowed = arena_alloc(p->arena, p->model->set_words * sizeof *allowed);
    for (uint32_t i = 0; i < p->model->cluster.instances.count; i++) {
        uint32_t slots = whole_slots(p, d, i);
        if (slots > 0 && slots <= each) allowed[i / 64] |= UINT64_C(1) << i % 64;
    }
    *own = *d;
    own->shape = NONE;
    own->allowed = allowed;
    return own;
}

/* The whole hosts that the demand may have, the smallest first. In memory of the arena. */
static uint32_t sort_hosts(const struct limit_places *p, const struct demand *d, struct sort_record **out)
{
    uint32_t count = p->model->cluster.instances.count, found = 0;
    struct sort_record *hosts = arena_alloc_raw(p->arena, (2 * (size_t)count + 1) * sizeof *hosts);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slots = whole_slots(p, d, i);
        if (slots > 0) hosts[found++] = (struct sort_record){.key = slots, .index = i};
    }
    sort_records(hosts, found, hosts + count);
    *out = hosts;
    return found;
}

/* The slots of the smallest hosts, so many of them; of fewer, if there are no more, as if there were. */
static struct limit_size smallest_size(const struct sort_record *hosts, uint32_t count, uint32_t wanted)
{
    uint64_t slots = 0;
    for (uint32_t i = 0; i < wanted; i++) slots += hosts[i < count ? i : count - 1].key;
    return (struct limit_size){slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX, wanted};
}

/* The demand with these hosts only. */
static struct demand *keep_smallest(const struct limit_places *p, const struct demand *d,
                                    const struct sort_record *hosts, uint32_t count)
{
    struct demand *own = keep_hosts(p, d, 0);
    uint64_t *allowed = arena_alloc(p->arena, p->model->set_words * sizeof *allowed);
    for (uint32_t i = 0; i < count; i++) allowed[hosts[i].index / 64] |= UINT64_C(1) << hosts[i].index % 64;
    own->allowed = allowed;
    return own;
}

/* Limits count all slots of the hosts. Of hosts of several sizes the job gets those up to the largest size that is
 * admitted, whichever of them it is given; if these are too few, the smallest ones. */
static const struct demand *place_whole(const struct limit_places *p, const struct job *j, uint32_t partition,
                                        const struct demand *d, struct limit_hit *out_hit)
{
    struct sort_record *hosts;
    uint32_t count = sort_hosts(p, d, &hosts), smallest = count > 0 ? (uint32_t)hosts[0].key : 0, each = smallest, next;
    struct limit_size size = whole_size(d, smallest > 0 ? smallest : 1, smallest > 0 ? smallest : d->ranges[0].min);
    struct limit_hit unused;
    struct limit_of_hosts of[LIMITS_OF_HOSTS_MAX];
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    *out_hit = (struct limit_hit){.reason = PENDING_NONE, .tres = NONE, .counter = NONE};
    if (count > 0) size = smallest_size(hosts, count, size.hosts);
    if (!admits(p, j, partition, &size, out_hit)) return NULL;
    if (smallest == 0) return d; /* it fits nowhere */
    request_of(p, j, partition, &size, amounts, &r);
    while ((next = next_slots(p, d, each)) != 0) {
        const struct limit_size larger = whole_size(d, smallest, next);
        if (!admits(p, j, partition, &larger, &unused)) break;
        each = next;
    }
    uint32_t limit_count = limits_list_hosts(p->s, p->counts, &r, size.hosts, of);
    if (next == 0 && limit_count == 0) return d;
    bool is_too_few = size.hosts <= count && hosts[size.hosts - 1].key > each;
    struct demand *own = is_too_few ? keep_smallest(p, d, hosts, size.hosts) : keep_hosts(p, d, each);
    if (limit_count > 0) *out_hit = of[0].hit;
    const struct limit_hosts of_hosts = {p->counts, p->model, p->arena, p->cache};
    bool fits = limit_count == 0 || limit_hosts_restrict(&of_hosts, of, limit_count, size.hosts, own, out_hit);
    return fits ? own : NULL;
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

/* On a number of hosts the mean is compared with the limit, cut off: the most even distribution is always allowed. */
static uint32_t max_on_host(uint32_t each, const struct limit_size *min)
{
    uint32_t even = (min->slots - 1) / min->hosts + 1;
    return each > even ? each : even;
}

const struct demand *limit_place(const struct limit_places *p, const struct job *j, uint32_t partition,
                                 const struct demand *d, struct limit_hit *out_hit)
{
    if (d->is_whole) return place_whole(p, j, partition, d, out_hit);
    bool is_spread = d->environment_count > 0;
    uint32_t slots_max = d->ranges[d->range_count - 1].max;
    bool has_hosts = !is_spread && d->host_max > 0;
    uint32_t each = is_spread || has_hosts ? limit_size_each(p->s, p->counts, j, partition, slots_max) : slots_max;
    struct limit_size min, max;
    find_sizes(p, d, each, &min, &max);
    /* MinTRES is compared with the smallest size, and the other limits admit none if they do not admit that one. */
    *out_hit = (struct limit_hit){.reason = PENDING_NONE, .tres = NONE, .counter = NONE};
    if (!admits(p, j, partition, &min, out_hit)) return NULL;
    if (has_hosts) each = max_on_host(each, &min);
    struct limit_hit unused;
    struct limit_size size = max;
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
    if (each < max.slots) own->slots_per_host_max = each;
    if (count > 0) *out_hit = of[0].hit;
    const struct limit_hosts hosts = {p->counts, p->model, p->arena, p->cache};
    return count == 0 || limit_hosts_restrict(&hosts, of, count, min.hosts, own, out_hit) ? own : NULL;
}
