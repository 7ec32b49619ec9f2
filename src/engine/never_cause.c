#include "engine/never_cause.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"
#include "fields/standard_resources.h"

struct finder {
    const struct never_runs *n;
    const struct job_demands *demands;
    const struct state *s;
    const struct cluster *c;
    const struct job *j;
    uint32_t only;
    const struct demand d; /* what lasts of it */
    const uint64_t *open;  /* the instances that nothing keeps it from; NULL: not known yet */
    struct arena *arena;
    struct buf text;
    struct never_cause *out;
};

static void blame(struct finder *f, enum job_field field)
{
    ensure(f->out->field_count < CAUSE_FIELDS_MAX);
    f->out->fields[f->out->field_count++] = field;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static bool has_bit(const uint64_t *bits, uint32_t index)
{
    return bits == NULL || (bits[index / 64] >> index % 64 & 1) != 0;
}

/* --- its partitions ----------------------------------------------------------------------------------------------- */

static const struct object *partition_at(const struct finder *f, uint32_t partition)
{
    return &f->s->objects[OBJECT_PARTITION].items[partition].object;
}

static bool is_there(const struct finder *f, uint32_t partition)
{
    return !f->s->objects[OBJECT_PARTITION].items[partition].is_deleted;
}

/* Whether the job may use the partition; once the open instances are known, whether it has one. */
static bool may_use(const struct finder *f, uint32_t partition)
{
    bool found = f->open == NULL;
    if (!is_there(f, partition)) return false;
    if (job_demand_partition_limit(f->demands, f->j, f->only, partition) != LIMIT_NONE) return false;
    for (uint32_t i = 0; i < f->c->instances.count && !found; i++)
        found = f->demands->m->partition_of[i] == partition && has_bit(f->open, i);
    return found;
}

/* "partition 'fast'", "partitions 'fast' and 'main'", "its 3 partitions", of those that the job may use. Returns how
 * many they are. */
static uint32_t add_partitions(struct finder *f)
{
    const char *names[2];
    uint32_t count = 0;
    for (uint32_t p = 0; p < f->s->objects[OBJECT_PARTITION].count; p++) {
        if (!may_use(f, p)) continue;
        if (count < 2) names[count] = partition_at(f, p)->name;
        count++;
    }
    if (count == 1)
        buf_format(&f->text, names[0][0] != '\0' ? "partition '%s'" : "the cluster%s", names[0]);
    else if (count == 2)
        buf_format(&f->text, "partitions '%s' and '%s'", names[0], names[1]);
    else
        buf_format(&f->text, "its %u partitions", count);
    return count;
}

static void explain_max_time(struct finder *f, uint32_t partition)
{
    const struct object *o = partition_at(f, partition);
    int64_t limit_s = f->s->is_document ? f->j->document->time_limit_s : f->j->time_limit_s;
    char limit[32], max[32];
    duration_format(limit, limit_s);
    duration_format(max, o->value[PARTITION_MAX_TIME].number);
    buf_format(&f->text, "its time limit, %s, exceeds MaxTime of partition '%s', %s", limit, o->name, max);
    blame(f, JOB_FIELD_TIME_LIMIT);
    blame(f, JOB_FIELD_PARTITIONS);
    blame(f, JOB_FIELD_QUEUES);
}

static void explain_users(struct finder *f, uint32_t partition)
{
    const struct object *o = partition_at(f, partition);
    const char *user = job_demands_user(f->demands, f->j), *accepted = o->value[PARTITION_USER_LISTS].text;
    bool is_refused = job_demand_is_refused_user(f->demands, partition, user);
    if (is_refused)
        buf_format(&f->text, "partition '%s' refuses user '%s' (xuser_lists %s)", o->name, user,
                   o->value[PARTITION_XUSER_LISTS].text);
    else
        buf_format(&f->text, "partition '%s' does not accept user '%s' (user_lists %s)", o->name, user, accepted);
    blame(f, JOB_FIELD_PARTITIONS);
    blame(f, JOB_FIELD_QUEUES);
}

static void explain_limit(struct finder *f, enum place_limit limit, uint32_t partition)
{
    if (limit == LIMIT_MAX_TIME)
        explain_max_time(f, partition);
    else
        explain_users(f, partition);
}

/* Whether all partitions are closed to the job. The partition that comes nearest is named. */
static bool find_in_partitions(struct finder *f)
{
    enum place_limit best = LIMIT_PARTITION;
    uint32_t nearest = NONE;
    for (uint32_t p = 0; p < f->s->objects[OBJECT_PARTITION].count && best != LIMIT_NONE; p++) {
        enum place_limit limit =
            is_there(f, p) ? job_demand_partition_limit(f->demands, f->j, f->only, p) : LIMIT_PARTITION;
        if (limit <= best) continue;
        best = limit;
        nearest = p;
    }
    if (best == LIMIT_NONE) return false;
    f->out->is_of_partitions = true;
    if (best != LIMIT_PARTITION) {
        explain_limit(f, best, nearest);
    } else {
        buf_add_text(&f->text, f->s->is_document && f->s->objects[OBJECT_HOST].count == 0 ? "there are no hosts"
                                                                                          : "its partition is gone");
        blame(f, JOB_FIELD_PARTITIONS);
    }
    return true;
}

/* --- its instances ------------------------------------------------------------------------------------------------ */

static const char *host_name(const struct finder *f, uint32_t instance)
{
    return f->c->hosts.items[f->c->instances.items[instance].host].name;
}

/* "its time limit, 02:00:00, exceeds MaxTime of partition 'main', 01:00:00; ": a partition that has hosts, but that is
 * closed to the job. Returns whether there is one. */
static bool add_closed_partition(struct finder *f)
{
    enum place_limit best = LIMIT_PARTITION;
    uint32_t nearest = NONE;
    for (uint32_t p = 0; p < f->s->objects[OBJECT_PARTITION].count; p++) {
        enum place_limit limit = job_demand_partition_limit(f->demands, f->j, f->only, p);
        if (!is_there(f, p) || limit == LIMIT_NONE || limit <= best || !never_runs_has_host(f->n, p)) continue;
        best = limit;
        nearest = p;
    }
    if (nearest == NONE) return false;
    explain_limit(f, best, nearest);
    buf_add_text(&f->text, "; ");
    return true;
}

static void explain_hosts(struct finder *f, uint32_t described)
{
    bool is_blamed = add_closed_partition(f), is_one = add_partitions(f) == 1;
    if (described != NONE)
        buf_format(&f->text, " %s no host that runs jobs; '%s' is only described", is_one ? "has" : "have",
                   host_name(f, described));
    else
        buf_format(&f->text, " %s no hosts", is_one ? "has" : "have");
    if (is_blamed) return;
    blame(f, JOB_FIELD_PARTITIONS);
    blame(f, JOB_FIELD_QUEUES);
}

static void explain_queues(struct finder *f, uint32_t described)
{
    buf_format(&f->text, "none of the queues '%s' is ", f->j->placing->queues);
    if (described != NONE) {
        buf_format(&f->text, "on a host that runs jobs; '%s' is only described", host_name(f, described));
    } else {
        buf_add_text(&f->text, "in ");
        add_partitions(f);
    }
    blame(f, JOB_FIELD_QUEUES);
}

static void explain_features(struct finder *f, uint32_t described)
{
    buf_add_text(&f->text, "no host of ");
    add_partitions(f);
    if (described != NONE)
        buf_format(&f->text, " that runs jobs has the features '%s'; '%s' is only described", f->j->placing->constraint,
                   host_name(f, described));
    else
        buf_format(&f->text, " has the features '%s'; %s", f->j->placing->constraint,
                   f->s->is_document ? "add a host with them" : "host '" LOCAL_HOST "' can be given them");
    blame(f, JOB_FIELD_CONSTRAINT);
}

static void explain_masters(struct finder *f)
{
    buf_format(&f->text, "none of the master queues '%s' is among its queues in ", f->j->placing->master_queues);
    add_partitions(f);
    blame(f, JOB_FIELD_MASTER_QUEUES);
}

/* Whether no instance is open to the job. A host that is only described is named where it comes nearer than others. */
static bool find_in_instances(struct finder *f)
{
    enum place_limit best = LIMIT_PARTITION, best_described = LIMIT_PARTITION;
    uint32_t described = NONE;
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        uint32_t partition = f->demands->m->partition_of[i];
        if (f->demands->m->has_left[i]) continue;
        if (job_demand_partition_limit(f->demands, f->j, f->only, partition) != LIMIT_NONE) continue;
        enum place_limit limit = job_demand_instance_limit(f->demands, f->j, demand_is_serial(&f->d), i);
        bool is_off = f->c->instances.items[i].is_off;
        if (is_off && limit > best_described) {
            best_described = limit;
            described = i;
        }
        if (!is_off && limit > best) best = limit;
    }
    if (best_described <= best) described = NONE;
    switch (best) {
    case LIMIT_NONE: return false;
    case LIMIT_QUEUES: explain_queues(f, described); return true;
    case LIMIT_CONSTRAINT: explain_features(f, described); return true;
    case LIMIT_MASTER_QUEUES: explain_masters(f); return true;
    default: explain_hosts(f, described); return true;
    }
}

