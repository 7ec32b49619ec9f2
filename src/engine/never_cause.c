#include "engine/never_cause.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "engine/never_finder.h"
#include "fields/standard_resources.h"

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* --- needs -------------------------------------------------------------------------------------------------------- */

static const struct cluster_resource *resource_of(const struct never_finder *f, const struct need *n)
{
    return &f->demands->m->resources.list.items[n->resource];
}

static void add_number(struct buf *text, double number)
{
    char shown[NUMBER_TEXT_SIZE];
    buf_add(text, shown, number_format_shortest(shown, number));
}

/* "4G", "2", "0.5" */
static void add_amount(struct never_finder *f, const struct need *n, double amount)
{
    static const double mib = 1048576.0;
    bool is_memory = n->resource == f->demands->m->resources.mem, is_bytes = resource_of(f, n)->type == RESOURCE_MEMORY;
    double in_mib = is_bytes ? amount / mib : amount;
    char shown[32];
    bool has_unit = (is_memory || is_bytes) && in_mib >= 1.0 && in_mib < 1e12;
    if (has_unit && in_mib == floor(in_mib))
        buf_add(&f->text, shown, memory_format(shown, (uint64_t)in_mib));
    else if (has_unit)
        buf_format(&f->text, "%.1fM", in_mib);
    else
        add_number(&f->text, amount);
}

/* "4G of memory", "2 GPUs", "fan=2", "arch=xyz" */
static void add_need(struct never_finder *f, const struct need *n)
{
    if (n->resource == f->demands->m->resources.mem) {
        add_amount(f, n, n->amount);
        buf_add_text(&f->text, " of memory");
    } else if (n->resource == f->demands->m->resources.gpu) {
        buf_format(&f->text, "%.0f GPU%s", n->amount, n->amount == 1.0 ? "" : "s");
    } else if (n->text != NULL) {
        buf_format(&f->text, "%s=%s", resource_of(f, n)->name, n->text);
    } else if (resource_of(f, n)->type == RESOURCE_BOOL) {
        buf_format(&f->text, "%s=%s", resource_of(f, n)->name, n->amount != 0.0 ? "true" : "false");
    } else {
        buf_format(&f->text, "%s=", resource_of(f, n)->name);
        add_amount(f, n, n->amount);
    }
}

/* The field that a need comes from. */
static void blame_need(struct never_finder *f, const struct need *n)
{
    const struct cluster_resources *all = &f->demands->m->resources;
    for (uint32_t i = 0; i < f->j->request_count; i++) {
        const struct job_request *r = &f->j->requests[i];
        struct buf request = {0};
        if (all->of_object.items[r->resource] != n->resource) continue;
        buf_format(&request, "%s=%s", resource_of(f, n)->name, r->text);
        f->out->request = arena_copy(f->arena, str(request.text));
        buf_release(&request);
        never_finder_blame(f, JOB_FIELD_REQUESTS);
        return;
    }
    bool is_memory = n->resource == all->mem, is_gpu = n->resource == all->gpu;
    if (is_memory) never_finder_blame(f, n->scope == NEED_PER_SLOT ? JOB_FIELD_MEM_PER_CPU : JOB_FIELD_MEM_MIB);
    if (is_gpu) never_finder_blame(f, n->scope == NEED_PER_SLOT ? JOB_FIELD_GPUS_PER_SLOT : JOB_FIELD_GPUS);
    if (!is_memory && !is_gpu) never_finder_blame(f, JOB_FIELD_CPUS);
}

/* What an open instance, its host and the cluster offer of a resource: the one nearest to the instance that has a
 * value, or the smallest amount. NULL: nothing. */
static const struct offer *find_offer(const struct never_finder *f, uint32_t instance, uint32_t resource)
{
    const struct sched_instance *in = &f->c->instances.items[instance];
    const struct offers *levels[] = {&in->offers, &f->c->hosts.items[in->host].offers, &f->c->global};
    const struct offer *found = NULL;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const struct offer *offer = offers_find(levels[i], resource);
        bool is_less = found == NULL || (f->c->resources.items[resource].is_consumable && offer != NULL &&
                                         offer->amount < found->amount);
        if (offer != NULL && is_less) found = offer;
    }
    return found;
}

