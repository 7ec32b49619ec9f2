#include "engine/cluster_model.h"

#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "engine/host_loads.h"
#include "engine/partition_limits.h"
#include "engine/placements.h"
#include "engine/quotas.h"
#include "fields/calendar_text.h"
#include "fields/standard_resources.h"

/* --- texts of a queue, for each of its hosts ---------------------------------------------------------------------- */

/* A partition while its instances are made. */
struct queue_texts {
    const struct object *object;
    const uint64_t *hosts; /* the set of its hosts */
    uint64_t *busy_hosts;  /* the set of those that its tasks run on */
    struct host_values slots, seq_no, complex_values, load_thresholds, state;
    enum host_state common_state; /* of hosts without a state of their own */
};

static int fail_in(const char *kind, const struct object *o, struct err *e)
{
    return err_of(e, kind, str(o->name));
}

static int read_values(struct cluster_model *m, const struct object *o, uint32_t field, struct host_values *out,
                       struct err *e)
{
    const char *name = object_classes[OBJECT_PARTITION].fields[field].name;
    if (host_text_host_values(str(o->value[field].text), name, &m->arena, out, e) != 0) return -1;
    return host_names_check_values(&m->hosts, out, name, e);
}

/* An empty text means all hosts, NONE no host. */
static int read_hosts(struct cluster_model *m, const struct object *o, const uint64_t **out_hosts, struct err *e)
{
    const char *text = o->value[PARTITION_HOSTS].text;
    uint64_t *set;
    if (host_names_set(&m->hosts, str(text), "hosts", &set, e) != 0) return -1;
    if (text[0] == '\0') memset(set, 0xff, m->hosts.words * sizeof *set);
    *out_hosts = set;
    return 0;
}

/* That of the partition as a whole: nothing starts there if it is DOWN. */
static int read_common_state(struct queue_texts *q, struct err *e)
{
    enum partition_state state;
    if (partition_limits_read_state(q->state.common, &state, e) != 0) return -1;
    q->common_state = state == PARTITION_IS_DOWN || state == PARTITION_IS_INACTIVE ? HOST_DOWN : HOST_UP;
    return 0;
}

static int read_queue(struct cluster_model *m, const struct object *o, struct queue_texts *out, struct err *e)
{
    *out = (struct queue_texts){.object = o};
    if (read_hosts(m, o, &out->hosts, e) != 0 || read_values(m, o, PARTITION_SLOTS, &out->slots, e) != 0 ||
        read_values(m, o, PARTITION_SEQ_NO, &out->seq_no, e) != 0 ||
        read_values(m, o, PARTITION_COMPLEX_VALUES, &out->complex_values, e) != 0 ||
        read_values(m, o, PARTITION_LOAD_THRESHOLDS, &out->load_thresholds, e) != 0 ||
        read_values(m, o, PARTITION_STATE, &out->state, e) != 0 || read_common_state(out, e) != 0)
        return fail_in("partition", o, e);
    return 0;
}

static int check_calendar(const struct state *s, const struct object *partition, struct err *e)
{
    struct str name = str_trim(str(partition->value[PARTITION_CALENDAR].text));
    if (calendar_text_is_none(name) || map_get(&s->object_by_name[OBJECT_CALENDAR], name) != NONE) return 0;
    (void)err_value(e, "calendar", name, "a calendar");
    return fail_in("partition", partition, e);
}

static int read_number(struct str text, const char *what, uint32_t *out, struct err *e)
{
    uint64_t number;
    if (!number_parse_u64(str_trim(text), &number) || number >= UINT32_MAX)
        return err_value(e, what, text, "a whole number from 0 to 4294967294");
    *out = (uint32_t)number;
    return 0;
}

static int read_host_state(struct str text, enum host_state *out, struct err *e)
{
    static const char *const words[] = {[HOST_UP] = "UP", [HOST_DRAINED] = "DRAIN", [HOST_DOWN] = "DOWN"};
    for (int i = 0; i < 3; i++) {
        if (!str_equal_nocase(str_trim(text), str(words[i]))) continue;
        *out = (enum host_state)i;
        return 0;
    }
    return err_value(e, "state", text, "one of UP, DRAIN, DOWN on a host");
}

