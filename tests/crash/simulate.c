/* Engine and store with a virtual clock and a pretend executor, crashed between any two steps of a turn.
 *
 *     simulate SEED COUNT    COUNT histories; the seed of the first is SEED. A history depends on its seed alone.
 *
 * A history has four parts, of which a crash ends only the first:
 *
 *     daemon     state, outcome, orders in memory: lost by a crash, loaded again from the store
 *     channel    orders and reports on their way: a crash of either side drops them, at any length
 *     executor   launches, which run on (exec/pretend.c); a reboot ends them, known or unknown to anybody
 *     client     what it was answered
 *
 * The daemon's turn is that of daemon/loop.c: reports, requests, pass, commit, orders, answers. In the end the faults
 * stop and all jobs end. Then
 *   1. every job whose submission was answered is in the database and has ended, each of its tasks once;
 *   2. no launch was started twice, and the attempts of a task are those that ran, with a requeue between any two; so a
 *      task that nothing requeues ran at most once;
 *   3. every launch whose end was known has that end, and those times, in the database, or it never ran. What did not
 *      run to an end is NODE_FAIL, or was cancelled;
 *   4. all usage agrees with the records, and the executor keeps no launch;
 *   5. no requeue of an array, which takes several turns, is left unfinished.
 * After every load the hash of the state is the one of the last commit. */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../job_text.h"
#include "base/map.h"
#include "base/rng.h"
#include "engine/dependencies.h"
#include "engine/requeue_ended.h"
#include "exec/executor.h"
#include "store/store.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

enum { TURNS = 60, LAST_TURNS = 4000, TASKS_MAX = 6 };

static const int64_t BEGIN_US = INT64_C(1700000000000000);

/* What became of a launch outside the daemon. */
struct truth {
    uint64_t launch_id;
    uint32_t job_id, task_id;
    bool is_known; /* the executor still has it */
    bool has_end;  /* the executor knew the end, and tells it until it is acknowledged */
    bool is_unavailable;
    bool is_suspended; /* as last ordered */
    struct launch_record end;
};

/* An order on its way to the executor. */
struct order {
    struct decision decision;
    int64_t time_limit_us; /* DECIDE_START */
};

/* A request of a turn that waits for its answer. */
struct waiting {
    uint32_t job_id; /* a submission; 0: another request */
    uint32_t task_count;
    bool is_plain;
};

struct accepted {
    uint32_t job_id, task_count;
};

struct world {
    struct rng rng;
    uint64_t seed;
    int64_t now_us;
    bool has_faults;
    jmp_buf crash;
    uint32_t steps_to_crash;

    /* the daemon */
    char directory[64];
    struct store *store;
    struct state s;
    struct outcome out;
    struct arena arena; /* of a turn */
    bool is_connected, is_synced;
    int64_t turn_us, lost_us;
    ARRAY(uint64_t) known;
    ARRAY(struct waiting) waiting;
    uint64_t committed_hash;

    /* the channel */
    ARRAY(struct order) orders;
    struct executor_reports reports, scratch;

    /* outside */
    struct executor *executor;
    ARRAY(struct truth) truths;
    struct map truth_of_launch;
    char boot_id[32];
    uint32_t boots;
    ARRAY(struct accepted) accepted;
    struct map plain; /* jobs that nothing requeues */

    uint32_t crashes, reboots, losses, failed_commits, launches, requeues, slices, suspensions;
};

static _Noreturn void fail(const struct world *w, const char *what, const char *text)
{
    fprintf(stderr, "seed %llu: %s: %s\n", (unsigned long long)w->seed, what, text);
    exit(1);
}

static _Noreturn void fail_number(const struct world *w, const char *what, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    fail(w, what, text);
}

static uint32_t below(struct world *w, uint32_t n)
{
    return rng_below(&w->rng, n);
}

static bool one_in(struct world *w, uint32_t n)
{
    return below(w, n) == 0;
}

/* A point between two steps, at which the daemon may crash. */
static void step(struct world *w)
{
    if (!w->has_faults || --w->steps_to_crash > 0) return;
    longjmp(w->crash, 1);
}

/* --- the executor ------------------------------------------------------------------------------------------------- */

static struct truth *truth_of(struct world *w, uint64_t launch_id)
{
    uint32_t index = map_get_u64(&w->truth_of_launch, launch_id);
    return index != NONE ? &w->truths.items[index] : NULL;
}

