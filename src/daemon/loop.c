/* The loop. A turn is five steps, always in this order:
 *
 *     read     take the requests and the executor's reports that libuv's callbacks have read, as events
 *     decide   EVENT_RESET if a period has ended; then engine_apply for each event, EVENT_CALENDARS and EVENT_LOAD the
 *              last ones; then, if the executor is synced, EVENT_TIME, the scheduling pass (ranking_thread.c)
 *     commit   all changed rows, in one transaction
 *     act      send the decisions to the executor; append to the schedule file
 *     answer   the requests
 *
 * Invariants
 *   1. The daemon acts and answers only after the commit.
 *   2. If a commit fails, its turn has no effect: the state is loaded again from the store, all requests of the turn
 *      that were not refused are answered with the error, and the executor is connected again, so that it repeats its
 *      reports.
 *   3. An ended launch is acknowledged only after the commit of its end.
 *
 * A turn serves no other client, so its length is the delay of all clients: 20 ms at 10^5 jobs (ARCHITECTURE.md).
 * Whatever takes longer runs in a thread: ranking (ranking_thread.c), verification (verify_thread.c); or in a process
 * with a copy of the state: plans of all jobs (snapshot_process.c); or is cut into slices, one in a turn: requests
 * about many jobs (bulk_changes.c), and storing long scripts (uploads.c). Programs of the site run in threads, too
 * (submit_hooks.c). */
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "base/ensure.h"
#include "base/quantity.h"
#include "daemon/daemon.h"
#include "daemon/enforcement.h"
#include "daemon/gpus.h"
#include "daemon/known_users.h"
#include "daemon/log.h"
#include "daemon/reset_period.h"
#include "daemon/start_orders.h"
#include "daemon/use.h"
#include "engine/ticket_plan.h"
#include "engine/wait_leaders.h"
#include "exec/clock.h"
#include "exec/service_manager.h"

enum { USAGE_ROWS = 1000 }; /* of one turn: 5 ms */
enum { ALIVE_MS = 60000, DUE_MAX_MS = 60000 };

/* At least a second passes between two measurements of pretend jobs, which use the same all the time. */
enum { PRETEND_MEASUREMENT_S = 1 };

static void turn(struct daemon *d);

/* Time that never goes backwards, except when the daemon follows a clock that was set (daemon_follow_clock). */
static int64_t clock_now(struct daemon *d)
{
    int64_t now_us = daemon_clock_us(&d->clock);
    if (now_us > d->now_us) d->now_us = now_us;
    return d->now_us;
}

/* --- read and decide ---------------------------------------------------------------------------------------------- */

static void decide_upload(struct daemon *d, struct decided_requests *requests)
{
    const struct upload *upload = uploads_next_done(d);
    if (upload == NULL) return;
    struct decided_request *decided = array_add(&requests->list);
    decided->request = upload->request;
    decided->is_refused = upload->has_failed;
    decided->err = upload->err;
    if (upload->has_failed)
        err_prefix(&decided->err, "nothing was changed: the state cannot be written");
    else
        decided_request_apply(d, decided, upload);
}

/* The slice of a bulk change that an earlier turn has begun comes after them: they are few jobs. */
static void decide_requests(struct daemon *d, struct decided_requests *requests)
{
    daemon_begin_bulk_turn(d);
    decide_upload(d, requests);
    submit_hooks_decide(d, requests);
    for (struct request *r = server_take(d->server); r != NULL; r = server_take(d->server)) {
        if (daemon_take_bulk(d, r, requests) || submit_hooks_take(d, r) || uploads_take(d, r)) continue;
        struct decided_request *decided = array_add(&requests->list);
        decided->request = r;
        decided_request_apply(d, decided, NULL);
    }
    daemon_advance_bulk(d, requests);
}

static enum job_state end_state(const struct launch_record *r)
{
    switch (r->end) {
    case LAUNCH_EXITED: return r->exit_status == 0 && r->signal == 0 ? JOB_COMPLETED : JOB_FAILED;
    case LAUNCH_CANCELLED: return JOB_CANCELLED;
    case LAUNCH_TIMED_OUT: return JOB_TIMEOUT;
    case LAUNCH_REFUSED: return JOB_FAILED;
    case LAUNCH_LOST: return JOB_NODE_FAIL;
    case LAUNCH_UNAVAILABLE: return JOB_PENDING;
    case LAUNCH_OUT_OF_MEMORY: return JOB_OUT_OF_MEMORY;
    }
    ensure(!"a launch_end without a case");
    return JOB_FAILED;
}

