/* Removes ended jobs from the history, and old entries from the audit log: on request, and by itself as the settings
 * history_keep_s and audit_keep_s say. A thread of libuv's pool makes a plan (store_prune_plan); the loop carries it
 * out, a piece at a time, with a pause after each, so that no client waits long for a piece, and clients get the time
 * between.
 *
 *     look, or request -> thread: plan -> piece, pause, piece ... -> the next plan, or done
 *
 * Memory has no jobs that are removed: those that have ended are freed before a plan is made. A job that changes after
 * that (a requeue, a clock that is set) makes the plan stale, and a new one is made. */
#include "base/ensure.h"
#include "base/quantity.h"
#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/uploads.h"
#include "engine/state_rows.h"
#include "exec/clock.h"

enum { FIRST_LOOK_MS = 1000, LOOK_MS = 60000, PERIOD_S = 3600, PAUSE_MS = 20, STALE_MAX = 5, AUDIT_ROWS = 200 };

struct prune {
    struct daemon *d;
    uv_timer_t look_timer, piece_timer;
    uv_work_t work;
    bool is_busy, is_dry_run;
    struct request *request; /* NULL: the daemon does it by itself */
    int64_t before_us, as_of_us;
    int64_t shift_us; /* to be added to before_us: a thread may be reading it */
    struct prune_plan plan;
    uint32_t next_piece, stale_count;
    uint64_t jobs, tasks;                 /* removed so far; of a dry run: that would be */
    uint64_t planned_jobs, planned_tasks; /* of a request: how many in all, as of the first plan */
    bool is_counted;
    int64_t longest_us; /* of a piece */
    struct err err;
    bool has_failed;
    bool is_recorded;     /* in the audit log */
    int64_t next_look_us; /* when the daemon does it by itself next */
    int64_t keep_s;       /* as the settings were at the last look */
};

static void plan(struct prune *p);

/* --- the end ------------------------------------------------------------------------------------------------------ */

static void finish(struct prune *p)
{
    store_prune_plan_release(&p->plan);
    p->plan = (struct prune_plan){0};
    p->next_piece = 0;
    p->is_busy = false;
    if (p->has_failed)
        log_line(LOG_ERROR, "prune-failed", " error=\"%s\"", ERR_SENTENCE(&p->err));
    else if (p->jobs > 0 && !p->is_dry_run)
        log_line(LOG_INFO, "pruned", " jobs=%llu tasks=%llu longest_us=%lld", (unsigned long long)p->jobs,
                 (unsigned long long)p->tasks, (long long)p->longest_us);
    if (p->request != NULL) server_pruned(p->request, p->before_us, p->jobs, p->tasks, p->has_failed ? &p->err : NULL);
    p->request = NULL;
}

/* --- pieces ------------------------------------------------------------------------------------------------------- */

/* A request enters the audit log with its first piece. */
static int prune_piece(struct prune *p)
{
    char before[32], counts[64];
    const struct actor *actor = p->request != NULL ? request_actor(p->request) : NULL;
    if (actor == NULL || p->is_recorded) return store_prune(p->d->store, &p->plan, p->next_piece, NULL, &p->err);
    time_format(before, p->before_us);
    text_format(counts, sizeof counts, "%llu jobs, %llu tasks", (unsigned long long)p->planned_jobs,
                (unsigned long long)p->planned_tasks);
    const struct audit_entry entry = {.at_us = p->d->now_us,
                                      .uid = actor->uid,
                                      .user = actor->user,
                                      .command = "history prune",
                                      .name = "history",
                                      .field = "before",
                                      .before = counts,
                                      .after = before};
    int result = store_prune(p->d->store, &p->plan, p->next_piece, &entry, &p->err);
    p->is_recorded = result == 0;
    return result;
}

static void on_piece(uv_timer_t *timer)
{
    struct prune *p = timer->data;
    if (p->d->is_stopping) return;
    if (p->next_piece == p->plan.pieces.count || p->shift_us != 0) {
        if (p->plan.has_more || p->shift_us != 0)
            plan(p);
        else
            finish(p);
        return;
    }
    const struct prune_piece *piece = &p->plan.pieces.items[p->next_piece];
    uint32_t jobs = piece->job_count, tasks = piece->task_count;
    int64_t begin_us = clock_boot_us();
    int result = prune_piece(p);
    int64_t passed_us = clock_boot_us() - begin_us;
    if (passed_us > p->longest_us) p->longest_us = passed_us;
    if (result == 0) {
        p->jobs += jobs;
        p->tasks += tasks;
        p->next_piece++;
        uploads_look_for_rests(p->d);
        uv_timer_start(&p->piece_timer, on_piece, PAUSE_MS, 0);
    } else if (p->err.code == ERR_CONFLICT && ++p->stale_count <= STALE_MAX) {
        plan(p);
    } else {
        p->has_failed = true;
        finish(p);
    }
}