/* Takes what the executor reports into the truth, and sends it if the daemon is connected. */
static void collect_reports(struct world *w)
{
    executor_ready(w->executor, &w->scratch);
    for (uint32_t i = 0; i < w->scratch.list.count; i++) {
        const struct executor_report *r = &w->scratch.list.items[i];
        struct truth *t = r->kind == EXECUTOR_RECORD ? truth_of(w, r->record.id) : NULL;
        if (t != NULL && r->record.phase == LAUNCH_ENDED) {
            t->has_end = true;
            t->end = r->record;
        }
        if (w->is_connected) *array_add(&w->reports.list) = *r;
    }
    array_clear(&w->scratch.list);
}

/* The machine can start nothing now: the launch ends at once, and never ran. */
static void refuse_start(struct world *w, struct truth *t)
{
    t->is_unavailable = t->has_end = true;
    t->end = launch_record_never_ran(t->launch_id, LAUNCH_UNAVAILABLE, "no space left");
    t->end.at_us = w->now_us;
    if (w->is_connected)
        *array_add(&w->reports.list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = t->end};
}

static void start_launch(struct world *w, const struct order *order)
{
    const struct decision *d = &order->decision;
    struct truth *t = truth_of(w, d->launch_id);
    if (t != NULL && !t->is_known) fail_number(w, "a launch that was acknowledged starts again", d->launch_id);
    if (t != NULL) {
        executor_pretend_start(w->executor, d->launch_id, &(struct executor_plan){0}); /* only reports it */
        return;
    }
    map_set_u64(&w->truth_of_launch, d->launch_id, w->truths.count);
    t = array_add(&w->truths);
    *t = (struct truth){.launch_id = d->launch_id, .job_id = d->job_id, .task_id = d->task_id, .is_known = true};
    w->launches++;
    if (w->has_faults && one_in(w, 12)) {
        refuse_start(w, t);
        return;
    }
    const struct executor_plan plan = {.started_us = w->now_us,
                                       .run_us = (int64_t)below(w, 60) * US_PER_S + below(w, 1000000),
                                       .time_limit_us = order->time_limit_us,
                                       .exit_status = one_in(w, 4) ? (int32_t)(1 + below(w, 2)) : 0,
                                       .cpus = 1.0,
                                       .mem_kib = 100};
    executor_pretend_start(w->executor, d->launch_id, &plan);
}

static void acknowledge(struct world *w, uint64_t launch_id)
{
    struct truth *t = truth_of(w, launch_id);
    if (t == NULL) return;
    if (t->is_known && !t->has_end) fail_number(w, "a launch is acknowledged before its end", launch_id);
    t->is_known = false;
    executor_acknowledge(w->executor, launch_id);
}

static void suspend(struct world *w, const struct decision *d)
{
    struct truth *t = truth_of(w, d->launch_id);
    if (t == NULL) return;
    t->is_suspended = d->is_suspended;
    w->suspensions += d->is_suspended;
    executor_suspend(w->executor, d->launch_id, d->is_suspended, d->suspended_us);
}

static void carry_out(struct world *w, const struct order *order)
{
    const struct decision *d = &order->decision;
    switch (d->kind) {
    case DECIDE_START: start_launch(w, order); break;
    case DECIDE_END: executor_end(w->executor, d->launch_id, 0); break;
    case DECIDE_ACKNOWLEDGE: acknowledge(w, d->launch_id); break;
    case DECIDE_TIME_LIMIT: executor_set_time_limit(w->executor, d->launch_id, d->time_limit_s * US_PER_S); break;
    case DECIDE_SUSPENSION: suspend(w, d); break;
    case DECIDE_SIGNAL:
    case DECIDE_WEIGHT: break;
    }
    collect_reports(w);
}

/* The first count orders arrive. */
static void deliver(struct world *w, uint32_t count)
{
    executor_pretend_advance(w->executor, w->now_us);
    collect_reports(w);
    for (uint32_t i = 0; i < count; i++) carry_out(w, &w->orders.items[i]);
    for (uint32_t i = count; i < w->orders.count; i++) w->orders.items[i - count] = w->orders.items[i];
    w->orders.count -= count;
}

