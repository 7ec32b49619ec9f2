/* The key of a demand is a text of everything that it depends on: "10 q5:all.q m- s- c- e3:smp r1-4 h0-0:0 n7:2:010 t-
 * d600000000" is that of a job that may use the first of two partitions, in the queue all.q and the environment smp.
 * Texts have their lengths before them, because they may contain anything; '-' stands for one that is not given. The
 * key of its kind is the same without the duration at the end. */
#include "engine/job_demand.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "engine/queue_list.h"
#include "engine/quotas.h"
#include "fields/request_text.h"

void job_demands_end(struct job_demands *d)
{
    array_release(&d->list);
    array_release(&d->kinds);
    array_release(&d->usual);
    map_release(&d->by_key);
    map_release(&d->by_kind_key);
    map_release(&d->bare_by_key);
    buf_release(&d->key);
    arena_release(&d->scratch);
}

static const struct job_placing *placing_of(const struct job *j)
{
    static const struct job_placing none;
    return j->placing != NULL ? j->placing : &none;
}

/* --- how long ----------------------------------------------------------------------------------------------------- */

/* The shortest run time that the job requests as a resource (h_rt, s_rt), or 0. A document may define these resources
 * with another type, whose amounts are larger than any time. */
static int64_t requested_s(const struct job_demands *d, const struct job *j)
{
    static const double max_s = 1e15;
    int64_t shortest_s = 0;
    for (uint32_t i = 0; i < j->request_count; i++) {
        const char *name = d->s->objects[OBJECT_RESOURCE].items[j->requests[i].resource].object.name;
        int64_t time_s = (int64_t)fmin(j->requests[i].amount, max_s);
        if (strcmp(name, "h_rt") != 0 && strcmp(name, "s_rt") != 0) continue;
        if (shortest_s == 0 || time_s < shortest_s) shortest_s = time_s;
    }
    return shortest_s;
}

/* The job's time limit in one of its partitions, in any of them the longest; 0: not known. */
static int64_t limit_s(const struct job_demands *d, const struct job *j, uint32_t partition)
{
    if (partition != NONE) return partition_limits_time_s(d->s, j, partition);
    int64_t longest_s = partition_limits_time_s(d->s, j, j->partitions[0]);
    for (uint32_t i = 1; j->has_default_time && i < j->partition_count; i++) {
        int64_t time_s = partition_limits_time_s(d->s, j, j->partitions[i]);
        if (time_s > longest_s) longest_s = time_s;
    }
    return longest_s;
}

/* As in Grid Engine: limits of queues do not count, and run times are planned a little longer. */
static int64_t planned_s_with_tickets(const struct job_demands *d, const struct job *j, int64_t time_s)
{
    int64_t requested = requested_s(d, j);
    if (requested > 0 && (time_s == 0 || requested < time_s)) time_s = requested;
    if (time_s == 0) time_s = setting_number(&d->s->settings, SET_GE_DEFAULT_DURATION);
    return time_s == FIELD_SPECIAL ? 0 : time_s + d->params.duration_offset_s;
}

/* In a document a job without a limit has DefaultTime of its partition, or may run as long as that allows. */
static int64_t planned_s(const struct job_demands *d, const struct job *j, uint32_t partition, int64_t time_s)
{
    if (d->s->policy.model == MODEL_TICKETS) return planned_s_with_tickets(d, j, time_s);
    if (time_s > 0) return time_s;
    uint32_t only = partition != NONE ? partition : j->partitions[0];
    const struct field_value *value = d->s->objects[OBJECT_PARTITION].items[only].object.value;
    int64_t default_s = value[PARTITION_DEFAULT_TIME].number, max_s = value[PARTITION_MAX_TIME].number;
    if (default_s != FIELD_SPECIAL && (max_s == FIELD_SPECIAL || default_s < max_s)) return default_s;
    return max_s == FIELD_SPECIAL ? 0 : max_s;
}

