/* What limits cost in a pass: 10^4 users in accounts at the end of a tree of 16 levels, 10^5 waiting jobs, 1000 hosts
 * whose running jobs end one by one, with a pass after each end. The four rows are the same world
 *
 *     none      limits are set, and not enforced: the yardstick
 *     wide      enforced at every level (jobs, TRES, minutes), and far away
 *     tight     enforced, and most users have reached one
 *     quotas    as none, with 50 resource quota sets: ten limit these jobs, by user, by host and all together, and
 *               are far away; forty are for other users and projects
 *
 * measured in turn, so that they share the machine's speed. First the end of a task by itself, then the pass. Then the
 * reason of one waiting job, and of all, when most of them wait for a limit. With --quick a tenth of it. */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "engine/engine.h"
#include "engine/priorities.h"
#include "engine_world.h"
#include "fields/limit_fields.h"
#include "measure.h"

enum { CPUS = 32, LEVELS = 16, JOBS_PER_USER = 10, ENDS = 101, WORLDS = 4, SETS = 50, SETS_FOR_ALL = 10 };

static const double NS_OF_US = 1e3, NS_OF_MS = 1e6;

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
    struct rng rng;
    uint32_t hosts, users;
    struct samples ended, passed;
    uint32_t started;
};

static void apply(struct world *w, struct event event)
{
    bench_apply(&w->s, &w->out, w->now_us, event);
}

static void set(struct world *w, const char *key, const char *value)
{
    bench_set(&w->s, &w->out, w->now_us, key, value);
}

/* Every level has a limit of each kind. jobs: the number of running jobs of a user. */
static struct field_value *limits_make(struct world *w, int64_t jobs)
{
    struct field_value *l = arena_alloc(&w->s.arena, ASSOC_LIMIT_COUNT * sizeof *l);
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) l[i] = field_at(&limit_fields, i)->default_value;
    l[ASSOC_GRP_JOBS] = field_number(1000000);
    l[ASSOC_GRP_SUBMIT] = field_number(10000000);
    l[ASSOC_GRP_TRES] = field_text("cpu=9000000,mem=900000000000");
    l[ASSOC_GRP_TRES_MINS] = field_text("cpu=900000000000");
    l[ASSOC_GRP_TRES_RUN_MINS] = field_text("cpu=900000000000");
    l[ASSOC_MAX_JOBS] = field_number(jobs);
    l[ASSOC_MAX_TRES] = field_text("cpu=900");
    l[ASSOC_MAX_WALL] = field_number(864000);
    return l;
}

static uint32_t add_assoc(struct world *w, uint32_t parent, const char *account, const char *user, int64_t jobs)
{
    struct assoc row = {.parent = parent,
                        .account = account,
                        .user = user,
                        .shares = 1,
                        .priority = NONE,
                        .is_default = user != NULL,
                        .created_us = NOW_US};
    uint32_t index = assoc_append(&w->s, &row);
    w->s.assocs.items[index].limits = limits_make(w, jobs);
    return index;
}

/* Ten chains of accounts; the users are below their last ones. */
static void add_tree(struct world *w, int64_t jobs)
{
    uint32_t parent = NONE;
    for (uint32_t i = 0; i < w->users; i++) {
        char account[32], user[32];
        for (uint32_t level = 0; i % (w->users / 10) == 0 && level < LEVELS; level++) {
            snprintf(account, sizeof account, "a%u-%u", i / (w->users / 10), level);
            parent = add_assoc(w, level == 0 ? 0 : parent, account, NULL, jobs);
        }
        snprintf(account, sizeof account, "account%u", i / USERS_PER_ACCOUNT);
        static uint32_t last = NONE;
        if (i % USERS_PER_ACCOUNT == 0) last = add_assoc(w, parent, account, NULL, jobs);
        snprintf(user, sizeof user, "user%u", i);
        add_assoc(w, last, account, user, jobs);
    }
}

static void submit(struct world *w, uint32_t user, uint32_t cpus, int64_t minutes)
{
    struct bench_job job;
    bench_job_make(&job, user, cpus, 1024);
    bench_job_give(&job, JOB_FIELD_TIME_LIMIT, field_number(minutes * 60));
    w->now_us += 1000;
    apply(w, bench_job_event(&job));
}

static double pass_ns(struct world *w)
{
    double begin = now_ns();
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    double took = now_ns() - begin;
    for (uint32_t i = 0; i < w->out.decisions.count; i++) w->started += w->out.decisions.items[i].kind == DECIDE_START;
    return took;
}

