/* When passes run: events at given times, and the times of the passes; starts as Grid Engine recorded them; and that no
 * job waits longer than the rhythm promises. */
#include "policy_world.h"

#include "base/rng.h"
#include "engine/ticket_plan.h"

/* A clock by hand. A pass runs when it is due, and not with events before, as in the daemon's loop. */
struct clock_world {
    struct world w;
    int64_t begin_us;
    char passes[TEXT_MAX]; /* their times, in seconds since the begin: "0 15 30" */
};

static void turn(struct clock_world *x)
{
    struct world *w = &x->w;
    int64_t due_us = state_next_due_us(&w->s), last_us = w->s.rhythm.last_pass_us;
    bool is_due = due_us != 0 && due_us <= w->now_us;
    (void)world_pass(w);
    assert_true(w->s.rhythm.last_pass_us == (is_due ? w->now_us : last_us));
    if (!is_due) return;
    size_t length = strlen(x->passes);
    snprintf(x->passes + length, sizeof x->passes - length, "%s%g", length > 0 ? " " : "",
             (double)(w->now_us - x->begin_us) / SECOND);
}

/* Up to this time, with the passes that are due until then. */
static void go_to(struct clock_world *x, double second)
{
    struct world *w = &x->w;
    int64_t until_us = x->begin_us + (int64_t)(second * SECOND), due_us = state_next_due_us(&w->s);
    for (; due_us != 0 && due_us <= until_us; due_us = state_next_due_us(&w->s)) {
        assert_true(due_us > w->now_us); /* what was due has run */
        w->now_us = due_us;
        turn(x);
    }
    w->now_us = until_us;
}

static void clock_init(struct clock_world *x, uint32_t cpus, const char *settings)
{
    memset(x, 0, sizeof *x);
    world_init(&x->w, cpus, 100000, 0);
    x->begin_us = x->w.now_us;
    if (settings[0] != '\0') world_settings(&x->w, settings);
}

static void end_oldest(struct world *w)
{
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        if (job_state_is_end(k->state)) continue;
        world_end(w, k->job_id, k->task_id);
        return;
    }
    fail_msg("no task runs");
}

static void change_something(struct world *w)
{
    static uint32_t shares = 1;
    struct event event = {.kind = EVENT_USER_MODIFY, .user = {"ann", NULL, ++shares, false, PRIORITY_UNSET}};
    assert_int_equal(world_apply(w, event, NULL), 0);
}

/* script: "s3 e4.5 c7 .60": a submission at 3 s, the end of a task at 4.5, a change by an operator at 7; until 60. */
static void play(struct clock_world *x, const char *script)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%s", script);
    for (char *rest, *item = strtok_r(text, " ", &rest); item != NULL; item = strtok_r(NULL, " ", &rest)) {
        go_to(x, strtod(item + 1, NULL));
        switch (item[0]) {
        case 's': (void)world_take(&x->w, world_job("ann")); break;
        case 'e': end_oldest(&x->w); break;
        case 'c': change_something(&x->w); break;
        default: continue;
        }
        turn(x);
    }
}