/* Applies an event that does not come from a request. */
static void apply_internal(struct daemon *d, const struct event *event)
{
    struct err e;
    if (engine_apply(&d->state, d->now_us, event, &d->outcome, NULL, &e) != 0)
        log_line(LOG_ERROR, "refused", " kind=%d error=\"%s\"", event->kind, ERR_SENTENCE(&e));
}

/* When a launch of an earlier boot ended whose end is not known: its daemon ran until its last commit, at least. */
static int64_t lost_us(const struct daemon *d, const struct launch_record *r, int64_t at_us)
{
    uint32_t index = map_get_u64(&d->state.task_by_launch, r->id);
    if (r->phase != LAUNCH_ENDED || r->end != LAUNCH_LOST || index == NONE) return at_us;
    return strcmp(d->state.tasks.items[index].boot_id, d->machine.boot_id) == 0 ? at_us : d->lost_us;
}

static void decide_record(struct daemon *d, const struct launch_record *r)
{
    bool is_of_this_boot = r->boot[0] != '\0' && strcmp(r->boot, d->machine.boot_id) == 0;
    int64_t at_us = daemon_time_of(d, r->at_boot_us, is_of_this_boot, r->at_us);
    int64_t started_us = daemon_time_of(d, r->started_boot_us, is_of_this_boot, r->started_us);
    static const enum event_kind kinds[] = {
        [LAUNCH_STARTED] = EVENT_STARTED, [LAUNCH_COMPLETING] = EVENT_COMPLETING, [LAUNCH_ENDED] = EVENT_ENDED};
    struct event event = {.kind = kinds[r->phase],
                          .record = {.launch_id = r->id,
                                     .at_us = lost_us(d, r, at_us),
                                     .started_us = r->started_us != 0 && started_us <= 0 ? 1 : started_us,
                                     .end = r->phase == LAUNCH_ENDED ? end_state(r) : JOB_PENDING,
                                     .exit_status = r->exit_status,
                                     .signal = r->signal,
                                     .cpu_us = r->cpu_us,
                                     .max_rss_kib = r->max_rss_kib,
                                     .io_bytes = r->io_bytes,
                                     .detail = r->detail}};
    log_line(LOG_DEBUG, "record", " launch=%llu phase=%d", (unsigned long long)r->id, r->phase);
    /* It is lost here alone: EVENT_SYNCED ends its task, as one that may run elsewhere. */
    if (d->elsewhere != NULL && r->phase == LAUNCH_ENDED && r->end == LAUNCH_LOST) return;
    daemon_check_launch(d, r->id);
    *array_add(&d->known_launches) = r->id;
    apply_internal(d, &event);
}

static void decide_usage(struct daemon *d, const struct launch_usage *u)
{
    struct event event = {.kind = EVENT_MEASURED,
                          .measured = {.launch_id = u->id,
                                       .at_us = daemon_time_of(d, u->at_us, true, u->at_us),
                                       .cpu_us = u->cpu_us,
                                       .io_bytes = u->io_bytes,
                                       .mem_kib = u->mem_kib}};
    apply_internal(d, &event);
}

static void decide_synced(struct daemon *d)
{
    struct event event = {.kind = EVENT_SYNCED,
                          .synced = {.launch_ids = d->known_launches.items,
                                     .count = d->known_launches.count,
                                     .boot_id = d->machine.boot_id,
                                     .lost_us = d->lost_us,
                                     .elsewhere = d->elsewhere}};
    log_line(LOG_INFO, "executor-synced", " launches=%u", d->known_launches.count);
    apply_internal(d, &event);
    d->is_synced = true;
}

/* Resets usage if a boundary has passed since the last reset, or since the period was set; the last boundary stands for
 * all that were missed. This comes first in a turn, because later events of the turn charge usage past the boundary. A
 * reset cannot be earlier than the last commit, which is after the boundary only if the time zone has changed. */
static void decide_reset(struct daemon *d)
{
    enum usage_reset period = (enum usage_reset)setting_number(&d->state.settings, SET_USAGE_RESET);
    if (period == USAGE_RESET_NONE) return;
    int64_t boundary_us = reset_period_begin_us(period, d->now_us), last_us = store_last_commit_us(d->store);
    if (boundary_us <= d->state.reset_period_us) return;
    log_line(LOG_INFO, "usage-reset", " boundary=%lld", (long long)(boundary_us / US_PER_S));
    apply_internal(d, &(struct event){.kind = EVENT_RESET, .reset_us = boundary_us > last_us ? boundary_us : last_us});
}