static const struct offer *find_largest_offer(const struct never_finder *f, uint32_t resource)
{
    const struct offer *largest = NULL;
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        const struct offer *offer = never_finder_has_bit(f->open, i) ? find_offer(f, i, resource) : NULL;
        if (offer != NULL && (largest == NULL || offer->amount > largest->amount)) largest = offer;
    }
    return largest;
}

static bool is_global(const struct never_finder *f, uint32_t resource, const struct offer *offer)
{
    return offer == offers_find(&f->c->global, resource);
}

/* "the largest host has 4G", "the cluster has 4", "no host has any" */
static void add_largest(struct never_finder *f, const struct need *n)
{
    const struct offer *largest = find_largest_offer(f, n->resource);
    if (largest == NULL || largest->amount <= 0.0) {
        buf_add_text(&f->text, "no host has any");
        return;
    }
    buf_add_text(&f->text, is_global(f, n->resource, largest) ? "the cluster has " : "the largest host has ");
    add_amount(f, n, largest->amount);
}

/* The values of a resource that open instances have: "; its hosts have lx-amd64, lx-arm64". */
static void add_values(struct never_finder *f, const struct need *n)
{
    enum { VALUES_MAX = 3 };
    const struct offer *seen[VALUES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->c->instances.count && count < VALUES_MAX; i++) {
        const struct offer *offer = never_finder_has_bit(f->open, i) ? find_offer(f, i, n->resource) : NULL;
        bool is_new = offer != NULL;
        for (uint32_t k = 0; k < count && is_new; k++)
            is_new = offer->text != NULL ? strcmp(offer->text, seen[k]->text) != 0 : offer->amount != seen[k]->amount;
        if (is_new) seen[count++] = offer;
    }
    buf_add_text(&f->text, count == 0 ? "no host has that resource" : "its hosts have ");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) buf_add_text(&f->text, ", ");
        if (seen[i]->text != NULL)
            buf_add_text(&f->text, seen[i]->text);
        else
            add_amount(f, n, seen[i]->amount);
    }
}

/* Without its slots, and with the needs from first to last only. */
static bool fits_on_a_slot(const struct never_finder *f, const struct need *needs, uint32_t count)
{
    static const struct slot_range one = {1, 1};
    struct demand alone = {.needs = needs, .need_count = count, .allowed = f->open, .ranges = &one, .range_count = 1};
    alone.duration_us = f->d.duration_us;
    return never_runs_fits(f->n, &alone);
}

static bool is_bool(const struct never_finder *f, const struct need *n)
{
    return resource_of(f, n)->type == RESOURCE_BOOL;
}

/* Of a host or a partition, so that no resource is missing. */
static bool is_name(const struct never_finder *f, const struct need *n)
{
    const char *resource = resource_of(f, n)->name;
    return strcmp(resource, HOST_NAME_RESOURCE) == 0 || strcmp(resource, QUEUE_NAME_RESOURCE) == 0;
}

/* In an instance the GPUs of a host are the machine's. */
static void advise(struct never_finder *f, const struct need *n)
{
    const char *host = never_places_host(f);
    if (f->s->is_document) {
        buf_add_text(&f->text, "; add a host with ");
        add_need(f, n);
    } else if (n->resource != f->demands->m->resources.gpu && host != NULL) {
        buf_format(&f->text, "; complex_values of host '%s' can have it", host);
    }
}

/* Whether one of its needs cannot be met for one slot. */
static bool find_in_needs(struct never_finder *f)
{
    const struct need *n = NULL;
    for (uint32_t i = 0; i < f->d.need_count && n == NULL; i++) {
        if (!fits_on_a_slot(f, &f->d.needs[i], 1)) n = &f->d.needs[i];
    }
    if (n == NULL || !fits_on_a_slot(f, NULL, 0)) return false;
    buf_add_text(&f->text, "asks for ");
    add_need(f, n);
    buf_add_text(&f->text, "; ");
    bool has_value = n->text != NULL || !f->c->resources.items[n->resource].is_consumable;
    if (!has_value) {
        add_largest(f, n);
    } else if (is_bool(f, n)) {
        buf_add_text(&f->text, "no host has that");
    } else {
        add_values(f, n);
    }
    if (!is_name(f, n) && (has_value || find_largest_offer(f, n->resource) == NULL)) {
        advise(f, n);
    }
    blame_need(f, n);
    return true;
}

