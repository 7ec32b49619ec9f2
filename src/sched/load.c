#include "sched/load.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/sort.h"

double load_started_slots(const struct load_rules *r, int64_t age_us)
{
    if (r->decay_us <= 0 || age_us >= r->decay_us) return 0.0;
    if (age_us <= 0) return 1.0;
    return trunc(100.0 * (1.0 - (double)age_us / (double)r->decay_us)) / 100.0;
}

const struct load_adjustment *load_adjustment_find(const struct load_rules *r, uint32_t resource)
{
    for (uint32_t i = 0; i < r->adjustment_count && r->decay_us > 0; i++) {
        if (r->adjustments[i].resource == resource) return &r->adjustments[i];
    }
    return NULL;
}

static double adjustment_of(const struct load_rules *r, const struct sched_resource *resource, uint32_t index,
                            const struct sched_host *h)
{
    const struct load_adjustment *adjustment = load_adjustment_find(r, index);
    if (adjustment == NULL) return 0.0;
    double amount = adjustment->amount * h->started_slots;
    if (strncmp(resource->name, "np_", 3) == 0 && h->cpus > 0) amount /= h->cpus;
    return resource->relation == RELATION_LESS_EQUAL ? -amount : amount;
}

double load_value(const struct cluster *c, const struct load_rules *r, uint32_t host, uint32_t resource, int64_t now_us)
{
    const struct sched_host *h = &c->hosts.items[host];
    const struct sched_resource *definition = &c->resources.items[resource];
    const struct offer *offer = offers_find(&h->offers, resource);
    if (offer == NULL) offer = offers_find(&c->global, resource);
    if (offer == NULL || definition->is_text) return NAN;
    if (definition->is_consumable) return offer->amount - timeline_max(&offer->booked, now_us, now_us + 1);
    return offer->amount + adjustment_of(r, definition, resource, h);
}

static double formula(const struct cluster *c, const struct load_rules *r, uint32_t host, int64_t now_us)
{
    double load = 0.0;
    for (uint32_t i = 0; i < r->term_count; i++) {
        const struct load_term *t = &r->terms[i];
        double value = t->resource == NONE ? 1.0 : load_value(c, r, host, t->resource, now_us);
        if (isnan(value)) return LOAD_UNKNOWN;
        load += t->weight * value;
    }
    return load;
}

const struct load_threshold *load_threshold_find_passed(const struct cluster *c, const struct load_rules *r,
                                                        uint32_t instance, int64_t now_us)
{
    const struct sched_instance *in = &c->instances.items[instance];
    for (uint32_t i = 0; i < in->threshold_count; i++) {
        const struct load_threshold *t = &in->thresholds[i];
        double value = load_value(c, r, in->host, t->resource, now_us);
        if (isnan(value)) value = LOAD_UNKNOWN;
        bool is_low = c->resources.items[t->resource].relation == RELATION_LESS_EQUAL;
        if (is_low ? value <= t->value : value >= t->value) return t;
    }
    return NULL;
}

static void compute_host(struct cluster *c, const struct load_rules *r, uint32_t host, int64_t now_us)
{
    struct sched_host *h = &c->hosts.items[host];
    if (r->order != ORDER_BY_SHARE) h->load = formula(c, r, host, now_us);
    for (uint32_t i = h->first_instance; i < h->first_instance + h->instance_count; i++)
        c->instances.items[i].is_overloaded = load_threshold_find_passed(c, r, i, now_us) != NULL;
}

/* 1 where the number of CPUs is not known. */
static double cpus_of(const struct sched_host *h)
{
    return h->cpus > 0 ? h->cpus : 1.0;
}

static void compute_shares(struct cluster *c)
{
    double cpus = 0.0, tickets = 0.0;
    for (uint32_t i = 0; i < c->hosts.count; i++) {
        cpus += cpus_of(&c->hosts.items[i]);
        tickets += c->hosts.items[i].tickets;
    }
    for (uint32_t i = 0; i < c->hosts.count; i++) {
        struct sched_host *h = &c->hosts.items[i];
        h->load = (tickets > 0.0 ? h->tickets / tickets : 0.0) - cpus_of(h) / cpus;
    }
}

/* --- the order ---------------------------------------------------------------------------------------------------- */

static uint64_t load_key(const struct cluster *c, uint32_t instance)
{
    return sort_key_double(c->hosts.items[c->instances.items[instance].host].load);
}

static bool is_before(const struct cluster *c, const struct load_rules *r, uint32_t a, uint32_t b)
{
    uint64_t load_a = load_key(c, a), load_b = load_key(c, b);
    uint32_t seq_a = c->instances.items[a].seq_no, seq_b = c->instances.items[b].seq_no;
    if (r->order == ORDER_BY_SEQ_NO && seq_a != seq_b) return seq_a < seq_b;
    return load_a != load_b ? load_a < load_b : seq_a < seq_b;
}

/* The less important key first: the sort is stable. */
static void sort_all(struct cluster *c, const struct load_rules *r)
{
    uint32_t count = c->instances.count;
    struct arena arena = {0};
    size_t size = (count + (size_t)1) * sizeof(struct sort_record);
    struct sort_record *records = arena_alloc_raw(&arena, size), *scratch = arena_alloc_raw(&arena, size);
    for (uint32_t i = 0; i < count; i++)
        records[i] = (struct sort_record){
            .key = r->order != ORDER_BY_SEQ_NO ? c->instances.items[i].seq_no : load_key(c, i), .index = i};
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++)
        records[i].key =
            r->order != ORDER_BY_SEQ_NO ? load_key(c, records[i].index) : c->instances.items[records[i].index].seq_no;
    sort_records(records, count, scratch);
    array_clear(&c->order);
    array_reserve(&c->order, count);
    for (uint32_t i = 0; i < count; i++) *array_add(&c->order) = records[i].index;
    arena_release(&arena);
}

void load_begin(struct cluster *c, const struct load_rules *r, int64_t now_us)
{
    for (uint32_t i = 0; i < c->hosts.count; i++) compute_host(c, r, i, now_us);
    if (r->order == ORDER_BY_SHARE) compute_shares(c);
    sort_all(c, r);
}

/* Takes the host's instances out of the order, which leaves the others sorted, and inserts each where it belongs,
 * before those that are equal to it (case g7), the last one first, so that they keep their order among themselves. */
static void move_host(struct cluster *c, const struct load_rules *r, uint32_t host)
{
    const struct sched_host *h = &c->hosts.items[host];
    uint32_t *order = c->order.items, count = 0;
    for (uint32_t i = 0; i < c->order.count; i++) {
        if (c->instances.items[order[i]].host != host) order[count++] = order[i];
    }
    for (uint32_t k = h->first_instance + h->instance_count; k-- > h->first_instance;) {
        uint32_t low = 0, high = count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (is_before(c, r, order[middle], k))
                low = middle + 1;
            else
                high = middle;
        }
        memmove(order + low + 1, order + low, (count++ - low) * sizeof *order);
        order[low] = k;
    }
    ensure(count == c->order.count);
}

void load_placed(struct cluster *c, const struct load_rules *r, uint32_t host, uint32_t slots, int64_t now_us)
{
    struct sched_host *h = &c->hosts.items[host];
    double before = h->load;
    h->started_slots += slots;
    compute_host(c, r, host, now_us);
    if (r->order == ORDER_BY_SHARE) {
        compute_shares(c);
        sort_all(c, r);
    } else if (h->load != before)
        move_host(c, r, host);
}