static void pass_time(struct world *w)
{
    int64_t max_us = one_in(w, 10) ? 100 * US_PER_S : 5 * US_PER_S;
    w->now_us += 1 + (int64_t)(rng_double(&w->rng) * (double)max_us);
    deliver(w, w->has_faults ? below(w, w->orders.count + 1) : w->orders.count);
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

/* What was on its way arrives up to some point; the rest is lost. */
static void cut_channel(struct world *w)
{
    deliver(w, below(w, w->orders.count + 1));
    array_clear(&w->orders);
    array_clear(&w->reports.list);
    w->is_connected = w->is_synced = false;
}

/* Launches that run end with the machine. Of some not even a record is left. */
static void reboot(struct world *w)
{
    snprintf(w->boot_id, sizeof w->boot_id, "boot %u", ++w->boots);
    w->reboots++;
    for (uint32_t i = 0; i < w->truths.count; i++) {
        struct truth *t = &w->truths.items[i];
        if (!t->is_known || t->has_end) continue;
        executor_pretend_lose(w->executor, t->launch_id, "the machine was restarted");
        collect_reports(w);
        if (!one_in(w, 2)) continue;
        executor_acknowledge(w->executor, t->launch_id);
        t->is_known = t->has_end = false;
    }
}

/* --- the daemon --------------------------------------------------------------------------------------------------- */

static const struct capacity capacity = {4, 0, 8192};

static struct err apply(struct world *w, struct event event, struct event_result *out)
{
    struct event_result unused;
    struct err e = {0};
    if (engine_apply(&w->s, w->turn_us, &event, &w->out, out != NULL ? out : &unused, &e) != 0 && e.code == 0)
        fail(w, "an event is refused", "without a reason");
    return e;
}

static void must_apply(struct world *w, struct event event)
{
    struct err e = apply(w, event, NULL);
    if (e.code != 0) fail(w, "an event is refused", ERR_SENTENCE(&e));
}

static void load(struct world *w)
{
    struct err e;
    state_release(&w->s);
    state_init(&w->s, w->turn_us);
    outcome_clear(&w->out);
    if (store_load(w->store, &w->s, &e) != 0) fail(w, "load", ERR_SENTENCE(&e));
    if (w->committed_hash != 0 && state_hash(&w->s) != w->committed_hash)
        fail(w, "after a load", "the state is not the committed one");
    must_apply(w, (struct event){.kind = EVENT_HOST, .host.has = capacity});
    outcome_clear(&w->out);
}

static void connect(struct world *w)
{
    w->is_connected = true;
    w->lost_us = store_last_commit_us(w->store);
    array_clear(&w->known);
    for (uint32_t i = 0; i < w->truths.count; i++) {
        const struct truth *t = &w->truths.items[i];
        if (t->is_known && t->is_unavailable)
            *array_add(&w->reports.list) = (struct executor_report){.kind = EXECUTOR_RECORD, .record = t->end};
        else if (t->is_known)
            executor_pretend_start(w->executor, t->launch_id, &(struct executor_plan){0});
    }
    executor_pretend_synced(w->executor);
    collect_reports(w);
}

static enum job_state end_state(const struct launch_record *r)
{
    switch (r->end) {
    case LAUNCH_EXITED: return r->exit_status == 0 && r->signal == 0 ? JOB_COMPLETED : JOB_FAILED;
    case LAUNCH_CANCELLED: return JOB_CANCELLED;
    case LAUNCH_TIMED_OUT: return JOB_TIMEOUT;
    case LAUNCH_REFUSED: return JOB_FAILED;
    case LAUNCH_LOST: return JOB_NODE_FAIL;
    case LAUNCH_OUT_OF_MEMORY: return JOB_OUT_OF_MEMORY;
    case LAUNCH_UNAVAILABLE: return JOB_PENDING;
    }
    abort();
}

static void take_record(struct world *w, const struct launch_record *r)
{
    static const enum event_kind kinds[] = {
        [LAUNCH_STARTED] = EVENT_STARTED, [LAUNCH_COMPLETING] = EVENT_COMPLETING, [LAUNCH_ENDED] = EVENT_ENDED};
    *array_add(&w->known) = r->id;
    must_apply(w, (struct event){.kind = kinds[r->phase],
                                 .record = {.launch_id = r->id,
                                            .at_us = r->at_us,
                                            .started_us = r->started_us,
                                            .end = r->phase == LAUNCH_ENDED ? end_state(r) : JOB_PENDING,
                                            .exit_status = r->exit_status,
                                            .signal = r->signal,
                                            .cpu_us = r->cpu_us,
                                            .max_rss_kib = r->max_rss_kib,
                                            .io_bytes = r->io_bytes,
                                            .detail = r->detail}});
}

static void take_synced(struct world *w)
{
    must_apply(w, (struct event){.kind = EVENT_SYNCED,
                                 .synced = {.launch_ids = w->known.items,
                                            .count = w->known.count,
                                            .boot_id = w->boot_id,
                                            .lost_us = w->lost_us}});
    w->is_synced = true;
}

/* Some of the reports that have arrived; the others come in a later turn. */
static void take_reports(struct world *w)
{
    uint32_t count = w->has_faults ? below(w, w->reports.list.count + 1) : w->reports.list.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct executor_report *r = &w->reports.list.items[i];
        if (r->kind == EXECUTOR_RECORD) take_record(w, &r->record);
        if (r->kind == EXECUTOR_SYNCED) take_synced(w);
        step(w);
    }
    for (uint32_t i = count; i < w->reports.list.count; i++)
        w->reports.list.items[i - count] = w->reports.list.items[i];
    w->reports.list.count -= count;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static const struct actor administrator = {1000, 1000, "ann", ROLE_ADMINISTRATOR};

static uint32_t pick_job(struct world *w)
{
    if (w->s.jobs.count == 0 || one_in(w, 10)) return 1 + below(w, w->s.next_job_id);
    return w->s.jobs.items[below(w, w->s.jobs.count)].id;
}

static const struct job_values *pick_submission(struct world *w, struct waiting *out)
{
    static const char *const dependencies[] = {"afterok", "afterany", "afternotok", "after"};
    const struct job_values *job = job_text("name=job|directory=/tmp|command=run|cpus=%u|requeue=0", 1 + below(w, 3));
    out->task_count = 1;
    out->is_plain = one_in(w, 2);
    if (!out->is_plain) job = job_with(job, "requeue=%u|requeue_exit=%s", below(w, 2), one_in(w, 2) ? "1" : "2");
    if (!out->is_plain && one_in(w, 2)) job = job_with(job, "retry=%u:backoff=%us", below(w, 4), below(w, 30));
    if (one_in(w, 6)) return job_with(job, "immediate_s=%u", below(w, 30)); /* one task that waits for nothing */
    if (one_in(w, 4)) {
        out->task_count = 1 + below(w, TASKS_MAX);
        job = job_with(job, "array=0-%u%s", out->task_count - 1, one_in(w, 3) ? "%2" : "");
    }
    if (one_in(w, 3)) job = job_with(job, "time_limit_s=%u", 1 + below(w, 60));
    if (one_in(w, 8)) job = job_with(job, "held=true");
    if (one_in(w, 6)) job = job_with(job, "begin_us=%lld", (long long)(w->now_us + below(w, 100) * US_PER_S));
    if (one_in(w, 4)) job = job_with(job, "dependency=%s:%u", dependencies[below(w, COUNT(dependencies))], pick_job(w));
    return job;
}

static void add_script(struct world *w, uint32_t job_id)
{
    struct str arguments[] = {str("run")}, environment[] = {str("HOME=/home/ann")};
    struct job_script script = {{"#!/bin/sh\n", 10}, "run", arguments, 1, environment, 1, false};
    store_add_script(w->store, job_id, &script);
}

/* Applies an event that may refer to jobs that have ended. */
static bool apply_with_ends(struct world *w, struct event *event, struct event_result *result)
{
    const uint32_t *ids = NULL;
    uint32_t count = dependencies_list_ended(&w->s, event, &w->arena, &ids);
    struct event_end *ends = arena_alloc(&w->arena, (count + (size_t)1) * sizeof *ends);
    for (uint32_t i = 0; i < count; i++) {
        if (store_job_end(w->store, ids[i], &ends[i], NULL) != 0) fail_number(w, "no end of job", ids[i]);
    }
    event->ends = ends;
    event->end_count = count;
    struct err e = apply(w, *event, result);
    for (uint32_t i = 0; i < count; i++) store_job_end_release(&ends[i]);
    return e.code == 0;
}

/* Requeues a job that may have ended long ago. */
static bool apply_requeue(struct world *w, struct event *event, struct event_result *result)
{
    const uint32_t *ids = NULL;
    uint32_t count = requeue_ended_list(&w->s, event, &w->arena, &ids);
    struct event_ended_job *jobs = arena_alloc(&w->arena, (count + (size_t)1) * sizeof *jobs);
    for (uint32_t i = 0; i < count; i++) {
        if (store_ended_job(w->store, &w->s, ids[i], &w->arena, &jobs[i], NULL) != 0)
            fail_number(w, "no row of the ended job", ids[i]);
    }
    event->ended_jobs = jobs;
    event->ended_job_count = count;
    bool is_done = apply(w, *event, result).code == 0;
    for (uint32_t i = 0; i < count; i++) store_ended_job_release(&jobs[i]);
    return is_done;
}

/* The requeues of arrays that earlier turns have begun, also before a crash. Returns whether there are any. */
static bool find_requeues(struct world *w, struct store_unfinished_requeue *out_first)
{
    struct store_unfinished_requeue *list;
    uint32_t count;
    if (store_unfinished_requeues(w->store, &w->arena, &list, &count, NULL) != 0) fail(w, "requeues", "not readable");
    if (count > 0) *out_first = list[0];
    return count > 0;
}

static void go_on_with_requeues(struct world *w)
{
    struct store_unfinished_requeue u;
    if (!find_requeues(w, &u) || (w->has_faults && one_in(w, 2))) return;
    struct job_ref ref = {u.job_id, NONE};
    struct event event = {
        .kind = EVENT_REQUEUE,
        .actor = administrator,
        .jobs = {.refs = &ref, .count = 1, .holds = u.is_held, .task_max = 1 + below(w, 2), .task_first = u.task_next}};
    if (apply_requeue(w, &event, NULL)) w->slices++;
    step(w);
}

static void request_submission(struct world *w)
{
    struct waiting waiting = {0};
    struct event_result result = {0};
    struct event event = {.kind = EVENT_SUBMIT, .actor = administrator, .submit = pick_submission(w, &waiting)};
    if (!apply_with_ends(w, &event, &result)) return; /* it depends on nothing that there is */
    waiting.job_id = result.job_id;
    add_script(w, result.job_id);
    *array_add(&w->waiting) = waiting;
}

static void request_change(struct world *w)
{
    static const enum event_kind kinds[] = {EVENT_CANCEL,  EVENT_HOLD,    EVENT_RELEASE, EVENT_REQUEUE, EVENT_RELEASE,
                                            EVENT_SUSPEND, EVENT_SUSPEND, EVENT_SUSPEND, EVENT_RESUME,  EVENT_RESUME};
    struct job_ref ref = {pick_job(w), one_in(w, 6) ? below(w, TASKS_MAX) : NONE};
    struct event event = {.kind = kinds[below(w, COUNT(kinds))],
                          .actor = administrator,
                          .jobs = {.refs = &ref, .count = 1, .all = one_in(w, 60), .holds = one_in(w, 4)}};
    bool is_plain = map_get_u64(&w->plain, ref.job_id) != NONE;
    if (event.kind != EVENT_REQUEUE) {
        (void)apply(w, event, NULL);
        return;
    }
    if (is_plain || event.jobs.all) return;
    if (ref.task_id == NONE) event.jobs.task_max = below(w, 3);
    if (apply_requeue(w, &event, NULL)) w->requeues++;
}

static void request_time_limit(struct world *w)
{
    struct event event = {.kind = EVENT_UPDATE,
                          .actor = administrator,
                          .update = {pick_job(w), job_text("time_limit_s=%u", 1 + below(w, 90))}};
    (void)apply_with_ends(w, &event, NULL);
}

static void take_requests(struct world *w)
{
    uint32_t count = w->has_faults ? below(w, 4) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pick = below(w, 10);
        if (pick < 5)
            request_submission(w);
        else if (pick < 9)
            request_change(w);
        else
            request_time_limit(w);
        step(w);
    }
}