static int read_state(const struct cluster_model *m, const struct queue_texts *q, uint32_t host, enum host_state *out,
                      struct err *e)
{
    struct str text = host_names_value(&m->hosts, &q->state, host);
    if (text.text != q->state.common.text) return read_host_state(text, out, e);
    *out = q->common_state;
    return 0;
}

/* --- offers ------------------------------------------------------------------------------------------------------- */

static void set_offer(struct offers *o, struct offer offer)
{
    struct offer *old = offers_find(o, offer.resource);
    if (old == NULL) old = array_add(&o->list);
    *old = offer;
}

/* GPUs exist in any case, by their name in Slurm. */
static int fail_unknown(const struct cluster_model *m, struct str name, const char *what, struct err *e)
{
    bool is_gpu = str_equal_nocase(name, str("gpu")) || str_equal_nocase(name, str("gpus"));
    if (is_gpu) return err_value(e, what, name, "a resource; GPUs are 'gres/gpu'");
    return cluster_resources_fail_unknown(&m->resources, name, what, "a resource", e);
}

/* "scratch=100G,arch=lx-amd64" */
static int add_offers(struct cluster_model *m, struct str text, const char *what, struct offers *out, struct err *e)
{
    struct named_values values;
    if (host_text_named_values(text, what, &m->arena, &values, e) != 0) return -1;
    for (uint32_t i = 0; i < values.count; i++) {
        const struct named_value *v = &values.items[i];
        uint32_t resource = cluster_resources_find(&m->resources, v->name);
        struct offer offer;
        if (resource == NONE) return fail_unknown(m, v->name, what, e);
        if (v->value.text == NULL) return err_value(e, what, v->name, "a resource with a value, such as scratch=100G");
        if (cluster_resources_offer(&m->resources, resource, v->value, &m->arena, &offer, e) != 0) return -1;
        set_offer(out, offer);
    }
    return 0;
}

static void offer_amount(struct offers *o, uint32_t resource, double amount)
{
    set_offer(o, (struct offer){.resource = resource, .amount = amount});
}

static void offer_name(const struct cluster_model *m, struct offers *o, const char *resource, const char *name)
{
    set_offer(o, (struct offer){.resource = cluster_resources_find(&m->resources, str(resource)), .text = name});
}

/* --- hosts -------------------------------------------------------------------------------------------------------- */

static void offer_gres(const struct cluster_model *m, const struct host_row *row, struct offers *o)
{
    for (uint32_t i = 0; row->tres != NULL && i < TRES_MAX; i++) {
        if (m->resources.gres[i] != NONE) offer_amount(o, m->resources.gres[i], row->tres[i]);
    }
    for (uint32_t i = 0; i < row->gpu_count; i++)
        offer_amount(o, cluster_resources_find(&m->resources, str(row->gpus[i].resource)), row->gpus[i].count);
}

/* Hosts without an executor offer nothing. */
static const struct host_row *row_of(const struct state *s, uint32_t host)
{
    static const struct host_row none;
    return host < s->hosts.count ? &s->hosts.items[host] : &none;
}

/* host: of the cluster. */
static struct host_load_rules load_rules(const struct cluster_model *m, const struct state *s, uint32_t host)
{
    return (struct host_load_rules){.resources = &m->resources,
                                    .host = &s->objects[OBJECT_HOST].items[m->host_of[host]].object,
                                    .is_strict = s->is_document,
                                    .given_count = m->given_count[host]};
}

static void limit_offer(struct offers *o, uint32_t resource, double max)
{
    struct offer *offer = offers_find(o, resource);
    if (offer != NULL && offer->amount > max) offer->amount = max;
}

/* What a host has counts, also if an administrator gives it more: tasks get CPUs and GPUs with numbers. */
static void limit_to_capacity(const struct cluster_model *m, const struct capacity *has, struct offers *o)
{
    limit_offer(o, SCHED_SLOTS, has->cpus);
    limit_offer(o, m->resources.mem, (double)has->mem_mib);
    limit_offer(o, m->resources.gpu, has->gpus);
}

