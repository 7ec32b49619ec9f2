/* Slots are limited at the levels of the cluster one after the other: global and environment limit their number, the
 * hosts offer so many each, the rule of the environment distributes them, and a host's slots go to its instances in
 * their order. */
#include "sched/place.h"

#include <math.h>

#include "base/ensure.h"
#include "base/expression.h"
#include "base/sort.h"
#include "base/str.h"
#include "sched/host_limit.h"
#include "sched/spread.h"

/* --- values that no booking changes ------------------------------------------------------------------------------- */

static bool value_satisfies(const struct sched_resource *r, const struct offer *o, const struct need *n)
{
    if (r->is_text) {
        enum expression_case letters = r->ignores_case ? EXPRESSION_CASE_IGNORED : EXPRESSION_CASE_COUNTS;
        bool matches =
            o->text != NULL && n->text != NULL && expression_is_satisfied(str(n->text), str(o->text), letters);
        return (r->relation == RELATION_NOT_EQUAL) != matches;
    }
    /* Grid Engine compares the request with the value, in this order. */
    switch (r->relation) {
    case RELATION_EQUAL: return n->amount == o->amount;
    case RELATION_NOT_EQUAL: return n->amount != o->amount;
    case RELATION_GREATER_EQUAL: return n->amount >= o->amount;
    case RELATION_LESS_EQUAL: return n->amount <= o->amount;
    case RELATION_GREATER: return n->amount > o->amount;
    case RELATION_LESS: return n->amount < o->amount;
    case RELATION_EXCLUSIVE: return true;
    }
    return false;
}

static bool has_bit(const uint64_t *bits, uint32_t index)
{
    return bits == NULL || (bits[index / 64] >> index % 64 & 1) != 0;
}

bool place_satisfies(const struct cluster *c, uint32_t instance, const struct need *n)
{
    if (n->satisfied != NULL) return has_bit(n->satisfied, instance);
    const struct sched_instance *i = &c->instances.items[instance];
    const struct sched_resource *r = &c->resources.items[n->resource];
    const struct offer *offer = offers_find(&i->offers, n->resource);
    if (offer == NULL) offer = offers_find(&c->hosts.items[i->host].offers, n->resource);
    if (offer == NULL) offer = offers_find(&c->global, n->resource);
    return offer != NULL && (r->is_consumable || value_satisfies(r, offer, n));
}

bool place_admits(const struct cluster *c, const struct demand *d, uint32_t instance)
{
    const struct sched_instance *in = &c->instances.items[instance];
    if (in->is_off || in->is_overloaded || !has_bit(d->allowed, instance)) return false;
    for (uint32_t i = 0; i < d->need_count; i++) {
        if (d->needs[i].is_requested && !place_satisfies(c, instance, &d->needs[i])) return false;
    }
    return true;
}

uint32_t place_violations(const struct cluster *c, const struct demand *d, uint32_t instance)
{
    uint32_t violations = !has_bit(d->preferred, instance);
    for (uint32_t i = 0; i < d->soft_count; i++) violations += !place_satisfies(c, instance, &d->soft[i]);
    return violations;
}

/* --- the search --------------------------------------------------------------------------------------------------- */

struct search {
    const uint64_t *listed; /* the instances of the environment; NULL: all */
    const struct cluster *c;
    const struct demand *d;
    struct window window;
    struct place_scope scope;
    struct arena *arena;
    uint32_t *order; /* instances that admit the job and may have a slot, the best one first */
    uint32_t count;
    uint32_t *first_on; /* by host: the position of its first instance in order; NONE: it has none */
    uint32_t *next_on;  /* by position: that of the next instance on the same host; NONE: the last one */
    struct quota_use quotas;
};

static bool admits(const struct search *s, uint32_t instance)
{
    return has_bit(s->listed, instance) && place_admits(s->c, s->d, instance);
}

static bool may_have(const struct search *s, uint32_t instance, uint32_t slots)
{
    return s->scope.slots_max == NULL || s->scope.slots_max[instance] >= slots;
}

