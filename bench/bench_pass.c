/* The time of a scheduling pass: EVENT_TIME after a running job has ended, with many waiting jobs. The loop waits for
 * it, so it may take at most 20 ms.
 *
 *   nothing free   after a submission, with no free CPU
 *   one user       all jobs are of one user, in a small tree
 *   many users     as many associations as jobs, one job each
 *   all weights    likewise, and every term of the sum has a weight
 *   INCR_ONLY      many users with that flag, with which a pass reads every waiting job; also with no free CPU
 *   tickets        Grid Engine's three policies and urgency, with ten jobs or one job for each user: the whole pass,
 *                  and its parts if a thread computes the ranking (engine/ticket_plan.h): the snapshot, the ranking,
 *                  and the pass with the plan. Every user has usage, half of the jobs have one of twenty projects. Also
 *                  with no free CPU, where only CPU weights are computed
 *   a moved job    ten jobs for each user, after one was held and released, so that the list is not in the order of
 *                  ids: the snapshot alone, and with no free CPU
 *   default        likewise, but a user `default` serves every second user, each by a virtual node
 *
 * The yardstick is the computation of the fair-share factors of the same tree. Each figure has the median and the
 * maximum of several passes, with --quick for a tenth of the jobs. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ticket_plan.h"
#include "engine_world.h"
#include "measure.h"

enum { CPUS = 64, ROUNDS = 31, PROJECTS = 20, KEPT_BYTES = 256 << 20 };

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
    bool has_projects;
};

struct figures {
    double median_ms, max_ms;
};

static struct figures figures_of(double *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, compare_doubles);
    return (struct figures){ms[count / 2], ms[count - 1]};
}

static void apply(struct world *w, struct event event)
{
    bench_apply(&w->s, &w->out, w->now_us, event);
}

static void set(struct world *w, const char *key, const char *value)
{
    bench_set(&w->s, &w->out, w->now_us, key, value);
}

/* Usage of every user, as of different times. */
static void add_usage(struct world *w, uint32_t users)
{
    for (uint32_t i = 0; i < users; i++) {
        char name[32];
        snprintf(name, sizeof name, "user%u", i);
        struct usage_owner row = {.user = name, .project = "", .at_us = NOW_US - i * INT64_C(1000003)};
        row.usage.used[USAGE_CPU] = (double)(i * UINT64_C(7919) % 100003);
        usage_owner_append(&w->s, &row);
    }
}

static void add_projects(struct world *w)
{
    for (int i = 0; i < PROJECTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "project%d", i);
        struct event_pair pair = {"fshare", "10"};
        apply(w, (struct event){.kind = EVENT_OBJECT_ADD, .object = {OBJECT_PROJECT, name, &pair, 1}});
    }
}

static void submit(struct world *w, uint32_t user)
{
    struct bench_job job;
    char project[32];
    snprintf(project, sizeof project, "project%u", user % PROJECTS);
    bench_job_make(&job, user, 1, 1);
    if (w->has_projects && user % 2 == 0) bench_job_give(&job, JOB_FIELD_PROJECT, field_text(project));
    w->now_us += 1000;
    apply(w, bench_job_event(&job));
}

static void world_make(struct world *w, uint32_t associations, uint32_t users, uint32_t jobs, bool has_usage)
{
    memset(w, 0, sizeof *w);
    w->has_projects = has_usage;
    w->now_us = NOW_US;
    state_init(&w->s, NOW_US);
    apply(w, (struct event){.kind = EVENT_HOST, .host.has = {CPUS, 0, 1000000}});
    set(w, "auto_user_fshare", "10");
    bench_add_users(&w->s, associations);
    if (has_usage) add_usage(w, associations);
    if (has_usage) add_projects(w);
    for (uint32_t i = 0; i < jobs; i++) submit(w, i % users);
}

static void world_release(struct world *w)
{
    state_release(&w->s);
    outcome_release(&w->out);
}