static int add_host(struct cluster_model *m, const struct state *s, uint32_t index, struct err *e)
{
    const struct object *o = &s->objects[OBJECT_HOST].items[index].object;
    const struct host_row *row = row_of(s, index);
    struct sched_host *host = array_add(&m->cluster.hosts);
    *host = (struct sched_host){.name = o->name, .first_instance = m->cluster.instances.count};
    m->host_of[m->cluster.hosts.count - 1] = index;
    m->cluster_host_of[index] = m->cluster.hosts.count - 1;
    offer_name(m, &host->offers, HOST_NAME_RESOURCE, o->name);
    if (row->host.has.mem_mib > 0 || !s->is_document)
        offer_amount(&host->offers, m->resources.mem, (double)row->host.has.mem_mib);
    if (!s->is_document) {
        offer_amount(&host->offers, SCHED_SLOTS, row->host.has.cpus);
        offer_amount(&host->offers, m->resources.gpu, row->host.has.gpus);
    }
    offer_gres(m, row, &host->offers);
    if (add_offers(m, str(o->value[HOST_COMPLEX_VALUES].text), "complex_values", &host->offers, e) != 0)
        return fail_in("host", o, e);
    if (!row->is_attached) array_clear(&host->offers.list);
    if (!s->is_document) limit_to_capacity(m, &row->host.has, &host->offers);
    m->given_count[m->cluster.hosts.count - 1] = host->offers.list.count;
    const struct host_load_rules rules = load_rules(m, s, m->cluster.hosts.count - 1);
    return host_loads_offer(&rules, row, host, e) == 0 ? 0 : fail_in("host", o, e);
}

/* --- instances ---------------------------------------------------------------------------------------------------- */

static int read_thresholds(struct cluster_model *m, struct str text, struct sched_instance *in, struct err *e)
{
    struct named_values values;
    if (host_text_named_values(text, "load_thresholds", &m->arena, &values, e) != 0) return -1;
    struct load_threshold *thresholds = arena_alloc(&m->arena, (values.count + (size_t)1) * sizeof *thresholds);
    for (uint32_t i = 0; i < values.count; i++) {
        const struct named_value *v = &values.items[i];
        uint32_t resource = cluster_resources_find(&m->resources, v->name);
        struct offer limit;
        if (resource == NONE)
            return cluster_resources_fail_unknown(&m->resources, v->name, "load_thresholds",
                                                  "a load value or a resource", e);
        if (v->value.text == NULL)
            return err_value(e, "load_thresholds", v->name, "a load value and its limit, such as np_load_avg=1.75");
        if (resource_type_is_text(m->resources.list.items[resource].type))
            return err_value(e, "load_thresholds", v->name, "a load value or a consumable, which are numbers");
        if (cluster_resources_offer(&m->resources, resource, v->value, &m->arena, &limit, e) != 0) return -1;
        thresholds[i] = (struct load_threshold){.resource = resource, .value = limit.amount};
    }
    in->thresholds = thresholds;
    in->threshold_count = values.count;
    return 0;
}

/* Slots that the queue does not say are the host's CPUs, which its queues share. */
static int offer_slots(struct cluster_model *m, const struct queue_texts *q, uint32_t host, uint32_t cpus,
                       struct sched_instance *in, struct err *e)
{
    struct str text = host_names_value(&m->hosts, &q->slots, host);
    bool is_auto = str_equal_nocase(str_trim(text), str("AUTO"));
    uint32_t slots = cpus;
    struct offers *of_host = &m->cluster.hosts.items[in->host].offers;
    int64_t max = q->object->value[PARTITION_MAX_CPUS_PER_NODE].number;
    if (!is_auto && read_number(text, "slots", &slots, e) != 0) return -1;
    if (is_auto && offers_find(of_host, SCHED_SLOTS) == NULL) offer_amount(of_host, SCHED_SLOTS, cpus);
    if (max != FIELD_SPECIAL && slots > max) slots = (uint32_t)max;
    offer_amount(&in->offers, SCHED_SLOTS, slots);
    return 0;
}

