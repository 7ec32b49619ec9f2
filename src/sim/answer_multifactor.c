/* priority/multifactor and priority/basic, and the shares that the former asks for. */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "policy/policy_text.h"
#include "sim/answer.h"

/* What rows are made of. */
struct making {
    const struct scenario *s;
    struct multifactor_cluster cluster;
    double *fair_share; /* by node */
    struct arena *arena;
};

/* --- shares --------------------------------------------------------------------------------------------------------- */

static double *own_usage(const struct scenario *s, struct arena *arena)
{
    double *own = arena_alloc(arena, s->tree.count * sizeof *own);
    for (uint32_t i = 0; i < s->associations.count; i++)
        own[s->associations.items[i].node] = s->associations.items[i].usage;
    return own;
}

void answer_shares(const struct scenario *s, const struct share_options *options, struct arena *arena,
                   struct share_table *out_table)
{
    fair_share_table(&s->tree, own_usage(s, arena), NULL, options, arena, out_table);
}

/* --- what is the same for all jobs ---------------------------------------------------------------------------------- */

static uint32_t larger(uint32_t a, int64_t b)
{
    return b > a ? (uint32_t)b : a;
}

static const struct multifactor_partition *make_partitions(const struct scenario *s, struct arena *arena)
{
    struct multifactor_partition *partitions = arena_alloc(arena, s->partitions.count * sizeof *partitions);
    for (uint32_t i = 0; i < s->partitions.count; i++) {
        const struct scenario_partition *p = &s->partitions.items[i];
        partitions[i] = (struct multifactor_partition){
            .job_factor = (uint32_t)p->object.value[PARTITION_JOB_FACTOR].number,
            .max_time_s = p->object.value[PARTITION_MAX_TIME].number,
            .totals = p->totals,
        };
    }
    return partitions;
}

static struct multifactor_cluster make_cluster(const struct scenario *s, struct arena *arena)
{
    struct multifactor_cluster c = {.now_us = s->now_us, .nodes = s->hosts.count};
    c.partitions = make_partitions(s, arena);
    for (uint32_t i = 0; i < s->hosts.count; i++) c.cpus += s->hosts.items[i].cpus;
    for (uint32_t i = 0; i < s->partitions.count; i++)
        c.job_factor_max = larger(c.job_factor_max, c.partitions[i].job_factor);
    for (uint32_t i = 0; i < s->qos.count; i++)
        c.qos_priority_max = larger(c.qos_priority_max, s->qos.items[i].value[QOS_PRIORITY].number);
    for (uint32_t n = 0; n < s->tree.count; n++)
        c.assoc_priority_max = larger(c.assoc_priority_max, s->priority_of_node[n]);
    return c;
}

/* --- one row -------------------------------------------------------------------------------------------------------- */

/* Since when a job grows older, in microseconds; never 0, which stands for "not at all". A moment that has come is where age
 * began, as AccrueTime of scontrol is, whatever the flags are by now: Slurm 22.05.8 keeps those it gave before
 * ACCRUE_ALWAYS was set (case prio-classic, jobs 10 and 13). The flag is about jobs that have none yet: they grow older from
 * their submission. */
static int64_t accrue_us(const struct scenario *s, const struct scenario_job *job)
{
    bool is_always = s->policy.multifactor.flags & FLAG_ACCRUE_ALWAYS;
    int64_t since_us = is_always && job->eligible_us > s->now_us ? job->submit_us : job->eligible_us;
    return since_us != 0 ? since_us : 1;
}

static struct multifactor_job make_job(const struct making *m, const struct scenario_job *job, uint32_t partition)
{
    const struct scenario *s = m->s;
    uint32_t node = scenario_node_of(s, job, partition);
    return (struct multifactor_job){
        .partition = partition,
        .assoc_priority = node != NONE ? (uint32_t)s->priority_of_node[node] : 0,
        .qos_priority = job->qos != NONE ? (uint32_t)s->qos.items[job->qos].value[QOS_PRIORITY].number : 0,
        .cpus = job->cpus,
        .nodes = job->nodes,
        .time_limit_s = job->time_limit_s,
        .accrue_us = accrue_us(s, job),
        .nice = job->nice,
        .site = job->site,
        .set_priority = job->set_priority,
        .is_set = job->is_set,
        .is_held = job->state == JOB_HELD,
        .fair_share = node != NONE ? m->fair_share[node] : 0.0,
        .tres = job->tres,
    };
}