static struct event load_event(const struct daemon *d)
{
    return (struct event){.kind = EVENT_LOAD, .load = {.values = d->loads.list.items, .count = d->loads.list.count}};
}

/* A pretend cluster reports none of the machine. */
static void decide_machine(struct daemon *d)
{
    const struct event gpus = {.kind = EVENT_HOST, .host = gpus_host(d)};
    if (gpus_take_changes(d)) apply_internal(d, &gpus);
    if (d->pretend != NULL || !daemon_update_loads(d)) return;
    const struct event event = load_event(d);
    apply_internal(d, &event);
}

static struct event calendars_event(const struct daemon *d)
{
    return (struct event){.kind = EVENT_CALENDARS, .calendars = {d->calendars.items, d->calendars.count}};
}

/* After the requests of the turn, and before its pass. */
static void decide_calendars(struct daemon *d)
{
    if (!daemon_update_calendars(d)) return;
    const struct event event = calendars_event(d);
    apply_internal(d, &event);
}

/* The pass. It requires a synced executor: EVENT_SYNCED takes a task that is not in the executor's reports for one that
 * never ran, so none may start before it. While there is no executor, jobs stay pending, so that cancelling them ends
 * them at once. If there are many tasks to rank (TICKET_PLAN_TASKS_MIN), a thread ranks them, and a later turn runs the
 * pass. */
static void decide_starts(struct daemon *d)
{
    if (d->state.policy.model != MODEL_TICKETS) ranking_thread_abandon(d); /* the other models use no plan */
    if (d->ranking != NULL || (d->plan == NULL && ranking_thread_begin(d, turn))) return;
    struct event event = {.kind = EVENT_TIME, .time = {.boot_id = d->machine.boot_id, .plan = d->plan}};
    daemon_bulk_keep_back(d, &event);
    apply_internal(d, &event);
    ticket_plan_free(d->plan);
    d->plan = NULL;
}

/* Returns whether the connection to the executor is lost. */
static bool decide_reports(struct daemon *d)
{
    bool is_gone = false;
    for (uint32_t i = 0; i < d->reports.list.count; i++) {
        const struct executor_report *report = &d->reports.list.items[i];
        switch (report->kind) {
        case EXECUTOR_RECORD: decide_record(d, &report->record); break;
        case EXECUTOR_SYNCED: decide_synced(d); break;
        case EXECUTOR_ENFORCES: d->enforcement = report->enforcement; break;
        case EXECUTOR_USAGE: decide_usage(d, &report->usage); break;
        case EXECUTOR_PROCESS: use_take_process(d, &report->process); break;
        case EXECUTOR_SAMPLED: use_take_end(d, &report->sampled); break;
        case EXECUTOR_GONE: is_gone = true; break;
        }
    }
    array_clear(&d->reports.list);
    return is_gone;
}

/* The next rows whose usage was converted. After a commit that failed, they wait for the next turn that something else
 * begins. */
static void decide_usage_rows(struct daemon *d)
{
    if (!d->writes_usage_rows) return;
    d->writes_usage_rows = false;
    apply_internal(d, &(struct event){.kind = EVENT_USAGE_ROWS, .row_count = USAGE_ROWS});
}

/* --- commit and answer -------------------------------------------------------------------------------------------- */

/* This machine's capacity and load. */
static int report_machine(struct daemon *d, struct outcome *outcome, struct err *e)
{
    const struct event host = {.kind = EVENT_HOST, .host = gpus_host(d)}, load = load_event(d);
    if (engine_apply(&d->state, d->now_us, &host, outcome, NULL, e) != 0) return -1;
    return engine_apply(&d->state, d->now_us, &load, outcome, NULL, e);
}