static double pass_ms(struct world *w)
{
    double begin = now_ms();
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    return now_ms() - begin;
}

/* The oldest launch starts, and ends a minute later. */
static void end_one(struct world *w)
{
    uint32_t oldest = 0;
    while (job_state_is_end(w->s.tasks.items[oldest].state)) oldest++;
    uint64_t launch_id = w->s.tasks.items[oldest].launch_id;
    int64_t started_us = w->now_us;
    w->now_us += 60 * US_PER_S;
    apply(w,
          (struct event){
              .kind = EVENT_ENDED,
              .record = {.launch_id = launch_id, .at_us = w->now_us, .started_us = started_us, .end = JOB_COMPLETED}});
    engine_forget(&w->s);
}

static struct figures measure(struct world *w, bool ends)
{
    double ms[ROUNDS];
    pass_ms(w);
    for (int i = 0; i < ROUNDS; i++) {
        if (ends)
            end_one(w);
        else
            submit(w, 0);
        ms[i] = pass_ms(w);
    }
    return figures_of(ms, ROUNDS);
}

static struct figures measure_factors(struct world *w)
{
    double ms[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct arena arena = {0};
        double begin = now_ms();
        w->now_us += 1000;
        state_factors(&w->s, w->now_us, &arena);
        ms[i] = now_ms() - begin;
        arena_release(&arena);
    }
    return figures_of(ms, ROUNDS);
}

static void report(const char *what, uint32_t jobs, struct figures f, const char *wanted, struct figures yardstick)
{
    printf("%-26s %7u jobs: %7.2f ms, max %7.2f   %-15s yardstick: factors %.2f ms\n", what, jobs, f.median_ms,
           f.max_ms, wanted, yardstick.median_ms);
}

struct setting_row {
    const char *key, *value;
};

static void set_all(struct world *w, const struct setting_row *settings)
{
    for (; settings->key != NULL; settings++) set(w, settings->key, settings->value);
}

static void run(const char *what, uint32_t users, uint32_t jobs, bool ends, const struct setting_row *settings)
{
    struct world w;
    world_make(&w, users, users, jobs, false);
    set_all(&w, settings);
    struct figures f = measure(&w, ends);
    report(what, jobs, f, "at most 20 ms", measure_factors(&w));
    world_release(&w);
}

/* --- tickets ------------------------------------------------------------------------------------------------------ */

/* The parts of a pass with a plan. The loop waits for the first and the last one. */
struct plan_times {
    double make_ms[ROUNDS], run_ms[ROUNDS], use_ms[ROUNDS];
};

static void measure_plan(struct world *w, struct plan_times *out, int round)
{
    double begin = now_ms();
    struct ticket_plan *plan = ticket_plan_make(&w->s, w->now_us, 0);
    double make_end = now_ms();
    if (plan == NULL) exit(1);
    ticket_plan_run(plan);
    double run_end = now_ms();
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot", plan}});
    ticket_plan_free(plan);
    out->make_ms[round] = make_end - begin;
    out->run_ms[round] = run_end - make_end;
    out->use_ms[round] = now_ms() - run_end;
}

static const struct setting_row tickets[] = {{"PriorityType", "priority/tickets"},
                                             {"weight_tickets_share", "1000000"},
                                             {"weight_tickets_functional", "1000000"},
                                             {NULL, NULL}};

static void run_tickets(const char *what, uint32_t users, uint32_t jobs)
{
    struct world w;
    struct plan_times times;
    world_make(&w, jobs, users, jobs, true);
    set_all(&w, tickets);
    struct figures whole = measure(&w, true), factors = measure_factors(&w);
    for (int i = 0; i < ROUNDS; i++) {
        end_one(&w);
        measure_plan(&w, &times, i);
    }
    report(what, jobs, whole, "", factors);
    report("  snapshot", jobs, figures_of(times.make_ms, ROUNDS), "at most 20 ms", factors);
    report("  ranking", jobs, figures_of(times.run_ms, ROUNDS), "in a thread", factors);
    report("  the pass with the plan", jobs, figures_of(times.use_ms, ROUNDS), "at most 20 ms", factors);
    report("  nothing free", jobs, measure(&w, false), "at most 20 ms", factors);
    world_release(&w);
}