/* --- the turn ----------------------------------------------------------------------------------------------------- */

/* The commit fails: as if nothing had been decided in this turn. */
static void recover(struct world *w)
{
    w->failed_commits++;
    store_abandon(w->store);
    array_clear(&w->waiting);
    load(w);
    cut_channel(w);
}

/* Returns whether the turn is in the database. */
static bool commit(struct world *w)
{
    struct err e;
    bool has_changes = w->out.changes.count > 0 || w->out.conditions.count > 0 || w->out.journal.count > 0;
    if (!has_changes) return true;
    if (w->has_faults && one_in(w, 40)) {
        recover(w);
        return false;
    }
    if (store_commit(w->store, &w->s, &w->out, w->turn_us, &e) != 0) fail(w, "commit", ERR_SENTENCE(&e));
    w->committed_hash = state_hash(&w->s);
    return true;
}

static void act(struct world *w)
{
    for (uint32_t i = 0; i < w->out.decisions.count && w->is_connected; i++) {
        struct order order = {.decision = w->out.decisions.items[i]};
        uint32_t job = state_find_job(&w->s, order.decision.job_id);
        if (order.decision.kind == DECIDE_START) {
            if (job == NONE) continue; /* it ended in the same turn */
            order.time_limit_us = w->s.jobs.items[job].time_limit_s * US_PER_S;
        }
        *array_add(&w->orders) = order;
        step(w);
    }
}

