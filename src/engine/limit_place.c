#include "engine/limit_place.h"

#include "base/sort.h"
#include "engine/limit_hosts.h"
#include "engine/limit_size.h"
#include "sched/place.h"

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

/* Whole hosts: key has the slots, index is an instance. The smallest first. */
struct whole_hosts {
    struct sort_record *items;
    uint32_t count;
};

/* The hosts that the demand may have, each once. In memory of scratch. */
static struct whole_hosts list_hosts(const struct limit_places *p, struct arena *scratch, const struct demand *d)
{
    const struct cluster *c = &p->model->cluster;
    struct whole_hosts hosts = {arena_alloc_raw(scratch, (2 * (size_t)c->instances.count + 1) * sizeof *hosts.items),
                                0};
    bool *is_listed = arena_alloc(scratch, c->hosts.count * sizeof *is_listed + 1);
    for (uint32_t i = 0; i < c->instances.count; i++) {
        uint32_t slots = whole_slots(p, d, i), host = c->instances.items[i].host;
        if (slots == 0 || is_listed[host]) continue;
        is_listed[host] = true;
        hosts.items[hosts.count++] = (struct sort_record){.key = slots, .index = i};
    }
    sort_records(hosts.items, hosts.count, hosts.items + c->instances.count);
    return hosts;
}

/* The smallest number of slots of a host that is above another one; 0: there is none. */
static uint32_t next_slots(const struct whole_hosts *hosts, uint32_t above)
{
    uint32_t i = 0;
    while (i < hosts->count && hosts->items[i].key <= above) i++;
    return i < hosts->count ? (uint32_t)hosts->items[i].key : 0;
}

/* Those of them that are free for the job now. */
static struct whole_hosts list_free(const struct limit_places *p, struct arena *scratch, const struct demand *d,
                                    const struct whole_hosts *all)
{
    const struct cluster *c = &p->model->cluster;
    struct whole_hosts hosts = {arena_alloc_raw(scratch, (all->count + (size_t)1) * sizeof *hosts.items), 0};
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t slots = (uint32_t)all->items[i].key, host = c->instances.items[all->items[i].index].host;
        if (place_host_offers(c, d, window_of(d, p->now_us), host, slots, slots) == slots)
            hosts.items[hosts.count++] = all->items[i];
    }
    return hosts;
}

/* So many hosts with the fewest slots that are enough for the demand: the smallest ones, and as the last one the first
 * that makes them enough. False: there are none; then *out_size is as if there were more of the largest. */
static bool choose_hosts(const struct whole_hosts *hosts, const struct demand *d, uint32_t wanted,
                         struct limit_size *out_size, uint32_t *out_last)
{
    uint64_t slots = 0, largest = hosts->count > 0 ? hosts->items[hosts->count - 1].key : 0;
    for (uint32_t i = 0; i + 1 < wanted; i++) slots += i < hosts->count ? hosts->items[i].key : largest;
    uint32_t last = wanted - 1;
    while (last < hosts->count && slots + hosts->items[last].key < d->ranges[0].min) last++;
    bool is_found = last < hosts->count;
    slots += is_found ? hosts->items[last].key : largest;
    *out_size = (struct limit_size){slots < UINT32_MAX ? (uint32_t)slots : UINT32_MAX, wanted};
    *out_last = last;
    return is_found;
}

/* The demand with the hosts of choose_hosts only. */
static struct demand *keep_chosen(const struct limit_places *p, const struct demand *d, const struct whole_hosts *hosts,
                                  uint32_t wanted, uint32_t last)
{
    const struct cluster *c = &p->model->cluster;
    bool *is_chosen = arena_alloc(p->arena, c->hosts.count * sizeof *is_chosen + 1);
    struct demand *own = keep_hosts(p, d, UINT32_MAX);
    uint64_t *allowed = arena_alloc(p->arena, p->model->set_words * sizeof *allowed);
    for (uint32_t i = 0; i < wanted; i++) {
        const struct sort_record *host = &hosts->items[i + 1 < wanted ? i : last];
        is_chosen[c->instances.items[host->index].host] = true;
    }
    for (uint32_t i = 0; i < c->instances.count; i++) {
        if (is_chosen[c->instances.items[i].host] && is_allowed(own, i)) allowed[i / 64] |= UINT64_C(1) << i % 64;
    }
    own->allowed = allowed;
    return own;
}

