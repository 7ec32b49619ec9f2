/* Events per second through the engine, with a pass at each: jobs end and others are submitted, so that the number of
 * waiting jobs stays the same. 1,000 users submit jobs of three sizes, which makes 3,000 groups of equal jobs; 64 CPUs
 * are always taken. Every event changes usage, so the fair-share factors are computed at each pass that ranks.
 *
 *   multifactor, tickets   with their default settings; the tickets model then orders by urgency
 *   limits                 multifactor, and the limits that every user and account has are enforced, but not reached
 *   functional             every user has functional shares, and tickets
 *   share tree             every user has a leaf, in groups of a hundred
 *
 * The figure should not depend on the number of waiting jobs. The yardstick is the same events without passes, in the
 * same run. With --quick for up to 10,000 jobs. With the name of a model only its rows. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "engine_world.h"
#include "fields/limit_fields.h"
#include "measure.h"

enum { CPUS = 64, USERS = 1000, SIZES = 3, KEPT_BYTES = 256 << 20 };

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
    uint32_t random;
    ARRAY(uint64_t) running; /* launches */
};

static uint32_t random_below(struct world *w, uint32_t n)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)w->random * n >> 32);
}

static void apply(struct world *w, struct event event)
{
    bench_apply(&w->s, &w->out, w->now_us, event);
}

static void submit(struct world *w)
{
    static const uint32_t cpus[SIZES] = {1, 2, 4};
    struct bench_job job;
    uint32_t user = random_below(w, USERS);
    bench_job_make(&job, user, cpus[random_below(w, SIZES)], 1);
    bench_job_give(&job, JOB_FIELD_TIME_LIMIT, field_number(3600));
    w->now_us += 1000;
    apply(w, bench_job_event(&job));
}

static void pass(struct world *w)
{
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    for (uint32_t i = 0; i < w->out.decisions.count; i++) {
        const struct decision *d = &w->out.decisions.items[i];
        if (d->kind == DECIDE_START) *array_add(&w->running) = d->launch_id;
    }
}

static void end_one(struct world *w)
{
    if (w->running.count == 0) return;
    uint64_t *launch = &w->running.items[random_below(w, w->running.count)];
    struct event_record record = {.launch_id = *launch, .end = JOB_COMPLETED};
    *launch = w->running.items[--w->running.count];
    w->now_us += 1000;
    record.at_us = w->now_us;
    record.started_us = w->now_us - 60 * US_PER_S;
    apply(w, (struct event){.kind = EVENT_ENDED, .record = record});
    engine_forget(&w->s);
}

/* The settings of a row. */
struct model {
    const char *what, *wanted;
    uint32_t quick_max; /* waiting jobs, with --quick */
    uint32_t pair_count;
    struct event_pair pairs[3];
};

static const struct model models[] = {
    {"multifactor", "at least 20000", 10000, 1, {{"PriorityType", "priority/multifactor"}}},
    {"limits",
     "at least 16000",
     10000,
     2,
     {{"PriorityType", "priority/multifactor"}, {"AccountingStorageEnforce", "safe"}}},
    {"tickets", "at least 1000", 1000, 1, {{"PriorityType", "priority/tickets"}}},
    {"functional",
     "at least 1000",
     1000,
     3,
     {{"PriorityType", "priority/tickets"}, {"weight_tickets_functional", "1000000"}, {"auto_user_fshare", "100"}}},
    {"share tree",
     "at least 1000",
     1000,
     2,
     {{"PriorityType", "priority/tickets"}, {"weight_tickets_share", "1000000"}}},
};

/* Limits of every kind, far away; only one row enforces them. */
static void add_limits(struct world *w)
{
    for (uint32_t i = 0; i < w->s.assocs.count; i++) {
        struct field_value *l = arena_alloc(&w->s.arena, ASSOC_LIMIT_COUNT * sizeof *l);
        for (uint32_t k = 0; k < ASSOC_LIMIT_COUNT; k++) l[k] = field_at(&limit_fields, k)->default_value;
        l[ASSOC_GRP_JOBS] = l[ASSOC_MAX_JOBS] = field_number(1000000);
        l[ASSOC_GRP_TRES] = l[ASSOC_MAX_TRES] = field_text("cpu=9000000,mem=900000000000");
        l[ASSOC_GRP_TRES_MINS] = l[ASSOC_GRP_TRES_RUN_MINS] = field_text("cpu=900000000000");
        w->s.assocs.items[i].limits = l;
    }
}

static void world_make(struct world *w, uint32_t jobs, const struct model *model)
{
    memset(w, 0, sizeof *w);
    w->now_us = NOW_US;
    w->random = 1;
    state_init(&w->s, NOW_US);
    apply(w, (struct event){.kind = EVENT_HOST, .host.has = {CPUS, 0, 1000000}});
    apply(w, (struct event){.kind = EVENT_SETTINGS, .settings = {model->pairs, model->pair_count}});
    bench_add_users(&w->s, USERS);
    add_limits(w);
    for (uint32_t i = 0; i < jobs; i++) submit(w);
    pass(w);
}

static void world_release(struct world *w)
{
    state_release(&w->s);
    outcome_release(&w->out);
    array_release(&w->running);
}

/* Events for about a second. Returns the time of one. */
static double event_ns(struct world *w, bool has_passes)
{
    double begin = now_ns(), spent = 0.0;
    uint32_t events = 0;
    for (; spent < 1e9 && (has_passes || w->running.count > 1); spent = now_ns() - begin) {
        end_one(w);
        if (has_passes) pass(w);
        submit(w);
        if (has_passes) pass(w);
        events += 2;
    }
    return spent / events;
}

static void run(const struct model *model, uint32_t jobs)
{
    struct world w;
    world_make(&w, jobs, model);
    double ns = event_ns(&w, true), plain_ns = event_ns(&w, false);
    printf("%-12s %7u waiting: %9.0f events/s   %-22s yardstick: without passes %.0f/s\n", model->what, jobs, 1e9 / ns,
           model->wanted, 1e9 / plain_ns);
    fflush(stdout);
    world_release(&w);
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const char *only = argc > 1 && !is_quick ? argv[1] : NULL;
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES); /* as the daemon does */
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    puts(
        "Events through the engine, a pass at each; 1,000 users, 3,000 groups; yardstick: the same events without passes");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (only != NULL && strcmp(only, models[i].what) != 0) continue;
        for (uint32_t jobs = 1000; jobs <= (is_quick ? models[i].quick_max : 100000u); jobs *= 10)
            run(&models[i], jobs);
    }
    return 0;
}