/* time_limit_s 0: none is known. */
static int64_t planned_us(const struct job_demands *d, const struct job *j, uint32_t partition, int64_t time_limit_s)
{
    int64_t time_s = planned_s(d, j, partition, time_limit_s);
    return time_s <= 0 || time_s > TIMELINE_END / US_PER_S ? TIMELINE_END : time_s * US_PER_S;
}

int64_t job_demands_planned_us(const struct job_demands *d, const struct job *j, uint32_t partition)
{
    return planned_us(d, j, partition, limit_s(d, j, partition));
}

int64_t job_demands_limit_s(const struct job_demands *d, int64_t planned_for_us)
{
    int64_t offset_s = d->s->policy.model == MODEL_TICKETS ? d->params.duration_offset_s : 0;
    return planned_for_us / US_PER_S - offset_s;
}

/* --- what --------------------------------------------------------------------------------------------------------- */

static const struct job_request *find_request(const struct job_demands *d, const struct job *j, uint32_t resource)
{
    for (uint32_t i = 0; i < j->request_count; i++) {
        if (d->m->resources.of_object.items[j->requests[i].resource] == resource) return &j->requests[i];
    }
    return NULL;
}

static bool is_run_time(const char *name)
{
    return strcmp(name, "h_rt") == 0 || strcmp(name, "s_rt") == 0;
}

/* An exclusive resource is booked by every job. One that requests it starts only where no other job is, and keeps the
 * others away. */
static struct need need_of_request(const struct cluster_resource *r, uint32_t resource,
                                   const struct job_request *request)
{
    bool is_exclusive = r->relop == RELOP_EXCLUSIVE;
    struct need need = {.resource = resource,
                        .scope = r->is_consumable && r->is_per_job ? NEED_PER_JOB : NEED_PER_SLOT,
                        .amount = request != NULL ? request->amount : r->default_amount,
                        .is_requested = request != NULL};
    if (is_exclusive) {
        need.is_exclusive = need.is_requested = need.amount > 0.0;
        need.amount = 1.0;
    }
    if (request != NULL && resource_type_is_text(r->type)) need.text = request->text;
    return need;
}

static double gres_amount(const struct job_demands *d, const struct job *j, uint32_t resource)
{
    const struct job_document *document = state_job_document(d->s, j);
    for (uint32_t i = 0; document != NULL && i < document->tres.count; i++) {
        const struct tres_amount *a = &document->tres.items[i];
        if (d->m->resources.gres[a->tres] == resource) return a->amount;
    }
    return 0.0;
}

/* Memory is that of each host, or of each slot. */
static struct need need_of_memory(const struct job_demands *d, const struct job *j)
{
    uint64_t each = placing_of(j)->mem_mib_per_cpu;
    return (struct need){.resource = d->m->resources.mem,
                         .scope = each > 0 ? NEED_PER_SLOT : NEED_PER_HOST,
                         .amount = (double)(each > 0 ? each : j->request.mem_mib)};
}

/* The GPUs of a job in an instance, which has one host. */
static struct need need_of_gpus(const struct job_demands *d, const struct job *j)
{
    uint32_t each = placing_of(j)->gpus_per_slot;
    return (struct need){.resource = d->m->resources.gpu,
                         .scope = each > 0 ? NEED_PER_SLOT : NEED_PER_JOB,
                         .amount = each > 0 ? each : j->request.gpus,
                         .is_requested = true};
}

/* GPUs of a type are GPUs, too. */
static double gpus_of(const struct job_demands *d, const struct job_document *document, uint32_t resource)
{
    double count = 0.0;
    for (uint32_t i = 0; i < document->gpu_count; i++) {
        const struct gpu_amount *gpus = &document->gpus[i];
        bool is_of_type = cluster_resources_find(&d->m->resources, str(gpus->resource)) == resource;
        if (is_of_type || resource == d->m->resources.gpu) count += gpus->count;
    }
    return count;
}

static bool is_gpu(const struct job_demands *d, uint32_t resource)
{
    return str_starts(str(d->m->resources.list.items[resource].name), str("gres/gpu"));
}