/* Sorts by violations; equal ones keep their order. */
static void sort_by_violations(struct search *s)
{
    size_t size = (s->count + (size_t)1) * sizeof(struct sort_record);
    struct sort_record *records = arena_alloc_raw(s->arena, size), *scratch = arena_alloc_raw(s->arena, size);
    for (uint32_t i = 0; i < s->count; i++)
        records[i] = (struct sort_record){.key = place_violations(s->c, s->d, s->order[i]), .index = s->order[i]};
    sort_records(records, s->count, scratch);
    for (uint32_t i = 0; i < s->count; i++) s->order[i] = records[i].index;
}

static bool has_preferences(const struct demand *d)
{
    return d->soft_count > 0 || d->preferred != NULL;
}

static void find_instances(struct search *s)
{
    s->order = arena_alloc_raw(s->arena, (s->scope.count + (size_t)1) * sizeof *s->order);
    s->count = 0;
    for (uint32_t i = 0; i < s->scope.count; i++) {
        uint32_t instance = s->scope.instances[i];
        if (may_have(s, instance, 1) && admits(s, instance)) s->order[s->count++] = instance;
    }
    if (has_preferences(s->d)) sort_by_violations(s);
}

/* The instances of each host, for jobs on several hosts. */
static void index_hosts(struct search *s)
{
    s->first_on = arena_alloc_raw(s->arena, (s->c->hosts.count + (size_t)1) * sizeof *s->first_on);
    s->next_on = arena_alloc_raw(s->arena, (s->count + (size_t)1) * sizeof *s->next_on);
    for (uint32_t i = 0; i < s->c->hosts.count; i++) s->first_on[i] = NONE;
    for (uint32_t i = s->count; i-- > 0;) {
        uint32_t *first = &s->first_on[s->c->instances.items[s->order[i]].host];
        s->next_on[i] = *first;
        *first = i;
    }
}

static uint32_t slots_of_instance(const struct search *s, uint32_t instance, uint32_t max, bool needs_master)
{
    max = room_of_object(s->c, &s->c->instances.items[instance].offers, s->d, s->window, max, needs_master);
    return s->quotas.count > 0 ? quota_use_room(&s->quotas, instance, max, needs_master) : max;
}

static uint32_t slots_of_host(const struct search *s, uint32_t host, uint32_t max, bool needs_master)
{
    return room_of_object(s->c, &s->c->hosts.items[host].offers, s->d, s->window, max, needs_master);
}

static uint32_t slots_of_global(const struct search *s, uint32_t max)
{
    return quota_use_all(&s->quotas, room_of_object(s->c, &s->c->global, s->d, s->window, max, true));
}

/* --- serial jobs -------------------------------------------------------------------------------------------------- */

static void allocate_serial(struct search *s, uint32_t instance, uint32_t slots, struct allocation *out)
{
    *out = (struct allocation){.environment = NONE, .slots = slots, .part_count = 1};
    out->parts = arena_alloc(s->arena, sizeof *out->parts);
    out->parts[0] = (struct allocation_part){instance, slots};
}

/* The same for a job with whole hosts. */
static uint32_t whole_serial_slots(const struct search *s, uint32_t instance)
{
    uint32_t host = s->c->instances.items[instance].host, whole = cluster_whole_slots(s->c, host);
    if (whole < s->d->ranges[0].min || slots_of_global(s, whole) < whole) return 0;
    return slots_of_host(s, host, whole, true) == whole && slots_of_instance(s, instance, whole, true) == whole ? whole
                                                                                                                : 0;
}

/* The slots that the job would get on an instance; 0: it does not fit. */
static uint32_t serial_slots(const struct search *s, uint32_t instance, uint32_t max)
{
    if (!may_have(s, instance, s->d->ranges[0].min) || !has_bit(s->d->allowed, instance)) return 0;
    if (s->d->is_whole) return whole_serial_slots(s, instance);
    uint32_t slots = slots_of_host(s, s->c->instances.items[instance].host, max, true);
    if (slots > 0) slots = slots_of_instance(s, instance, slots, true);
    return demand_largest_slots(s->d, slots, 1);
}