static void passes_follow_the_rhythm(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings, *script, *passes;
    } rows[] = {
        {"", "s3 s3.5 e5 c7 .200", "0 3 3.5 5 7"},
        {"flush_submit_sec=9 flush_finish_sec=9", "s3 e5 .200", "0 3 5"}, /* they are of another rhythm */
        {"batch_sched_delay=10", "s3 s5 s12 s30 .200", "0 10 20 30"},
        {"batch_sched_delay=10", "s3 e4 s5 c6 s7 .200", "0 4 6 16"},
        {"batch_sched_delay=10", "s10 .200", "0 10"},

        {"pass_rhythm=defer schedule_interval=60", "s3 s5 .130", "0 60 120"},
        {"pass_rhythm=defer sched_interval=30", "s3 .70", "0 30 60"},
        {"pass_rhythm=defer schedule_interval=60", "s3 e10 s11 c20 .145", "0 10 20 80 140"},
        {"pass_rhythm=defer schedule_interval=60 batch_sched_delay=5", "s3 .70", "0 60"},

        {"pass_rhythm=interval schedule_interval=0:0:10", "s3 e4 c5 .35", "0 10 20 30"},
        {"pass_rhythm=interval", "s3 .35", "0 15 30"},
        {"pass_rhythm=interval schedule_interval=10 flush_submit_sec=1", "s3 e4 c5 .25", "0 3 13 23"},
        {"pass_rhythm=interval schedule_interval=10 flush_finish_sec=1", "s3 e4 c5 .25", "0 4 14 24"},
        {"pass_rhythm=interval schedule_interval=10 flush_submit_sec=1 flush_finish_sec=1", "s3 e5 c6 .20", "0 3 5 15"},
        {"pass_rhythm=interval schedule_interval=10 flush_submit_sec=4", "s3 s5 .20", "0 6 16"},
        {"pass_rhythm=interval schedule_interval=10 flush_submit_sec=4 flush_finish_sec=4", "e2 s3 s6 .25", "0 5 9 19"},
        {"pass_rhythm=interval schedule_interval=10 flush_submit_sec=2 flush_finish_sec=9", "e2 s3 .18", "0 4 14"},
        {"pass_rhythm=interval schedule_interval=10 flush_submit_sec=99", "s3 .25", "0 10 20"},
        {"pass_rhythm=interval schedule_interval=10 batch_sched_delay=2 flush_submit_sec=1", "s3 s3.5 .12", "0 3 3.5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clock_world x;
        clock_init(&x, 9, rows[i].settings);
        for (int k = 0; k < 3; k++) (void)world_take(&x.w, world_job("ann"));
        turn(&x);
        play(&x, rows[i].script);
        if (strcmp(x.passes, rows[i].passes) != 0)
            fail_msg("%s: %s: passes at %s, not %s", rows[i].settings, rows[i].script, x.passes, rows[i].passes);
        world_release(&x.w);
    }
}

/* A begin makes a pass due, except that Grid Engine's rhythm has it wait for the interval. */
static void a_begin_waits_for_the_interval_only(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        int64_t start_s;
    } rows[] = {
        {"batch_sched_delay=5", 12},
        {"pass_rhythm=defer schedule_interval=10", 12},
        {"pass_rhythm=interval schedule_interval=10 flush_submit_sec=1", 21},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clock_world x;
        clock_init(&x, 1, rows[i].settings);
        turn(&x);
        go_to(&x, 1);
        struct event job = world_job("ann");
        job.submit = job_with(job.submit, "begin_us=%lld", (long long)(x.begin_us + 12 * SECOND));
        uint32_t id = world_take(&x.w, job);
        turn(&x);
        go_to(&x, 60);
        assert_non_null(world_task(&x.w, id, 0));
        assert_int_equal(world_task(&x.w, id, 0)->launch_us, x.begin_us + rows[i].start_s * SECOND);
        world_release(&x.w);
    }
}

static void a_change_of_the_rhythm_takes_effect(void **unused)
{
    (void)unused;
    struct clock_world x;
    clock_init(&x, 1, "pass_rhythm=interval schedule_interval=100");
    turn(&x);
    go_to(&x, 5);
    (void)world_take(&x.w, world_job("ann"));
    turn(&x);
    assert_int_equal(state_next_due_us(&x.w.s), x.begin_us + 100 * SECOND);
    world_set(&x.w, "schedule_interval", "10");
    turn(&x);
    assert_int_equal(state_next_due_us(&x.w.s), x.begin_us + 10 * SECOND);
    world_set(&x.w, "pass_rhythm", "defer");
    assert_int_equal(state_next_due_us(&x.w.s), 1);
    turn(&x);
    assert_string_equal(x.passes, "0 5");
    world_release(&x.w);
}

static void the_first_pass_comes_at_once(void **unused)
{
    (void)unused;
    static const enum pass_rhythm all[] = {PASS_RHYTHM_EVENTS, PASS_RHYTHM_DEFER, PASS_RHYTHM_INTERVAL};
    struct settings s = settings_defaults();
    s.value[SET_BATCH_SCHED_DELAY].number = 10;
    for (int i = 0; i < 3; i++) {
        struct rhythm r = {0};
        s.value[SET_PASS_RHYTHM].number = all[i];
        assert_int_equal(rhythm_due_us(&r, &s, true, 0), 1);
        rhythm_note_submission(&r, 1000 * SECOND);
        assert_int_equal(rhythm_due_us(&r, &s, true, 0), 1);
        r.last_pass_us = 999 * SECOND;
        assert_true(rhythm_due_us(&r, &s, true, 0) > 1000 * SECOND);
        rhythm_restart(&r);
        assert_int_equal(rhythm_due_us(&r, &s, true, 0), 1);
    }
}