/* The oldest waiting job moves to the end of the list. */
static void hold_and_release(struct world *w)
{
    uint32_t index = 0;
    while (idset_count(&w->s.jobs.items[index].pending) == 0) index++;
    struct job_ref ref = {w->s.jobs.items[index].id, NONE};
    apply(w, (struct event){.kind = EVENT_HOLD, .jobs = {&ref, 1, false}});
    apply(w, (struct event){.kind = EVENT_RELEASE, .jobs = {&ref, 1, false}});
}

/* account0 gets a user `default`, and all other accounts become nodes of projects, so that jobs of their users without
 * a project are served by it. */
static void add_default(struct world *w, uint32_t associations)
{
    const struct assoc row = {
        .parent = 1, .account = "account0", .user = "default", .shares = 10, .priority = NONE, .created_us = NOW_US};
    assoc_append(&w->s, &row);
    for (uint32_t i = 1; i < associations / USERS_PER_ACCOUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "account%u", i);
        apply(w, (struct event){.kind = EVENT_OBJECT_ADD, .object = {.kind = OBJECT_PROJECT, .name = name}});
    }
}

/* Only what the two kinds of worlds cost more: the snapshot, and the CPU weights of running jobs. */
static void run_snapshot(const char *what, uint32_t users, uint32_t jobs, bool has_default)
{
    struct world w;
    struct plan_times times;
    world_make(&w, jobs, users, jobs, true);
    set_all(&w, tickets);
    pass_ms(&w);
    if (has_default)
        add_default(&w, jobs);
    else
        hold_and_release(&w);
    struct figures factors = measure_factors(&w);
    for (int i = 0; i < ROUNDS; i++) {
        end_one(&w);
        measure_plan(&w, &times, i);
    }
    report(what, jobs, figures_of(times.make_ms, ROUNDS), "at most 20 ms", factors);
    report("  nothing free", jobs, measure(&w, false), "at most 20 ms", factors);
    world_release(&w);
}

int main(int argc, char **argv)
{
    static const struct setting_row default_value[] = {{NULL, NULL}};
    static const struct setting_row all_weights[] = {{"PriorityWeightAge", "1000"},
                                                     {"PriorityWeightAssoc", "1000"},
                                                     {"PriorityWeightJobSize", "1000"},
                                                     {"PriorityWeightPartition", "1000"},
                                                     {"PriorityWeightQOS", "1000"},
                                                     {"PriorityWeightTRES", "cpu=1000,mem=1000"},
                                                     {NULL, NULL}};
    static const struct setting_row incr_only[] = {{"PriorityFlags", "INCR_ONLY"}, {NULL, NULL}};
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t jobs = quick ? 10000 : 100000;
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES); /* as the daemon does */
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    printf("A scheduling pass; yardstick: the fair-share factors of the same tree alone\n");
    run("nothing free", 1, jobs, false, default_value);
    run("one user", 1, jobs, true, default_value);
    run("many users", jobs, jobs, true, default_value);
    run("all weights", jobs, jobs, true, all_weights);
    run("INCR_ONLY", jobs, jobs, true, incr_only);
    run("INCR_ONLY, nothing free", jobs, jobs, false, incr_only);
    run_tickets("tickets, ten jobs a user", jobs / 10, jobs);
    run_tickets("tickets, a job each", jobs, jobs);
    run_snapshot("a moved job, snapshot", jobs / 10, jobs, false);
    run_snapshot("default, snapshot", jobs / 10, jobs, true);
    return 0;
}