/* The GPUs of a job in a document, on each of its hosts or for each slot. */
static struct need need_of_typed_gpus(const struct job_demands *d, const struct job *j, uint32_t resource)
{
    return (struct need){.resource = resource,
                         .scope = j->document->has_gpus_per_slot ? NEED_PER_SLOT : NEED_PER_HOST,
                         .amount = gpus_of(d, j->document, resource),
                         .is_requested = true};
}

/* The need of a resource that no request names. Amount 0: there is none. */
static struct need need_of_job(const struct job_demands *d, const struct job *j, uint32_t resource)
{
    if (resource == d->m->resources.mem) return need_of_memory(d, j);
    if (!d->s->is_document && resource == d->m->resources.gpu) return need_of_gpus(d, j);
    if (d->s->is_document && j->document->gpu_count > 0 && is_gpu(d, resource))
        return need_of_typed_gpus(d, j, resource);
    return (struct need){
        .resource = resource, .scope = NEED_PER_JOB, .amount = gres_amount(d, j, resource), .is_requested = true};
}

/* In an instance, an amount that nothing offers has no limit; it makes jobs urgent. A value that no host reports is
 * none, and with load sensors neither is an amount, which a sensor may report later. */
static bool is_unlimited(const struct job_demands *d, const struct job_request *request, uint32_t resource)
{
    const struct object *o = &d->s->objects[OBJECT_RESOURCE].items[request->resource].object;
    if (d->s->is_document || o->value[RESOURCE_CONSUMABLE].number == CONSUMABLE_NO) return false;
    if (cluster_model_has_sensors(d->s)) return false;
    return !cluster_model_offers(d->m, resource);
}

/* Whether a job may need a resource that it does not request. */
static bool is_usual(const struct job_demands *d, uint32_t resource)
{
    const struct cluster_resources *all = &d->m->resources;
    const struct cluster_resource *r = &all->list.items[resource];
    if (is_run_time(r->name)) return false;
    if (r->relop == RELOP_EXCLUSIVE || r->default_amount > 0.0) return true; /* every job books it */
    return d->s->is_document || resource == all->mem || resource == all->gpu;
}

static void add_need(const struct job_demands *d, const struct job *j, uint32_t resource, struct need *needs,
                     uint32_t *io_count)
{
    const struct cluster_resource *r = &d->m->resources.list.items[resource];
    const struct job_request *request = find_request(d, j, resource);
    if (is_run_time(r->name)) return;
    struct need need = need_of_request(r, resource, request);
    if (request == NULL && need.amount <= 0.0) need = need_of_job(d, j, resource);
    if (request != NULL && is_unlimited(d, request, resource)) {
        if (d->m->quotas == NULL || !d->m->quotas->is_limited[resource]) return;
        need.is_requested = false; /* only pools offer it */
    }
    if (request != NULL || need.amount > 0.0) needs[(*io_count)++] = need;
}

/* Fills needs, with room for all resources, in the order of the resources. */
static uint32_t find_needs(const struct job_demands *d, const struct job *j, struct need *needs)
{
    uint32_t count = 0;
    if (j->request_count == 0) {
        for (uint32_t i = 0; i < d->usual.count; i++) add_need(d, j, d->usual.items[i], needs, &count);
        return count;
    }
    for (uint32_t i = SCHED_SLOTS + 1; i < d->m->resources.list.count; i++) add_need(d, j, i, needs, &count);
    return count;
}

static uint32_t find_soft_needs(const struct job_demands *d, const struct job_placing *placing, struct need *needs)
{
    for (uint32_t i = 0; i < placing->soft_count; i++) {
        uint32_t resource = d->m->resources.of_object.items[placing->soft[i].resource];
        needs[i] = need_of_request(&d->m->resources.list.items[resource], resource, &placing->soft[i]);
    }
    return placing->soft_count;
}

/* --- where -------------------------------------------------------------------------------------------------------- */

static const char *department_of(const struct state *s, const char *user)
{
    uint32_t index = state_find_object(s, OBJECT_USER_POLICY, user);
    if (index == NONE) return DEFAULT_DEPARTMENT;
    return s->objects[OBJECT_USER_POLICY].items[index].object.value[USER_DEPARTMENT].text;
}