/* Without preferences the first instance that fits is the best one, and no list is made of the others. */
static bool place_serial(struct search *s, struct allocation *out)
{
    bool is_sorted = has_preferences(s->d);
    s->quotas = quota_use_make(s->c, s->d, NONE, s->window);
    uint32_t max = slots_of_global(s, s->d->ranges[s->d->range_count - 1].max);
    if (max == 0) return false;
    if (is_sorted) find_instances(s);
    for (uint32_t i = 0; i < (is_sorted ? s->count : s->scope.count); i++) {
        uint32_t instance = is_sorted ? s->order[i] : s->scope.instances[i];
        uint32_t slots = serial_slots(s, instance, max);
        if (slots == 0 || (!is_sorted && !place_admits(s->c, s->d, instance))) continue;
        allocate_serial(s, instance, slots, out);
        return true;
    }
    return false;
}

/* --- parallel jobs ------------------------------------------------------------------------------------------------ */

/* The slots that a host's instances offer together, at most max. */
static uint32_t offered_by(struct search *s, uint32_t host, uint32_t max, bool needs_master)
{
    uint32_t slots = 0, whole = s->d->is_whole ? cluster_whole_slots(s->c, host) : 0;
    if (s->d->is_whole) max = whole;
    max = slots_of_host(s, host, max, needs_master);
    if (max < whole) return 0;
    const struct sched_host *h = &s->c->hosts.items[host];
    for (uint32_t i = h->first_instance; i < h->first_instance + h->instance_count && slots < max; i++) {
        uint32_t offered = admits(s, i) ? slots_of_instance(s, i, max - slots, needs_master) : 0;
        quota_use_take(&s->quotas, i, offered);
        slots += offered;
    }
    return slots < whole ? 0 : slots;
}

/* The first instance of a host that may have the first slot, and has one free; NONE: there is none. */
static uint32_t find_master(const struct search *s, uint32_t host)
{
    for (uint32_t i = s->first_on[host]; i != NONE; i = s->next_on[i]) {
        uint32_t instance = s->order[i];
        if (has_bit(s->d->masters, instance) && slots_of_instance(s, instance, 1, true) > 0) return instance;
    }
    return NONE;
}

/* How many slots of a host count, and whether the job's first slot is among them. */
struct host_rule {
    uint32_t min, max;
    bool has_first_slot, is_alternative; /* is_alternative: the host is taken once, here or elsewhere */
};

/* Adds a host unless it offers less than the minimum, or cannot have the first slot. */
static void add_host(struct search *s, struct host_table *t, uint32_t host, const struct host_rule *rule)
{
    bool needs_master = rule->has_first_slot && s->d->masters != NULL;
    uint32_t master = needs_master ? find_master(s, host) : NONE;
    uint32_t offered = offered_by(s, host, rule->max, rule->has_first_slot);
    bool is_good = offered >= rule->min && (!needs_master || master != NONE);
    quota_use_end_host(&s->quotas, is_good && !rule->is_alternative);
    if (is_good) t->rows[t->count++] = (struct host_slots){.host = host, .offered = offered, .master = master};
}

static struct host_table new_table(const struct search *s)
{
    return (struct host_table){.rows = arena_alloc_raw(s->arena, (s->count + (size_t)1) * sizeof(struct host_slots))};
}

static uint32_t host_at(const struct search *s, uint32_t position)
{
    return s->c->instances.items[s->order[position]].host;
}

static bool is_first_of_host(const struct search *s, uint32_t position)
{
    return s->first_on[host_at(s, position)] == position;
}

/* Every host once, in the order of the instances, after that of the first slot, which is the first one from a position
 * on that may have it. If all slots are on one host, each of them has it. Returns the position of the first slot, or
 * NONE: no host may have it. */