/* Hosts of a pretend cluster are added at a start, when the changes of d->outcome are committed before all others. */
static int load_state(struct daemon *d, bool is_start, struct err *e)
{
    state_release(&d->state);
    state_init(&d->state, d->now_us);
    if (store_load(d->store, &d->state, e) != 0) return -1;
    if (is_start) gpus_begin(d);
    struct outcome unused = {0};
    int result = d->pretend != NULL ? daemon_report_pretend_hosts(d, is_start, is_start ? &d->outcome : &unused, e)
                                    : report_machine(d, &unused, e);
    daemon_make_calendars(d);
    const struct event calendars = calendars_event(d);
    if (result == 0) result = engine_apply(&d->state, d->now_us, &calendars, &unused, NULL, e);
    outcome_release(&unused);
    state_prepare(&d->state);
    malloc_trim(0); /* what only loading needed: a fifth of the memory of 100,000 jobs */
    return result;
}

/* Loads the state again, or makes the daemon stop. A disk that fails for a moment is tried again. */
static void reload_state(struct daemon *d)
{
    enum { TRIES = 10 };
    struct err e;
    struct launch_backoff backoff = d->state.launch_backoff;
    const char *no_launcher = d->state.no_launcher;
    ranking_thread_abandon(d);
    int result = load_state(d, false, &e);
    for (int i = 1; result != 0 && i < TRIES; i++) {
        log_line(LOG_ERROR, "load-failed", " try=%d error=\"%s\"", i, ERR_SENTENCE(&e));
        uv_sleep(DAEMON_RETRY_MS);
        result = load_state(d, false, &e);
    }
    if (result == 0) {
        if (map_get_u64(&d->state.task_by_launch, backoff.probe_id) == NONE) backoff.probe_id = 0;
        d->state.launch_backoff = backoff; /* not stored: the machine is the same */
        d->state.no_launcher = no_launcher;
    } else {
        log_line(LOG_ERROR, "load-failed", " try=last error=\"%s\"", ERR_SENTENCE(&e));
        d->is_stopping = true;
        d->exit_status = 1;
    }
}

/* Between two turns, when state and database are the same: follows a clock that was set, so that whatever comes next
 * has the time that people look at. */
static void follow_clock(struct daemon *d)
{
    clock_now(d);
    if (!daemon_follow_clock(d)) return;
    reload_state(d);
    daemon_begin_commit_log(d); /* what is in it has the times of before */
    server_times_changed(d->server);
}

/* Likewise the name of a user who was renamed. */
static void follow_user(struct daemon *d)
{
    if (!daemon_take_new_name(d) && !known_users_follow(d)) return;
    reload_state(d);
    daemon_begin_commit_log(d); /* what is in it has the name of before */
}

static void settle_gaps(struct daemon *d)
{
    for (uint32_t i = 0; i < d->gap_orders.count; i++) {
        struct err e;
        const struct gap_order *order = &d->gap_orders.items[i];
        int result = daemon_settle_gap(d, order->counts, request_actor(order->request), &e);
        if (result == 0) reload_state(d);
        if (result == 0) daemon_begin_commit_log(d);
        if (result == 0) server_times_changed(d->server);
        server_settled(order->request, result != 0 ? &e : NULL);
    }
    array_clear(&d->gap_orders);
}

/* Undoes the turn after a failed commit: invariant 2. */
static void recover(struct daemon *d, struct decided_requests *requests, const struct err *cause)
{
    struct err e = *cause;
    log_line(LOG_ERROR, "commit-failed", " error=\"%s\"", ERR_SENTENCE(&e));
    text_format(d->write_failure, sizeof d->write_failure, "%s", ERR_SENTENCE(&e));
    store_abandon(d->store);
    (void)store_checkpoint(d->store); /* on a full disk the log can start again, without growing */
    outcome_clear(&d->outcome);
    daemon_fail_bulk(d, requests);
    for (uint32_t i = 0; i < requests->list.count; i++) {
        struct decided_request *decided = &requests->list.items[i];
        if (decided->is_refused) continue;
        decided->is_refused = true;
        decided->err = e;
        if (decided->committed_count == 0)
            err_prefix(&decided->err, "nothing was changed: the state cannot be written");
        else
            err_prefix(&decided->err, "only %u of the jobs were changed: the state cannot be written",
                       decided->committed_count);
    }
    reload_state(d);
    daemon_resume_requeues(d);
    daemon_drop_executor(d, DAEMON_RETRY_MS); /* while the disk is full, committing its reports fails again */
}

static void answer(struct daemon *d, struct decided_requests *requests)
{
    for (uint32_t i = 0; i < requests->list.count; i++) {
        const struct decided_request *decided = &requests->list.items[i];
        server_answer(decided->request, &decided->result, decided->is_refused ? &decided->err : NULL);
    }
    array_release(&requests->list);
    server_committed(d->server);
}

