/* The cost of a scheduling run (sched/run.h) on a large cluster, on one core: hosts of 32 slots and 128 GiB, two
 * running jobs on each, which leave a few slots free, and ten pending jobs for each host. The run reserves for the
 * first 1000 jobs that cannot start and backfills the others. One pending job in five is parallel, over 2 to 64 hosts.
 *
 * Yardstick of the same run: libc's qsort of the same number of jobs by priority. Each figure is the median of several
 * runs. With --quick there is one run of the smallest cluster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure.h"
#include "sched/run.h"

enum { LINE_CHANGES = 1000, LINE_ROUNDS = 1000 };
enum { RUNS = 5, SLOTS_PER_HOST = 32, GIB_PER_HOST = 128, JOBS_PER_HOST = 10, MEMORY = 1, RESERVATIONS = 1000 };

static const double NS_PER_MS = 1e6;
static const int64_t MINUTE = INT64_C(60000000);

enum { SIZES = 6, MEMORIES = 3, DURATIONS = 8, SPREADS = 6, KINDS = SIZES * MEMORIES + SPREADS };
enum { SHAPES = KINDS * DURATIONS };

struct shape {
    struct need memory;
    struct slot_range range;
    struct demand demand;
};

struct world {
    struct cluster c;
    struct shape shapes[SHAPES];
    uint32_t *job_shape; /* by pending job, the highest priority first */
    uint32_t job_count;
    struct rng rng;
};

static const uint32_t one_host = 0, whole_hosts = 1;

static void make_shapes(struct world *w)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < DURATIONS; d++) {
        int64_t duration_us = (15 << d) * MINUTE;
        for (uint32_t size = 0; size < SIZES + SPREADS; size++) {
            bool is_spread = size >= SIZES;
            uint32_t slots = is_spread ? SLOTS_PER_HOST * 2u << (size - SIZES) : 1u << size;
            for (uint32_t m = 0; m < (is_spread ? 1 : MEMORIES); m++) {
                struct shape *s = &w->shapes[n];
                s->memory = (struct need){MEMORY, NEED_PER_SLOT, 1u << m, NULL, true, false, NULL};
                s->range = (struct slot_range){slots, slots};
                s->demand = (struct demand){.needs = &s->memory,
                                            .need_count = 1,
                                            .environments = is_spread ? &whole_hosts : &one_host,
                                            .environment_count = is_spread,
                                            .ranges = &s->range,
                                            .range_count = 1,
                                            .duration_us = duration_us,
                                            .shape = n,
                                            .kind = n % KINDS};
                n++;
            }
        }
    }
}

static void add_offer(struct offers *o, uint32_t resource, double amount)
{
    *array_add(&o->list) = (struct offer){.resource = resource, .amount = amount};
}

static void run_on(struct world *w, uint32_t instance, uint32_t slots, int64_t until_us)
{
    const struct need memory = {MEMORY, NEED_PER_SLOT, 2, NULL, true, false, NULL};
    const struct demand d = {.needs = &memory, .need_count = 1};
    struct allocation_part part = {instance, slots};
    const struct allocation a = {.environment = NONE, .slots = slots, .part_count = 1, .parts = &part};
    cluster_book(&w->c, &d, &a, -60 * MINUTE, until_us);
}

static void make_world(struct world *w, uint32_t hosts, uint32_t jobs)
{
    *w = (struct world){.rng = {.state = 1}};
    *array_add(&w->c.resources) =
        (struct sched_resource){.name = "slots", .is_consumable = true, .relation = RELATION_LESS_EQUAL};
    *array_add(&w->c.resources) =
        (struct sched_resource){.name = "mem", .is_consumable = true, .relation = RELATION_LESS_EQUAL};
    *array_add(&w->c.environments) = (struct sched_environment){.name = "one", .rule = ALLOCATE_ONE_HOST};
    *array_add(&w->c.environments) =
        (struct sched_environment){.name = "whole", .rule = ALLOCATE_FIXED, .slots_per_host = SLOTS_PER_HOST};
    for (uint32_t h = 0; h < hosts; h++) {
        *array_add(&w->c.hosts) = (struct sched_host){.name = "host", .first_instance = h, .instance_count = 1};
        add_offer(&w->c.hosts.items[h].offers, MEMORY, GIB_PER_HOST);
        *array_add(&w->c.instances) = (struct sched_instance){.name = "queue@host", .host = h};
        add_offer(&w->c.instances.items[h].offers, SCHED_SLOTS, SLOTS_PER_HOST);
        uint32_t first = 1 + rng_below(&w->rng, SLOTS_PER_HOST - 2), free = rng_below(&w->rng, 10) == 0;
        run_on(w, h, first, (1 + rng_below(&w->rng, 1440)) * MINUTE);
        run_on(w, h, SLOTS_PER_HOST - first - free, (1 + rng_below(&w->rng, 1440)) * MINUTE);
    }
    make_shapes(w);
    w->job_count = jobs;
    w->job_shape = calloc(w->job_count, sizeof *w->job_shape);
    for (uint32_t i = 0; i < w->job_count; i++) {
        bool is_spread = rng_below(&w->rng, 5) == 0;
        uint32_t per_duration = SIZES * MEMORIES + SPREADS, duration = rng_below(&w->rng, DURATIONS);
        uint32_t kind =
            is_spread ? SIZES * MEMORIES + rng_below(&w->rng, SPREADS) : rng_below(&w->rng, SIZES * MEMORIES);
        w->job_shape[i] = duration * per_duration + kind;
    }
}

