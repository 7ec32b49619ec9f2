/* What a job needs and what is free of it, as Grid Engine writes both. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "engine/closed_times.h"
#include "engine/wait_list.h"
#include "fields/standard_resources.h"
#include "sched/place.h"

bool wait_list_add(struct wait_list *list)
{
    const struct str text = {list->text.text, list->text.length};
    bool is_new = map_get(&list->seen, text) == NONE;
    if (is_new) {
        const char *copy = arena_copy(list->arena, text);
        map_set(&list->seen, (struct str){copy, text.length}, list->items.count);
        *array_add(&list->items) = copy;
    }
    buf_clear(&list->text);
    return is_new;
}

/* --- amounts ------------------------------------------------------------------------------------------------------ */

static const struct cluster_resource *resource_at(const struct wait_list *list, uint32_t resource)
{
    return &list->v->m->resources.list.items[resource];
}

/* Memory of hosts (mem) is counted in MiB. */
static double bytes_of(const struct wait_list *list, uint32_t resource, double amount)
{
    return resource == list->v->m->resources.mem ? amount * 1048576.0 : amount;
}

static bool is_memory(const struct wait_list *list, uint32_t resource)
{
    return resource == list->v->m->resources.mem || resource_at(list, resource)->type == RESOURCE_MEMORY;
}

/* "22.481G", "512.000M" */
static void add_bytes(double bytes, struct buf *out)
{
    static const char units[] = "KMGT";
    int unit = -1;
    while (unit < 3 && fabs(bytes) >= 1024.0) {
        bytes /= 1024.0;
        unit++;
    }
    buf_format(out, "%.3f", bytes);
    if (unit >= 0) buf_add_char(out, units[unit]);
}

/* As an offer: "5.000000", "22.481G". */
static void add_amount(const struct wait_list *list, uint32_t resource, double amount, struct buf *out)
{
    if (is_memory(list, resource))
        add_bytes(bytes_of(list, resource, amount), out);
    else
        buf_format(out, "%f", amount);
}

/* As a request: "5", "512M". */
static void add_request(const struct wait_list *list, const struct need *n, struct buf *out)
{
    char shown[NUMBER_TEXT_SIZE];
    if (n->text != NULL)
        buf_add_text(out, n->text);
    else if (n->resource == list->v->m->resources.mem)
        buf_add(out, shown, memory_format(shown, (uint64_t)n->amount));
    else
        buf_add(out, shown, number_format_shortest(shown, n->amount));
}

/* --- the requests ------------------------------------------------------------------------------------------------- */

struct named_text {
    const char *name, *text;
};

/* Run times are shown in seconds, other amounts as they were requested. */
static const char *request_text(const struct wait_list *list, const struct job_request *r)
{
    const struct object *o = &list->v->s->objects[OBJECT_RESOURCE].items[r->resource].object;
    char shown[NUMBER_TEXT_SIZE];
    if (o->value[RESOURCE_TYPE].number != RESOURCE_TIME) return r->text;
    return arena_copy(list->arena, (struct str){shown, number_format_shortest(shown, r->amount)});
}

static bool is_requested_by_name(const struct wait_list *list, uint32_t resource)
{
    for (uint32_t i = 0; i < list->j->request_count; i++) {
        if (list->v->m->resources.of_object.items[list->j->requests[i].resource] == resource) return true;
    }
    return false;
}

/* Keeps the list sorted by name. */
static void insert(struct named_text *list, uint32_t *io_count, struct named_text item)
{
    uint32_t at = (*io_count)++;
    while (at > 0 && strcmp(list[at - 1].name, item.name) > 0) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = item;
}