static int add_instance(struct cluster_model *m, const struct state *s, const struct queue_texts *q, uint32_t index,
                        struct err *e)
{
    const struct object *host = &s->objects[OBJECT_HOST].items[index].object;
    struct buf name = {0};
    enum host_state state;
    buf_format(&name, "%s@%s", q->object->name, host->name);
    struct sched_instance *in = array_add(&m->cluster.instances);
    *in = (struct sched_instance){.name = arena_copy(&m->arena, str(name.text)), .host = m->cluster.hosts.count - 1};
    buf_release(&name);
    m->cluster.hosts.items[in->host].instance_count++;
    offer_name(m, &in->offers, QUEUE_NAME_RESOURCE, q->object->name);
    if (offer_slots(m, q, index, row_of(s, index)->host.has.cpus, in, e) != 0 ||
        read_number(host_names_value(&m->hosts, &q->seq_no, index), "seq_no", &in->seq_no, e) != 0 ||
        add_offers(m, host_names_value(&m->hosts, &q->complex_values, index), "complex_values", &in->offers, e) != 0 ||
        read_thresholds(m, host_names_value(&m->hosts, &q->load_thresholds, index), in, e) != 0 ||
        read_state(m, q, index, &state, e) != 0)
        return fail_in("partition", q->object, e);
    uint32_t instance = m->cluster.instances.count - 1;
    if (!row_of(s, index)->is_attached) array_clear(&in->offers.list);
    m->has_left[instance] = !host_set_has(q->hosts, index);
    if (host->value[HOST_STATE].number > state) state = (enum host_state)host->value[HOST_STATE].number;
    if (row_of(s, index)->is_down) state = HOST_DOWN;
    m->state_of[instance] = (uint8_t)state;
    in->is_off = state != HOST_UP || !row_of(s, index)->is_attached || m->has_left[instance];
    return 0;
}

/* The instances of a host in the order of the partitions. queues: by index of the partition. */
static int add_instances(struct cluster_model *m, const struct state *s, const struct queue_texts *queues,
                         uint32_t host, struct err *e)
{
    for (uint32_t p = 0; p < s->objects[OBJECT_PARTITION].count; p++) {
        const struct queue_texts *q = &queues[p];
        if (q->object == NULL || !(host_set_has(q->hosts, host) || host_set_has(q->busy_hosts, host))) continue;
        if (add_instance(m, s, q, host, e) != 0) return -1;
        m->partition_of[m->cluster.instances.count - 1] = p;
    }
    return 0;
}

/* In a document whose queues say their slots, no host limits them together. A job with whole hosts needs that. */
static bool needs_host_slots(const struct state *s)
{
    bool found = false;
    for (uint32_t i = 0; i < s->jobs.count && s->is_document && !found; i++)
        found = state_job_is_exclusive(&s->jobs.items[i]);
    return found;
}

/* The host's CPUs, or the slots of its largest queue if those are more. */
static void limit_host_slots(struct cluster_model *m, uint32_t cpus)
{
    struct sched_host *h = &m->cluster.hosts.items[m->cluster.hosts.count - 1];
    double slots = cpus;
    if (offers_find(&h->offers, SCHED_SLOTS) != NULL) return;
    for (uint32_t i = h->first_instance; i < h->first_instance + h->instance_count; i++) {
        const struct offer *own = offers_find(&m->cluster.instances.items[i].offers, SCHED_SLOTS);
        if (own != NULL && own->amount > slots) slots = own->amount;
    }
    offer_amount(&h->offers, SCHED_SLOTS, slots);
}

static void add_busy_host(const struct state *s, struct queue_texts *queues, uint32_t partition, uint32_t host)
{
    if (partition >= s->objects[OBJECT_PARTITION].count || queues[partition].object == NULL) return;
    queues[partition].busy_hosts[host / 64] |= UINT64_C(1) << host % 64;
}