/* The next name of a list (host_text_names); empty between two separators. */
static struct str next_name(struct str *list)
{
    size_t length = 0;
    while (length < list->length && strchr(", \t\r\n", list->text[length]) == NULL) length++;
    struct str name = {list->text, length};
    *list = str_range(list->text + length + (length < list->length), list->text + list->length);
    return name;
}

/* Whether a list, such as "ann,@chem", has a user. */
static bool has_user(const struct job_demands *d, struct str list, const char *user)
{
    while (list.length > 0) {
        struct str name = next_name(&list);
        bool is_department = name.length > 1 && name.text[0] == '@';
        const char *wanted = is_department ? department_of(d->s, user) : user;
        if (is_department) name = str_range(name.text + 1, name.text + name.length);
        if (str_equal(name, str(wanted))) return true;
    }
    return false;
}

static bool is_empty_list(struct str list)
{
    return str_trim(list).length == 0 || str_equal_nocase(str_trim(list), str("NONE"));
}

bool job_demand_is_refused_user(const struct job_demands *d, uint32_t partition, const char *user)
{
    const struct object *o = &d->s->objects[OBJECT_PARTITION].items[partition].object;
    struct str refused = str(o->value[PARTITION_XUSER_LISTS].text);
    return !is_empty_list(refused) && has_user(d, refused, user);
}

static bool accepts_user(const struct job_demands *d, uint32_t partition, const char *user)
{
    const struct object *o = &d->s->objects[OBJECT_PARTITION].items[partition].object;
    struct str accepted = str(o->value[PARTITION_USER_LISTS].text);
    if (!is_empty_list(accepted) && !has_user(d, accepted, user)) return false;
    return !job_demand_is_refused_user(d, partition, user);
}

/* In a document of the tickets model the partition is the job class, and a job may run in any queue unless it names
 * some. */
static bool names_partition(const struct job_demands *d, const struct job *j, uint32_t partition)
{
    if (d->s->policy.model == MODEL_TICKETS && d->s->is_document && !j->document->has_partition) return true;
    for (uint32_t i = 0; i < j->partition_count; i++) {
        if (j->partitions[i] == partition) return true;
    }
    return false;
}

const char *job_demands_user(const struct job_demands *d, const struct job *j)
{
    return d->submitter != NULL ? d->submitter : d->s->assocs.items[j->assoc].user;
}

enum place_limit job_demand_partition_limit(const struct job_demands *d, const struct job *j, uint32_t only,
                                            uint32_t partition)
{
    if (only != NONE ? partition != only : !names_partition(d, j, partition)) return LIMIT_PARTITION;
    enum place_limit limit = d->has_no_limits ? LIMIT_NONE : partition_limits_find(d->s, j, partition);
    if (limit != LIMIT_NONE) return limit;
    return accepts_user(d, partition, job_demands_user(d, j)) ? LIMIT_NONE : LIMIT_USERS;
}

static bool may_use_partition(const struct job_demands *d, const struct job *j, uint32_t only, uint32_t partition)
{
    return job_demand_partition_limit(d, j, only, partition) == LIMIT_NONE;
}

static void add_bit(uint64_t *set, uint32_t index)
{
    set[index / 64] |= UINT64_C(1) << index % 64;
}

/* The instances in a list; NULL for no list. */
static const uint64_t *set_of_list(const struct job_demands *d, const char *list)
{
    if (list == NULL) return NULL;
    uint64_t *set = arena_alloc(d->arena, d->m->set_words * sizeof *set);
    for (uint32_t i = 0; i < d->m->cluster.instances.count; i++) {
        if (queue_list_has(d->s, d->m, list, i)) add_bit(set, i);
    }
    return set;
}

const char *job_demands_environment(const struct job_demands *d, const struct job *j)
{
    if (d->s->is_document) return j->document->environment;
    return j->environment != NONE ? d->s->objects[OBJECT_ENVIRONMENT].items[j->environment].object.name : NULL;
}