/* GPUs are among them, and memory where it is what is missing: every job has a default amount. */
static struct named_text *list_requests(const struct wait_list *list, bool has_memory, uint32_t *out_count)
{
    const struct job *j = list->j;
    uint32_t count = 0;
    struct named_text *all =
        arena_alloc(list->arena, ((size_t)j->request_count + list->d->need_count + 1) * sizeof *all);
    for (uint32_t i = 0; i < j->request_count; i++) {
        const char *name = list->v->s->objects[OBJECT_RESOURCE].items[j->requests[i].resource].object.name;
        insert(all, &count, (struct named_text){name, request_text(list, &j->requests[i])});
    }
    for (uint32_t i = 0; i < list->d->need_count; i++) {
        const struct need *n = &list->d->needs[i];
        struct buf text = {0};
        bool is_own = n->is_requested || (has_memory && n->resource == list->v->m->resources.mem);
        if (!is_own || is_requested_by_name(list, n->resource)) continue;
        add_request(list, n, &text);
        const char *copy = arena_copy(list->arena, (struct str){text.text, text.length});
        insert(all, &count, (struct named_text){resource_at(list, n->resource)->name, copy});
        buf_release(&text);
    }
    *out_count = count;
    return all;
}

static const char *requests_text(const struct wait_list *list, bool has_memory, const char *extra)
{
    uint32_t count;
    const struct named_text *all = list_requests(list, has_memory, &count);
    struct buf text = {0};
    buf_add_text(&text, "(-l ");
    for (uint32_t i = 0; i < count; i++) buf_format(&text, "%s%s=%s", i > 0 ? "," : "", all[i].name, all[i].text);
    if (count == 0) buf_add_text(&text, extra != NULL ? extra : "NONE");
    buf_add_char(&text, ')');
    const char *copy = arena_copy(list->arena, (struct str){text.text, text.length});
    buf_release(&text);
    return copy;
}

const char *wait_needs_text(const struct wait_list *list, const char *extra)
{
    return requests_text(list, false, extra);
}

/* --- what is offered ---------------------------------------------------------------------------------------------- */

/* An offer that is too small, or another value. */
struct shortage {
    char level;            /* 'g', 'h', 'q' */
    uint32_t host;         /* of level h: of the cluster */
    const struct offer *o; /* NULL: nothing offers the resource */
    uint32_t resource;
    double amount; /* free of a consumable */
    bool is_later; /* enough is free now, but not for as long as the job is planned */
};

/* A value that a host reports is a load value, one that was given to it a fixed one. Names of hosts count as the
 * queue's. */
static char kind_of(const struct wait_list *list, const struct shortage *x)
{
    const struct cluster_model *m = list->v->m;
    if (m->cluster.resources.items[x->resource].is_consumable) return 'c';
    if (x->level != 'h') return 'f';
    const struct offers *o = &m->cluster.hosts.items[x->host].offers;
    return (uint32_t)(x->o - o->list.items) >= m->given_count[x->host] ? 'l' : 'f';
}

/* "hc:gpu=2.000000", "hl:arch=lx-amd64" */
static void add_offered(struct wait_list *list, const struct shortage *x)
{
    buf_format(&list->text, "%c%c:%s=", x->level, kind_of(list, x), resource_at(list, x->resource)->name);
    if (x->o->text != NULL)
        buf_add_text(&list->text, x->o->text);
    else
        add_amount(list, x->resource, x->amount, &list->text);
    if (x->is_later) buf_add_text(&list->text, " due to a reservation");
}

/* Whether an offer has less than is needed, now or until the job's planned end. */
static bool is_short(const struct wait_list *list, const struct offer *o, const struct need *n, uint32_t slots,
                     struct shortage *out)
{
    const struct wait_view *v = list->v;
    double needed = n->amount * (n->scope == NEED_PER_SLOT ? slots : 1.0);
    double now = timeline_at(&o->booked, v->now_us);
    double later = timeline_max(&o->booked, v->now_us, demand_end_us(list->d, v->now_us));
    bool is_exclusive = v->m->cluster.resources.items[n->resource].relation == RELATION_EXCLUSIVE;
    double limit = is_exclusive ? exclusive_max(n) : timeline_limit(o->amount, needed);
    if (isinf(o->amount) || (now <= limit && later <= limit)) return false;
    out->o = o;
    out->is_later = now <= limit;
    out->amount = fmax(0.0, o->amount - fmax(now, out->is_later ? later : now));
    return true;
}