/* --- the plan ----------------------------------------------------------------------------------------------------- */

static void plan_in_thread(uv_work_t *work)
{
    struct prune *p = work->data;
    const char *directory = p->d->state_dir.path;
    int result = p->is_dry_run ? store_prune_count(directory, p->before_us, &p->jobs, &p->tasks, &p->err)
                               : store_prune_plan(directory, p->before_us, p->as_of_us, &p->plan, &p->err);
    if (result == 0 && p->request != NULL && !p->is_dry_run && !p->is_counted) {
        result = store_prune_count(directory, p->before_us, &p->planned_jobs, &p->planned_tasks, &p->err);
        p->is_counted = true;
    }
    p->has_failed = result != 0;
}

static void plan_done(uv_work_t *work, int status)
{
    struct prune *p = work->data;
    ensure(status == 0);
    if (p->d->is_stopping) return;
    if (p->shift_us != 0)
        plan(p); /* all times have changed meanwhile */
    else if (p->has_failed || p->is_dry_run)
        finish(p);
    else
        uv_timer_start(&p->piece_timer, on_piece, 0, 0);
}

static void plan(struct prune *p)
{
    struct daemon *d = p->d;
    store_prune_plan_release(&p->plan);
    p->plan = (struct prune_plan){0};
    p->next_piece = 0;
    p->as_of_us = d->now_us;
    p->before_us += p->shift_us;
    p->shift_us = 0;
    state_compact_jobs(&d->state);
    state_compact_tasks(&d->state);
    uv_queue_work(&d->loop, &p->work, plan_in_thread, plan_done);
}

static void begin(struct prune *p, struct request *request, int64_t before_us, bool is_dry_run)
{
    p->is_busy = true;
    p->request = request;
    p->before_us = before_us;
    p->shift_us = 0;
    p->is_dry_run = is_dry_run;
    p->jobs = p->tasks = p->stale_count = 0;
    p->longest_us = 0;
    p->has_failed = p->is_recorded = p->is_counted = false;
    plan(p);
}

int daemon_prune(void *context, struct request *request, int64_t before_us, bool is_dry_run, struct err *e)
{
    struct daemon *d = context;
    if (d->prune->is_busy)
        return err_set(e, ERR_UNAVAILABLE, "ended jobs are already being removed from the history; try again later");
    begin(d->prune, request, before_us, is_dry_run);
    return 0;
}

/* --- by itself ---------------------------------------------------------------------------------------------------- */

static void prune_audit(struct daemon *d, int64_t keep_s)
{
    struct err e;
    if (keep_s > 0 && store_prune_audit(d->store, d->now_us - keep_s * US_PER_S, AUDIT_ROWS, &e) < 0)
        log_line(LOG_ERROR, "prune-failed", " error=\"%s\"", ERR_SENTENCE(&e));
}

/* Every PERIOD_S, and when the setting has changed. Entries of the audit log are few: those that are left are removed
 * at the next look. */
static void on_look(uv_timer_t *timer)
{
    struct prune *p = timer->data;
    struct daemon *d = p->d;
    int64_t keep_s = setting_number(&d->state.settings, SET_HISTORY_KEEP_S);
    uv_timer_start(&p->look_timer, on_look, LOOK_MS, 0);
    if (d->is_stopping) return;
    prune_audit(d, setting_number(&d->state.settings, SET_AUDIT_KEEP_S));
    if (keep_s == p->keep_s && d->now_us < p->next_look_us) return;
    if (keep_s > 0 && p->is_busy) return;
    p->keep_s = keep_s;
    p->next_look_us = d->now_us + PERIOD_S * US_PER_S;
    if (keep_s > 0) begin(p, NULL, d->now_us - keep_s * US_PER_S, false);
}

void daemon_shift_prune(struct daemon *d, int64_t shift_us)
{
    struct prune *p = d->prune;
    if (p == NULL) return;
    p->shift_us += shift_us;
    if (p->next_look_us != 0) p->next_look_us += shift_us;
}

void daemon_open_prune(struct daemon *d)
{
    struct prune *p = mem_resize(NULL, 0, sizeof *p);
    d->prune = p;
    p->d = d;
    p->look_timer.data = p->piece_timer.data = p->work.data = p;
    uv_timer_init(&d->loop, &p->look_timer);
    uv_timer_init(&d->loop, &p->piece_timer);
    uv_timer_start(&p->look_timer, on_look, FIRST_LOOK_MS, 0);
}

void daemon_close_prune(struct daemon *d)
{
    if (d->prune == NULL) return;
    store_prune_plan_release(&d->prune->plan);
    mem_free(d->prune);
    d->prune = NULL;
}