static void on_server_timer(uv_timer_t *timer);

static void on_server_idle(uv_idle_t *idle)
{
    struct daemon *d = idle->data;
    on_server_timer(&d->server_timer);
}

/* A timer of 0 ms that its own callback starts again would run for ever, without a look at what else has arrived. */
static void schedule_server_timer(struct daemon *d)
{
    int64_t timeout_ms = server_timeout_ms(d->server);
    if (timeout_ms == 0)
        uv_idle_start(&d->server_idle, on_server_idle);
    else
        uv_idle_stop(&d->server_idle);
    if (timeout_ms <= 0)
        uv_timer_stop(&d->server_timer);
    else
        uv_timer_start(&d->server_timer, d->server_timer.timer_cb, (uint64_t)timeout_ms, 0);
}

/* The earlier of two times; 0 is never. */
static int64_t earlier_of(int64_t a_us, int64_t b_us)
{
    return a_us == 0 || (b_us != 0 && b_us < a_us) ? b_us : a_us;
}

static bool may_start_jobs(const struct daemon *d)
{
    return d->is_synced && !daemon_bulk_keeps_starts(d) && !known_users_has_holds(d);
}

/* When a turn is due even if no event arrives: for a pass, for measurements, for new times of calendars, or at
 * the end of a reset period. 0: never. While a thread ranks, no pass is due, because the thread's end begins a turn. */
static int64_t next_turn_us(const struct daemon *d, int64_t now_us)
{
    enum usage_reset period = (enum usage_reset)setting_number(&d->state.settings, SET_USAGE_RESET);
    bool may_start = may_start_jobs(d) && d->ranking == NULL;
    int64_t due_us = may_start ? state_next_due_us(&d->state) : 0;
    int64_t boundary_us = period != USAGE_RESET_NONE ? reset_period_end_us(period, now_us) : 0;
    due_us = earlier_of(earlier_of(due_us, boundary_us), earlier_of(d->next_measurement_us, d->next_load_us));
    return earlier_of(earlier_of(due_us, d->next_calendars_us), daemon_next_pretend_us(d));
}

/* Orders a measurement every load_report_time while tasks run. The answers come as reports of later turns. */
static void order_measurement(struct daemon *d)
{
    int64_t period_us = setting_number(&d->state.settings, SET_GE_LOAD_REPORT_TIME) * US_PER_S;
    int64_t min_us = d->clock.speed * PRETEND_MEASUREMENT_S * US_PER_S; /* 0 without a pretend cluster */
    if (period_us < min_us) period_us = min_us;
    bool has_tasks = d->executor != NULL && d->is_synced && d->state.task_by_launch.count > 0;
    if (has_tasks && d->next_measurement_us != 0 && d->next_measurement_us <= d->now_us) {
        executor_measure(d->executor);
        d->next_measurement_us = 0;
    }
    int64_t next_us = d->now_us + period_us;
    d->next_measurement_us = has_tasks ? earlier_of(d->next_measurement_us, next_us) : 0;
}

/* libuv's timers use the monotonic clock, which stands still while the machine sleeps. So the timer is set for at most
 * DUE_MAX_MS. */
static void schedule_due_timer(struct daemon *d)
{
    int64_t now_us = clock_now(d), due_us = next_turn_us(d, now_us);
    if (due_us == 0) {
        uv_timer_stop(&d->due_timer);
        return;
    }
    uint64_t wait_ms = daemon_clock_wait_ms(&d->clock, due_us - now_us);
    uv_update_time(&d->loop);
    uv_timer_start(&d->due_timer, d->due_timer.timer_cb, wait_ms < DUE_MAX_MS ? wait_ms : DUE_MAX_MS, 0);
}

/* A bulk change goes on once in each round of libuv's loop, between two looks at the server; so do the rows of
 * usage, while there is none. The rows that it has ended are freed in rounds of their own. */
static void on_bulk_idle(uv_idle_t *idle)
{
    struct daemon *d = idle->data;
    if (engine_forget(&d->state)) return;
    d->bulk.is_resumed = true;
    d->writes_usage_rows = d->bulk.list.count == 0;
    turn(d);
}