static bool is_short_of_slots(const struct wait_list *list, const struct offers *offers, uint32_t slots,
                              struct shortage *out)
{
    const struct need slot = {.resource = SCHED_SLOTS, .scope = NEED_PER_SLOT, .amount = 1.0};
    const struct offer *o = offers_find(offers, SCHED_SLOTS);
    out->resource = SCHED_SLOTS;
    return o != NULL && is_short(list, o, &slot, slots, out);
}

/* The consumables of one level. */
static bool is_short_at(const struct wait_list *list, const struct offers *offers, uint32_t slots, struct shortage *out)
{
    if (is_short_of_slots(list, offers, slots, out)) return true;
    for (uint32_t i = 0; i < list->d->need_count; i++) {
        const struct need *n = &list->d->needs[i];
        if (!list->v->m->cluster.resources.items[n->resource].is_consumable) continue;
        const struct offer *o = offers_find(offers, n->resource);
        out->resource = n->resource;
        if (o != NULL && is_short(list, o, n, slots, out)) return true;
    }
    return false;
}

/* The value that counts for an instance, and its level. */
static void find_value(const struct wait_list *list, uint32_t instance, uint32_t resource, struct shortage *out)
{
    const struct cluster *c = &list->v->m->cluster;
    const struct sched_instance *in = &c->instances.items[instance];
    const char *name = c->resources.items[resource].name;
    *out = (struct shortage){.level = 'q', .host = in->host, .resource = resource};
    out->o = offers_find(&in->offers, resource);
    if (out->o == NULL) {
        out->o = offers_find(&c->hosts.items[in->host].offers, resource);
        if (out->o != NULL && strcmp(name, HOST_NAME_RESOURCE) != 0) out->level = 'h';
    }
    if (out->o == NULL) {
        out->o = offers_find(&c->global, resource);
        out->level = 'g';
    }
    if (out->o != NULL) out->amount = out->o->amount;
}

/* The first request, by name, that the instance does not satisfy at a level; level 0: because nothing offers it. */
static bool is_unsatisfied_at(const struct wait_list *list, uint32_t instance, char level, struct shortage *out)
{
    const struct cluster *c = &list->v->m->cluster;
    const char *first = NULL;
    for (uint32_t i = 0; i < list->d->need_count; i++) {
        const struct need *n = &list->d->needs[i];
        struct shortage x;
        if (!n->is_requested || place_satisfies(c, instance, n)) continue;
        find_value(list, instance, n->resource, &x);
        if (x.o == NULL) x.level = 0;
        const char *name = c->resources.items[n->resource].name;
        if (x.level != level || (first != NULL && strcmp(first, name) < 0)) continue;
        first = name;
        *out = x;
    }
    return first != NULL;
}

/* "(-l mem=4G) cannot run " */
static void add_cannot_run(struct wait_list *list, const struct shortage *x)
{
    bool is_of_memory = x->resource == list->v->m->resources.mem;
    buf_format(&list->text, "%s cannot run ", is_of_memory ? requests_text(list, true, NULL) : list->requests);
}

/* --- the checks --------------------------------------------------------------------------------------------------- */

bool wait_needs_check_global(struct wait_list *list, uint32_t slots)
{
    struct shortage x = {.level = 'g'};
    if (!is_short_at(list, &list->v->m->cluster.global, slots, &x)) return true;
    add_cannot_run(list, &x);
    buf_add_text(&list->text, "globally because it offers only ");
    add_offered(list, &x);
    (void)wait_list_add(list);
    return false;
}

static bool add_shortage(struct wait_list *list, const struct shortage *x, const char *where, const char *name)
{
    add_cannot_run(list, x);
    buf_format(&list->text, "%s \"%s\" because it offers only ", where, name);
    add_offered(list, x);
    (void)wait_list_add(list);
    return false;
}