enum place_limit job_demand_instance_limit(const struct job_demands *d, const struct job *j, bool is_serial,
                                           uint32_t instance)
{
    const struct job_placing *p = placing_of(j);
    uint32_t host = d->m->host_of[d->m->cluster.instances.items[instance].host];
    const char *features = d->s->objects[OBJECT_HOST].items[host].object.value[HOST_FEATURES].text;
    if (p->queues != NULL && !queue_list_has(d->s, d->m, p->queues, instance)) return LIMIT_QUEUES;
    if (p->constraint != NULL && !request_text_is_satisfied(p->constraint, features)) return LIMIT_CONSTRAINT;
    bool is_master = !is_serial || p->master_queues == NULL || queue_list_has(d->s, d->m, p->master_queues, instance);
    return is_master ? LIMIT_NONE : LIMIT_MASTER_QUEUES;
}

static const uint64_t *allowed_set(const struct job_demands *d, const struct job *j, uint32_t only, bool is_serial)
{
    uint32_t partitions = d->s->objects[OBJECT_PARTITION].count;
    uint64_t *set = arena_alloc(d->arena, d->m->set_words * sizeof *set);
    struct arena scratch = {0};
    bool *may_use = arena_alloc(&scratch, partitions + (size_t)1);
    for (uint32_t p = 0; p < partitions; p++) may_use[p] = may_use_partition(d, j, only, p);
    for (uint32_t i = 0; i < d->m->cluster.instances.count; i++) {
        bool is_open = may_use[d->m->partition_of[i]];
        if (is_open && job_demand_instance_limit(d, j, is_serial, i) == LIMIT_NONE) add_bit(set, i);
    }
    arena_release(&scratch);
    return set;
}

static void set_environments(const struct job_demands *d, const char *pattern, struct demand *out)
{
    uint32_t *list = arena_alloc(d->arena, (d->m->cluster.environments.count + (size_t)1) * sizeof *list);
    for (uint32_t i = 0; i < d->m->cluster.environments.count; i++) {
        if (str_matches(str(d->m->cluster.environments.items[i].name), str(pattern)))
            list[out->environment_count++] = i;
    }
    out->environments = list;
}

/* --- quotas ------------------------------------------------------------------------------------------------------- */

/* What the quotas mean for a job: indices of quota_model.lists, one for each of its environments, or for none. */
struct quota_indices {
    uint32_t *items;
    uint32_t count;
};

static void add_quotas(struct job_demands *d, const struct job *j, const char *environment, struct quota_indices *out)
{
    struct quota_model *q = d->m->quotas;
    const char *user = job_demands_user(d, j);
    const struct quota_job job = {
        .user = user,
        .department = department_of(d->s, user),
        .project = j->project != NONE ? d->s->objects[OBJECT_PROJECT].items[j->project].object.name : NULL,
        .pe = environment};
    out->items[out->count++] = quota_model_find(q, &job);
}

static struct quota_indices find_quotas(struct job_demands *d, const struct job *j)
{
    struct quota_indices found = {0};
    const char *pattern = job_demands_environment(d, j);
    const struct cluster *c = &d->m->cluster;
    if (d->m->quotas == NULL) return found;
    found.items = arena_alloc(&d->scratch, (c->environments.count + (size_t)1) * sizeof *found.items);
    if (pattern == NULL) add_quotas(d, j, NULL, &found);
    for (uint32_t i = 0; i < c->environments.count && pattern != NULL; i++) {
        if (str_matches(str(c->environments.items[i].name), str(pattern)))
            add_quotas(d, j, c->environments.items[i].name, &found);
    }
    return found;
}

/* Whether a set is for the job in any of its environments. */
static bool quota_applies(const struct quota_model *q, const struct quota_indices *found, uint32_t set)
{
    bool applies = false;
    for (uint32_t i = 0; i < found->count; i++) applies |= q->lists.items[found->items[i]][set] != 0;
    return applies;
}

