/* The pass of an instance on many hosts (engine/pass.c): 32 CPUs and 128 GiB each, two running jobs on each, which
 * leave a few CPUs free, ten waiting jobs and half a user for each host; one waiting job in five is parallel, over 2 to
 * 16 hosts. The pass makes 1000 reservations and backfills the others, in the order of multifactor priorities with
 * fair-share factors computed anew.
 *
 *     ended    the passes after one running job each has ended
 *     anew     the passes after an operator's change: the cluster, the bookings and all groups are made anew
 *
 * Yardstick of the same run: libc's qsort of the waiting jobs by priority. With --quick on 100 hosts only. */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "engine/pending.h"
#include "engine_world.h"
#include "measure.h"

enum { CPUS = 32, MEM_GIB = 128, JOBS_PER_HOST = 10, KINDS_PER_USER = 4, ENDS = 25, ANEW = 3 };

static const double NS_PER_MS = 1e6;

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
    struct rng rng;
    uint32_t hosts, users;
};

static void apply(struct world *w, struct event event)
{
    bench_apply(&w->s, &w->out, w->now_us, event);
}

static void set(struct world *w, const char *key, const char *value)
{
    bench_set(&w->s, &w->out, w->now_us, key, value);
}

static void add_hosts(struct world *w)
{
    struct event_pair rule = {"allocation_rule", "32"}, list = {"pe_list", "whole"};
    bench_add_hosts(&w->s, w->hosts, (struct capacity){CPUS, 0, (uint64_t)MEM_GIB * 1024});
    apply(w, (struct event){.kind = EVENT_OBJECT_ADD, .object = {OBJECT_ENVIRONMENT, "whole", &rule, 1}});
    apply(w, (struct event){.kind = EVENT_OBJECT_MODIFY, .object = {OBJECT_PARTITION, "main", &list, 1}});
}

static void submit(struct world *w, uint32_t user, uint32_t cpus, uint32_t mem_gib, int64_t minutes)
{
    struct bench_job job;
    bench_job_make(&job, user, cpus, (int64_t)mem_gib * 1024);
    bench_job_give(&job, JOB_FIELD_TIME_LIMIT, field_number(minutes * 60));
    if (cpus > CPUS) bench_job_give(&job, JOB_FIELD_ENVIRONMENT, field_text("whole"));
    w->now_us += 1000;
    apply(w, bench_job_event(&job));
}

static double pass_ns(struct world *w, uint32_t *out_started)
{
    double begin = now_ns();
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    double took = now_ns() - begin;
    *out_started = 0;
    for (uint32_t i = 0; i < w->out.decisions.count; i++)
        *out_started += w->out.decisions.items[i].kind == DECIDE_START;
    return took;
}

static void submit_running(struct world *w)
{
    uint32_t unused;
    for (uint32_t i = 0; i < 2 * w->hosts; i++)
        submit(w, rng_below(&w->rng, w->users), 15 + rng_below(&w->rng, 2), 8, 1 + rng_below(&w->rng, 1440));
    (void)pass_ns(w, &unused);
}

/* A user's jobs are of a few kinds. */
static void submit_waiting(struct world *w)
{
    for (uint32_t i = 0; i < w->hosts * JOBS_PER_HOST; i++) {
        uint32_t user = rng_below(&w->rng, w->users);
        struct rng kind = {.state = 1 + (uint64_t)user * KINDS_PER_USER + rng_below(&w->rng, KINDS_PER_USER)};
        bool is_wide = rng_below(&kind, 5) == 0;
        uint32_t cpus = is_wide ? CPUS * 2u << rng_below(&kind, 4) : 1u << rng_below(&kind, 6);
        submit(w, user, cpus, 1u << rng_below(&kind, 3), 15 << rng_below(&kind, 8));
    }
}

static void world_make(struct world *w, uint32_t hosts)
{
    memset(w, 0, sizeof *w);
    w->now_us = NOW_US;
    w->rng.state = 1;
    w->hosts = hosts;
    w->users = hosts / 2;
    state_init(&w->s, NOW_US);
    set(w, "PriorityType", "priority/multifactor");
    set(w, "reservation_depth", "1000");
    set(w, "max_jobs", "1000000");
    add_hosts(w);
    bench_add_users(&w->s, w->users);
    submit_running(w);
    submit_waiting(w);
}

static void world_release(struct world *w)
{
    state_release(&w->s);
    outcome_release(&w->out);
}

static void end_one(struct world *w)
{
    const struct task *k = &w->s.tasks.items[rng_below(&w->rng, w->s.tasks.count)];
    struct event_record record = {.launch_id = k->launch_id, .end = JOB_COMPLETED};
    w->now_us += US_PER_S;
    record.at_us = w->now_us;
    record.started_us = w->now_us - 60 * US_PER_S;
    apply(w, (struct event){.kind = EVENT_ENDED, .record = record});
    engine_forget(&w->s);
}

static int compare_priorities(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double sort_ns(struct world *w)
{
    uint32_t count = w->hosts * JOBS_PER_HOST, *priorities = calloc(count, sizeof *priorities);
    for (uint32_t i = 0; i < count; i++) priorities[i] = (uint32_t)rng_u64(&w->rng);
    double begin = now_ns();
    qsort(priorities, count, sizeof *priorities, compare_priorities);
    double took = now_ns() - begin;
    free(priorities);
    return took;
}

static void bench(uint32_t hosts)
{
    struct world w;
    struct samples anew = {.count = ANEW}, ended = {.count = ENDS};
    uint32_t started = 0, unused;
    world_make(&w, hosts);
    (void)pass_ns(&w, &unused);
    for (int i = 0; i < ended.count; i++) {
        end_one(&w);
        ended.ns[i] = pass_ns(&w, &unused);
        started += unused;
    }
    for (int i = 0; i < anew.count; i++) {
        end_one(&w);
        set(&w, "PriorityWeightAge", i % 2 ? "1000" : "1001");
        anew.ns[i] = pass_ns(&w, &unused);
    }
    printf(
        "%6u hosts %7u waiting %6u groups   ended %7.2f ms (%.1f started)   anew %7.2f ms   yardstick: qsort %.2f ms\n",
        hosts, hosts * JOBS_PER_HOST, w.s.pending->queue.groups.count, median(&ended) / NS_PER_MS,
        (double)started / ENDS, median(&anew) / NS_PER_MS, sort_ns(&w) / NS_PER_MS);
    world_release(&w);
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    puts("Passes on many hosts, 1000 reservations (10000 hosts: at most 150 ms, 30 ms when one job ended since)");
    for (uint32_t hosts = 100; hosts <= (is_quick ? 100u : 10000u); hosts *= 10) bench(hosts);
    return 0;
}
