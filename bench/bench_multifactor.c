/* What a pass of multifactor priority costs, per pending job, on one core: every factor weighs something, eight TRES
 * have weights, each job asks for four, in three partitions. Jobs lie in memory as the pass has them, one after the
 * other, their lists of TRES elsewhere.
 *
 *   priorities     multifactor_priorities: at most 40 ns at 1000000 jobs
 *   raw, relative  the same with NO_NORMAL_ALL, with SMALL_RELATIVE_TO_TIME
 *   terms          multifactor_terms of each: what a listing of all jobs costs
 *   sort           into queue order by priority, submission breaking ties (base/sort.h)
 *   basic          multifactor_basic_priority of each
 *   bytes          the yardstick: the sum of all 8-byte words that the pass reads, jobs and lists
 *
 * Each figure is the median of several runs; with --quick, on few jobs only. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ensure.h"
#include "base/rng.h"
#include "base/sort.h"
#include "policy/multifactor.h"
#include "policy/policy_text.h"

enum { RUNS = 15, PARTITIONS = 3, AMOUNTS = 4, DAY_S = 86400 };

#define US_PER_SECOND INT64_C(1000000)
#define NOW_US (INT64_C(1800000000) * US_PER_SECOND)

/* The thread's own time: what else the machine does is not the pass's. */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

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
    uint64_t sum; /* of what was computed, so that it is */
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
                                          .accrue_us = NOW_US - (int64_t)rng_below(r, 10 * DAY_S) * US_PER_SECOND,
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
        w->partitions[p] = (struct multifactor_partition){10 * (p + 1), DAY_S, w->totals[p]};
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

/* Four sums side by side, so that it waits for memory and not for its own additions. */
static void add_words(struct world *w, const char *bytes, size_t size)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t at = 0; at + 32 <= size; at += 32) {
        a += word_at(bytes + at);
        b += word_at(bytes + at + 8);
        c += word_at(bytes + at + 16);
        d += word_at(bytes + at + 24);
    }
    w->sum += a + b + c + d;
}

static void run_bytes(struct world *w)
{
    add_words(w, (const char *)w->jobs, w->count * sizeof *w->jobs);
    add_words(w, (const char *)w->amounts, (size_t)w->count * AMOUNTS * sizeof *w->amounts);
}

/* The median of what it takes, per job. */
static double measure(struct world *w, void (*run)(struct world *))
{
    double ns[RUNS];
    run(w);
    for (int i = 0; i < RUNS; i++) {
        double start = now_ns();
        run(w);
        ns[i] = (now_ns() - start) / w->count;
    }
    qsort(ns, RUNS, sizeof *ns, compare_doubles);
    return ns[RUNS / 2];
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
    printf("a job is %zu bytes and %zu of its TRES\n", sizeof(struct multifactor_job),
           AMOUNTS * sizeof(struct tres_amount));
    return 0;
}