/* Only of the sets that are for the job, in any of its environments. */
static void set_quotas(const struct job_demands *d, const struct quota_indices *found, struct demand *out)
{
    const struct quota_model *q = d->m->quotas;
    for (uint32_t set = 0; set < q->sets.count; set++) out->quota_count += quota_applies(q, found, set);
    struct demand_quota *next =
        arena_alloc(d->arena, ((size_t)found->count * out->quota_count + 1) * sizeof *out->quotas);
    out->quotas = next;
    for (uint32_t i = 0; i < found->count; i++) {
        const uint32_t *list = q->lists.items[found->items[i]];
        for (uint32_t set = 0; set < q->sets.count; set++) {
            if (quota_applies(q, found, set)) *next++ = q->found.items[list[set]];
        }
    }
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* Keys are bytes, because a plan makes one for each of its jobs. */
static void add_number(struct buf *key, uint64_t number)
{
    buf_add(key, (const char *)&number, sizeof number);
}

static void add_text(struct buf *key, const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    add_number(key, text != NULL ? length : UINT64_MAX);
    buf_add(key, text, length);
}

static void add_needs(struct buf *key, const struct need *needs, uint32_t count)
{
    add_number(key, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct need *n = &needs[i];
        uint64_t flags = (uint64_t)n->scope << 2 | (uint64_t)n->is_requested << 1 | n->is_exclusive;
        add_number(key, (uint64_t)n->resource << 32 | flags);
        buf_add(key, (const char *)&n->amount, sizeof n->amount);
        add_text(key, n->text);
    }
}

struct key_lengths {
    size_t bare_kind, kind; /* without quotas, without the duration */
};

/* The durations come last. */
static struct key_lengths make_key(struct job_demands *d, const struct job *j, uint32_t only, const struct demand *new,
                                   const struct quota_indices *quotas)
{
    const struct job_placing *placing = placing_of(j);
    buf_clear(&d->key);
    for (uint32_t p = 0; p < d->s->objects[OBJECT_PARTITION].count; p++)
        buf_add_char(&d->key, may_use_partition(d, j, only, p) ? '1' : '0');
    add_text(&d->key, placing->queues);
    add_text(&d->key, placing->master_queues);
    add_text(&d->key, placing->soft_queues);
    add_text(&d->key, placing->constraint);
    add_text(&d->key, job_demands_environment(d, j));
    add_number(&d->key, (uint64_t) new->ranges[0].min << 32 | new->ranges[0].max);
    add_number(&d->key, (uint64_t) new->host_min << 32 | new->host_max);
    add_number(&d->key, new->slots_per_host);
    add_number(&d->key, new->is_whole);
    add_needs(&d->key, new->needs, new->need_count);
    add_needs(&d->key, new->soft, new->soft_count);
    struct key_lengths lengths = {.bare_kind = d->key.length};
    for (uint32_t i = 0; i < quotas->count; i++) add_number(&d->key, quotas->items[i]);
    lengths.kind = d->key.length;
    add_number(&d->key, (uint64_t) new->duration_us);
    add_number(&d->key, (uint64_t) new->duration_min_us);
    return lengths;
}

static struct slot_range range_of(const struct job_demands *d, const struct job *j)
{
    const struct job_document *document = state_job_document(d->s, j);
    bool has_slots = document != NULL && d->s->policy.model == MODEL_TICKETS;
    uint32_t min = has_slots ? document->slots : j->request.cpus;
    if (min == 0) min = 1;
    bool is_range = (has_slots || document == NULL) && j->slots_max > min;
    return (struct slot_range){min, is_range ? j->slots_max : min};
}

/* The numbers of hosts that the partitions of a demand let the job have. In any of them it has the widest range. */
static void find_host_limits(const struct job_demands *d, const struct job *j, uint32_t only, uint32_t *out_min,
                             uint32_t *out_max)
{
    *out_min = UINT32_MAX;
    *out_max = 0;
    for (uint32_t p = 0; p < d->s->objects[OBJECT_PARTITION].count && !d->has_no_limits; p++) {
        uint32_t min, max;
        if (!may_use_partition(d, j, only, p)) continue;
        partition_limits_nodes(d->s, j, p, &min, &max);
        if (min < *out_min) *out_min = min;
        if (max > *out_max) *out_max = max;
    }
    if (*out_min > *out_max) { /* it may use none */
        *out_min = 0;
        *out_max = UINT32_MAX;
    }
}

/* On how many hosts the slots are. One host is a serial job. */
static void set_hosts(const struct job_demands *d, const struct job *j, uint32_t only, struct slot_range *range,
                      struct demand *out)
{
    const struct job_placing *p = placing_of(j);
    uint32_t per_host = p->slots_per_node > 0 ? p->slots_per_node : 1, min = p->node_min > 0 ? p->node_min : 1;
    bool is_on_one = p->slots_per_node > 0 ? range->max <= p->slots_per_node : p->node_max <= 1;
    uint32_t limit_min, limit_max;
    if (job_demands_environment(d, j) != NULL || (p->node_max <= 1 && p->slots_per_node == 0)) return;
    find_host_limits(d, j, only, &limit_min, &limit_max);
    if (min < limit_min) min = limit_min;
    uint64_t slots_min = (uint64_t)min * per_host;
    if (range->min < slots_min) range->min = slots_min < UINT32_MAX ? (uint32_t)slots_min : UINT32_MAX;
    if (range->max < range->min) range->max = range->min;
    if (is_on_one && min == 1) return;
    out->host_min = min;
    out->host_max = p->node_max > 0 ? p->node_max : UINT32_MAX;
    if (out->host_max > limit_max) out->host_max = limit_max;
    out->slots_per_host = p->slots_per_node;
}

/* A demand outlives the job for which it was made. */
static void copy_texts(const struct job_demands *d, struct need *needs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (needs[i].text != NULL) needs[i].text = arena_copy(d->arena, str(needs[i].text));
    }
}