static void answer(struct world *w)
{
    for (uint32_t i = 0; i < w->waiting.count; i++) {
        const struct waiting *r = &w->waiting.items[i];
        if (r->job_id != 0) *array_add(&w->accepted) = (struct accepted){r->job_id, r->task_count};
        if (r->is_plain) map_set_u64(&w->plain, r->job_id, 1);
        step(w);
    }
    array_clear(&w->waiting);
}

static void turn(struct world *w)
{
    arena_clear(&w->arena);
    if (w->now_us > w->turn_us) w->turn_us = w->now_us;
    if (!w->is_connected) connect(w);
    take_reports(w);
    go_on_with_requeues(w);
    take_requests(w);
    if (w->is_synced) must_apply(w, (struct event){.kind = EVENT_TIME, .time = {w->boot_id, NULL}});
    step(w);
    if (!commit(w)) return;
    step(w);
    act(w);
    outcome_clear(&w->out);
    answer(w);
    engine_forget(&w->s);
    if (w->has_faults && one_in(w, 50)) {
        w->losses++;
        cut_channel(w);
    }
}

static void plan_crash(struct world *w)
{
    w->steps_to_crash = 1 + below(w, 120);
}

static void restart(struct world *w)
{
    struct err e;
    w->crashes++;
    cut_channel(w);
    if (one_in(w, 5)) reboot(w);
    if (one_in(w, 3)) w->now_us += (int64_t)below(w, 200) * US_PER_S;
    executor_pretend_advance(w->executor, w->now_us);
    collect_reports(w);
    array_clear(&w->waiting);
    store_close(w->store);
    w->store = store_open(w->directory, w->now_us, &e);
    if (w->store == NULL) fail(w, "open", ERR_SENTENCE(&e));
    w->turn_us = w->now_us > store_last_commit_us(w->store) ? w->now_us : store_last_commit_us(w->store);
    load(w);
    plan_crash(w);
}

