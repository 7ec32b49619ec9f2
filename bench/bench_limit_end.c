/* What it costs to hold running tasks against limits of usage (engine/limit_end.h), which happens every 30 s: a full
 * host with 10^5 running tasks of 10^4 users, and 10^5 associations that all have GrpTRESMins and GrpWall. The times
 * are those of turns, at most 20 ms each, without the commit:
 *
 *     far away      no limit is reached
 *     one user      the limit of one user is reached, whose ten tasks end
 *     everyone      the limit of root is reached, and the tasks end in many turns: the median and the longest of them
 *
 * With --quick a tenth of it. */
#include <stdio.h>
#include <string.h>

#include "engine/limit_end.h"
#include "engine/limit_table.h"
#include "engine_world.h"
#include "fields/limit_fields.h"
#include "measure.h"

enum { TASKS_PER_USER = 10 };

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

static void limit(struct world *w, uint32_t assoc, const char *minutes)
{
    struct field_value *l = arena_alloc(&w->s.arena, ASSOC_LIMIT_COUNT * sizeof *l);
    for (uint32_t i = 0; i < ASSOC_LIMIT_COUNT; i++) l[i] = field_at(&limit_fields, i)->default_value;
    l[ASSOC_GRP_TRES_MINS] = field_text(minutes);
    l[ASSOC_GRP_WALL] = field_number(INT64_C(86400) * 365000);
    w->s.assocs.items[assoc].limits = l;
    limit_table_invalidate(&w->s);
}

static void start_tasks(struct world *w, uint32_t users)
{
    for (uint32_t user = 0; user < users; user++) {
        struct bench_job job;
        bench_job_make(&job, user, 1, 1);
        bench_job_give(&job, JOB_FIELD_ARRAY, field_text("0-9"));
        bench_job_give(&job, JOB_FIELD_TIME_LIMIT, field_number(86400));
        apply(w, bench_job_event(&job));
    }
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct event_record record = {
            .launch_id = w->s.tasks.items[i].launch_id, .at_us = w->now_us, .started_us = w->now_us};
        apply(w, (struct event){.kind = EVENT_STARTED, .record = record});
    }
}

/* The next turn that looks. Returns its time, and the number of tasks that it ends. */
static double look_ns(struct world *w, int64_t pause_us, uint32_t *out_ended)
{
    w->now_us += pause_us;
    w->s.pass_is_due = true;
    double begin = now_ns();
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    double took = now_ns() - begin;
    *out_ended = 0;
    for (uint32_t i = 0; i < w->out.decisions.count; i++) *out_ended += w->out.decisions.items[i].kind == DECIDE_END;
    return took;
}

static void far_away(struct world *w)
{
    struct samples looks = {.count = 21};
    uint32_t ended, unused;
    double first = look_ns(w, LIMIT_END_S * US_PER_S, &ended);
    for (int i = 0; i < looks.count; i++) {
        looks.ns[i] = look_ns(w, LIMIT_END_S * US_PER_S, &unused);
        ended += unused;
    }
    printf("far away   %8.2f ms (the first time %.2f)   %u ended\n", median(&looks) / NS_OF_MS, first / NS_OF_MS,
           ended);
}

static void one_user(struct world *w)
{
    uint32_t ended;
    limit(w, w->s.assocs.count - 1, "cpu=900000000000");
    limit(w, state_find_assoc(&w->s, "account0", "user7"), "cpu=1");
    (void)limit_table_of(&w->s);
    double took = look_ns(w, LIMIT_END_S * US_PER_S, &ended);
    printf("one user   %8.2f ms   %u ended\n", took / NS_OF_MS, ended);
}

static void everyone(struct world *w)
{
    static struct samples turns;
    uint32_t ended = 0, total = 0;
    double longest = 0.0;
    limit(w, 0, "cpu=1");
    (void)limit_table_of(&w->s);
    do {
        double took = look_ns(w, total == 0 ? LIMIT_END_S * US_PER_S : LIMIT_END_PAUSE_MS * INT64_C(1000), &ended);
        if (took > longest) longest = took;
        if (turns.count < RUNS_MAX) turns.ns[turns.count++] = took;
        total += ended;
    } while (w->s.limits_next_live != 0);
    printf("everyone   %8.2f ms a turn, the longest %.2f   %u ended in %d turns\n", median(&turns) / NS_OF_MS,
           longest / NS_OF_MS, total, turns.count);
}

int main(int argc, char **argv)
{
    bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t assocs = is_quick ? 10000 : 100000, users = assocs / TASKS_PER_USER;
    struct world w = {.now_us = NOW_US};
    struct event_pair enforce = {"AccountingStorageEnforce", "limits"};
    state_init(&w.s, NOW_US);
    apply(&w, (struct event){.kind = EVENT_HOST, .host.has = {assocs, 0, 1 << 24}});
    bench_add_users(&w.s, assocs);
    start_tasks(&w, users);
    for (uint32_t i = 0; i < w.s.assocs.count; i++) limit(&w, i, "cpu=900000000000");
    apply(&w, (struct event){.kind = EVENT_SETTINGS, .settings = {&enforce, 1}});
    printf("%u associations with limits of usage, %u running tasks; a turn at most 20 ms\n", w.s.assocs.count,
           w.s.tasks.count);
    far_away(&w);
    one_user(&w);
    everyone(&w);
    state_release(&w.s);
    outcome_release(&w.out);
    return 0;
}