static uint32_t find_hosts(struct search *s, const struct sched_environment *e, uint32_t max, uint32_t from,
                           struct host_table *out)
{
    uint32_t first = NONE;
    bool is_fixed = e->rule == ALLOCATE_FIXED;
    struct host_rule rule = {is_fixed ? e->slots_per_host : 1, max, true, e->rule == ALLOCATE_ONE_HOST};
    if (is_fixed && e->slots_per_host < max) rule.max = e->slots_per_host;
    if (s->d->slots_per_host_max > 0 && s->d->slots_per_host_max < rule.max) rule.max = s->d->slots_per_host_max;
    *out = new_table(s);
    for (uint32_t i = from; i < s->count && out->count == 0; i++) {
        if (has_bit(s->d->masters, s->order[i])) add_host(s, out, host_at(s, i), &rule);
        first = i;
    }
    rule.has_first_slot = e->rule == ALLOCATE_ONE_HOST;
    for (uint32_t i = 0; i < s->count && out->count > 0; i++) {
        if (is_first_of_host(s, i) && host_at(s, i) != out->rows[0].host) add_host(s, out, host_at(s, i), &rule);
    }
    return out->count > 0 ? first : NONE;
}

/* The number of slots that the hosts offer together under a rule. */
static uint32_t offered_by_all(const struct host_table *t, const struct sched_environment *e, uint32_t max)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t offered = t->rows[i].offered;
        if (e->rule == ALLOCATE_FIXED) offered = offered >= e->slots_per_host ? e->slots_per_host : 0;
        if (e->rule == ALLOCATE_ONE_HOST)
            sum = offered > sum ? offered : sum;
        else
            sum += offered;
    }
    return sum < max ? (uint32_t)sum : max;
}

static void give_one_host(struct host_table *t, uint32_t slots)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->rows[i].offered < slots) continue;
        t->rows[i].given = slots;
        return;
    }
}

static void give_up_to(struct host_table *t, uint32_t slots, uint32_t max)
{
    for (uint32_t i = 0; i < t->count && slots > 0; i++) {
        uint32_t given = t->rows[i].offered < max ? t->rows[i].offered : max;
        if (given > slots) given = slots;
        if (max != UINT32_MAX && given < max) continue;
        t->rows[i].given = given;
        slots -= given;
    }
}

/* Whole turns at once: a turn gives one slot to each host that has one left. */
static void give_in_turn(struct host_table *t, uint32_t slots)
{
    while (slots > 0) {
        uint32_t hosts = 0, turns = UINT32_MAX;
        for (uint32_t i = 0; i < t->count; i++) {
            uint32_t left = t->rows[i].offered - t->rows[i].given;
            if (left == 0) continue;
            hosts++;
            turns = left < turns ? left : turns;
        }
        ensure(hosts > 0);
        if (turns > slots / hosts) turns = slots / hosts;
        for (uint32_t i = 0; i < t->count && slots > 0; i++) {
            uint32_t given = turns > 0 ? turns : 1;
            if (t->rows[i].offered == t->rows[i].given) continue;
            t->rows[i].given += given;
            slots -= given;
        }
    }
}

static void give(struct host_table *t, const struct sched_environment *e, uint32_t slots)
{
    switch (e->rule) {
    case ALLOCATE_ONE_HOST: give_one_host(t, slots); break;
    case ALLOCATE_FILL_UP: give_up_to(t, slots, UINT32_MAX); break;
    case ALLOCATE_ROUND_ROBIN: give_in_turn(t, slots); break;
    case ALLOCATE_FIXED: give_up_to(t, slots, e->slots_per_host); break;
    }
}

/* done: an instance that has its part already, or NONE. */
static void add_part(struct search *s, struct allocation *a, uint32_t instance, uint32_t done, uint32_t *left)
{
    uint32_t slots = instance != done ? slots_of_instance(s, instance, *left, a->part_count == 0) : 0;
    if (slots == 0) return;
    quota_use_take(&s->quotas, instance, slots);
    a->parts[a->part_count++] = (struct allocation_part){instance, slots};
    *left -= slots;
}