static void release_world(struct world *w)
{
    cluster_release(&w->c);
    free(w->job_shape);
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double yardstick_ns(struct world *w)
{
    uint32_t *copy = calloc(w->job_count, sizeof *copy);
    for (uint32_t i = 0; i < w->job_count; i++) copy[i] = (uint32_t)rng_u64(&w->rng);
    double begin = now_ns();
    qsort(copy, w->job_count, sizeof *copy, compare_u32);
    double took = now_ns() - begin;
    free(copy);
    return took;
}

static void bench(uint32_t hosts, uint32_t jobs, int runs)
{
    struct samples run_ns = {.count = runs}, sort_ns = {.count = runs};
    uint32_t started = 0, reserved = 0;
    for (int i = 0; i < runs; i++) {
        struct world w;
        struct arena arena = {0};
        struct run run;
        const struct run_rules rules = {
            .reservations = RUN_RESERVE_ALL, .reservation_max = RESERVATIONS, .search = RESERVE_IN_GAPS};
        make_world(&w, hosts, jobs);
        started = reserved = 0;
        double begin = now_ns();
        run_begin(&run, &w.c, &rules, 0, &arena);
        for (uint32_t k = 0; k < w.job_count && !run_is_over(&run); k++) {
            struct run_decision d = run_job(&run, &w.shapes[w.job_shape[k]].demand, false);
            started += d.outcome == RUN_STARTS;
            reserved += d.outcome == RUN_RESERVED;
        }
        run_ns.ns[i] = now_ns() - begin;
        run_end(&run);
        sort_ns.ns[i] = yardstick_ns(&w);
        arena_release(&arena);
        release_world(&w);
    }
    printf("%6u hosts %7u jobs  %9.2f ms  %6u started %5u reserved   yardstick: qsort %.2f ms\n", hosts, jobs,
           median(&run_ns) / NS_PER_MS, started, reserved, median(&sort_ns) / NS_PER_MS);
}

/* --- one time line ------------------------------------------------------------------------------------------------ */

/* A time line of 1000 changes, as of a licence that many jobs take. */
static void make_line(struct timeline *t, struct rng *rng)
{
    while (t->changes.count < LINE_CHANGES) {
        int64_t from_us = rng_below(rng, 10000) * MINUTE;
        timeline_book(t, &(struct timeline_booking){from_us, from_us + (1 + rng_below(rng, 1000)) * MINUTE, 1.0});
    }
}

/* Nanoseconds of one of many operations: 0 the most booked in an hour, 1 the first fit, 2 a booking, 3 the yardstick, a
 * copy of all changes. */
static double line_ns(struct timeline *t, struct rng *rng, int what)
{
    struct timeline_change copy[LINE_CHANGES + 2];
    double sum = 0.0, begin = now_ns();
    int64_t from_us = 0;
    for (int i = 0; i < LINE_ROUNDS; i++) {
        if (what != 2 || i % 2 == 0) from_us = rng_below(rng, 10000) * MINUTE; /* what is booked is taken back */
        struct timeline_booking b = {from_us, from_us + 60 * MINUTE, what == 2 && i % 2 ? -1.0 : 1.0};
        if (what == 0) sum += timeline_max(t, b.from_us, b.until_us);
        if (what == 1) sum += (double)timeline_first_fit(t, from_us, 60 * MINUTE, LINE_CHANGES);
        if (what == 2) timeline_book(t, &b);
        if (what == 3) memcpy(copy, t->changes.items, t->changes.count * sizeof *copy);
        if (what == 3) sum += copy[i % LINE_CHANGES].booked;
    }
    double took = now_ns() - begin;
    if (sum < 0.0) puts("");
    return took / LINE_ROUNDS;
}

static void bench_line(void)
{
    static const char *const names[] = {"most booked in an hour", "first fit for an hour", "booking of an hour"};
    struct rng rng = {.state = 7};
    for (int what = 0; what < 3; what++) {
        struct timeline t = {0};
        make_line(&t, &rng);
        double ns = line_ns(&t, &rng, what), copy_ns = line_ns(&t, &rng, 3);
        printf("time line of %d changes: %-24s %7.0f ns   at most 1000 ns   yardstick: a copy of all changes %.0f ns\n",
               LINE_CHANGES, names[what], ns, copy_ns);
        timeline_release(&t);
    }
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    printf("A run that reserves for the first %d jobs and backfills the others (10000 hosts: at most 150 ms)\n",
           RESERVATIONS);
    for (uint32_t hosts = 100; hosts <= (is_quick ? 100 : 10000); hosts *= 10)
        bench(hosts, hosts * JOBS_PER_HOST, is_quick ? 1 : RUNS);
    if (!is_quick) bench(10000, 1000000, 1);
    bench_line();
    return 0;
}
