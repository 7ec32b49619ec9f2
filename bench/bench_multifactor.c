/* The cost of a pass of multifactor priority, per pending job, on one core. All factors and eight TRES have weights,
 * each job requests four TRES, and there are three partitions. The jobs are contiguous in memory, as in a pass; their
 * lists of TRES are in another array.
 *
 *   priorities     multifactor_priorities: at most 40 ns at 1000000 jobs
 *   raw, relative  the same with NO_NORMAL_ALL, and with SMALL_RELATIVE_TO_TIME
 *   terms          multifactor_terms of each job: the cost of a listing of all jobs
 *   sort           into queue order by priority, then by submission (base/sort.h)
 *   basic          multifactor_basic_priority of each job
 *   bytes          the yardstick: the sum of all 8-byte words that the pass reads, in jobs and lists
 *
 * Each figure is the median of several runs. With --quick there are few jobs only. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "base/rng.h"
#include "base/sort.h"
#include "fields/setting_text.h"
#include "measure.h"
#include "policy/multifactor.h"

enum { RUNS = 15, PARTITIONS = 3, AMOUNTS = 4, DAY_S = 86400 };

#define NOW_US (INT64_C(1800000000) * US_PER_S)

struct world {
    uint32_t count;
    struct multifactor_rules rules;
    struct multifactor_cluster cluster;
    struct multifactor_partition partitions[PARTITIONS];
    double totals[PARTITIONS][TRES_MAX];
    struct multifactor_job *jobs;
    struct tres_amount *amounts;
    uint32_t *priority;
    struct sort_record *records, *scratch;
    uint64_t sum; /* of the results, so that the compiler keeps their computation */
};

/* CPUs, memory, nodes and one of five GRES. */
static void make_job(struct world *w, struct rng *r, uint32_t i)
{
    struct tres_amount *a = w->amounts + (size_t)i * AMOUNTS;
    uint32_t nodes = 1 + rng_below(r, 4), cpus = nodes * (1 + rng_below(r, 64));
    a[0] = (struct tres_amount){TRES_CPU, cpus};
    a[1] = (struct tres_amount){TRES_MEM, cpus * (512.0 + rng_below(r, 4096))};
    a[2] = (struct tres_amount){TRES_NODE, nodes};
    a[3] = (struct tres_amount){TRES_STATIC_COUNT + rng_below(r, 5), 1 + rng_below(r, 8)};
    w->jobs[i] = (struct multifactor_job){.partition = rng_below(r, PARTITIONS),
                                          .assoc_priority = rng_below(r, 100),
                                          .qos_priority = rng_below(r, 1000),
                                          .cpus = cpus,
                                          .nodes = nodes,
                                          .time_limit_s = 60 + rng_below(r, 2 * DAY_S),
                                          .accrue_us = NOW_US - (int64_t)rng_below(r, 10 * DAY_S) * US_PER_S,
                                          .nice = rng_below(r, 10) == 0 ? 100 : 0,
                                          .fair_share = rng_double(r),
                                          .tres = {a, AMOUNTS}};
}

static void make_world(struct world *w, uint32_t count)
{
    struct rng r = {1};
    *w = (struct world){.count = count,
                        .rules = {.weight_age = 1000,
                                  .weight_assoc = 300,
                                  .weight_fair_share = 100000,
                                  .weight_job_size = 500,
                                  .weight_partition = 1000,
                                  .weight_qos = 2000,
                                  .has_tres_weights = true,
                                  .max_age_s = 7 * DAY_S}};
    for (uint32_t t = 0; t < TRES_STATIC_COUNT + 5; t++)
        if (t < 2 || t == TRES_NODE || t >= TRES_STATIC_COUNT) w->rules.weight_tres[t] = 100 * (t + 1);
    for (uint32_t p = 0; p < PARTITIONS; p++) {
        for (int t = 0; t < TRES_MAX; t++) w->totals[p][t] = 1000 * (p + 1) * (t == TRES_MEM ? 250000 : 64);
        w->partitions[p] =
            (struct multifactor_partition){.job_factor = 10 * (p + 1), .max_time_s = DAY_S, .totals = w->totals[p]};
    }
    w->cluster = (struct multifactor_cluster){.now_us = NOW_US,
                                              .nodes = 1000,
                                              .cpus = 64000,
                                              .assoc_priority_max = 99,
                                              .qos_priority_max = 999,
                                              .job_factor_max = 30,
                                              .partitions = w->partitions};
    w->jobs = calloc(count, sizeof *w->jobs);
    w->amounts = calloc((size_t)count * AMOUNTS, sizeof *w->amounts);
    w->priority = calloc(count, sizeof *w->priority);
    w->records = calloc(count, sizeof *w->records);
    w->scratch = calloc(count, sizeof *w->scratch);
    for (uint32_t i = 0; i < count; i++) make_job(w, &r, i);
}

