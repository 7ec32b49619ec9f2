/* What a scheduling pass costs: the event of time after one of the running jobs ended, with many jobs waiting. The loop
 * does nothing else meanwhile, so no pass may take longer than 20 ms in the standard model.
 *
 *   nothing free   a job was submitted and no CPU is free
 *   one user       all jobs are one user's, in a small tree
 *   many users     as many associations as jobs, a job each
 *   all weights    as many users, and every term of the sum weighs
 *   floors         many users with INCR_ONLY: what waits is looked at by every pass
 *   floors, full   the same with no CPU free
 *   tickets        as many users, Grid Engine's three policies and urgency
 *   tickets, full  the same with no CPU free: only what runs is weighed
 *
 * Yardstick of the same run: the fair-share factors of the same tree alone. Each figure is the median and the longest of
 * several passes; with --quick, of a tenth of the jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/internal.h"

enum { CPUS = 64, ROUNDS = 31, USERS_PER_ACCOUNT = 100 };

static const int64_t NOW_US = INT64_C(1700000000000000);

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
};

struct figures {
    double median_ms, longest_ms;
};

/* The thread's own time: what else the machine does is not the pass's. */
static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct figures figures_of(double *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, compare_doubles);
    return (struct figures){ms[count / 2], ms[count - 1]};
}

static void apply(struct world *w, struct event event)
{
    struct err e;
    outcome_clear(&w->out);
    event.actor = event.actor.user != NULL ? event.actor : (struct actor){0, 0, "root", true};
    if (engine_apply(&w->s, w->now_us, &event, &w->out, NULL, &e) == 0) return;
    fprintf(stderr, "event %d: %s\n", event.kind, e.text);
    exit(1);
}

static void set(struct world *w, const char *key, const char *value)
{
    struct event_pair pair = {key, value};
    apply(w, (struct event){.kind = EVENT_SETTINGS, .settings = {&pair, 1}});
}

static void user_name(char name[32], uint32_t user)
{
    snprintf(name, 32, "user%u", user);
}

static void add_users(struct world *w, uint32_t count)
{
    uint32_t account = NONE;
    for (uint32_t i = 0; i < count; i++) {
        char name[32], account_name[32];
        snprintf(account_name, sizeof account_name, "account%u", i / USERS_PER_ACCOUNT);
        user_name(name, i);
        struct assoc row = {
            .parent = 0, .account = account_name, .shares = i % 50 + 1, .priority = NONE, .created_us = NOW_US};
        if (i % USERS_PER_ACCOUNT == 0) account = assoc_append(&w->s, &row);
        row.parent = account;
        row.user = name;
        row.usage = (double)(i * UINT64_C(7919) % 100003) / 3.0;
        assoc_append(&w->s, &row);
    }
}

static void submit(struct world *w, uint32_t user)
{
    char name[32], account[32];
    snprintf(account, sizeof account, "account%u", user / USERS_PER_ACCOUNT);
    user_name(name, user);
    struct event event = {.kind = EVENT_SUBMIT, .actor = {1000, 1000, name, false}};
    event.submit = (struct event_submit){.account = account,
                                         .name = "job",
                                         .directory = "/tmp",
                                         .command = "true",
                                         .request = {.cpus = 1, .mem_mib = 1}};
    w->now_us += 1000;
    apply(w, event);
}

static void world_make(struct world *w, uint32_t users, uint32_t jobs)
{
    memset(w, 0, sizeof *w);
    w->now_us = NOW_US;
    state_init(&w->s, NOW_US);
    apply(w, (struct event){.kind = EVENT_HOST, .host = {CPUS, 0, 1000000}});
    set(w, "auto_user_fshare", "10");
    add_users(w, users);
    for (uint32_t i = 0; i < jobs; i++) submit(w, i % users);
}

static void world_drop(struct world *w)
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

/* The oldest launch that runs starts, and ends after a while. */
static void end_one(struct world *w, uint64_t launch_id)
{
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
    uint64_t oldest = 1;
    pass_ms(w);
    for (int i = 0; i < ROUNDS; i++) {
        if (ends)
            end_one(w, oldest++);
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

static void report(const char *what, uint32_t jobs, struct figures f, struct figures yardstick, const char *wanted)
{
    printf("%-14s %7u jobs: %7.2f ms a pass, longest %7.2f   %-15s yardstick: factors %.2f ms\n", what, jobs,
           f.median_ms, f.longest_ms, wanted, yardstick.median_ms);
}

struct setting_row {
    const char *key, *value;
};

static void run(const char *what, uint32_t users, uint32_t jobs, bool ends, const struct setting_row *settings,
                const char *wanted)
{
    struct world w;
    world_make(&w, users, jobs);
    for (; settings->key != NULL; settings++) set(&w, settings->key, settings->value);
    struct figures f = measure(&w, ends);
    report(what, jobs, f, measure_factors(&w), wanted);
    world_drop(&w);
}

int main(int argc, char **argv)
{
    static const struct setting_row standard[] = {{NULL, NULL}};
    static const struct setting_row all_weights[] = {{"PriorityWeightAge", "1000"},
                                                     {"PriorityWeightAssoc", "1000"},
                                                     {"PriorityWeightJobSize", "1000"},
                                                     {"PriorityWeightPartition", "1000"},
                                                     {"PriorityWeightQOS", "1000"},
                                                     {"PriorityWeightTRES", "cpu=1000,mem=1000"},
                                                     {NULL, NULL}};
    static const struct setting_row floors[] = {{"PriorityFlags", "INCR_ONLY"}, {NULL, NULL}};
    static const struct setting_row tickets[] = {{"PriorityType", "priority/tickets"},
                                                 {"weight_tickets_share", "1000000"},
                                                 {"weight_tickets_functional", "1000000"},
                                                 {NULL, NULL}};
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t jobs = quick ? 10000 : 100000;
    const char *wanted = "at most 20 ms";
    run("nothing free", 1, jobs, false, standard, wanted);
    run("one user", 1, jobs, true, standard, wanted);
    run("many users", jobs, jobs, true, standard, wanted);
    run("all weights", jobs, jobs, true, all_weights, wanted);
    run("floors", jobs, jobs, true, floors, wanted);
    run("floors, full", jobs, jobs, false, floors, wanted);
    run("tickets", jobs, jobs, true, tickets, "at most 300 ms");
    run("tickets, full", jobs, jobs, false, tickets, wanted);
    return 0;
}