/* --- its parallel environments ------------------------------------------------------------------------------------ */

/* Leaves the instances open that have one of its parallel environments. */
static void open_environments(struct finder *f)
{
    uint64_t *open = arena_alloc(f->arena, f->demands->m->set_words * sizeof *open);
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        bool is_open = has_bit(f->d.allowed, i) && !f->c->instances.items[i].is_off;
        bool is_listed = f->d.environment_count == 0;
        for (uint32_t k = 0; k < f->d.environment_count; k++)
            is_listed |= has_bit(f->c->environments.items[f->d.environments[k]].instances, i);
        if (is_open && is_listed) open[i / 64] |= UINT64_C(1) << i % 64;
    }
    f->open = open;
}

static bool is_open_somewhere(const struct finder *f)
{
    bool found = false;
    for (uint32_t w = 0; w < f->demands->m->set_words && !found; w++) found = f->open[w] != 0;
    return found;
}

/* "; it is in that of partition 'mpi'", "; it is in none" */
static void add_partition_with_environment(struct finder *f)
{
    uint32_t with = NONE;
    for (uint32_t i = 0; i < f->c->instances.count && with == NONE; i++) {
        for (uint32_t k = 0; k < f->d.environment_count; k++) {
            const struct sched_environment *e = &f->c->environments.items[f->d.environments[k]];
            if (has_bit(e->instances, i) && !f->c->instances.items[i].is_off) with = f->demands->m->partition_of[i];
        }
    }
    if (with != NONE)
        buf_format(&f->text, "; it is in that of partition '%s'", partition_at(f, with)->name);
    else
        buf_add_text(&f->text, "; it is in none");
}

