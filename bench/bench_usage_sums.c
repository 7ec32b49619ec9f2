/* What a limit asks in every pass: the usage of root with everything below it, in one TRES, of a state with 10,000
 * users in 100 accounts and 20,000 running tasks.
 *
 *   all rows       usage_read_below: every association and task is added up; the yardstick
 *   kept sums      usage_sums_below, nothing has changed since the last question
 *   after an end   the same after each end of a task, with the cost of the end's changes to 8 kinds of sums
 *   made anew      the same after an invalidation
 *   listing        usage_sums_list: every TRES of every association
 *   one user       every TRES of one association
 *   listing, rows  the listing from usage_read_below: its yardstick */
#include <math.h>
#include <stdio.h>

#include "engine/usage_sums.h"
#include "engine_world.h"
#include "measure.h"

enum { USERS = 10000, TASKS_PER_USER = 2, KINDS = 8 };

struct world {
    struct state s;
    struct outcome out;
    int64_t now_us;
};

static void apply(struct world *w, struct event event)
{
    bench_apply(&w->s, &w->out, w->now_us, event);
}

static void start_tasks(struct world *w)
{
    for (uint32_t user = 0; user < USERS; user++) {
        struct bench_job job;
        bench_job_make(&job, user, 1, 1);
        bench_job_give(&job, JOB_FIELD_ARRAY, field_text("0-1"));
        bench_job_give(&job, JOB_FIELD_TIME_LIMIT, field_number(86400));
        apply(w, bench_job_event(&job));
    }
    apply(w, (struct event){.kind = EVENT_TIME, .time = {"boot"}});
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        w->now_us += 1000;
        const struct event_record record = {
            .launch_id = w->s.tasks.items[i].launch_id, .at_us = w->now_us, .started_us = w->now_us};
        apply(w, (struct event){.kind = EVENT_STARTED, .record = record});
    }
}

static void end_task(struct world *w, uint32_t index)
{
    w->now_us += 1000;
    const struct event_record record = {
        .launch_id = w->s.tasks.items[index].launch_id, .at_us = w->now_us, .end = JOB_COMPLETED};
    apply(w, (struct event){.kind = EVENT_ENDED, .record = record});
}

static double ask_rows(struct world *w)
{
    struct arena arena = {0};
    double usage = usage_read_below(&w->s, TRES_CPU, w->now_us, &arena)[0];
    arena_release(&arena);
    return usage;
}

static double ask_sums(struct world *w)
{
    return usage_sums_below(&w->s, 0, TRES_CPU, w->now_us);
}

static double list(struct world *w, uint32_t count)
{
    static uint32_t assocs[USERS * 2];
    static double usage[USERS * 2 * TRES_MAX];
    for (uint32_t i = 0; i < count; i++) assocs[i] = i;
    usage_sums_list(&w->s, assocs, count, w->now_us, usage);
    return usage[TRES_CPU];
}

static double list_rows(struct world *w)
{
    struct arena arena = {0};
    double usage = 0.0;
    for (uint32_t kind = 0; kind < w->s.policy.tres.count; kind++)
        usage += usage_read_below(&w->s, kind, w->now_us, &arena)[0];
    arena_release(&arena);
    return usage;
}

static void print_row(const char *what, struct samples *ns)
{
    printf("%-14s %10.1f us\n", what, median(ns) / 1e3);
}

enum row { ALL_ROWS, KEPT, AFTER_END, END_ALONE, MADE_ANEW, LISTING, ONE_USER, LISTING_ROWS };

static void measure(struct world *w, enum row row, const char *what)
{
    static uint32_t next_end;
    struct samples ns = {.count = RUNS_MAX};
    for (int i = 0; i < ns.count; i++) {
        w->now_us += 1000;
        if (row == MADE_ANEW) usage_sums_invalidate(&w->s);
        double begin = now_ns();
        if (row == AFTER_END || row == END_ALONE) end_task(w, next_end++);
        double usage = row == ALL_ROWS       ? ask_rows(w)
                       : row == END_ALONE    ? 1.0
                       : row == LISTING      ? list(w, w->s.assocs.count)
                       : row == ONE_USER     ? list(w, 1)
                       : row == LISTING_ROWS ? list_rows(w)
                                             : ask_sums(w);
        ns.ns[i] = now_ns() - begin;
        if (!(usage > 0.0)) abort();
    }
    print_row(what, &ns);
}

int main(void)
{
    struct world w = {.now_us = NOW_US};
    state_init(&w.s, NOW_US);
    apply(&w, (struct event){.kind = EVENT_HOST, .host.has = {USERS * TASKS_PER_USER, 0, 1 << 24}});
    bench_add_users(&w.s, USERS);
    start_tasks(&w);
    printf("%u associations, %u running tasks\n", w.s.assocs.count, w.s.tasks.count);
    if (w.s.tasks.count != USERS * TASKS_PER_USER) abort();
    measure(&w, ALL_ROWS, "all rows");
    measure(&w, END_ALONE, "an end alone");
    for (uint32_t kind = 0; kind < KINDS; kind++) (void)usage_sums_below(&w.s, 0, kind, w.now_us);
    measure(&w, KEPT, "kept sums");
    measure(&w, AFTER_END, "after an end");
    measure(&w, MADE_ANEW, "made anew");
    measure(&w, LISTING, "listing");
    measure(&w, ONE_USER, "one user");
    measure(&w, LISTING_ROWS, "listing, rows");
    double rows = ask_rows(&w), sums = ask_sums(&w);
    printf("difference     %10.1e of %.6g\n", fabs(rows - sums) / rows, rows);
    state_release(&w.s);
    outcome_release(&w.out);
    return fabs(rows - sums) <= 1e-9 * rows ? 0 : 1;
}
