/* The time of saying why jobs wait, with many waiting jobs on a full host.
 *
 *   sentences      those of one job, for each question (engine/wait_answer.h): at most 1 ms
 *   leaders        the first waiting job of each partition (engine/wait_leaders.h), before a listing or a question: at
 *                  most 1 ms, but for the first time after a change of rules
 *   reasons        the reasons of all jobs, as a listing asks for them: with the leaders at most 300 ms
 *
 * "alike": ten different jobs for each of a hundred users; "all different": each job is of a user of its own; "all
 * equal": as before, but all have the same priority, so that only their order of submission differs. The yardstick is
 * the computation of the fair-share factors of the same tree, which each listing needs as well. With --quick for a
 * tenth of the jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/priorities.h"
#include "engine/wait_answer.h"
#include "engine/wait_leaders.h"
#include "engine_world.h"
#include "measure.h"

enum { CPUS = 64, ROUNDS = 21, KINDS = 10 };

static const double NS_OF_MS = 1e6;

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
};

static void apply(struct world *w, struct event event)
{
    bench_apply(&w->s, &w->out, w->now_us, event);
}

static void submit(struct world *w, uint32_t user, uint32_t kind)
{
    struct bench_job job;
    bench_job_make(&job, user, 1 + kind % 4, 1);
    bench_job_give(&job, JOB_FIELD_TIME_LIMIT, field_number(600 + 60 * kind));
    w->now_us += 1000;
    apply(w, bench_job_event(&job));
}

static void set(struct world *w, const char *key, const char *value)
{
    bench_set(&w->s, &w->out, w->now_us, key, value);
}

/* The host is full of the first jobs. has_ties: all jobs have the same priority. */
static void world_make(struct world *w, uint32_t users, uint32_t jobs, bool has_ties)
{
    memset(w, 0, sizeof *w);
    w->now_us = NOW_US;
    state_init(&w->s, NOW_US);
    apply(w, (struct event){.kind = EVENT_HOST, .host.has = {CPUS, 0, 1000000}});
    if (has_ties) {
        set(w, "PriorityWeightAge", "0");
        set(w, "PriorityWeightFairshare", "0");
    }
    bench_add_users(&w->s, users);
    for (uint32_t i = 0; i < jobs; i++) submit(w, i % users, i / users % KINDS);
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
}

static double ask_ms(struct world *w, enum wait_question question)
{
    struct samples ns = {.count = ROUNDS};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct arena arena = {0};
        struct wait_sentences why;
        uint32_t job = w->s.jobs.count - 1 - i;
        double begin = now_ns();
        (void)wait_answer_make(&w->s, job, question, 0, w->now_us, &arena, &why, NULL);
        ns.ns[i] = now_ns() - begin;
        arena_release(&arena);
    }
    return median(&ns) / NS_OF_MS;
}

struct listing_times {
    double factors, leaders, reasons; /* ns */
    uint32_t behind;
};

static void list(struct world *w, struct listing_times *out)
{
    struct arena arena = {0};
    double begin = now_ns();
    const double *factors = state_factors(&w->s, w->now_us, &arena);
    double made = now_ns();
    wait_leaders_update(&w->s, w->now_us, factors);
    double found = now_ns();
    out->behind = 0;
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        const struct job *j = &w->s.jobs.items[i];
        enum pending_reason reason = job_pending_reason(&w->s, j->id, factors[w->s.node_of.items[j->assoc]], w->now_us);
        out->behind += reason == PENDING_PRIORITY;
    }
    out->factors = made - begin;
    out->leaders = found - made;
    out->reasons = now_ns() - found;
    arena_release(&arena);
}

static void run(const char *what, uint32_t users, uint32_t jobs, bool has_ties)
{
    struct world w;
    struct samples factors = {.count = ROUNDS}, leaders = factors, reasons = factors;
    struct listing_times times = {0};
    world_make(&w, users, jobs, has_ties);
    printf("%-14s %7u jobs: sentences %.3f ms in a pass, %.3f now, %.3f empty; at most 1 ms\n", what, jobs,
           ask_ms(&w, WAIT_IN_PASS), ask_ms(&w, WAIT_NOW), ask_ms(&w, WAIT_EMPTY));
    list(&w, &times);
    double first = times.leaders / NS_OF_MS;
    for (int i = 0; i < ROUNDS; i++) {
        submit(&w, 0, 0); /* what is kept is not all up to date */
        list(&w, &times);
        factors.ns[i] = times.factors;
        leaders.ns[i] = times.leaders;
        reasons.ns[i] = times.reasons;
    }
    printf(
        "%-14s %7u jobs: leaders %.2f ms, at most 1 (the first time %.2f); reasons of all %.2f ms, at most 300; %u with "
        "Priority   yardstick: factors %.2f ms\n",
        what, jobs, median(&leaders) / NS_OF_MS, first, median(&reasons) / NS_OF_MS, times.behind,
        median(&factors) / NS_OF_MS);
    state_release(&w.s);
    outcome_release(&w.out);
}

int main(int argc, char **argv)
{
    uint32_t jobs = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 10000 : 100000;
    run("alike", 100, jobs, false);
    run("all different", jobs, jobs, false);
    run("all equal", jobs, jobs, true);
    return 0;
}