/* A host's slots go to its instances in their order. Returns whether they all do: if the instances take of several
 * pools, it may be that they would in another order only. */
static bool allocate_host(struct search *s, const struct host_slots *row, struct allocation *a)
{
    uint32_t left = row->given;
    if (left == 0) return true;
    if (row->master != NONE) add_part(s, a, row->master, NONE, &left);
    for (uint32_t i = s->first_on[row->host]; i != NONE && left > 0; i = s->next_on[i])
        add_part(s, a, s->order[i], row->master, &left);
    quota_use_end_host(&s->quotas, true);
    ensure(left == 0 || s->quotas.count > 0);
    return left == 0;
}

static bool allocate_hosts(struct search *s, const struct host_table *hosts, struct allocation *out)
{
    bool is_complete = true;
    quota_use_begin(&s->quotas, s->quotas.is_shared);
    out->parts = arena_alloc_raw(s->arena, (s->count + (size_t)1) * sizeof *out->parts);
    for (uint32_t i = 0; i < hosts->count && is_complete; i++) is_complete = allocate_host(s, &hosts->rows[i], out);
    return is_complete && quota_allows(s->c, s->d, out, s->window);
}

/* The slots that the job gets of the hosts, at most max. */
static uint32_t slots_by_rule(const struct search *s, const struct sched_environment *e, const struct host_table *t,
                              uint32_t max)
{
    uint32_t step = e->rule == ALLOCATE_FIXED ? e->slots_per_host : 1;
    return demand_largest_slots(s->d, offered_by_all(t, e, max), step);
}

static bool give_by_rule(struct search *s, uint32_t environment, struct host_table *hosts, uint32_t slots,
                         struct allocation *out)
{
    struct allocation a = {.environment = environment, .slots = slots};
    give(hosts, &s->c->environments.items[environment], slots);
    if (!allocate_hosts(s, hosts, &a) || !host_limit_allows(s->c, s->d, &a)) return false;
    *out = a;
    return true;
}

/* Of the hosts that limits let the job have all together, those with which it gets most slots: the first ones, or those
 * that offer most. If the first slot needs more than the others do, each host that may have it is tried. */
static bool distribute_limited(struct search *s, uint32_t environment, uint32_t max, struct allocation *out)
{
    const struct sched_environment *e = &s->c->environments.items[environment];
    bool is_special = demand_has_special_first(s->d) && e->rule != ALLOCATE_ONE_HOST, is_shared = s->quotas.is_shared;
    struct host_table best = {.count = 0};
    uint32_t most = 0, from = 0;
    while (from != NONE && most < max) {
        struct host_table hosts;
        quota_use_begin(&s->quotas, is_shared);
        from = find_hosts(s, e, max, from, &hosts);
        for (int order = HOST_LIMIT_BY_ORDER; from != NONE && order <= HOST_LIMIT_BY_OFFER; order++) {
            struct host_table kept =
                host_limit_keep(&hosts, s->d, (enum host_limit_order)order, is_special ? 0 : NONE, s->arena);
            uint32_t slots = slots_by_rule(s, e, &kept, max);
            if (slots <= most) continue;
            most = slots;
            best = kept;
        }
        if (!is_special) break;
        if (from != NONE) from++;
    }
    s->quotas.is_shared = is_shared;
    return most > 0 && give_by_rule(s, environment, &best, most, out);
}

/* max: slots at most. */
static bool distribute_by_rule(struct search *s, uint32_t environment, uint32_t max, struct allocation *out)
{
    const struct sched_environment *e = &s->c->environments.items[environment];
    struct host_table hosts;
    (void)find_hosts(s, e, max, 0, &hosts);
    uint32_t slots = slots_by_rule(s, e, &hosts, max);
    if (slots == 0) return false;
    if (give_by_rule(s, environment, &hosts, slots, out)) return true;
    return host_limit_is_set(s->d) && distribute_limited(s, environment, max, out);
}

