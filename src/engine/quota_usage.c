#include "engine/quota_usage.h"

#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "engine/quotas.h"
#include "fields/pending_reason.h"
#include "sched/place.h"

/* --- what running tasks have -------------------------------------------------------------------------------------- */

/* Totals of a row's part, by pool and resource. */
struct usage_counter {
    const struct quota_model *q;
    double *used; /* by pool, then by resource */
    uint32_t resource_count;
};

static void count_taken(const struct taken *taken, void *context)
{
    const struct usage_counter *u = context;
    if (taken->level != LEVEL_QUOTA) return;
    u->used[(size_t)taken->pool_index * u->resource_count + taken->offer->resource] += taken->amount;
}

/* "users ann hosts @fast": the member that has the pool, or the list. */
static const char *filter_text(const struct quota_rule *rule, const struct quota_pool *pool, struct arena *arena)
{
    struct buf text = {0};
    for (int f = 0; f < QUOTA_FILTER_COUNT; f++) {
        if (rule->scope[f].count == 0) continue;
        buf_format(&text, "%s%s ", text.length > 0 ? " " : "", quota_text_filter_name((enum quota_filter)f));
        buf_add_str(&text, rule->scope[f].is_each ? str(pool->members[f]) : rule->scope[f].text);
    }
    const char *copy = arena_copy(arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

/* Whether a pool may be that of a user's jobs. */
static bool is_of_user(const struct quota_model *q, const struct quota_rule *rule, const struct quota_pool *pool,
                       const char *user)
{
    const struct quota_scope *scope = &rule->scope[QUOTA_USERS];
    if (scope->count == 0) return true;
    if (scope->is_each) return strcmp(pool->members[QUOTA_USERS], user) == 0;
    return quota_sets_has_user(q->s, scope, user);
}

static void add_limits(const struct usage_counter *u, uint32_t pool, struct arena *arena, struct quota_usage *out)
{
    const struct quota_pool *source = &u->q->sources.items[pool];
    const struct sched_pool *of = &u->q->pools.list.items[pool];
    const struct quota_set *set = &u->q->sets.items[source->set];
    const struct quota_rule *rule = &set->rules.items[source->rule];
    for (uint32_t i = 0; i < rule->limit_count; i++) {
        uint32_t resource = set->amounts[source->rule][i].resource;
        double used = u->used[(size_t)pool * u->resource_count + resource];
        if (used <= 0.0) continue;
        struct field_value *value = out->items[out->count++].value;
        value[QUOTA_USAGE_RULE] = field_text(arena_copy(arena, str(of->rule)));
        value[QUOTA_USAGE_RESOURCE] = field_text(arena_copy(arena, rule->limits[i].resource));
        value[QUOTA_USAGE_USED] = field_real(used);
        value[QUOTA_USAGE_LIMIT] = field_real(offers_find(&of->offers, resource)->amount);
        value[QUOTA_USAGE_FILTER] = field_text(filter_text(rule, source, arena));
        value[QUOTA_USAGE_POOL] = field_text(arena_copy(arena, str(of->text)));
    }
}

static void list_rule(const struct usage_counter *u, uint32_t set, uint32_t rule, const char *user, struct arena *arena,
                      struct quota_usage *out)
{
    for (uint32_t i = 0; i < u->q->pools.list.count; i++) {
        const struct quota_pool *source = &u->q->sources.items[i];
        if (source->set != set || source->rule != rule) continue;
        const struct quota_rule *of = &u->q->sets.items[set].rules.items[rule];
        if (user == NULL || is_of_user(u->q, of, source, user)) add_limits(u, i, arena, out);
    }
}

static size_t limits_max(const struct quota_model *q)
{
    size_t count = 1;
    for (uint32_t i = 0; i < q->pools.list.count; i++) {
        const struct quota_pool *source = &q->sources.items[i];
        count += q->sets.items[source->set].rules.items[source->rule].limit_count;
    }
    return count;
}

void quota_usage_list(const struct schedule *p, const char *user, struct arena *arena, struct quota_usage *out)
{
    const struct quota_model *q = p->model.quotas;
    *out = (struct quota_usage){0};
    if (q == NULL) return;
    struct usage_counter u = {.q = q, .resource_count = p->model.resources.list.count};
    u.used = arena_alloc(arena, (q->pools.list.count * (size_t)u.resource_count + 1) * sizeof *u.used);
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct schedule_row *row = &p->rows.items[i];
        if (row->state == SCHEDULE_RUNNING || row->state == SCHEDULE_SUSPENDED)
            cluster_taken(&p->model.cluster, row->demand, &row->allocation, count_taken, &u);
    }
    out->items = arena_alloc(arena, limits_max(q) * sizeof *out->items);
    for (uint32_t set = 0; set < q->sets.count; set++) {
        for (uint32_t rule = 0; rule < q->sets.items[set].rules.count; rule++)
            list_rule(&u, set, rule, user, arena, out);
    }
}

/* --- what keeps a job back ---------------------------------------------------------------------------------------- */

struct blockers {
    const struct cluster_model *m;
    const struct cluster *c;
    const struct demand *d;
    struct window window;
    struct quota_blocker *items;
    uint32_t count, max;
    uint32_t slots_min; /* of the whole job */
    uint64_t use;       /* of the pools' scratch memory: those of this use are in the list */
};

static bool lacks_room(const struct blockers *o, uint32_t pool, uint32_t slots)
{
    return pool != NONE &&
           room_of_object(o->c, &o->c->pools->list.items[pool].offers, o->d, o->window, slots, true) < slots;
}

/* The first thing that a pool has too little of for the slots. */
static const struct need *find_lacking(const struct blockers *o, const struct offers *offers, uint32_t slots)
{
    static const struct need slot = {.resource = SCHED_SLOTS, .scope = NEED_PER_SLOT, .amount = 1.0};
    const struct need *lacking = &slot;
    struct demand one = *o->d;
    one.need_count = 0;
    for (uint32_t i = 0; i < o->d->need_count && room_of_object(o->c, offers, &one, o->window, slots, true) >= slots;
         i++) {
        one.needs = lacking = &o->d->needs[i];
        one.need_count = 1;
    }
    return lacking;
}

/* Amounts of memory are MiB in "mem", and bytes in what administrators define. */
static void measure(const struct blockers *o, const struct offers *offers, uint32_t slots, struct quota_blocker *b)
{
    const struct need *n = find_lacking(o, offers, slots);
    const struct offer *offer = offers_find(offers, n->resource);
    if (offer == NULL || o->c->resources.items[n->resource].relation == RELATION_EXCLUSIVE) return;
    bool is_mem = n->resource == o->m->resources.mem;
    bool is_bytes = !is_mem && o->m->resources.list.items[n->resource].type == RESOURCE_MEMORY;
    double unit = is_bytes ? (double)BYTES_PER_MIB : 1.0;
    b->resource = o->c->resources.items[n->resource].name;
    b->limit = offer->amount / unit;
    b->used = timeline_max(&offer->booked, o->window.from_us, o->window.until_us) / unit;
    b->requested =
        n->amount * (n->scope == NEED_PER_SLOT ? (o->d->is_whole ? slots : o->d->ranges[0].min) : 1.0) / unit;
    b->is_memory = is_mem || is_bytes;
}

/* Many hosts may share a pool. */
static void add_blocker(struct blockers *o, uint32_t pool, uint32_t slots, bool is_of_whole_job)
{
    struct sched_pool *p = &o->c->pools->list.items[pool];
    if (p->scratch.use == o->use) return;
    p->scratch = (struct pool_scratch){.use = o->use, .next = NONE};
    struct quota_blocker *b = &o->items[o->count++];
    *b = (struct quota_blocker){.rule = p->rule, .pool = p->text, .is_of_whole_job = is_of_whole_job};
    measure(o, &p->offers, slots, b);
}

/* The next pool of an instance without room for the slots, of the job's quotas from *position on; NONE: there is none
 * left. */
static uint32_t next_of_instance(const struct blockers *o, uint32_t instance, uint32_t slots, uint32_t *position)
{
    while (*position < o->d->quota_count) {
        const uint32_t *by_instance = o->d->quotas[(*position)++].by_instance;
        if (by_instance != NULL && lacks_room(o, by_instance[instance], slots)) return by_instance[instance];
    }
    return NONE;
}

/* The same of the pools of all instances, which limit the whole job. */
static uint32_t next_of_all(const struct blockers *o, uint32_t *position)
{
    while (*position < o->d->quota_count) {
        const struct demand_quota *q = &o->d->quotas[(*position)++];
        if (q->by_instance == NULL && lacks_room(o, q->pool, o->slots_min)) return q->pool;
    }
    return NONE;
}

/* What the job needs on an instance: a parallel one needs no more than a slot, and one with whole hosts all of them. */
static uint32_t min_on_instance(const struct blockers *o, uint32_t instance)
{
    if (o->d->is_whole) return cluster_whole_slots(o->c, o->c->instances.items[instance].host);
    return demand_is_serial(o->d) ? o->d->ranges[0].min : 1;
}

/* Whether pools have no room for it on any of the instances where it may run. */
static bool are_instances_full(const struct blockers *o)
{
    bool is_full = false;
    for (uint32_t i = 0; i < o->c->instances.count; i++) {
        uint32_t position = 0;
        if (!place_admits(o->c, o->d, i)) continue;
        if (next_of_instance(o, i, min_on_instance(o, i), &position) == NONE) return false;
        is_full = true;
    }
    return is_full;
}

/* Whether a parallel job fits without its quotas, but not with them. */
static bool is_cut(const struct blockers *o)
{
    const struct demand bare = demand_without_quotas(o->d);
    struct arena scratch = {0};
    struct allocation unused;
    bool is_cut = !demand_is_serial(o->d) && !place_job(o->c, o->d, o->window, NULL, &scratch, &unused) &&
                  place_job(o->c, &bare, o->window, NULL, &scratch, &unused);
    arena_release(&scratch);
    return is_cut;
}

/* The smallest number of slots of the job; of whole hosts, if each was as small as the smallest one. */
static uint32_t slots_min(const struct cluster *c, const struct demand *d)
{
    uint32_t smallest = 0;
    for (uint32_t i = 0; d->is_whole && d->quota_count > 0 && i < c->instances.count; i++) {
        uint32_t slots = place_admits(c, d, i) ? cluster_whole_slots(c, c->instances.items[i].host) : 0;
        if (slots > 0 && (smallest == 0 || slots < smallest)) smallest = slots;
    }
    uint64_t whole = (uint64_t)smallest * (d->host_min > 1 ? d->host_min : 1);
    return whole > d->ranges[0].min && whole < UINT32_MAX ? (uint32_t)whole : d->ranges[0].min;
}

bool quota_usage_blocks(const struct cluster_model *m, const struct demand *d, int64_t now_us)
{
    const struct blockers o = {
        .m = m, .c = &m->cluster, .d = d, .window = window_of(d, now_us), .slots_min = slots_min(&m->cluster, d)};
    uint32_t position = 0;
    if (d->quota_count == 0 || o.c->pools == NULL) return false;
    return next_of_all(&o, &position) != NONE || are_instances_full(&o) || is_cut(&o);
}

static void add_of_instance(struct blockers *o, uint32_t instance, uint32_t slots)
{
    uint32_t position = 0, pool;
    bool is_part = !demand_is_serial(o->d);
    while (o->count < o->max && (pool = next_of_instance(o, instance, slots, &position)) != NONE)
        add_blocker(o, pool, slots, is_part);
}

/* The pools that leave fewer slots of an instance than its host offers. */
static void add_cutting(struct blockers *o, uint32_t instance)
{
    const struct demand bare = demand_without_quotas(o->d);
    uint32_t host = o->c->instances.items[instance].host;
    add_of_instance(o, instance, place_host_offers(o->c, &bare, o->window, host, 1, bare.ranges[0].min));
}

static void add_of_all(struct blockers *o)
{
    uint32_t position = 0, pool;
    while (o->count < o->max && (pool = next_of_all(o, &position)) != NONE) add_blocker(o, pool, o->slots_min, false);
}

uint32_t quota_usage_blockers(const struct cluster_model *m, const struct demand *d, uint32_t instance, int64_t now_us,
                              uint32_t max, struct arena *arena, struct quota_blocker **out)
{
    const struct cluster *c = &m->cluster;
    struct blockers o = {.m = m, .c = c, .d = d, .window = window_of(d, now_us), .slots_min = slots_min(c, d)};
    if (d->quota_count == 0 || c->pools == NULL || max == 0) return 0;
    o.max = max < c->pools->list.count ? max : c->pools->list.count;
    *out = o.items = arena_alloc(arena, (o.max + (size_t)1) * sizeof *o.items);
    o.use = ++c->pools->use_count;
    if (instance != NONE)
        add_of_instance(&o, instance, min_on_instance(&o, instance));
    else
        add_of_all(&o);
    if (o.count > 0 || instance != NONE) return o.count;
    bool is_full = are_instances_full(&o);
    if (!is_full && !is_cut(&o)) return 0;
    o.use = ++c->pools->use_count; /* the search of is_cut has used the memory, too */
    for (uint32_t i = 0; i < c->instances.count && o.count < o.max; i++) {
        if (!place_admits(c, d, i)) continue;
        if (is_full)
            add_of_instance(&o, i, min_on_instance(&o, i));
        else
            add_cutting(&o, i);
    }
    return o.count;
}

/* --- as a text ---------------------------------------------------------------------------------------------------- */

static void add_amount(const struct quota_blocker *b, double amount, struct buf *out)
{
    char text[NUMBER_TEXT_SIZE];
    if (b->is_memory && amount >= 1.0)
        buf_add(out, text, memory_format(text, (uint64_t)amount));
    else if (b->is_memory && amount > 0.0)
        buf_format(out, "%gK", amount * 1024.0);
    else
        buf_add(out, text, number_format_double(text, amount, 15, 'g'));
}

void quota_usage_add_amounts(const struct quota_blocker *b, struct buf *out)
{
    if (b->resource == NULL) return;
    buf_format(out, ": %s=", b->resource);
    add_amount(b, b->limit, out);
    buf_add_text(out, "; ");
    if (b->used > 0.0) {
        add_amount(b, b->used, out);
        buf_add_text(out, " in use, ");
    }
    add_amount(b, b->requested, out);
    buf_add_text(out, b->is_of_whole_job ? " requested in all" : " requested");
}

bool quota_usage_lasts(const struct cluster_model *m, const struct demand *d, struct arena *arena, struct buf *out,
                       const char **out_resource)
{
    static const int64_t after_all_us = TIMELINE_END - 1; /* nothing that runs now is booked any more */
    struct quota_blocker *items;
    if (quota_usage_blockers(m, d, NONE, after_all_us, 1, arena, &items) == 0) return false;
    buf_format(out, "it exceeds limit \"%s\" in rule \"%s\" by itself", items[0].pool, items[0].rule);
    quota_usage_add_amounts(&items[0], out);
    buf_format(out, " (%s)", pending_reason_name(PENDING_QUOTA_LIMIT));
    *out_resource = items[0].resource;
    return true;
}