/* has_failed: the commit of this turn. */
static void schedule_bulk(struct daemon *d, bool has_failed)
{
    bool has_bulk = d->bulk.list.count > 0 && !(has_failed && daemon_bulk_is_resumed_requeue(d));
    bool has_usage_rows = d->state.conversions.list.count > 0 && !has_failed;
    bool has_holds = known_users_has_holds(d) && !has_failed;
    if (has_bulk || has_usage_rows || has_holds)
        uv_idle_start(&d->bulk_idle, on_bulk_idle);
    else
        uv_idle_stop(&d->bulk_idle);
}

static void turn(struct daemon *d)
{
    struct decided_requests requests = {0};
    struct err e;
    follow_clock(d);
    follow_user(d);
    settle_gaps(d);
    decide_reset(d);
    known_users_hold(d);
    daemon_advance_pretend(d);
    bool is_gone = decide_reports(d);
    daemon_report_pretend_changes(d);
    decide_requests(d, &requests);
    decide_calendars(d);
    decide_machine(d);
    decide_usage_rows(d);
    if (may_start_jobs(d)) decide_starts(d);

    if (d->pretend == NULL) store_set_boot(d->store, d->machine.boot_id, d->clock.boot_us);
    bool has_changes = outcome_has_rows(&d->outcome);
    uint64_t begin_ns = uv_hrtime();
    bool has_failed = has_changes && store_commit(d->store, &d->state, &d->outcome, d->now_us, &e) != 0;
    if (has_failed)
        recover(d, &requests, &e);
    else if (has_changes)
        d->write_failure[0] = '\0';
    daemon_end_bulk_turn(d, (int64_t)(uv_hrtime() - begin_ns) / 1000);
    uploads_end_turn(d, has_changes, has_failed);
    daemon_log_commit(d);
    daemon_copy_long_log(d);
    if (d->is_synced) daemon_end_identification(d);
    daemon_act(d);
    const struct buf *lines = &d->outcome.schedule_lines;
    schedule_file_append(&d->schedule_file, d->state_dir.path, (struct str){lines->text, lines->length}, d->now_us);
    outcome_clear(&d->outcome);
    answer(d, &requests);
    daemon_log_launch_failure(d);
    if (d->bulk.list.count == 0 && d->bulk.units == 0) engine_forget(&d->state);
    if (is_gone)
        daemon_drop_executor(d, d->is_synced ? 0 : DAEMON_RETRY_MS); /* wait if it ended before it was synced */
    order_measurement(d);
    use_follow_settings(d);
    start_orders_schedule(d);
    daemon_watch_executor(d);
    schedule_server_timer(d);
    schedule_due_timer(d);
    if (d->reports.list.count > 0) uv_timer_start(&d->due_timer, d->due_timer.timer_cb, 0, 0); /* of launches.c */
    schedule_bulk(d, has_failed);
}

/* --- callbacks of libuv ------------------------------------------------------------------------------------------- */

static void on_server(uv_poll_t *poll, int status, int events)
{
    struct daemon *d = poll->data;
    (void)status, (void)events;
    follow_clock(d); /* requests that only read are answered at once */
    daemon_look_up_user(d);
    server_ready(d->server);
    turn(d);
}

static void on_server_timer(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    follow_clock(d);
    server_ready(d->server);
    turn(d);
}

static void on_due_timer(uv_timer_t *timer)
{
    turn(timer->data);
}

/* While jobs run, a commit is at most ALIVE_MS old: after a crash of the machine, its time is the last one at which the
 * jobs are known to have run, and they are charged up to it. */
static void on_alive_timer(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    follow_clock(d);
    if (d->state.task_by_launch.count == 0) return;
    *array_add(&d->outcome.changes) = (struct change){TABLE_COUNTERS, 0};
    turn(d);
}

/* --- opening and closing ------------------------------------------------------------------------------------------ */

static int64_t host_now(void *context)
{
    return clock_now(context);
}

static void host_settle_gap(void *context, struct request *request, bool counts)
{
    struct daemon *d = context;
    *array_add(&d->gap_orders) = (struct gap_order){request, counts};
}