static bool place_in_environment(struct search *s, uint32_t environment, struct allocation *out)
{
    const struct sched_environment *e = &s->c->environments.items[environment];
    uint32_t max = s->d->ranges[s->d->range_count - 1].max;
    s->listed = e->instances;
    s->quotas = quota_use_make(s->c, s->d, environment, s->window);
    find_instances(s);
    index_hosts(s);
    max = slots_of_global(s, room_of_object(s->c, &e->offers, s->d, s->window, max, true));
    if (max == 0) return false;
    if (distribute_by_rule(s, environment, max, out)) return true;
    if (!quota_use_has_partial(&s->quotas)) return false;
    quota_use_begin(&s->quotas, true);
    return distribute_by_rule(s, environment, max, out);
}

/* --- jobs on a number of hosts ------------------------------------------------------------------------------------ */

static struct host_table list_hosts(struct search *s, const struct host_rule *rule)
{
    struct host_table t = new_table(s);
    for (uint32_t i = 0; i < s->count; i++) {
        if (is_first_of_host(s, i)) add_host(s, &t, host_at(s, i), rule);
    }
    return t;
}

/* Where the first slot needs more, the first host with which the job gets most slots on fewest hosts has it, and comes
 * first. */
static struct spread spread_from_first(struct search *s, struct host_table *hosts, struct host_rule rule)
{
    struct host_table firsts = new_table(s), all = *hosts;
    uint32_t *offered = arena_alloc(s->arena, (all.count + (size_t)1) * sizeof *offered), *master, first;
    master = arena_alloc(s->arena, (all.count + (size_t)1) * sizeof *master);
    rule.has_first_slot = true;
    rule.is_alternative = true;
    quota_use_begin(&s->quotas, false);
    for (uint32_t i = 0; i < all.count; i++) {
        firsts.count = 0;
        add_host(s, &firsts, all.rows[i].host, &rule);
        if (firsts.count == 0) continue;
        offered[i] = firsts.rows[0].offered < all.rows[i].offered ? firsts.rows[0].offered : all.rows[i].offered;
        master[i] = firsts.rows[0].master;
    }
    const struct spread best = spread_from(&all, offered, s->d, rule.max, s->arena, &first);
    if (best.slots == 0) return best;
    const struct host_slots row = {.host = all.rows[first].host, .offered = offered[first], .master = master[first]};
    memmove(all.rows + 1, all.rows, first * sizeof *all.rows);
    all.rows[0] = row;
    return best;
}

/* How limits choose among the hosts: in which order, and with which one (by row) in any case; NONE: none. */
struct host_choice {
    enum host_limit_order order;
    uint32_t first;
};

/* rule: for each host, and the slots of the job at most. choice NULL: limits do not choose. */
static bool distribute_over_hosts(struct search *s, struct host_rule rule, const struct host_choice *choice,
                                  struct allocation *out)
{
    const struct demand *d = s->d;
    bool is_special = demand_has_special_first(d), is_shared = s->quotas.is_shared;
    struct host_rule each = rule;
    if (d->slots_per_host_max > 0 && d->slots_per_host_max < each.max) each.max = d->slots_per_host_max;
    struct host_table hosts = list_hosts(s, &each);
    if (choice != NULL && choice->first != NONE && choice->first >= hosts.count) return false;
    if (choice != NULL) hosts = host_limit_keep(&hosts, d, choice->order, choice->first, s->arena);
    const struct spread spread =
        is_special ? spread_from_first(s, &hosts, rule) : spread_over(&hosts, d, rule.max, s->arena);
    if (spread.slots == 0) return false;
    spread_give(&hosts, d, spread, is_special, s->arena);
    struct allocation a = {.environment = NONE};
    s->quotas.is_shared = is_shared;
    if (!allocate_hosts(s, &hosts, &a) || !host_limit_allows(s->c, d, &a)) return false;
    for (uint32_t i = 0; i < a.part_count; i++) a.slots += a.parts[i].slots;
    if (d->is_whole && slots_of_global(s, a.slots) < a.slots) return false;
    *out = a;
    return true;
}