/* Values of a document never change, so each expression is evaluated once on each instance. */
static void evaluate_texts(const struct job_demands *d, struct need *needs, uint32_t count)
{
    for (uint32_t i = 0; i < count && d->s->is_document; i++) {
        if (needs[i].text == NULL) continue;
        uint64_t *set = arena_alloc(d->arena, d->m->set_words * sizeof *set);
        for (uint32_t k = 0; k < d->m->cluster.instances.count; k++) {
            if (place_satisfies(&d->m->cluster, k, &needs[i])) add_bit(set, k);
        }
        needs[i].satisfied = set;
    }
}

/* Describes the first demand of a kind. */
static void describe_kind(struct job_demands *d, const struct job *j, uint32_t only, const struct demand *new,
                          const struct quota_indices *quotas, struct demand *demand)
{
    struct slot_range *range = arena_alloc(d->arena, sizeof *range);
    size_t size = new->need_count * sizeof *new->needs, soft_size = new->soft_count * sizeof *new->soft;
    struct need *needs = arena_alloc(d->arena, size + soft_size + 1);
    const struct job_placing *placing = placing_of(j);
    *demand = *new;
    *range = new->ranges[0];
    memcpy(needs, new->needs, size);
    if (soft_size > 0) memcpy(needs + new->need_count, new->soft, soft_size);
    copy_texts(d, needs, new->need_count + new->soft_count);
    evaluate_texts(d, needs, new->need_count + new->soft_count);
    demand->ranges = range;
    demand->needs = needs;
    demand->soft = needs + new->need_count;
    if (job_demands_environment(d, j) != NULL) set_environments(d, job_demands_environment(d, j), demand);
    bool is_serial = job_demands_environment(d, j) == NULL && demand->host_max == 0;
    demand->allowed = allowed_set(d, j, only, is_serial);
    demand->masters = is_serial ? NULL : set_of_list(d, placing->master_queues);
    demand->preferred = set_of_list(d, placing->soft_queues);
    if (quotas->count > 0) set_quotas(d, quotas, demand);
}