static int open_server(struct daemon *d, struct err *e)
{
    struct server_host host = {.context = d,
                               .state = &d->state,
                               .jobs = store_job_reader(d->store),
                               .audit = store_audit_reader(d->store),
                               .now_us = host_now,
                               .identify = daemon_identify_client,
                               .verify = daemon_verify,
                               .run_in_thread = daemon_run_in_thread,
                               .run_in_snapshot = daemon_run_in_snapshot,
                               .prune = daemon_prune,
                               .move_in = daemon_move_in,
                               .backup = daemon_backup,
                               .measure_use = d->pretend == NULL ? use_measure : NULL,
                               .read_ends = daemon_read_ends,
                               .release_ends = daemon_release_ends,
                               .read_script = daemon_read_script,
                               .check_program = daemon_check_program,
                               .check_comment = d->pretend != NULL ? daemon_check_pretend_comment : NULL,
                               .describe_sensors = daemon_describe_sensors,
                               .describe_outside = use_describe_outside,
                               .list_enforcement = enforcement_list,
                               .list_gpus = gpus_list,
                               .describe_gpus = gpus_describe,
                               .state_directory = d->state_dir.path,
                               .socket_path = d->state_dir.socket_path,
                               .serves_all = d->is_system,
                               .host_name = d->machine.name,
                               .started_us = &d->started_us,
                               .recovery = &d->recovery,
                               .last_recovery = daemon_last_recovery,
                               .write_failure = d->write_failure,
                               .launcher_failure = d->launcher_failure,
                               .terminals = d->terminals,
                               .describe_clock = daemon_describe_clock,
                               .settle_gap = d->pretend == NULL ? host_settle_gap : NULL,
                               .pretend_path = d->pretend != NULL ? d->pretend->path : NULL,
                               .speed = d->pretend != NULL ? d->pretend->speed : 1};
    d->server = server_open(d->state_dir.socket_path, &host, e);
    return d->server != NULL ? 0 : -1;
}

static void init_handles(struct daemon *d)
{
    uv_timer_init(&d->loop, &d->server_timer);
    uv_timer_init(&d->loop, &d->retry_timer);
    uv_timer_init(&d->loop, &d->alive_timer);
    uv_timer_init(&d->loop, &d->due_timer);
    uv_idle_init(&d->loop, &d->bulk_idle);
    uv_idle_init(&d->loop, &d->server_idle);
    d->bulk_idle.data = d->server_idle.data = d;
    uploads_init(d);
    daemon_init_signals(d);
    d->server_timer.data = d->retry_timer.data = d->alive_timer.data = d->due_timer.data = d;
    d->due_timer.timer_cb = on_due_timer;
    d->server_timer.timer_cb = on_server_timer;
}

enum { FILES_MIN = 32 }; /* for the loop, the database, the launcher and a few clients */

/* The files of a directory may have been copied into one of the other kind. */
static int check_kind(struct daemon *d, struct err *e)
{
    bool is_real = store_instance_id(d->store)[0] != '\0', is_pretend = store_is_pretend(d->store);
    if (d->pretend == NULL && is_pretend)
        return err_set(e, ERR_INPUT,
                       "the database in %s is that of a pretend cluster, so its jobs must not really run: give "
                       "--pretend FILE and its directory, or another --state",
                       d->state_dir.path);
    if (d->pretend != NULL && is_real)
        return err_set(e, ERR_INPUT, "the database in %s has real jobs: give another --state for a pretend instance",
                       d->state_dir.path);
    if (d->pretend != NULL) store_set_pretend(d->store);
    return 0;
}

/* A daemon that was killed cannot log why it ended. */
static void log_former_end(const struct daemon *d)
{
    char last[32];
    if (d->state_dir.former_pid == 0) return;
    time_format(last, d->lost_us);
    log_line(LOG_WARNING, "former-ended", " pid=%lld last_commit=%s reason=\"%s\"", d->state_dir.former_pid, last,
             d->is_first_of_boot ? "the machine was restarted" : "it was killed, or has failed (see the lines above)");
}