static void find_busy_hosts(const struct state *s, struct queue_texts *queues)
{
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct task *k = &s->tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        const struct job_document *document = s->jobs.items[state_find_job(s, k->job_id)].document;
        for (uint32_t n = 0; n < k->placement_count && document == NULL; n++)
            add_busy_host(s, queues, k->partition, k->placements[n].host);
        for (uint32_t n = 0; document != NULL && n < document->place_count; n++)
            add_busy_host(s, queues, document->places[n].partition, document->places[n].host);
    }
}

static int add_hosts(struct cluster_model *m, const struct state *s, struct err *e)
{
    uint32_t partitions = s->objects[OBJECT_PARTITION].count, hosts = s->objects[OBJECT_HOST].count;
    struct queue_texts *queues = arena_alloc(&m->arena, (partitions + (size_t)1) * sizeof *queues);
    m->partition_of = arena_alloc(&m->arena, (hosts * (size_t)partitions + 1) * sizeof *m->partition_of);
    m->has_left = arena_alloc(&m->arena, (hosts * (size_t)partitions + 1) * sizeof *m->has_left);
    m->state_of = arena_alloc(&m->arena, hosts * (size_t)partitions + 1);
    m->host_of = arena_alloc(&m->arena, (hosts + (size_t)1) * sizeof *m->host_of);
    m->cluster_host_of = arena_alloc(&m->arena, (hosts + (size_t)1) * sizeof *m->cluster_host_of);
    m->given_count = arena_alloc(&m->arena, (hosts + (size_t)1) * sizeof *m->given_count);
    for (uint32_t p = 0; p < partitions; p++) {
        const struct object_row *row = &s->objects[OBJECT_PARTITION].items[p];
        if (row->is_deleted) continue;
        if (check_calendar(s, &row->object, e) != 0 || read_queue(m, &row->object, &queues[p], e) != 0) return -1;
        queues[p].busy_hosts = arena_alloc(&m->arena, (m->hosts.words + (size_t)1) * sizeof(uint64_t));
    }
    find_busy_hosts(s, queues);
    bool limits_hosts = needs_host_slots(s);
    for (uint32_t h = 0; h < hosts; h++) {
        m->cluster_host_of[h] = NONE;
        if (s->objects[OBJECT_HOST].items[h].is_deleted) continue;
        if (add_host(m, s, h, e) != 0 || add_instances(m, s, queues, h, e) != 0) return -1;
        if (limits_hosts) limit_host_slots(m, row_of(s, h)->host.has.cpus);
        uint32_t slots = cluster_whole_slots(&m->cluster, m->cluster_host_of[h]);
        if (slots > m->largest_slots) m->largest_slots = slots;
    }
    m->set_words = m->cluster.instances.count / 64 + 1;
    return 0;
}

/* --- parallel environments ---------------------------------------------------------------------------------------- */

static int add_environment(struct cluster_model *m, const struct object *o, struct err *e)
{
    enum rule_text rule;
    struct sched_environment environment = {.name = o->name};
    if (host_text_allocation_rule(str(o->value[ENVIRONMENT_ALLOCATION_RULE].text), "allocation_rule", &rule,
                                  &environment.slots_per_host, e) != 0)
        return fail_in("pe", o, e);
    environment.rule = (enum allocation_rule)rule;
    environment.instances = arena_alloc(&m->arena, m->set_words * sizeof(uint64_t));
    struct sched_environment *added = array_add(&m->cluster.environments);
    *added = environment;
    if (o->value[ENVIRONMENT_SLOTS].number != FIELD_SPECIAL)
        offer_amount(&added->offers, SCHED_SLOTS, (double)o->value[ENVIRONMENT_SLOTS].number);
    return 0;
}

static void list_environment(struct cluster_model *m, uint32_t environment, uint32_t partition)
{
    uint64_t *set = (uint64_t *)(uintptr_t)m->cluster.environments.items[environment].instances;
    for (uint32_t i = 0; i < m->cluster.instances.count; i++) {
        if (m->partition_of[i] == partition) set[i / 64] |= UINT64_C(1) << i % 64;
    }
}

