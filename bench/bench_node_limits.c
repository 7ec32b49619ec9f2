/* What limits of nodes (GrpTRES=node) cost in a pass: 1000 hosts, 47 accounts with limits, each with ten hosts full of
 * running tasks, and 2350 waiting jobs of different users and sizes, each a group of its own, which fit only on hosts
 * that are free. After a submission a pass looks at all groups. The rows are the same world
 *
 *     none      limits are set, and not enforced; no CPUs are free: the yardstick
 *     cpus      GrpTRES=cpu, enforced, keeps all of them waiting
 *     nodes     GrpTRES=node, enforced, keeps all of them waiting: to each ten full hosts are left
 *
 * measured in turn, so that they share the machine's speed. With --quick a tenth of it. */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine_world.h"
#include "fields/limit_fields.h"
#include "measure.h"

enum { CPUS = 32, HOSTS_OF_ACCOUNT = 10, USERS_OF_ACCOUNT = 50, WORLDS = 3, PASSES = 21 };

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
    uint32_t users;
    struct samples passed;
};

static void submit(struct world *w, uint32_t user, uint32_t cpus, uint32_t minutes)
{
    struct bench_job job;
    bench_job_make(&job, user, cpus, 1024);
    snprintf(job.account, sizeof job.account, "account%u", user / USERS_OF_ACCOUNT);
    bench_job_give(&job, JOB_FIELD_TIME_LIMIT, field_number(minutes * 60));
    w->now_us += 1000;
    bench_apply(&w->s, &w->out, w->now_us, bench_job_event(&job));
}

static void pass(struct world *w)
{
    bench_apply(&w->s, &w->out, w->now_us, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
}

static void add_accounts(struct world *w, const char *limit)
{
    struct field_value *limits = arena_alloc(&w->s.arena, ASSOC_LIMIT_COUNT * sizeof *limits);
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) limits[i] = field_at(&limit_fields, i)->default_value;
    limits[ASSOC_GRP_TRES] = field_text(limit);
    uint32_t account = NONE;
    for (uint32_t i = 0; i < w->users; i++) {
        char user[32], name[32];
        snprintf(user, sizeof user, "user%u", i);
        snprintf(name, sizeof name, "account%u", i / USERS_OF_ACCOUNT);
        struct assoc row = {.account = name, .shares = 1, .priority = NONE, .created_us = NOW_US};
        if (i % USERS_OF_ACCOUNT == 0) {
            account = assoc_append(&w->s, &row);
            w->s.assocs.items[account].limits = limits;
        }
        row.parent = account;
        row.user = user;
        row.is_default = true;
        assoc_append(&w->s, &row);
    }
}

static void world_make(struct world *w, uint32_t accounts, const char *limit, bool is_enforced)
{
    uint32_t full = accounts * HOSTS_OF_ACCOUNT;
    w->now_us = NOW_US;
    w->users = accounts * USERS_OF_ACCOUNT;
    state_init(&w->s, NOW_US);
    bench_set(&w->s, &w->out, w->now_us, "PriorityType", "priority/multifactor");
    bench_set(&w->s, &w->out, w->now_us, "reservations", "none");
    bench_set(&w->s, &w->out, w->now_us, "AccountingStorageEnforce", is_enforced ? "limits" : "none");
    bench_add_hosts(&w->s, is_enforced ? full * 2 : full, (struct capacity){CPUS, 0, 128 * 1024});
    add_accounts(w, limit);
    for (uint32_t i = 0; i < full; i++) submit(w, i / HOSTS_OF_ACCOUNT * USERS_OF_ACCOUNT, CPUS, 60 * 24);
    pass(w);
    for (uint32_t i = 0; i < w->users; i++) submit(w, i, 1 + i % CPUS, 1 + i);
    pass(w);
}

static double live_count(const struct world *w)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < w->s.tasks.count; i++) live += !job_state_is_end(w->s.tasks.items[i].state);
    return live;
}

int main(int argc, char **argv)
{
    static const char *const names[WORLDS] = {"none", "cpus", "nodes"}, *const limits[WORLDS] = {"node=10", "cpu=320",
                                                                                                 "node=10"};
    static struct world w[WORLDS];
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t accounts = is_quick ? 5 : 47;
    for (int i = 0; i < WORLDS; i++) world_make(&w[i], accounts, limits[i], i > 0);
    for (int n = 0; n < PASSES; n++) {
        for (int i = 0; i < WORLDS; i++) {
            submit(&w[i], (uint32_t)n, 1 + (uint32_t)n % CPUS, 5000 + (uint32_t)n);
            double begin = now_ns();
            pass(&w[i]);
            w[i].passed.ns[w[i].passed.count++] = now_ns() - begin;
        }
    }
    double base = median(&w[0].passed);
    printf("Passes after a submission, %u pending jobs in groups of their own, %u accounts with limits\n", w[0].users,
           accounts);
    for (int i = 0; i < WORLDS; i++) {
        printf("  %-6s %9.1f us  %6.2f x  (%g run on %u hosts)\n", names[i], median(&w[i].passed) / 1e3,
               median(&w[i].passed) / base, live_count(&w[i]), w[i].s.hosts.count);
        state_release(&w[i].s);
        outcome_release(&w[i].out);
    }
    return 0;
}