static void add_quotas(struct world *w)
{
    for (uint32_t i = 0; i < SETS; i++) {
        static const char *const for_all[] = {"limit users {*} to slots=9000000", "limit to slots=9000000",
                                              "limit hosts {*} to slots=9000"};
        char name[32], rules[96];
        snprintf(name, sizeof name, "set%u", i);
        snprintf(rules, sizeof rules, "limit users other%u to slots=1; limit projects {other*} to slots=2", i);
        struct event_pair pair = {"rules", i < SETS_FOR_ALL ? for_all[i % 3] : rules};
        apply(w, (struct event){.kind = EVENT_OBJECT_ADD, .object = {OBJECT_QUOTA, name, &pair, 1}});
    }
}

static void world_make(struct world *w, uint32_t hosts, const char *enforced, int64_t jobs, bool has_quotas)
{
    memset(w, 0, sizeof *w);
    w->now_us = NOW_US;
    w->rng.state = 1;
    w->hosts = hosts;
    w->users = hosts * 10;
    state_init(&w->s, NOW_US);
    set(w, "PriorityType", "priority/multifactor");
    set(w, "reservations", "none");
    set(w, "max_jobs", "1000000");
    bench_add_hosts(&w->s, w->hosts, (struct capacity){CPUS, 0, 128 * 1024});
    add_tree(w, jobs);
    if (has_quotas) add_quotas(w);
    for (uint32_t i = 0; i < 2 * w->hosts; i++) submit(w, i % w->users, CPUS / 2, 1 + rng_below(&w->rng, 1440));
    set(w, "AccountingStorageEnforce", enforced);
    (void)pass_ns(w);
    for (uint32_t i = 0; i < w->users * JOBS_PER_USER; i++)
        submit(w, i % w->users, 1u << rng_below(&w->rng, 5), 15 << rng_below(&w->rng, 8));
    (void)pass_ns(w);
    w->started = 0;
}

static void world_release(struct world *w)
{
    state_release(&w->s);
    outcome_release(&w->out);
}

static void end_one(struct world *w)
{
    uint32_t at = rng_below(&w->rng, w->s.tasks.count);
    while (job_state_is_end(w->s.tasks.items[at].state)) at = (at + 1) % w->s.tasks.count;
    const struct task *k = &w->s.tasks.items[at];
    struct event_record record = {.launch_id = k->launch_id, .end = JOB_COMPLETED};
    w->now_us += US_PER_S;
    record.at_us = w->now_us;
    record.started_us = w->now_us - 60 * US_PER_S;
    double begin = now_ns();
    apply(w, (struct event){.kind = EVENT_ENDED, .record = record});
    w->ended.ns[w->ended.count++] = now_ns() - begin;
    engine_forget(&w->s);
}

static void reasons(struct world *w)
{
    struct samples one = {.count = RUNS_MAX};
    uint32_t limited = 0;
    for (int i = 0; i < one.count; i++) {
        uint32_t job = w->s.jobs.items[rng_below(&w->rng, w->s.jobs.count)].id;
        double begin = now_ns();
        (void)job_pending_reason(&w->s, job, 1.0, w->now_us);
        one.ns[i] = now_ns() - begin;
    }
    double begin = now_ns();
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        enum pending_reason r = job_pending_reason(&w->s, w->s.jobs.items[i].id, 1.0, w->now_us);
        limited += r == PENDING_ASSOC_MAX_JOBS;
    }
    double all = now_ns() - begin;
    printf("reasons of %u jobs, %u of them limits: one %.1f us (at most 1000), all %.1f ms (at most 300)\n",
           w->s.jobs.count, limited, median(&one) / NS_OF_US, all / NS_OF_MS);
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    static const char *const names[WORLDS] = {"none", "wide", "tight", "quotas"}, *const enforced[WORLDS] = {
                                                                                      "none", "safe", "safe", "none"};
    static struct world w[WORLDS];
    uint32_t hosts = is_quick ? 100 : 1000;
    for (int i = 0; i < WORLDS; i++) world_make(&w[i], hosts, enforced[i], i == 2 ? 1 : 1000000, i == 3);
    for (int n = 0; n < ENDS; n++) {
        for (int i = 0; i < WORLDS; i++) {
            end_one(&w[i]);
            w[i].passed.ns[w[i].passed.count++] = pass_ns(&w[i]);
        }
    }
    printf(
        "Passes after one end each, %u users, %u waiting jobs, limits at %d levels (wide and quotas: at most 1.25 x none)\n",
        w[0].users, w[0].users * JOBS_PER_USER, LEVELS + 2);
    double base = median(&w[0].passed);
    for (int i = 0; i < WORLDS; i++)
        printf("  %-6s %9.1f us  %5.2f x  (%.1f started)   the end before it %6.1f us\n", names[i],
               median(&w[i].passed) / NS_OF_US, median(&w[i].passed) / base, (double)w[i].started / ENDS,
               median(&w[i].ended) / NS_OF_US);
    reasons(&w[2]);
    for (int i = 0; i < WORLDS; i++) world_release(&w[i]);
    return 0;
}