static int list_environments(struct cluster_model *m, const struct state *s, uint32_t partition, struct err *e)
{
    const struct object *o = &s->objects[OBJECT_PARTITION].items[partition].object;
    struct name_list list;
    if (host_text_names(str(o->value[PARTITION_PE_LIST].text), "pe_list", &m->arena, &list, e) != 0)
        return fail_in("partition", o, e);
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t index = map_get(&s->object_by_name[OBJECT_ENVIRONMENT], list.items[i]);
        if (index == NONE) {
            (void)err_value(e, "pe_list", list.items[i], "a parallel environment");
            return fail_in("partition", o, e);
        }
        list_environment(m, m->environment_of[index], partition);
    }
    return 0;
}

static int add_environments(struct cluster_model *m, const struct state *s, struct err *e)
{
    uint32_t count = s->objects[OBJECT_ENVIRONMENT].count;
    m->environment_of = arena_alloc(&m->arena, (count + (size_t)1) * sizeof *m->environment_of);
    for (uint32_t i = 0; i < count; i++) {
        const struct object_row *row = &s->objects[OBJECT_ENVIRONMENT].items[i];
        m->environment_of[i] = row->is_deleted ? NONE : m->cluster.environments.count;
        if (!row->is_deleted && add_environment(m, &row->object, e) != 0) return -1;
    }
    for (uint32_t p = 0; p < s->objects[OBJECT_PARTITION].count; p++) {
        if (!s->objects[OBJECT_PARTITION].items[p].is_deleted && list_environments(m, s, p, e) != 0) return -1;
    }
    return 0;
}

/* --- load --------------------------------------------------------------------------------------------------------- */

static int fail_load(const struct cluster_model *m, struct str name, const char *what, struct err *e)
{
    return cluster_resources_fail_unknown(&m->resources, name, what, "a load value or a consumable, which are numbers",
                                          e);
}

static bool hosts_offer(const struct cluster *c, uint32_t resource)
{
    bool found = offers_find(&c->global, resource) != NULL;
    for (uint32_t h = 0; h < c->hosts.count && !found; h++)
        found = offers_find(&c->hosts.items[h].offers, resource) != NULL;
    return found;
}

/* A formula with a value that no host has makes all loads equal. It is left out, so that the order of instances is
 * known to be fixed. */
static int read_formula(struct cluster_model *m, const struct settings *settings, struct err *e)
{
    struct load_formula_text text;
    bool is_known = true;
    if (host_text_load_formula(str(settings->value[SET_GE_LOAD_FORMULA].text), "load_formula", &m->arena, &text, e) !=
        0)
        return -1;
    struct load_term *terms = arena_alloc(&m->arena, (text.count + (size_t)1) * sizeof *terms);
    for (uint32_t i = 0; i < text.count; i++) {
        uint32_t resource = NONE;
        if (text.terms[i].name.length > 0) {
            resource = cluster_resources_find(&m->resources, text.terms[i].name);
            if (!cluster_resources_has_number(&m->resources, text.terms[i].name))
                return fail_load(m, text.terms[i].name, "load_formula", e);
            is_known = is_known && hosts_offer(&m->cluster, resource);
        }
        terms[i] = (struct load_term){.resource = resource, .weight = text.terms[i].weight};
    }
    m->load.terms = terms;
    m->load.term_count = is_known ? text.count : 0;
    return 0;
}

static int read_adjustments(struct cluster_model *m, const struct settings *settings, struct err *e)
{
    struct named_values values;
    if (host_text_named_values(str(settings->value[SET_GE_LOAD_ADJUSTMENTS].text), "job_load_adjustments", &m->arena,
                               &values, e) != 0)
        return -1;
    struct load_adjustment *list = arena_alloc(&m->arena, (values.count + (size_t)1) * sizeof *list);
    for (uint32_t i = 0; i < values.count; i++) {
        const struct named_value *v = &values.items[i];
        uint32_t resource = cluster_resources_find(&m->resources, v->name);
        struct offer amount;
        if (!cluster_resources_has_number(&m->resources, v->name))
            return fail_load(m, v->name, "job_load_adjustments", e);
        if (v->value.text == NULL)
            return err_value(e, "job_load_adjustments", v->name,
                             "a load value with an amount, such as np_load_avg=0.5");
        if (cluster_resources_offer(&m->resources, resource, v->value, &m->arena, &amount, e) != 0) return -1;
        list[i] = (struct load_adjustment){.resource = resource, .amount = amount.amount};
    }
    m->load.adjustments = list;
    m->load.adjustment_count = values.count;
    return 0;
}