int daemon_open(struct daemon *d, const struct config *config, struct err *e)
{
    if (d->pretend != NULL && daemon_clock_open(&d->clock, d->state_dir.path, d->pretend->speed, e) != 0) return -1;
    clock_now(d);
    getrlimit(RLIMIT_NOFILE, &d->file_limit);
    if (d->file_limit.rlim_cur < FILES_MIN)
        return err_set(e, ERR_UNAVAILABLE, "%llu files may be open at once; at least %d are needed (ulimit -n)",
                       (unsigned long long)d->file_limit.rlim_cur, FILES_MIN);
    ensure(uv_loop_init(&d->loop) == 0);
    d->loop.data = d;
    own_threads_begin(&d->threads, &d->loop);
    init_handles(d);
    d->turn = turn;
    if (submit_hooks_open(d, e) != 0) return -1;
    daemon_open_loads(d);
    daemon_open_users(d);
    use_open(d);
    gpus_open(d);
    if (daemon_read_mark(d, e) != 0) return -1;
    d->store = store_open(d->state_dir.path, d->now_us, e);
    if (d->store == NULL || check_kind(d, e) != 0) return -1;
    store_leave_copying(d->store);
    d->found_commit = store_commit_number(d->store);
    if (known_users_open(d, e) != 0) return -1;
    const char *last_boot = store_clock(d->store)->boot_id;
    d->is_first_of_boot = last_boot[0] != '\0' && strcmp(last_boot, d->machine.boot_id) != 0;
    if (daemon_start_clock(d, e) != 0 || daemon_follow_user(d, "start", e) != 0) return -1;
    d->lost_us = store_last_commit_us(d->store);
    state_init(&d->state, d->now_us);
    if (load_state(d, true, e) != 0) return -1;
    decide_reset(d);
    if (daemon_recover(d, e) != 0 || daemon_identify(d, e) != 0 || daemon_hold_jobs_of_removed(d, e) != 0) return -1;
    if (daemon_apply_config(d, config, e) != 0) return -1;
    wait_leaders_prepare(&d->state, d->now_us, UINT32_MAX); /* for the first listing */
    daemon_begin_commit_log(d);
    if (daemon_open_executor(d, e) != 0 || open_server(d, e) != 0) return -1;
    ensure(uv_poll_init(&d->loop, &d->server_poll, server_descriptor(d->server)) == 0);
    d->server_poll.data = d;
    uv_poll_start(&d->server_poll, UV_READABLE, on_server);
    daemon_watch_signals(d);
    uv_timer_start(&d->alive_timer, on_alive_timer, ALIVE_MS, ALIVE_MS);
    daemon_open_prune(d);
    daemon_open_move_in(d);
    daemon_resume_requeues(d);
    schedule_server_timer(d);
    log_former_end(d);
    const struct capacity *has = &d->state.hosts.items[LOCAL_HOST_INDEX].host.has;
    log_line(LOG_INFO, "ready", " state=%s socket=%s cpus=%u mem_mib=%llu gpus=%u jobs=%u", d->state_dir.path,
             d->state_dir.socket_path, has->cpus, (unsigned long long)has->mem_mib, has->gpus, d->state.jobs.count);
    service_manager_ready("Serving %s at %s", d->is_system ? "all users" : "one user", d->state_dir.socket_path);
    return 0;
}

int daemon_run(struct daemon *d)
{
    turn(d);
    while (!d->is_stopping) uv_run(&d->loop, UV_RUN_ONCE);
    return d->exit_status;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_loop(struct daemon *d)
{
    if (d->loop.data == NULL) return;
    load_sensors_stop(d->sensors);
    gpus_stop(d);
    daemon_end_snapshots(d);
    submit_hooks_stop(d);
    own_threads_end(&d->threads);
    daemon_close_executor_poll(d);
    uv_walk(&d->loop, close_handle, d);
    uv_run(&d->loop, UV_RUN_DEFAULT); /* waits for a verification or a ranking that is running */
    uv_loop_close(&d->loop);
}

void daemon_close(struct daemon *d)
{
    known_users_close(d);
    daemon_close_users(d);
    close_loop(d);
    daemon_close_loads(d);
    daemon_close_calendars(d);
    daemon_close_prune(d);
    daemon_close_move_in(d);
    ranking_thread_abandon(d);
    start_orders_drop(d);
    if (d->server != NULL) daemon_close_bulk(d);
    if (d->server != NULL) uploads_close(d);
    submit_hooks_close(d);
    if (d->server != NULL) server_close(d->server);
    use_end(d);
    if (d->executor != NULL) executor_close(d->executor);
    if (d->store != NULL) store_close(d->store);
    use_close(d);
    gpus_close(d);
    state_release(&d->state);
    machine_release(&d->machine);
    outcome_release(&d->outcome);
    array_release(&d->reports.list);
    array_release(&d->known_launches);
    array_release(&d->gap_orders);
    daemon_clock_close(&d->clock);
    if (d->pretend != NULL) pretend_release(d->pretend);
    buf_release(&d->recovery);
    commit_log_close(&d->commit_log);
    buf_release(&d->commit_lines);
    arena_release(&d->arena);
}