static void make_tres_terms(const struct making *m, const struct multifactor_job *job, struct multifactor_row *row)
{
    const struct multifactor_rules *rules = &m->s->policy.multifactor;
    if (!rules->has_tres_weights || job->tres.count == 0) return;
    struct tres_term *terms = arena_alloc(m->arena, job->tres.count * sizeof *terms);
    row->tres = terms;
    for (uint32_t i = 0; i < job->tres.count; i++) {
        const struct tres_amount *amount = &job->tres.items[i];
        double factor = multifactor_tres_factor(rules, &m->cluster, job, amount);
        double weighted = factor * rules->weight_tres[amount->tres];
        if (fabs(weighted) > 0.0) terms[row->tres_count++] = (struct tres_term){amount->tres, factor, weighted};
    }
}

static void make_row(const struct making *m, uint32_t index, uint32_t partition, struct multifactor_row *row)
{
    const struct scenario *s = m->s;
    const struct scenario_job *job = &s->jobs.items[index];
    const struct multifactor_rules *rules = &s->policy.multifactor;
    struct multifactor_job asked = make_job(m, job, partition);
    *row = (struct multifactor_row){.job = index, .partition = partition};
    multifactor_terms(rules, &m->cluster, &asked, &row->terms);
    row->billing = billing_of(&s->policy.tres, &job->tres, s->partitions.items[partition].weights, s->policy.billing);
    if (asked.is_held || asked.is_set) return;
    multifactor_factors(rules, &m->cluster, &asked, &row->factors);
    make_tres_terms(m, &asked, row);
}

void answer_multifactor(const struct scenario *s, struct arena *arena, struct multifactor_answer *out_answer)
{
    bool wants_running = s->policy.multifactor.flags & FLAG_CALCULATE_RUNNING;
    struct making m = {.s = s, .cluster = make_cluster(s, arena), .arena = arena};
    m.fair_share = arena_alloc(arena, s->tree.count * sizeof *m.fair_share);
    fair_share_factors(&s->tree, own_usage(s, arena), &s->policy.share, arena, m.fair_share);
    *out_answer = (struct multifactor_answer){0};
    for (uint32_t i = 0; i < s->jobs.count; i++) {
        const struct scenario_job *job = &s->jobs.items[i];
        if (job->state == JOB_RUNNING && !wants_running) continue;
        for (uint32_t p = 0; p < job->partition_count; p++)
            make_row(&m, i, job->partitions[p], array_add(&out_answer->rows));
    }
}

/* --- basic ---------------------------------------------------------------------------------------------------------- */

/* Jobs by submission, then by id: sorted by the second first, which the stable sort keeps. */
static struct sort_record *by_submission(const struct scenario *s, struct arena *arena)
{
    uint32_t count = s->jobs.count;
    struct sort_record *records = arena_alloc(arena, (count + 1) * sizeof *records);
    struct sort_record *scratch = arena_alloc(arena, (count + 1) * sizeof *scratch);
    for (uint32_t i = 0; i < count; i++) records[i] = (struct sort_record){.key = s->jobs.items[i].id, .index = i};
    sort_records(records, count, scratch);
    for (uint32_t i = 0; i < count; i++)
        records[i].key = (uint64_t)s->jobs.items[records[i].index].submit_us ^ UINT64_C(1) << 63;
    sort_records(records, count, scratch);
    return records;
}

void answer_basic(const struct scenario *s, struct arena *arena, uint32_t **out_priorities)
{
    const struct sort_record *records = by_submission(s, arena);
    uint32_t *priorities = arena_alloc(arena, (s->jobs.count + 1) * sizeof *priorities);
    for (uint32_t place = 0; place < s->jobs.count; place++) {
        const struct scenario_job *job = &s->jobs.items[records[place].index];
        uint32_t priority = multifactor_basic_priority(place, job->nice);
        if (job->is_set) priority = job->set_priority;
        if (job->state == JOB_HELD) priority = 0;
        priorities[records[place].index] = priority;
    }
    *out_priorities = priorities;
}