/* Whether no instance meets all needs of one slot. */
static bool find_in_all_needs(struct never_finder *f)
{
    if (fits_on_a_slot(f, f->d.needs, f->d.need_count) || !fits_on_a_slot(f, NULL, 0)) return false;
    buf_add_text(&f->text, "no host has ");
    for (uint32_t i = 0; i < f->d.need_count; i++) {
        if (i > 0) buf_add_text(&f->text, i + 1 < f->d.need_count ? ", " : " and ");
        add_need(f, &f->d.needs[i]);
    }
    buf_add_text(&f->text, " together");
    never_finder_blame(f, f->j->request_count > 0 ? JOB_FIELD_REQUESTS : JOB_FIELD_CPUS);
    return true;
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

/* The slots that a demand would get, at most its smallest number. */
static uint32_t max_slots(const struct never_finder *f, const struct demand *d)
{
    const struct slot_range range = {1, d->ranges[0].min};
    struct demand smaller = *d;
    struct arena scratch = {0};
    struct allocation allocation = {0};
    smaller.ranges = &range;
    smaller.range_count = 1;
    (void)place_job(f->c, &smaller, (struct window){0, TIMELINE_END}, NULL, &scratch, &allocation);
    arena_release(&scratch);
    return allocation.slots;
}

static bool fits_on_hosts(const struct never_finder *f, const struct demand *d, uint32_t hosts)
{
    uint32_t slots = hosts * (d->slots_per_host > 0 ? d->slots_per_host : 1);
    const struct slot_range range = {slots, slots};
    struct demand smaller = *d;
    smaller.ranges = &range;
    smaller.range_count = 1;
    smaller.host_min = smaller.host_max = hosts;
    return never_runs_fits(f->n, &smaller);
}

/* The hosts that a demand would get, at most its smallest number. What fits on some hosts fits on fewer. */
static uint32_t max_hosts(const struct never_finder *f, const struct demand *d)
{
    uint32_t low = 0, high = d->host_min < f->c->hosts.count ? d->host_min : f->c->hosts.count;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (fits_on_hosts(f, d, middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* "asks for 96 slots" */
static void add_slots(struct never_finder *f)
{
    uint32_t min = f->d.ranges[0].min;
    buf_format(&f->text, "asks for %u slot%s", min, plural(min));
}

static const struct sched_environment *environment_of(const struct never_finder *f)
{
    return f->d.environment_count == 1 ? &f->c->environments.items[f->d.environments[0]] : NULL;
}

static bool is_on_one_host(const struct never_finder *f)
{
    const struct sched_environment *e = environment_of(f);
    return e != NULL ? e->rule == ALLOCATE_ONE_HOST : demand_is_serial(&f->d);
}

static void blame_slots(struct never_finder *f)
{
    never_finder_blame(f, JOB_FIELD_CPUS);
    if (f->d.host_max > 0 || f->j->placing != NULL) never_finder_blame(f, JOB_FIELD_SLOTS_PER_NODE);
    if (f->d.environment_count > 0) never_finder_blame(f, JOB_FIELD_ENVIRONMENT);
}

/* "ask for 2 or 4", "ask for 4", of the multiples next to the smallest number that can be had; or what the largest host
 * has. */
static void add_multiples(struct never_finder *f, uint32_t each)
{
    const struct offer *largest = find_largest_offer(f, SCHED_SLOTS);
    uint32_t below = f->d.ranges[0].min - f->d.ranges[0].min % each, count = 0;
    const uint32_t numbers[] = {below, below <= UINT32_MAX - each ? below + each : 0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct slot_range range = {numbers[i], numbers[i]};
        struct demand exact = f->d;
        exact.ranges = &range;
        exact.range_count = 1;
        if (numbers[i] == 0 || !never_runs_fits(f->n, &exact)) continue;
        buf_format(&f->text, count++ == 0 ? ": ask for %u" : " or %u", numbers[i]);
    }
    if (count == 0 && largest != NULL) buf_format(&f->text, ", and the largest has %.0f", largest->amount);
}

/* Whether no number of slots is a multiple of those that its environment gives on each host, or the environment has too
 * few. */
static bool find_in_rule(struct never_finder *f)
{
    const struct sched_environment *e = environment_of(f);
    const struct offer *offer = e != NULL ? offers_find(&e->offers, SCHED_SLOTS) : NULL;
    uint32_t min = f->d.ranges[0].min, max = f->d.ranges[f->d.range_count - 1].max;
    bool is_multiple =
        e == NULL || e->rule != ALLOCATE_FIXED || demand_largest_slots(&f->d, UINT32_MAX, e->slots_per_host) > 0;
    if (is_multiple && (offer == NULL || offer->amount >= min)) return false;
    if (is_multiple || max == min)
        add_slots(f);
    else
        buf_format(&f->text, "asks for %u to %u slots", min, max);
    if (is_multiple) {
        buf_format(&f->text, "; the parallel environment '%s' has %.0f", e->name, offer->amount);
    } else {
        buf_format(&f->text, "; the parallel environment '%s' gives %u on each host", e->name, e->slots_per_host);
        add_multiples(f, e->slots_per_host);
    }
    blame_slots(f);
    return true;
}

/* Whether a host of the open instances alone has as many slots, so that a queue is what limits them. */
static bool is_limited_by_queue(const struct never_finder *f)
{
    bool found = false;
    for (uint32_t i = 0; i < f->c->instances.count && !found; i++) {
        const struct sched_host *h = &f->c->hosts.items[f->c->instances.items[i].host];
        const struct offer *slots = never_finder_has_bit(f->open, i) ? offers_find(&h->offers, SCHED_SLOTS) : NULL;
        found = slots != NULL && slots->amount >= f->d.ranges[0].min;
    }
    return found;
}

/* " (MaxCPUsPerNode of partition 'fast' is 4)", if an open host has more slots than that. */
static void add_per_node_limit(struct never_finder *f)
{
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        const struct sched_host *h = &f->c->hosts.items[f->c->instances.items[i].host];
        const struct object *o = &f->s->objects[OBJECT_PARTITION].items[f->n->empty.partition_of[i]].object;
        const struct offer *slots = never_finder_has_bit(f->open, i) ? offers_find(&h->offers, SCHED_SLOTS) : NULL;
        int64_t max = o->value[PARTITION_MAX_CPUS_PER_NODE].number;
        if (slots == NULL || max == FIELD_SPECIAL || slots->amount <= (double)max) continue;
        buf_format(&f->text, " (MaxCPUsPerNode of partition '%s' is %lld)", o->name, (long long)max);
        return;
    }
}

static void explain_number(struct never_finder *f, uint32_t slots)
{
    add_slots(f);
    if (is_on_one_host(f)) {
        buf_add_text(&f->text, " on one host; ");
        if (is_limited_by_queue(f))
            buf_format(&f->text, never_places_add(f) == 1 ? " has at most %u on a host" : " have at most %u on a host",
                       slots);
        else
            buf_format(&f->text, "the largest has %u", slots);
        return;
    }
    if (f->d.host_max != UINT32_MAX && f->d.host_max > f->d.host_min)
        buf_format(&f->text, " on %u to %u hosts", f->d.host_min, f->d.host_max);
    else if (f->d.host_max != UINT32_MAX && f->d.host_max > 0)
        buf_format(&f->text, " on %u host%s", f->d.host_min, plural(f->d.host_min));
    const struct sched_environment *e = environment_of(f);
    uint32_t each = e != NULL && e->rule == ALLOCATE_FIXED ? e->slots_per_host : f->d.slots_per_host;
    if (each > 0) buf_format(&f->text, ", %u on each host", each);
    buf_format(&f->text, "; at most %u would fit", slots);
    add_per_node_limit(f);
}

/* Whether the slots, or the hosts, are too many even without the other needs. */
static bool find_in_slots(struct never_finder *f)
{
    struct demand only_slots = f->d;
    only_slots.need_count = 0;
    if (never_runs_fits(f->n, &only_slots)) return false;
    if (find_in_rule(f)) return true;
    uint32_t hosts = max_hosts(f, &only_slots);
    if (hosts < f->d.host_min) {
        buf_format(&f->text, "asks for %u hosts", f->d.host_min);
        if (f->d.slots_per_host > 0)
            buf_format(&f->text, " with %u slot%s each", f->d.slots_per_host, plural(f->d.slots_per_host));
        buf_format(&f->text, "; at most %u would fit", hosts);
        never_finder_blame(f, JOB_FIELD_NODES);
        return true;
    }
    if (f->d.masters != NULL) {
        only_slots.masters = NULL;
        if (never_runs_fits(f->n, &only_slots)) {
            buf_format(&f->text, "its first slot cannot be in the master queues '%s'", f->j->placing->master_queues);
            never_finder_blame(f, JOB_FIELD_MASTER_QUEUES);
            return true;
        }
    }
    explain_number(f, max_slots(f, &only_slots));
    blame_slots(f);
    return true;
}

/* --- needs x slots ------------------------------------------------------------------------------------------------ */

/* The need without which the demand would fit; NULL: no single one. */
static const struct need *find_blocking(const struct never_finder *f)
{
    struct need *needs = arena_alloc(f->arena, (f->d.need_count + (size_t)1) * sizeof *needs);
    for (uint32_t i = 0; i < f->d.need_count; i++) {
        struct demand other = f->d;
        other.need_count = 0;
        for (uint32_t k = 0; k < f->d.need_count; k++) {
            if (k != i) needs[other.need_count++] = f->d.needs[k];
        }
        other.needs = needs;
        if (never_runs_fits(f->n, &other)) return &f->d.needs[i];
    }
    return NULL;
}

/* The slots that the job needs at least: all of the smallest open host that has enough of them, if it is to have that
 * whole. 0: it is not, or there is none. */
static uint32_t whole_slots(const struct never_finder *f)
{
    uint32_t fewest = 0;
    if (!f->d.is_whole || !is_on_one_host(f)) return 0;
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        uint32_t host = f->c->instances.items[i].host;
        uint32_t slots = never_finder_has_bit(f->open, i) ? cluster_whole_slots(f->c, host) : 0;
        if (slots >= f->d.ranges[0].min && (fewest == 0 || slots < fewest)) fewest = slots;
    }
    return fewest;
}

static void add_number_of_slots(struct never_finder *f, uint32_t whole, uint32_t min)
{
    if (whole > 0)
        buf_format(&f->text, " for each of the %u slots of a whole host", whole);
    else if (min > 1)
        buf_format(&f->text, " for each of %u slots", min);
}

/* "asks for 2G of memory for each of 4 slots, 8G on one host; the largest host has 4G" */
static void explain_blocking(struct never_finder *f, const struct need *n)
{
    const struct offer *largest = find_largest_offer(f, n->resource);
    uint32_t whole = whole_slots(f), min = whole > 0 ? whole : f->d.ranges[0].min;
    bool is_sum = n->scope == NEED_PER_SLOT && n->text == NULL && largest != NULL &&
                  (is_on_one_host(f) || is_global(f, n->resource, largest));
    uint32_t hosts = !is_sum && f->d.host_min > 1 ? max_hosts(f, &f->d) : f->d.host_min;
    buf_add_text(&f->text, "asks for ");
    add_need(f, n);
    if (n->scope == NEED_PER_SLOT) add_number_of_slots(f, whole, min);
    if (n->scope == NEED_PER_HOST && f->d.host_min > 1) buf_format(&f->text, " on each of %u hosts", f->d.host_min);
    if (is_sum) {
        buf_add_text(&f->text, ", ");
        add_amount(f, n, n->amount * min);
        buf_add_text(&f->text, is_global(f, n->resource, largest) ? " in all; " : " on one host; ");
        add_largest(f, n);
    } else if (hosts < f->d.host_min) {
        buf_format(&f->text, "; at most %u host%s would fit", hosts, plural(hosts));
    } else {
        uint32_t slots = max_slots(f, &f->d);
        buf_format(&f->text, "; at most %u slot%s would fit", slots, plural(slots));
    }
    blame_need(f, n);
    blame_slots(f);
}

static void find_in_product(struct never_finder *f)
{
    const struct need *n = find_blocking(f);
    if (n != NULL) {
        explain_blocking(f, n);
        return;
    }
    explain_number(f, max_slots(f, &f->d));
    buf_add_text(&f->text, " with all that each needs");
    blame_slots(f);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

void never_cause_find(const struct never_runs *n, const struct job_demands *demands, const struct job *j, uint32_t only,
                      const struct demand *d, struct arena *arena, struct never_cause *out)
{
    struct never_finder f = {.n = n,
                             .demands = demands,
                             .s = demands->s,
                             .c = &n->empty.cluster,
                             .j = j,
                             .only = only,
                             .d = never_runs_lasting(n, d, arena),
                             .arena = arena,
                             .out = out};
    *out = (struct never_cause){0};
    bool is_found = never_places_find(&f) || find_in_needs(&f) || find_in_all_needs(&f) || find_in_slots(&f);
    if (!is_found) find_in_product(&f);
    out->text = arena_copy(arena, (struct str){f.text.text, f.text.length});
    buf_release(&f.text);
}