static int read_load_rules(struct cluster_model *m, const struct settings *settings, struct err *e)
{
    static const enum load_order orders[] = {
        [QUEUE_SORT_LOAD] = ORDER_BY_LOAD, [QUEUE_SORT_SEQ_NO] = ORDER_BY_SEQ_NO, [QUEUE_SORT_SHARE] = ORDER_BY_SHARE};
    m->load.order = orders[setting_number(settings, SET_GE_QUEUE_SORT)];
    m->load.decay_us = setting_number(settings, SET_GE_ADJUSTMENT_DECAY) * US_PER_S;
    return read_formula(m, settings, e) == 0 ? read_adjustments(m, settings, e) : -1;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

int cluster_model_make(const struct state *s, struct cluster_model *out, struct err *e)
{
    *out = (struct cluster_model){0};
    if (cluster_resources_make(s, &out->resources, e) != 0 || host_names_make(s, &out->arena, &out->hosts, e) != 0)
        return -1;
    cluster_resources_define(&out->resources, &out->cluster);
    if (add_hosts(out, s, e) != 0 || add_environments(out, s, e) != 0) return -1;
    if (read_load_rules(out, &s->settings, e) != 0 || quota_model_make(s, out, &out->quotas, e) != 0) return -1;
    if (out->quotas != NULL) out->cluster.pools = &out->quotas->pools;
    return 0;
}

void cluster_model_drop_quotas(struct cluster_model *m)
{
    quota_model_release(m->quotas);
    m->quotas = NULL;
    m->cluster.pools = NULL;
}

void cluster_model_release(struct cluster_model *m)
{
    quota_model_release(m->quotas);
    cluster_release(&m->cluster);
    cluster_resources_release(&m->resources);
    arena_release(&m->arena);
}

bool cluster_model_offers(const struct cluster_model *m, uint32_t resource)
{
    const struct cluster *c = &m->cluster;
    bool found = hosts_offer(c, resource);
    for (uint32_t i = 0; i < c->instances.count && !found; i++)
        found = offers_find(&c->instances.items[i].offers, resource) != NULL;
    return found;
}

bool cluster_model_has_sensors(const struct state *s)
{
    const char *paths = setting_text(&s->settings, SET_GE_LOAD_SENSOR);
    return !s->is_document && paths[0] != '\0' && !str_equal_nocase(str(paths), str("none"));
}

void cluster_model_offer_withheld(struct cluster_model *m, const struct state *s)
{
    for (uint32_t h = 0; h < m->cluster.hosts.count && !s->is_document; h++) {
        const struct host *host = &row_of(s, m->host_of[h])->host;
        struct offer *offer = offers_find(&m->cluster.hosts.items[h].offers, m->resources.gpu);
        if (offer != NULL && offer->amount == host->has.gpus) offer->amount = host->gpu_count;
    }
}

int cluster_model_check(const struct state *s, struct err *e)
{
    struct cluster_model model;
    int status = cluster_model_make(s, &model, e);
    cluster_model_release(&model);
    return status;
}

bool cluster_model_refresh_loads(struct cluster_model *m, const struct state *s, uint32_t host,
                                 bool *out_quotas_changed)
{
    uint32_t h = m->cluster_host_of[host];
    *out_quotas_changed = false;
    if (h == NONE) return true;
    const struct host_load_rules rules = load_rules(m, s, h);
    if (!host_loads_refresh(&rules, row_of(s, host), &m->cluster.hosts.items[h])) return false;
    *out_quotas_changed = m->quotas != NULL && quota_model_refresh(m->quotas);
    return true;
}

bool cluster_model_is_attached(const struct cluster_model *m, const struct state *s, uint32_t instance)
{
    return row_of(s, m->host_of[m->cluster.instances.items[instance].host])->is_attached;
}

bool cluster_model_is_outside(const struct cluster_model *m, const struct state *s, uint32_t instance)
{
    enum { THIS_MACHINE = 0 };
    uint32_t host = m->host_of[m->cluster.instances.items[instance].host];
    return !s->is_document && host == THIS_MACHINE && !row_of(s, host)->is_attached && s->host_sums.attached > 0;
}

bool cluster_model_is_reported(const struct cluster_model *m, uint32_t resource)
{
    for (uint32_t h = 0; h < m->cluster.hosts.count; h++) {
        const struct offers *o = &m->cluster.hosts.items[h].offers;
        for (uint32_t i = m->given_count[h]; i < o->list.count; i++) {
            if (o->list.items[i].resource == resource) return true;
        }
    }
    return false;
}

bool cluster_model_is_load(const struct cluster_model *m, uint32_t resource)
{
    return !m->cluster.resources.items[resource].is_consumable || cluster_model_is_reported(m, resource);
}

bool cluster_model_needs_load(const struct cluster_model *m, const struct demand *d)
{
    bool found = false;
    for (uint32_t i = 0; i < d->need_count && !found; i++) found = cluster_model_is_load(m, d->needs[i].resource);
    return found;
}

void cluster_model_run_rules(const struct cluster_model *m, const struct state *s, struct run_rules *out)
{
    bool is_tickets = s->policy.model == MODEL_TICKETS;
    enum reservations which = (enum reservations)setting_number(&s->settings, SET_RESERVATIONS);
    if (which == RESERVATIONS_AUTO) which = is_tickets ? RESERVATIONS_REQUESTED : RESERVATIONS_ALL;
    enum setting max = which == RESERVATIONS_ALL ? SET_RESERVATION_DEPTH : SET_GE_MAX_RESERVATION;
    *out = (struct run_rules){.reservation_max = (uint32_t)setting_number(&s->settings, max),
                              .search = is_tickets ? RESERVE_WITHOUT_GAPS : RESERVE_IN_GAPS,
                              .reserves_ranges = !is_tickets,
                              .ends_when_full = is_tickets,
                              .resolution_us = setting_number(&s->settings, SET_BF_RESOLUTION) * US_PER_S,
                              .test_max = (uint32_t)setting_number(&s->settings, SET_BF_MAX_JOB_TEST),
                              .user_test_max = (uint32_t)setting_number(&s->settings, SET_BF_MAX_JOB_USER),
                              .load = m->load};
    int64_t window_min = setting_number(&s->settings, SET_BF_WINDOW);
    out->window_us = window_min == FIELD_SPECIAL ? 0 : window_min * 60 * US_PER_S;
    if (which == RESERVATIONS_NONE || out->reservation_max == 0)
        out->reservations = RUN_RESERVE_NONE;
    else
        out->reservations = which == RESERVATIONS_ALL ? RUN_RESERVE_ALL : RUN_RESERVE_REQUESTED;
}

uint32_t cluster_model_instance(const struct cluster_model *m, uint32_t partition, uint32_t host)
{
    if (m->cluster_host_of[host] == NONE) return NONE;
    const struct sched_host *found = &m->cluster.hosts.items[m->cluster_host_of[host]];
    for (uint32_t i = found->first_instance; i < found->first_instance + found->instance_count; i++) {
        if (m->partition_of[i] == partition) return i;
    }
    return NONE;
}

uint32_t cluster_model_list_hosts(const struct cluster_model *m, const struct allocation *a, uint32_t *out)
{
    uint32_t count = 0;
    struct idset seen = {0};
    for (uint32_t i = 0; i < a->part_count; i++) {
        uint32_t host = m->host_of[m->cluster.instances.items[a->parts[i].instance].host];
        if (a->part_count > 1 && !placements_add_host(&seen, host)) continue;
        if (out != NULL) out[count] = host;
        count++;
    }
    idset_release(&seen);
    return count;
}