static void use_plan(struct clock_world *x, struct ticket_plan *plan)
{
    assert_non_null(plan);
    ticket_plan_run(plan);
    struct event event = {.kind = EVENT_TIME, .time = {"boot-1", plan}};
    assert_int_equal(world_apply(&x->w, event, NULL), 0);
    ticket_plan_free(plan);
}

/* While a thread ranks, submissions are noted for the next pass. A plan that is dropped is made again at once. */
static void a_plan_keeps_the_rhythm(void **unused)
{
    (void)unused;
    struct clock_world x;
    clock_init(&x, 9, "PriorityType=priority/tickets pass_rhythm=interval schedule_interval=100 flush_submit_sec=3");
    turn(&x);
    go_to(&x, 5);
    for (int i = 0; i < 2; i++) (void)world_take(&x.w, world_job("ann"));
    assert_null(ticket_plan_make(&x.w.s, x.w.now_us, 0)); /* not due */
    x.w.now_us = x.begin_us + 7 * SECOND;
    struct ticket_plan *plan = ticket_plan_make(&x.w.s, x.w.now_us, 0);
    x.w.now_us = x.begin_us + 8 * SECOND;
    (void)world_take(&x.w, world_job("ann"));
    x.w.now_us = x.begin_us + 9 * SECOND;
    use_plan(&x, plan);
    assert_int_equal(x.w.s.task_by_launch.count, 2);
    assert_int_equal(state_next_due_us(&x.w.s), x.begin_us + 10 * SECOND); /* of the submission at 8 */

    (void)world_take(&x.w, world_job("bob"));
    x.w.now_us = x.begin_us + 10 * SECOND;
    plan = ticket_plan_make(&x.w.s, x.w.now_us, 0);
    change_something(&x.w);
    use_plan(&x, plan);
    assert_int_equal(x.w.s.task_by_launch.count, 2);
    assert_int_equal(state_next_due_us(&x.w.s), 1);
    turn(&x);
    assert_int_equal(x.w.s.task_by_launch.count, 4);
    assert_int_equal(state_next_due_us(&x.w.s), x.begin_us + 110 * SECOND);
    world_release(&x.w);
}

/* --- Grid Engine 8.1.9, case h5_flush: one slot, jobs of a second ------------------------------------------------- */

/* Seconds after 07:00:00. The end of a job is known about a second after it. */
static const struct recorded {
    const char *settings;
    int first_pass;
    struct {
        int submit, start;
    } jobs[6];
} recorded[] = {
    {"schedule_interval=10", 39, {{42, 49}, {43, 59}, {63, 69}, {64, 79}, {83, 89}, {84, 99}}},
    {"schedule_interval=10 flush_submit_sec=1",
     120,
     {{123, 123}, {125, 135}, {139, 139}, {140, 150}, {154, 154}, {155, 165}}},
    {"schedule_interval=10 flush_submit_sec=1 flush_finish_sec=1",
     185,
     {{190, 190}, {191, 192}, {196, 196}, {197, 198}, {202, 202}, {204, 204}}},
    {"schedule_interval=10 flush_submit_sec=4 flush_finish_sec=4",
     225,
     {{229, 232}, {230, 237}, {241, 243}, {242, 248}, {252, 254}, {253, 259}}},
    {"schedule_interval=30 flush_submit_sec=1 flush_finish_sec=1",
     280,
     {{283, 283}, {285, 285}, {290, 290}, {291, 292}, {296, 296}, {297, 298}}},
};

static void submit_recorded(struct clock_world *x, int at, uint32_t *out_id)
{
    go_to(x, at);
    *out_id = world_take(&x->w, world_job("ann"));
    turn(x);
}

/* Starts are recorded in whole seconds. */
static void assert_started(struct clock_world *x, uint32_t id, int start)
{
    const struct task *k = world_task(&x->w, id, 0);
    if (k == NULL)
        fail_msg("the job to start at %d waits at %g; passes at %s", start,
                 (double)(x->w.now_us - x->begin_us) / SECOND, x->passes);
    double second = (double)(k->launch_us - x->begin_us) / SECOND;
    if (second <= start - 1 || second >= start + 1) fail_msg("started at %g, not %d", second, start);
}

