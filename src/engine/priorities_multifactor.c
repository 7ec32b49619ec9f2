/* The input of the multifactor sum, from the rows of the state: TRES and billing of jobs, and what all jobs have in
 * common. */
#include <string.h>

#include "base/text.h"
#include "engine/ranking.h"

/* --- TRES --------------------------------------------------------------------------------------------------------- */

static uint32_t find_tres(const struct state *s, const char *type, const char *name)
{
    struct buf text = {0};
    buf_format(&text, "%s/%s", type, name);
    uint32_t tres = tres_find(&s->policy.tres, (struct str){text.text, text.length});
    buf_release(&text);
    return tres;
}

void tres_indices_find(const struct state *s, struct arena *arena, struct tres_indices *out_indices)
{
    uint32_t count = s->objects[OBJECT_RESOURCE].count;
    *out_indices = (struct tres_indices){.gpu = tres_find(&s->policy.tres, str("gres/gpu"))};
    out_indices->license = arena_alloc(arena, (count + (size_t)1) * sizeof *out_indices->license);
    out_indices->gres = arena_alloc(arena, (count + (size_t)1) * sizeof *out_indices->gres);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = s->objects[OBJECT_RESOURCE].items[i].object.name;
        out_indices->license[i] = find_tres(s, "license", name);
        out_indices->gres[i] = find_tres(s, "gres", name);
    }
}

/* Lists the amounts above 0. */
static void list_amounts(const double amounts[TRES_MAX], uint32_t count, struct tres_list *out_list)
{
    out_list->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (amounts[i] > 0.0) out_list->items[out_list->count++] = (struct tres_amount){i, amounts[i]};
    }
}

static uint32_t job_nodes(const struct state *s, const struct job *j)
{
    const struct job_document *d = state_job_document(s, j);
    return d != NULL ? d->nodes : 1;
}

/* GPUs of tracked types. Those of any type are in the request. */
static void add_types(const struct job_document *d, uint32_t gpu, uint32_t cpus, double *amounts)
{
    for (uint32_t i = 0; i < d->gpu_count; i++) {
        const struct gpu_amount *gpus = &d->gpus[i];
        double times = d->has_gpus_per_slot ? cpus : d->nodes;
        if (gpus->tres != NONE && gpus->tres != gpu) amounts[gpus->tres] += gpus->count * times;
    }
}

/* Whether a job takes a resource once, not for each slot. */
static bool is_per_job(const struct state *s, uint32_t resource)
{
    return s->objects[OBJECT_RESOURCE].items[resource].object.value[RESOURCE_CONSUMABLE].number == CONSUMABLE_JOB;
}

void job_tres(const struct state *s, const struct tres_indices *indices, const struct job *j, uint32_t cpus,
              struct tres_list *out_list)
{
    const struct job_document *d = state_job_document(s, j);
    if (d != NULL && d->tres.count > 0) {
        out_list->count = d->tres.count;
        memcpy(out_list->items, d->tres.items, out_list->count * sizeof *out_list->items);
        return;
    }
    const struct capacity takes = state_job_capacity(j, cpus);
    double amounts[TRES_MAX] = {[TRES_CPU] = cpus, [TRES_MEM] = (double)takes.mem_mib, [TRES_NODE] = job_nodes(s, j)};
    if (indices->gpu != NONE) amounts[indices->gpu] = takes.gpus;
    if (d != NULL) add_types(d, indices->gpu, cpus, amounts);
    for (uint32_t i = 0; i < j->request_count; i++) {
        const struct job_request *r = &j->requests[i];
        const uint32_t tres[] = {indices->license[r->resource], indices->gres[r->resource]};
        for (size_t k = 0; k < sizeof tres / sizeof *tres; k++) {
            if (tres[k] != NONE) amounts[tres[k]] += r->amount * (is_per_job(s, r->resource) ? 1 : cpus);
        }
    }
    list_amounts(amounts, s->policy.tres.count, out_list);
}

void job_task_tres(const struct state *s, const struct tres_indices *indices, const struct job *j, uint32_t cpus,
                   uint32_t hosts, struct tres_list *out_list)
{
    bool is_per_slot = j->placing != NULL && j->placing->mem_mib_per_cpu > 0;
    job_tres(s, indices, j, cpus, out_list);
    for (uint32_t i = 0; i < out_list->count; i++) {
        struct tres_amount *a = &out_list->items[i];
        if (a->tres == TRES_NODE || (a->tres == TRES_MEM && !is_per_slot)) a->amount *= hosts;
    }
}

double job_billing_in(const struct state *s, uint32_t partition, const struct tres_list *tres)
{
    const double *weights = s->objects[OBJECT_PARTITION].items[partition].billing_weights;
    return billing_of(&s->policy.tres, tres, weights, s->policy.billing);
}

/* --- all jobs ----------------------------------------------------------------------------------------------------- */

static void add_host(const struct tres_indices *indices, const struct host_row *host, double *totals)
{
    for (uint32_t i = 0; host->tres != NULL && i < TRES_MAX; i++) totals[i] += host->tres[i];
    if (host->tres != NULL || !host->is_attached) return;
    totals[TRES_CPU] += host->host.has.cpus;
    totals[TRES_MEM] += (double)host->host.has.mem_mib;
    totals[TRES_NODE] += 1.0;
    if (indices->gpu != NONE) totals[indices->gpu] += host->host.has.gpus;
}