/* Slots that are free now and not until the planned end, because the partition closes. */
static bool add_closing(struct wait_list *list, uint32_t instance)
{
    const struct wait_view *v = list->v;
    uint32_t partition = v->m->partition_of[instance];
    const struct object *o = &v->s->objects[OBJECT_PARTITION].items[partition].object;
    const char *calendar = o->value[PARTITION_CALENDAR].text;
    if (!closed_times_meet(v->s, partition, v->now_us, demand_end_us(list->d, v->now_us))) return false;
    buf_format(&list->text, "cannot run in queue \"%s\" because it closes before the job's planned end", o->name);
    if (strcmp(calendar, "NONE") != 0) buf_format(&list->text, " (calendar '%s')", calendar);
    (void)wait_list_add(list);
    return true;
}

/* The host first, then the slots of the instance, then what it offers beside them, then what nothing offers. */
bool wait_needs_check_instance(struct wait_list *list, uint32_t instance, uint32_t slots)
{
    const struct cluster *c = &list->v->m->cluster;
    const struct sched_instance *in = &c->instances.items[instance];
    const struct sched_host *host = &c->hosts.items[in->host];
    struct shortage x = {.level = 'h', .host = in->host};
    if (list->d->is_whole && cluster_whole_slots(c, in->host) > slots) slots = cluster_whole_slots(c, in->host);
    if (is_unsatisfied_at(list, instance, 'h', &x)) return add_shortage(list, &x, "at host", host->name);
    x = (struct shortage){.level = 'h', .host = in->host};
    if (is_short_at(list, &host->offers, slots, &x)) return add_shortage(list, &x, "at host", host->name);
    x = (struct shortage){.level = 'q', .host = in->host};
    if (is_short_of_slots(list, &in->offers, slots, &x)) {
        bool is_closing = x.is_later && add_closing(list, instance);
        return !is_closing && add_shortage(list, &x, "in queue", in->name);
    }
    if (is_unsatisfied_at(list, instance, 'q', &x)) return add_shortage(list, &x, "in queue", in->name);
    x = (struct shortage){.level = 'q', .host = in->host};
    if (is_short_at(list, &in->offers, slots, &x)) return add_shortage(list, &x, "in queue", in->name);
    if (is_unsatisfied_at(list, instance, 'g', &x)) return add_shortage(list, &x, "in queue", in->name);
    if (!is_unsatisfied_at(list, instance, 0, &x)) return true;
    buf_format(&list->text, "%s cannot run in queue \"%s\" because job requests unknown resource (%s)", list->requests,
               in->name, resource_at(list, x.resource)->name);
    (void)wait_list_add(list);
    return false;
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

static void add_adjustment(struct wait_list *list, const struct sched_host *h, uint32_t resource)
{
    const struct load_adjustment *a = load_adjustment_find(list->v->load, resource);
    const struct offer *o = offers_find(&h->offers, resource);
    if (a == NULL || o == NULL) {
        buf_add_text(&list->text, " (no load adjustment)");
        return;
    }
    buf_add_text(&list->text, " (= ");
    add_amount(list, resource, o->amount, &list->text);
    buf_format(&list->text, " + %.2f * %f", a->amount, h->started_slots);
    bool is_divided = strncmp(resource_at(list, resource)->name, "np_", 3) == 0 && h->cpus > 0;
    if (is_divided) buf_format(&list->text, " with nproc=%u", h->cpus);
    buf_add_char(&list->text, ')');
}

void wait_needs_add_threshold(struct wait_list *list, uint32_t instance, const struct load_threshold *t)
{
    const struct cluster *c = &list->v->m->cluster;
    uint32_t host = c->instances.items[instance].host;
    bool is_low = c->resources.items[t->resource].relation == RELATION_LESS_EQUAL;
    char limit[NUMBER_TEXT_SIZE];
    double value = load_value(c, list->v->load, host, t->resource, list->v->now_us);
    buf_format(&list->text, "%s=", resource_at(list, t->resource)->name);
    add_amount(list, t->resource, isnan(value) ? LOAD_UNKNOWN : value, &list->text);
    add_adjustment(list, &c->hosts.items[host], t->resource);
    buf_add_text(&list->text, is_low ? " <= " : " >= ");
    if (is_memory(list, t->resource))
        add_bytes(bytes_of(list, t->resource, t->value), &list->text);
    else
        buf_add(&list->text, limit, number_format_shortest(limit, t->value));
}