/* Whether no open queue has its parallel environment. */
static bool find_in_environments(struct finder *f)
{
    const char *name = job_demands_environment(f->demands, f->j);
    open_environments(f);
    if (name == NULL || is_open_somewhere(f)) return false;
    f->open = NULL; /* all partitions that it may use are named */
    if (f->d.environment_count == 0) {
        buf_format(&f->text, "there is no parallel environment '%s'", name);
    } else {
        buf_format(&f->text, "the parallel environment '%s' is not in the pe_list of ", name);
        add_partitions(f);
        add_partition_with_environment(f);
    }
    blame(f, JOB_FIELD_ENVIRONMENT);
    return true;
}

/* --- needs -------------------------------------------------------------------------------------------------------- */

static const struct cluster_resource *resource_of(const struct finder *f, const struct need *n)
{
    return &f->demands->m->resources.list.items[n->resource];
}

static void add_number(struct buf *text, double number)
{
    char shown[NUMBER_TEXT_SIZE];
    buf_add(text, shown, number_format_shortest(shown, number));
}

/* "4G", "2", "0.5" */
static void add_amount(struct finder *f, const struct need *n, double amount)
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
static void add_need(struct finder *f, const struct need *n)
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
static void blame_need(struct finder *f, const struct need *n)
{
    const struct cluster_resources *all = &f->demands->m->resources;
    for (uint32_t i = 0; i < f->j->request_count; i++) {
        const struct job_request *r = &f->j->requests[i];
        struct buf request = {0};
        if (all->of_object.items[r->resource] != n->resource) continue;
        buf_format(&request, "%s=%s", resource_of(f, n)->name, r->text);
        f->out->request = arena_copy(f->arena, str(request.text));
        buf_release(&request);
        blame(f, JOB_FIELD_REQUESTS);
        return;
    }
    bool is_memory = n->resource == all->mem, is_gpu = n->resource == all->gpu;
    if (is_memory) blame(f, n->scope == NEED_PER_SLOT ? JOB_FIELD_MEM_PER_CPU : JOB_FIELD_MEM_MIB);
    if (is_gpu) blame(f, n->scope == NEED_PER_SLOT ? JOB_FIELD_GPUS_PER_SLOT : JOB_FIELD_GPUS);
    if (!is_memory && !is_gpu) blame(f, JOB_FIELD_CPUS);
}