static void free_world(struct world *w)
{
    free(w->jobs);
    free(w->amounts);
    free(w->priority);
    free(w->records);
    free(w->scratch);
}

static void run_priorities(struct world *w)
{
    multifactor_priorities(&w->rules, &w->cluster, w->jobs, w->count, w->priority);
}

static void run_terms(struct world *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct multifactor_terms t;
        multifactor_terms(&w->rules, &w->cluster, &w->jobs[i], &t);
        w->sum += t.priority;
    }
}

static void run_sort(struct world *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        w->records[i] = (struct sort_record){.key = UINT32_MAX - w->priority[i], .index = i};
    sort_records(w->records, w->count, w->scratch);
    w->sum += w->records[0].index;
}

static void run_basic(struct world *w)
{
    for (uint32_t i = 0; i < w->count; i++) w->sum += multifactor_basic_priority(i, w->jobs[i].nice);
}

static uint64_t word_at(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Four independent sums, so that the loop is memory-bound. */
static void add_words(struct world *w, const char *bytes, size_t size)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t offset = 0; offset + 32 <= size; offset += 32) {
        a += word_at(bytes + offset);
        b += word_at(bytes + offset + 8);
        c += word_at(bytes + offset + 16);
        d += word_at(bytes + offset + 24);
    }
    w->sum += a + b + c + d;
}

static void run_bytes(struct world *w)
{
    add_words(w, (const char *)w->jobs, w->count * sizeof *w->jobs);
    add_words(w, (const char *)w->amounts, (size_t)w->count * AMOUNTS * sizeof *w->amounts);
}

/* The median of the times, per job. */
static double measure(struct world *w, void (*run)(struct world *))
{
    struct samples s = {0};
    run(w);
    while (s.count < RUNS) {
        double start = now_ns();
        run(w);
        s.ns[s.count++] = (now_ns() - start) / w->count;
    }
    return median(&s);
}

static double measure_flags(struct world *w, uint32_t flags)
{
    w->rules.flags = flags;
    double ns = measure(w, run_priorities);
    w->rules.flags = 0;
    return ns;
}

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t max = quick ? 10000 : 1000000;
    printf("Multifactor priority, ns per pending job (priorities at most 40 at 1000000)\n");
    printf("%8s %10s %8s %8s %8s %8s %8s %8s\n", "jobs", "priorities", "raw", "relative", "terms", "sort", "basic",
           "bytes");
    for (uint32_t count = 1000; count <= max; count *= 10) {
        struct world w;
        make_world(&w, count);
        double raw = measure_flags(&w, FLAG_NO_NORMAL_ALL), relative = measure_flags(&w, FLAG_SMALL_RELATIVE_TO_TIME);
        double priorities = measure(&w, run_priorities), terms = measure(&w, run_terms), sort = measure(&w, run_sort);
        double basic = measure(&w, run_basic), bytes = measure(&w, run_bytes);
        ensure(w.sum != 0);
        printf("%8u %10.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f\n", count, priorities, raw, relative, terms, sort, basic,
               bytes);
        free_world(&w);
    }
    printf("a job has %zu bytes, and its TRES %zu\n", sizeof(struct multifactor_job),
           AMOUNTS * sizeof(struct tres_amount));
    return 0;
}