/* Where limits do not let the job have the hosts that it would get: those that offer most of the ones that it may have,
 * or the first ones if it gets as many slots there. If the first slot needs more than the others do, each host is tried
 * as one of them. */
static bool distribute_over_limited(struct search *s, struct host_rule rule, struct allocation *out)
{
    bool is_special = demand_has_special_first(s->d), is_shared = s->quotas.is_shared;
    uint32_t most = 0;
    for (uint32_t first = is_special ? 0 : NONE; most < rule.max; first++) {
        for (int order = HOST_LIMIT_BY_ORDER; order <= HOST_LIMIT_BY_OFFER; order++) {
            const struct host_choice choice = {(enum host_limit_order)order, first};
            struct allocation a;
            quota_use_begin(&s->quotas, is_shared);
            if (!distribute_over_hosts(s, rule, &choice, &a) || a.slots <= most) continue;
            most = a.slots;
            *out = a;
        }
        if (!is_special || first + 1 >= s->count) break;
    }
    s->quotas.is_shared = is_shared;
    return most > 0;
}

static bool place_on_hosts(struct search *s, struct allocation *out)
{
    const struct demand *d = s->d;
    struct host_rule rule = {d->slots_per_host > 0 ? d->slots_per_host : 1, d->ranges[d->range_count - 1].max, false,
                             false};
    s->quotas = quota_use_make(s->c, d, NONE, s->window);
    find_instances(s);
    index_hosts(s);
    rule.max = slots_of_global(s, rule.max);
    if (rule.max == 0) return false;
    if (distribute_over_hosts(s, rule, NULL, out)) return true;
    if (host_limit_is_set(d) && distribute_over_limited(s, rule, out)) return true;
    if (!quota_use_has_partial(&s->quotas)) return false;
    quota_use_begin(&s->quotas, true);
    return distribute_over_hosts(s, rule, NULL, out);
}

/* Whether a host's instances have min free slots together at a time, for any job. */
static bool has_slots_at(const struct cluster *c, uint32_t host, int64_t at_us, uint32_t min)
{
    const struct sched_host *h = &c->hosts.items[host];
    double free = 0.0;
    for (uint32_t i = h->first_instance; i < h->first_instance + h->instance_count; i++) {
        const struct offer *slots = offers_find(&c->instances.items[i].offers, SCHED_SLOTS);
        if (slots == NULL || isinf(slots->amount)) return true;
        free += fmax(0.0, timeline_limit(slots->amount, timeline_at(&slots->booked, at_us)));
    }
    return free >= min;
}

uint32_t place_host_offers(const struct cluster *c, const struct demand *d, struct window window, uint32_t host,
                           uint32_t min, uint32_t max)
{
    struct search s = {.c = c, .d = d, .window = window};
    if (!has_slots_at(c, host, window.from_us, min)) return 0;
    if (d->environment_count > 0) s.listed = c->environments.items[d->environments[0]].instances;
    uint32_t offered = offered_by(&s, host, max, true);
    return offered >= min ? offered : 0;
}

bool place_job(const struct cluster *c, const struct demand *d, struct window window, const struct place_scope *scope,
               struct arena *arena, struct allocation *out_allocation)
{
    struct search s = {.c = c, .d = d, .window = window, .arena = arena};
    ensure(d->range_count > 0 && window.from_us < window.until_us);
    s.scope = scope != NULL ? *scope : (struct place_scope){.instances = c->order.items, .count = c->order.count};
    if (demand_is_serial(d)) return place_serial(&s, out_allocation);
    if (d->environment_count == 0) return place_on_hosts(&s, out_allocation);
    for (uint32_t i = 0; i < d->environment_count; i++) {
        if (place_in_environment(&s, d->environments[i], out_allocation)) return true;
    }
    return false;
}