static void run_with_faults(struct world *w)
{
    volatile int left = TURNS;
    w->has_faults = true;
    plan_crash(w);
    if (setjmp(w->crash) != 0) restart(w);
    while (left-- > 0) {
        pass_time(w);
        turn(w);
    }
    w->has_faults = false;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static bool is_idle(struct world *w)
{
    struct store_unfinished_requeue unused;
    if (find_requeues(w, &unused)) return false;
    for (uint32_t i = 0; i < w->truths.count; i++) {
        if (w->truths.items[i].is_known) return false;
    }
    for (uint32_t i = 0; i < w->s.jobs.count; i++) {
        if (w->s.jobs.items[i].ended_us == 0) return false;
    }
    return true;
}

/* What the executor does is what the database says, once no order is on its way. */
static void check_suspensions(struct world *w)
{
    for (uint32_t i = 0; i < w->s.tasks.count; i++) {
        const struct task *k = &w->s.tasks.items[i];
        const struct truth *t = truth_of(w, k->launch_id);
        bool is_wanted = k->state == JOB_SUSPENDED;
        if (job_state_is_end(k->state) || k->state == JOB_COMPLETING || t == NULL || t->has_end) continue;
        if (t->is_suspended != is_wanted) fail_number(w, "a launch is not suspended, or resumed", k->launch_id);
    }
}

static void run_to_the_end(struct world *w)
{
    enum { TURNS_TO_SETTLE = 40 };
    int left = LAST_TURNS;
    while (!is_idle(w) && left-- > 0) {
        pass_time(w);
        if (left == LAST_TURNS - TURNS_TO_SETTLE) check_suspensions(w);
        if (left % 16 == 0 && left < LAST_TURNS - TURNS_TO_SETTLE) {
            w->turn_us = w->now_us > w->turn_us ? w->now_us : w->turn_us;
            must_apply(w, (struct event){.kind = EVENT_RELEASE, .actor = administrator, .jobs = {.all = true}});
            must_apply(w, (struct event){.kind = EVENT_RESUME, .actor = administrator, .jobs = {.all = true}});
        }
        turn(w);
    }
    if (left <= 0) fail(w, "in the end", "something never ends");
}

static void check_verified(struct world *w)
{
    struct verify_report report;
    struct err e;
    if (store_verify(w->directory, &w->arena, &report, &e) != 0) fail(w, "verify", ERR_SENTENCE(&e));
    if (report.differences.count > 0) fail(w, "verify: the usage differs", report.differences.items[0].tres);
    array_release(&report.differences);
}

/* The rows of the tasks, in the order of their attempts. */
struct row {
    uint32_t job_id, task_id;
    uint64_t launch_id;
    bool is_requeued, is_node_fail;
    const char *state;
    int64_t start_us, end_us;
};

static _Noreturn void fail_times(const struct world *w, const struct row *r, const struct launch_record *end)
{
    char text[200];
    snprintf(text, sizeof text, "%llu, from %lld to %lld, in the database from %lld to %lld",
             (unsigned long long)r->launch_id, (long long)end->started_us, (long long)end->at_us,
             (long long)r->start_us, (long long)r->end_us);
    fail(w, "the times of a launch", text);
}

static void check_row(struct world *w, const struct row *r)
{
    struct truth *t = truth_of(w, r->launch_id);
    bool is_end_known = t != NULL && t->has_end;
    bool is_cancelled = strcmp(r->state, "CANCELLED") == 0;
    if (is_end_known && t->is_unavailable) {
        if ((!is_cancelled && !r->is_requeued) || r->start_us != 0)
            fail_number(w, "a launch that never ran has a row", r->launch_id);
        return;
    }
    if (!is_end_known) {
        if (r->is_requeued || r->is_node_fail || is_cancelled) return;
        fail_number(w, "a launch that was lost has an end of its own", r->launch_id);
    }
    t->is_known = true; /* from here on: it has a row */
    if (t->end.started_us != r->start_us || t->end.at_us != r->end_us) fail_times(w, r, &t->end);
    if (!r->is_requeued && strcmp(job_state_name(end_state(&t->end)), r->state) != 0)
        fail_number(w, "a launch has another end than in the database", r->launch_id);
}

/* Between two attempts of a task there is a requeue, and plain jobs have one attempt. */
static void check_order(struct world *w, const struct row *r, const struct row *last)
{
    bool is_next = last->job_id == r->job_id && last->task_id == r->task_id;
    if (is_next && !last->is_requeued) fail_number(w, "a task runs again without a requeue, job", r->job_id);
    if (is_next && map_get_u64(&w->plain, r->job_id) != NONE)
        fail_number(w, "a job that nothing requeues was requeued", r->job_id);
}

static void check_tasks(struct world *w, sqlite3 *db)
{
    sqlite3_stmt *q;
    struct row last = {0};
    const char *text = "SELECT job_id, task_id, launch_id, state, coalesce(start_us, 0), coalesce(end_us, 0) FROM task "
                       "ORDER BY job_id, task_id, restarts";
    if (sqlite3_prepare_v2(db, text, -1, &q, NULL) != SQLITE_OK) fail(w, text, sqlite3_errmsg(db));
    while (sqlite3_step(q) == SQLITE_ROW) {
        struct row r = {.job_id = (uint32_t)sqlite3_column_int64(q, 0),
                        .task_id = (uint32_t)sqlite3_column_int64(q, 1),
                        .launch_id = (uint64_t)sqlite3_column_int64(q, 2),
                        .state = (const char *)sqlite3_column_text(q, 3),
                        .start_us = sqlite3_column_int64(q, 4),
                        .end_us = sqlite3_column_int64(q, 5)};
        r.is_requeued = strcmp(r.state, "REQUEUED") == 0;
        r.is_node_fail = strcmp(r.state, "NODE_FAIL") == 0;
        check_row(w, &r);
        check_order(w, &r, &last);
        last = r;
    }
    sqlite3_finalize(q);
}

/* Each launch that ran to a known end has a row. */
static void check_truths(const struct world *w)
{
    for (uint32_t i = 0; i < w->truths.count; i++) {
        const struct truth *t = &w->truths.items[i];
        if (t->has_end && !t->is_unavailable && !t->is_known) fail_number(w, "a launch has no row", t->launch_id);
    }
}

static int64_t number_of(struct world *w, sqlite3 *db, const char *text, uint32_t job_id)
{
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(db, text, -1, &q, NULL) != SQLITE_OK) fail(w, text, sqlite3_errmsg(db));
    sqlite3_bind_int64(q, 1, job_id);
    int64_t number = sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : -1;
    sqlite3_finalize(q);
    return number;
}