/* What an open instance, its host and the cluster offer of a resource: the one nearest to the instance that has a
 * value, or the smallest amount. NULL: nothing. */
static const struct offer *find_offer(const struct finder *f, uint32_t instance, uint32_t resource)
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

static const struct offer *find_largest_offer(const struct finder *f, uint32_t resource)
{
    const struct offer *largest = NULL;
    for (uint32_t i = 0; i < f->c->instances.count; i++) {
        const struct offer *offer = has_bit(f->open, i) ? find_offer(f, i, resource) : NULL;
        if (offer != NULL && (largest == NULL || offer->amount > largest->amount)) largest = offer;
    }
    return largest;
}

static bool is_global(const struct finder *f, uint32_t resource, const struct offer *offer)
{
    return offer == offers_find(&f->c->global, resource);
}

/* "the largest host has 4G", "the cluster has 4", "no host has any" */
static void add_largest(struct finder *f, const struct need *n)
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
static void add_values(struct finder *f, const struct need *n)
{
    enum { VALUES_MAX = 3 };
    const struct offer *seen[VALUES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->c->instances.count && count < VALUES_MAX; i++) {
        const struct offer *offer = has_bit(f->open, i) ? find_offer(f, i, n->resource) : NULL;
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
static bool fits_on_a_slot(const struct finder *f, const struct need *needs, uint32_t count)
{
    static const struct slot_range one = {1, 1};
    struct demand alone = {.needs = needs, .need_count = count, .allowed = f->open, .ranges = &one, .range_count = 1};
    alone.duration_us = f->d.duration_us;
    return never_runs_fits(f->n, &alone);
}

static bool is_bool(const struct finder *f, const struct need *n)
{
    return resource_of(f, n)->type == RESOURCE_BOOL;
}

/* Of a host or a partition, so that no resource is missing. */
static bool is_name(const struct finder *f, const struct need *n)
{
    const char *resource = resource_of(f, n)->name;
    return strcmp(resource, HOST_NAME_RESOURCE) == 0 || strcmp(resource, QUEUE_NAME_RESOURCE) == 0;
}

/* An instance has one host that runs jobs, and its GPUs are the machine's. */
static void advise(struct finder *f, const struct need *n)
{
    if (f->s->is_document) {
        buf_add_text(&f->text, "; add a host with ");
        add_need(f, n);
    } else if (n->resource != f->demands->m->resources.gpu) {
        buf_add_text(&f->text, "; complex_values of host '" LOCAL_HOST "' can have it");
    }
}

/* Whether one of its needs cannot be met for one slot. */
static bool find_in_needs(struct finder *f)
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
static bool find_in_all_needs(struct finder *f)
{
    if (fits_on_a_slot(f, f->d.needs, f->d.need_count) || !fits_on_a_slot(f, NULL, 0)) return false;
    buf_add_text(&f->text, "no host has ");
    for (uint32_t i = 0; i < f->d.need_count; i++) {
        if (i > 0) buf_add_text(&f->text, i + 1 < f->d.need_count ? ", " : " and ");
        add_need(f, &f->d.needs[i]);
    }
    buf_add_text(&f->text, " together");
    blame(f, f->j->request_count > 0 ? JOB_FIELD_REQUESTS : JOB_FIELD_CPUS);
    return true;
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

/* The slots that a demand would get, at most its smallest number. */
static uint32_t max_slots(const struct finder *f, const struct demand *d)
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

static bool fits_on_hosts(const struct finder *f, const struct demand *d, uint32_t hosts)
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
static uint32_t max_hosts(const struct finder *f, const struct demand *d)
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
static void add_slots(struct finder *f)
{
    uint32_t min = f->d.ranges[0].min;
    buf_format(&f->text, "asks for %u slot%s", min, plural(min));
}

static const struct sched_environment *environment_of(const struct finder *f)
{
    return f->d.environment_count == 1 ? &f->c->environments.items[f->d.environments[0]] : NULL;
}

static bool is_on_one_host(const struct finder *f)
{
    const struct sched_environment *e = environment_of(f);
    return e != NULL ? e->rule == ALLOCATE_ONE_HOST : demand_is_serial(&f->d);
}

static void blame_slots(struct finder *f)
{
    blame(f, JOB_FIELD_CPUS);
    if (f->d.host_max > 0 || f->j->placing != NULL) blame(f, JOB_FIELD_SLOTS_PER_NODE);
    if (f->d.environment_count > 0) blame(f, JOB_FIELD_ENVIRONMENT);
}

/* "ask for 2 or 4", "ask for 4", of the multiples next to the smallest number that can be had; or what the largest host
 * has. */
static void add_multiples(struct finder *f, uint32_t each)
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
static bool find_in_rule(struct finder *f)
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
static bool is_limited_by_queue(const struct finder *f)
{
    bool found = false;
    for (uint32_t i = 0; i < f->c->instances.count && !found; i++) {
        const struct sched_host *h = &f->c->hosts.items[f->c->instances.items[i].host];
        const struct offer *slots = has_bit(f->open, i) ? offers_find(&h->offers, SCHED_SLOTS) : NULL;
        found = slots != NULL && slots->amount >= f->d.ranges[0].min;
    }
    return found;
}

static void explain_number(struct finder *f, uint32_t slots)
{
    add_slots(f);
    if (is_on_one_host(f)) {
        buf_add_text(&f->text, " on one host; ");
        if (is_limited_by_queue(f))
            buf_format(&f->text, add_partitions(f) == 1 ? " has at most %u on a host" : " have at most %u on a host",
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
}

/* Whether the slots, or the hosts, are too many even without the other needs. */
static bool find_in_slots(struct finder *f)
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
        blame(f, JOB_FIELD_NODES);
        return true;
    }
    if (f->d.masters != NULL) {
        only_slots.masters = NULL;
        if (never_runs_fits(f->n, &only_slots)) {
            buf_format(&f->text, "its first slot cannot be in the master queues '%s'", f->j->placing->master_queues);
            blame(f, JOB_FIELD_MASTER_QUEUES);
            return true;
        }
    }
    explain_number(f, max_slots(f, &only_slots));
    blame_slots(f);
    return true;
}

/* --- needs x slots ------------------------------------------------------------------------------------------------ */

/* The need without which the demand would fit; NULL: no single one. */
static const struct need *find_blocking(const struct finder *f)
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

/* "asks for 2G of memory for each of 4 slots, 8G on one host; the largest host has 4G" */
static void explain_blocking(struct finder *f, const struct need *n)
{
    const struct offer *largest = find_largest_offer(f, n->resource);
    uint32_t min = f->d.ranges[0].min;
    bool is_sum = n->scope == NEED_PER_SLOT && n->text == NULL && largest != NULL &&
                  (is_on_one_host(f) || is_global(f, n->resource, largest));
    uint32_t hosts = !is_sum && f->d.host_min > 1 ? max_hosts(f, &f->d) : f->d.host_min;
    buf_add_text(&f->text, "asks for ");
    add_need(f, n);
    if (n->scope == NEED_PER_SLOT && min > 1) buf_format(&f->text, " for each of %u slots", min);
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

static void find_in_product(struct finder *f)
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
    struct finder f = {.n = n,
                       .demands = demands,
                       .s = demands->s,
                       .c = &n->empty.cluster,
                       .j = j,
                       .only = only,
                       .d = never_runs_lasting(n, d, arena),
                       .arena = arena,
                       .out = out};
    *out = (struct never_cause){0};
    bool is_found = find_in_partitions(&f) || find_in_instances(&f) || find_in_environments(&f) || find_in_needs(&f) ||
                    find_in_all_needs(&f) || find_in_slots(&f);
    if (!is_found) find_in_product(&f);
    out->text = arena_copy(arena, (struct str){f.text.text, f.text.length});
    buf_release(&f.text);
}