/* Limits admit only hosts of up to `each` slots, whichever of them the job is given. If that is too few, or none of
 * them is free, it may have larger ones with the smallest ones: those that are free now, or it waits for the smallest.
 */
static struct demand *keep_admitted(const struct limit_places *p, struct arena *scratch, const struct job *j,
                                    uint32_t partition, const struct demand *d, const struct whole_hosts *all,
                                    uint32_t wanted, uint32_t each)
{
    const struct whole_hosts free = list_free(p, scratch, d, all);
    struct limit_size size;
    struct limit_hit unused;
    uint32_t last;
    if (choose_hosts(&free, d, wanted, &size, &last) && admits(p, j, partition, &size, &unused))
        return free.items[last].key <= each ? keep_hosts(p, d, each) : keep_chosen(p, d, &free, wanted, last);
    bool is_found = choose_hosts(all, d, wanted, &size, &last);
    return is_found && all->items[last].key > each ? keep_chosen(p, d, all, wanted, last) : keep_hosts(p, d, each);
}

/* Whether no limit matters, whatever hosts the job is given: mostly so, and found out without a look at the hosts. */
static bool is_unlimited(const struct limit_places *p, const struct job *j, uint32_t partition, const struct demand *d)
{
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    struct limit_hit unused;
    struct limit_of_hosts of[LIMITS_OF_HOSTS_MAX];
    uint32_t hosts = d->host_max > 0 ? d->host_max : d->ranges[0].min;
    if (demand_is_serial(d)) hosts = 1;
    if (hosts > p->model->cluster.hosts.count) hosts = p->model->cluster.hosts.count;
    uint64_t slots = hosts * (uint64_t)p->model->largest_slots;
    if (hosts == 0 || slots >= UINT32_MAX) return false;
    const struct limit_size min = {d->ranges[0].min, 1}, max = {(uint32_t)slots, hosts};
    if (!admits(p, j, partition, &min, &unused) || !admits(p, j, partition, &max, &unused)) return false;
    request_of(p, j, partition, &max, amounts, &r);
    return limits_list_hosts(p->s, p->counts, &r, hosts, of) == 0;
}

static const struct demand *place_within(const struct limit_places *p, struct arena *scratch, const struct job *j,
                                         uint32_t partition, const struct demand *d, struct limit_hit *out_hit)
{
    const struct whole_hosts all = list_hosts(p, scratch, d);
    uint32_t smallest = all.count > 0 ? (uint32_t)all.items[0].key : 0, each = smallest, next, last;
    struct limit_size size = whole_size(d, smallest > 0 ? smallest : 1, smallest > 0 ? smallest : d->ranges[0].min);
    struct limit_hit unused;
    struct limit_of_hosts of[LIMITS_OF_HOSTS_MAX];
    struct tres_amount amounts[TRES_MAX];
    struct limit_request r;
    if (all.count > 0) (void)choose_hosts(&all, d, size.hosts, &size, &last);
    if (!admits(p, j, partition, &size, out_hit)) return NULL;
    if (smallest == 0) return d; /* it fits nowhere */
    request_of(p, j, partition, &size, amounts, &r);
    while ((next = next_slots(&all, each)) != 0) {
        const struct limit_size larger = whole_size(d, smallest, next);
        if (!admits(p, j, partition, &larger, &unused)) break;
        each = next;
    }
    uint32_t count = limits_list_hosts(p->s, p->counts, &r, size.hosts, of);
    if (next == 0 && count == 0) return d;
    struct demand *own =
        next == 0 ? keep_hosts(p, d, each) : keep_admitted(p, scratch, j, partition, d, &all, size.hosts, each);
    if (count > 0) *out_hit = of[0].hit;
    const struct limit_hosts hosts = {p->counts, p->model, p->arena, p->cache};
    return count == 0 || limit_hosts_restrict(&hosts, of, count, size.hosts, own, out_hit) ? own : NULL;
}

/* Limits count all slots of the hosts. */
static const struct demand *place_whole(const struct limit_places *p, const struct job *j, uint32_t partition,
                                        const struct demand *d, struct limit_hit *out_hit)
{
    struct arena scratch = {0};
    *out_hit = (struct limit_hit){.reason = PENDING_NONE, .tres = NONE, .counter = NONE};
    if (is_unlimited(p, j, partition, d)) return d;
    const struct demand *own = place_within(p, &scratch, j, partition, d, out_hit);
    arena_release(&scratch);
    return own;
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