static void check_accepted(struct world *w, sqlite3 *db)
{
    for (uint32_t i = 0; i < w->accepted.count; i++) {
        const struct accepted *a = &w->accepted.items[i];
        if (number_of(w, db, "SELECT ended_us IS NOT NULL FROM job WHERE id = ?", a->job_id) != 1)
            fail_number(w, "an accepted job has not ended", a->job_id);
        int64_t tasks = number_of(w, db, "SELECT count(DISTINCT task_id) FROM task WHERE job_id = ?", a->job_id);
        if (tasks > a->task_count) fail_number(w, "more tasks ran than were submitted, job", a->job_id);
    }
}

/* Also after crashes; jobs that were requeued may wait. */
static void check_immediate(struct world *w, sqlite3 *db)
{
    char text[300];
    text_format(
        text, sizeof text,
        "SELECT coalesce(max(job_id), 0) FROM task JOIN job ON job.id = job_id WHERE restarts = 0 AND "
        "immediate_s IS NOT NULL AND launch_us >= submit_us + iif(immediate_s > 0, immediate_s, %d) * %lld AND ? = 0",
        IMMEDIATE_PASS_MAX_S, (long long)US_PER_S);
    int64_t job_id = number_of(w, db, text, 0);
    if (job_id != 0) fail_number(w, "an immediate job started late", (uint64_t)job_id);
}