static void starts_are_those_of_grid_engine(void **unused)
{
    (void)unused;
    const double unnoticed_s = 2.2; /* from a start until the end is known */
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        const struct recorded *r = &recorded[i];
        struct clock_world x;
        char settings[TEXT_MAX];
        uint32_t ids[6] = {0};
        snprintf(settings, sizeof settings, "pass_rhythm=interval %s", r->settings);
        clock_init(&x, 1, settings);
        x.w.now_us += r->first_pass * SECOND;
        turn(&x);
        for (int k = 0, next = 0; k < 6; k++) {
            for (; next < 6 && r->jobs[next].submit < r->jobs[k].start + unnoticed_s; next++)
                submit_recorded(&x, r->jobs[next].submit, &ids[next]);
            go_to(&x, r->jobs[k].start + unnoticed_s);
            assert_started(&x, ids[k], r->jobs[k].start);
            world_end(&x.w, ids[k], 0);
            turn(&x);
        }
        world_release(&x.w);
    }
}

/* --- nothing is forgotten ----------------------------------------------------------------------------------------- */

/* Jobs of one CPU, so every waiting job fits while a CPU is free. Returns how many wait, all within the bound. */
static uint32_t assert_none_waits(const struct clock_world *x, int64_t free_since_us, int64_t bound_s)
{
    const struct world *w = &x->w;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        const struct job *j = &w->s.jobs.items[i];
        int64_t since_us = j->accrue_us > free_since_us ? j->accrue_us : free_since_us;
        if (j->ended_us != 0 || j->is_held || idset_first(&j->pending) == NONE || since_us > w->now_us) continue;
        if (w->s.free_cpu_count > 0 && w->now_us - since_us >= bound_s * SECOND && since_us < w->now_us)
            fail_msg("job %u fits and has waited for %g s; passes at %s", j->id,
                     (double)(w->now_us - since_us) / SECOND, x->passes);
        waiting++;
    }
    return waiting;
}

static void disturb(struct clock_world *x, struct rng *rng)
{
    struct world *w = &x->w;
    struct event job = world_job("ann");
    struct job_ref ref = {w->s.next_job_id - 1, NONE};
    enum event_kind kind = rng_below(rng, 2) == 0 ? EVENT_HOLD : EVENT_RELEASE;
    switch (rng_below(rng, 6)) {
    case 0:
    case 1: (void)world_take(w, job); break;
    case 2:
        job.submit =
            job_with(job.submit, "begin_us=%lld", (long long)(w->now_us + (int64_t)rng_below(rng, 20) * SECOND));
        (void)world_take(w, job);
        break;
    case 3:
        if (w->s.task_by_launch.count > 0) end_oldest(w);
        break;
    case 4: (void)world_apply(w, (struct event){.kind = kind, .jobs = {&ref, 1, false}}, NULL); break;
    default: break;
    }
    if (rng_below(rng, 3) > 0) turn(x);
}

static void every_job_that_fits_starts_in_time(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        int64_t bound_s;
    } rows[] = {{"", 1},
                {"batch_sched_delay=7", 7},
                {"PriorityType=priority/tickets batch_sched_delay=7", 7},
                {"pass_rhythm=defer schedule_interval=9", 9},
                {"pass_rhythm=interval schedule_interval=8", 8},
                {"pass_rhythm=interval schedule_interval=8 flush_submit_sec=3", 8},
                {"PriorityType=priority/tickets pass_rhythm=interval schedule_interval=8 flush_finish_sec=20", 8}};
    uint32_t waits = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rng rng = {seed};
        struct clock_world x;
        size_t row = seed % (sizeof rows / sizeof *rows);
        clock_init(&x, 3, rows[row].settings);
        int64_t free_since_us = x.w.now_us;
        for (int step = 1; step <= 300; step++) {
            bool was_full = x.w.s.free_cpu_count == 0;
            x.passes[0] = '\0';
            disturb(&x, &rng);
            if (was_full && x.w.s.free_cpu_count > 0) free_since_us = x.w.now_us;
            if (state_next_due_us(&x.w.s) == 1) turn(&x); /* the turn of the event */
            go_to(&x, step);
            waits += assert_none_waits(&x, free_since_us, rows[row].bound_s + 1);
            engine_forget(&x.w.s);
        }
        world_release(&x.w);
    }
    assert_true(waits > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_follow_the_rhythm),
        cmocka_unit_test(a_begin_waits_for_the_interval_only),
        cmocka_unit_test(a_change_of_the_rhythm_takes_effect),
        cmocka_unit_test(the_first_pass_comes_at_once),
        cmocka_unit_test(a_plan_keeps_the_rhythm),
        cmocka_unit_test(starts_are_those_of_grid_engine),
        cmocka_unit_test(every_job_that_fits_starts_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