/* Amounts of resources belong to the cluster, so each partition has all of them. */
static void add_resources(const struct state *s, const struct tres_indices *indices, double *totals)
{
    for (uint32_t i = 0; i < s->objects[OBJECT_RESOURCE].count; i++) {
        const struct object_row *r = &s->objects[OBJECT_RESOURCE].items[i];
        int64_t amount = r->object.value[RESOURCE_AMOUNT].number;
        if (r->is_deleted || amount == FIELD_SPECIAL) continue;
        if (indices->license[i] != NONE) totals[indices->license[i]] = (double)amount;
        if (indices->gres[i] != NONE && indices->gres[i] != indices->gpu) totals[indices->gres[i]] = (double)amount;
    }
}

/* The amounts by TRES, TRES_MAX entries. partition NULL: one that has all hosts. */
static double *totals_of(const struct state *s, const struct tres_indices *indices, const struct object_row *partition,
                         struct arena *arena)
{
    double *totals = arena_alloc(arena, TRES_MAX * sizeof *totals);
    bool has_all = partition == NULL || partition->hosts == NULL;
    uint32_t count = has_all ? s->hosts.count : partition->host_count;
    for (uint32_t i = 0; i < count; i++) add_host(indices, &s->hosts.items[has_all ? i : partition->hosts[i]], totals);
    add_resources(s, indices, totals);
    return totals;
}

static void list_partitions(const struct state *s, const struct tres_indices *indices, struct arena *arena,
                            struct multifactor_cluster *c)
{
    uint32_t count = s->objects[OBJECT_PARTITION].count;
    struct multifactor_partition *partitions = arena_alloc(arena, (count + (size_t)1) * sizeof *partitions);
    const double *all = totals_of(s, indices, NULL, arena);
    for (uint32_t i = 0; i < count; i++) {
        const struct object_row *row = &s->objects[OBJECT_PARTITION].items[i];
        uint32_t factor = (uint32_t)row->object.value[PARTITION_JOB_FACTOR].number;
        partitions[i] = (struct multifactor_partition){
            .job_factor = factor,
            .max_time_s = row->object.value[PARTITION_MAX_TIME].number,
            .totals = row->hosts == NULL ? all : totals_of(s, indices, row, arena),
        };
        if (!row->is_deleted && factor > c->job_factor_max) c->job_factor_max = factor;
    }
    c->partitions = partitions;
}

static uint32_t max_qos_priority(const struct state *s)
{
    uint32_t max = 0;
    for (uint32_t i = 0; i < s->objects[OBJECT_QOS].count; i++) {
        const struct object_row *row = &s->objects[OBJECT_QOS].items[i];
        uint32_t priority = (uint32_t)row->object.value[QOS_PRIORITY].number;
        if (!row->is_deleted && priority > max) max = priority;
    }
    return max;
}

void multifactor_context_make(struct state *s, int64_t now_us, const double *factors, struct arena *arena,
                              struct multifactor_context *out_context)
{
    struct multifactor_context m = {.s = s, .factors = factors};
    struct multifactor_cluster *c = &m.cluster;
    tres_indices_find(s, arena, &m.indices);
    *c = (struct multifactor_cluster){.now_us = now_us, .qos_priority_max = max_qos_priority(s)};
    for (uint32_t i = 0; i < s->hosts.count; i++) {
        c->nodes += s->hosts.items[i].is_attached;
        c->cpus += s->hosts.items[i].host.has.cpus;
    }
    list_partitions(s, &m.indices, arena, c);
    (void)state_tree(s);
    m.assoc_priority = s->priority_of.items;
    c->assoc_priority_max = s->assoc_priority_max;
    *out_context = m;
}

/* --- a job -------------------------------------------------------------------------------------------------------- */

/* The time from which the job's age counts; 0: there is none yet. With ACCRUE_ALWAYS that is its submission, even if
 * the job is held or begins later. A document gives the time itself. */
static int64_t accrual_start(const struct multifactor_context *m, const struct job *j)
{
    bool is_always = (m->s->policy.multifactor.flags & FLAG_ACCRUE_ALWAYS) != 0;
    if (is_always && !m->s->is_document) return j->submit_us;
    return j->accrue_us <= m->cluster.now_us ? j->accrue_us : 0;
}

static int64_t tier_of(const struct state *s, uint32_t partition)
{
    return s->objects[OBJECT_PARTITION].items[partition].object.value[PARTITION_TIER].number;
}

/* The partition of the highest PriorityTier among those that the job requests, the first one of equals: Slurm sorts a
 * waiting job's partitions by tier, and tries them in that order. */
static uint32_t current_partition(const struct state *s, const struct job *j)
{
    uint32_t current = j->partitions[0];
    for (uint32_t i = 1; i < j->partition_count; i++) {
        if (tier_of(s, j->partitions[i]) > tier_of(s, current)) current = j->partitions[i];
    }
    return current;
}

void multifactor_context_job(const struct multifactor_context *m, const struct job *j, uint32_t partition,
                             struct tres_amount *tres_items, struct multifactor_job *out_job)
{
    const struct state *s = m->s;
    uint32_t node = s->node_of.items[state_assoc_in_partition(s, j->assoc, partition)];
    *out_job = (struct multifactor_job){
        .partition = partition,
        .current_partition = current_partition(s, j),
        .assoc_priority = node != NONE ? m->assoc_priority[node] : 0,
        .qos_priority = (uint32_t)s->objects[OBJECT_QOS].items[j->qos].object.value[QOS_PRIORITY].number,
        .cpus = j->request.cpus,
        .nodes = job_nodes(s, j),
        .time_limit_s = j->time_limit_s,
        .accrue_us = accrual_start(m, j),
        .nice = j->nice,
        .site = j->site,
        .set_priority = j->set_priority,
        .is_set = j->set_priority != NONE,
        .is_held = j->is_held,
        .fair_share = node != NONE && m->factors != NULL ? m->factors[node] : 0.0,
        .tres = {.items = tres_items},
    };
    if (tres_items != NULL) job_tres(s, &m->indices, j, j->request.cpus, &out_job->tres);
}