static void check_database(struct world *w)
{
    char path[100];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/fairlead.db", w->directory);
    if (sqlite3_open(path, &db) != SQLITE_OK) fail(w, path, sqlite3_errmsg(db));
    check_tasks(w, db);
    check_truths(w);
    check_accepted(w, db);
    check_immediate(w, db);
    sqlite3_close(db);
}

/* --- histories ---------------------------------------------------------------------------------------------------- */

static void empty_directory(const char *directory)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-lock"};
    char path[100];
    for (size_t i = 0; i < COUNT(tails); i++) {
        snprintf(path, sizeof path, "%s/fairlead.db%s", directory, tails[i]);
        unlink(path);
    }
}

static void begin(struct world *w, uint64_t seed, const char *directory)
{
    struct err e;
    struct event_pair pairs[] = {{"kill_invalid_depend", "true"}, {"requeue_delay_s", "5"}};
    *w = (struct world){.rng = {seed}, .seed = seed, .now_us = BEGIN_US, .turn_us = BEGIN_US, .boot_id = "boot 0"};
    snprintf(w->directory, sizeof w->directory, "%s", directory);
    w->store = store_open(directory, BEGIN_US, &e);
    if (w->store == NULL) fail(w, "open", ERR_SENTENCE(&e));
    w->executor = executor_open_plans(BEGIN_US, seed % 3 == 0 ? 0 : 2 * US_PER_S);
    load(w);
    must_apply(w, (struct event){.kind = EVENT_SETTINGS, .actor = administrator, .settings = {pairs, COUNT(pairs)}});
    if (!commit(w)) fail(w, "begin", "nothing is committed");
    outcome_clear(&w->out);
}

static void release(struct world *w)
{
    store_close(w->store);
    executor_close(w->executor);
    state_release(&w->s);
    outcome_release(&w->out);
    arena_release(&w->arena);
    array_release(&w->known);
    array_release(&w->waiting);
    array_release(&w->orders);
    array_release(&w->reports.list);
    array_release(&w->scratch.list);
    array_release(&w->truths);
    array_release(&w->accepted);
    map_release(&w->truth_of_launch);
    map_release(&w->plain);
}

static void run_history(struct world *w, uint64_t seed, const char *directory)
{
    empty_directory(directory);
    begin(w, seed, directory);
    run_with_faults(w);
    run_to_the_end(w);
    check_verified(w);
    check_database(w);
}

int main(int argc, char **argv)
{
    uint64_t first = argc == 3 ? strtoull(argv[1], NULL, 10) : 0, count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t jobs = 0, launches = 0, crashes = 0, reboots = 0, losses = 0, failed = 0, requeues = 0, slices = 0,
             suspensions = 0;
    char in_memory[] = "/dev/shm/fairlead-simulate-XXXXXX", on_disk[] = "/tmp/fairlead-simulate-XXXXXX";
    if (count == 0) {
        fprintf(stderr, "usage: simulate SEED COUNT\n");
        return 2;
    }
    char *directory = mkdtemp(in_memory) ? in_memory : mkdtemp(on_disk);
    if (directory == NULL) return 1;
    for (uint64_t seed = first; seed < first + count; seed++) {
        static struct world w;
        run_history(&w, seed, directory);
        jobs += w.accepted.count;
        launches += w.launches;
        crashes += w.crashes;
        reboots += w.reboots;
        losses += w.losses;
        failed += w.failed_commits;
        requeues += w.requeues;
        slices += w.slices;
        suspensions += w.suspensions;
        release(&w);
    }
    empty_directory(directory);
    rmdir(directory);
    printf(
        "%llu histories: %llu jobs accepted, %llu launches, %llu requeued by hand, in %llu more pieces; %llu crashes, %llu reboots, "
        "%llu connections lost, %llu commits failed\n",
        (unsigned long long)count, (unsigned long long)jobs, (unsigned long long)launches, (unsigned long long)requeues,
        (unsigned long long)slices, (unsigned long long)crashes, (unsigned long long)reboots,
        (unsigned long long)losses, (unsigned long long)failed);
    return crashes > count && launches > count ? 0 : 1; /* otherwise the histories are too short */
}