static void keep_key(struct job_demands *d, struct map *map, size_t length, uint32_t value)
{
    map_set(map, (struct str){arena_copy(d->arena, (struct str){d->key.text, length}), length}, value);
}

/* The kind of the same demands without quotas. No demand is of it: it is a number for what they share. */
static uint32_t find_bare_kind(struct job_demands *d, size_t length)
{
    uint32_t kind = map_get(&d->bare_by_key, (struct str){d->key.text, length});
    if (kind != NONE) return kind;
    kind = d->kinds.count;
    *array_add(&d->kinds) = NULL;
    keep_key(d, &d->bare_by_key, length, kind);
    return kind;
}

static const struct demand *add_demand(struct job_demands *d, const struct job *j, uint32_t only,
                                       const struct demand *new, const struct quota_indices *quotas,
                                       const struct key_lengths *lengths)
{
    struct demand *demand = arena_alloc(d->arena, sizeof *demand);
    uint32_t kind = map_get(&d->by_kind_key, (struct str){d->key.text, lengths->kind});
    if (kind != NONE) {
        *demand = *d->kinds.items[kind];
        demand->duration_us = new->duration_us;
        demand->duration_min_us = new->duration_min_us;
    } else {
        describe_kind(d, j, only, new, quotas, demand);
        demand->kind = d->kinds.count;
        *array_add(&d->kinds) = demand;
        keep_key(d, &d->by_kind_key, lengths->kind, demand->kind);
        if (demand->quota_count > 0) demand->bare_kind = find_bare_kind(d, lengths->bare_kind);
    }
    demand->shape = d->list.count;
    *array_add(&d->list) = demand;
    keep_key(d, &d->by_key, d->key.length, demand->shape);
    return demand;
}

void job_demands_begin(struct job_demands *d, const struct state *s, const struct cluster_model *m, struct arena *arena)
{
    *d = (struct job_demands){.s = s, .m = m, .arena = arena};
    ensure(setting_text_params(str(s->settings.value[SET_GE_PARAMS].text), "", &d->params, NULL) == 0);
    for (uint32_t i = SCHED_SLOTS + 1; i < m->resources.list.count; i++) {
        if (is_usual(d, i)) *array_add(&d->usual) = i;
    }
}

/* With the durations that new has. */
static const struct demand *find_demand(struct job_demands *d, const struct job *j, uint32_t partition,
                                        struct demand new)
{
    const struct job_placing *placing = placing_of(j);
    struct slot_range range = range_of(d, j);
    arena_clear(&d->scratch);
    struct need *needs =
        arena_alloc(&d->scratch, (d->m->resources.list.count + (size_t)placing->soft_count) * sizeof *needs);
    new.needs = needs;
    new.ranges = &range;
    new.range_count = 1;
    new.is_whole = placing->is_exclusive &&job_demands_environment(d, j) == NULL;
    set_hosts(d, j, partition, &range, &new);
    new.need_count = find_needs(d, j, needs);
    new.soft = needs + new.need_count;
    new.soft_count = find_soft_needs(d, placing, needs + new.need_count);
    const struct quota_indices quotas = find_quotas(d, j);
    const struct key_lengths lengths = make_key(d, j, partition, &new, &quotas);
    uint32_t shape = map_get(&d->by_key, (struct str){d->key.text, d->key.length});
    return shape != NONE ? d->list.items[shape] : add_demand(d, j, partition, &new, &quotas, &lengths);
}

const struct demand *job_demand(struct job_demands *d, const struct job *j, uint32_t partition)
{
    struct demand new = {.duration_us = job_demands_planned_us(d, j, partition)};
    if (j->time_min_s > 0) new.duration_min_us = planned_us(d, j, partition, j->time_min_s);
    return find_demand(d, j, partition, new);
}

const struct demand *job_demand_of_task(struct job_demands *d, const struct job *j, const struct task *k)
{
    int64_t time_s = k->granted_time_s > 0 ? task_time_limit_s(j, k) : limit_s(d, j, k->partition);
    return find_demand(d, j, k->partition, (struct demand){.duration_us = planned_us(d, j, k->partition, time_s)});
}
