/* Replies to requests after the daemon has decided and committed them, and to verifications. */
#include "api/server/internal.h"
#include "base/ensure.h"
#include "engine/dependency_targets.h"
#include "engine/wait_lasting.h"

/* Looks up a job or task that is not live. Returns false if it never existed; else out_state is its state, or with
 * several rows that of one of them, and out_row_count is 1, or 2 for 2 or more. */
static bool find_ended(const struct request *r, struct job_ref ref, enum job_state *out_state, uint32_t *out_row_count)
{
    struct server *s = r->server;
    struct err e;
    struct job_row row;
    struct job_query query = job_query_of(ref, &ref.job_id);
    query.limit = 2;
    server_restrict_query(r, &query);
    void *cursor = s->host.jobs.open(s->host.jobs.context, &query, &e);
    *out_row_count = 0;
    for (int result; cursor != NULL && *out_row_count < 2 && (result = s->host.jobs.next(cursor, &row, &e)) > 0;) {
        if (result > 1) continue; /* not yet */
        *out_state = (enum job_state)job_row_number(&row, JOB_FIELD_STATE);
        *out_row_count += 1;
    }
    if (cursor != NULL) s->host.jobs.close(cursor);
    return *out_row_count > 0;
}

void server_explain_job(struct request *r, struct job_ref ref, struct err *e)
{
    char id[JOB_ID_TEXT_SIZE], job_id[JOB_ID_TEXT_SIZE];
    uint32_t row_count;
    enum job_state state;
    struct job_ref job = {ref.job_id, NONE};
    job_id_format(id, ref.job_id, ref.task_id);
    job_id_format(job_id, ref.job_id, NONE);
    if (find_ended(r, ref, &state, &row_count)) {
        const char *subject = ref.task_id == NONE ? "job" : "task";
        if (row_count > 1)
            (void)err_subject(e, ERR_CONFLICT, subject, str(id), "has already ended");
        else
            (void)err_subject(e, ERR_CONFLICT, subject, str(id), "has already ended (%s)", job_state_name(state));
    } else if (ref.task_id != NONE && find_ended(r, job, &state, &row_count)) {
        (void)err_subject(e, ERR_NOT_FOUND, "job", str(job_id), "has no task %u", ref.task_id);
    } else {
        server_explain_missing(r, ref.job_id, e);
    }
}

static void explain_not_found(struct request *r, const struct job_ref *refs, uint32_t count, struct err *e)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_hidden = server_hides_job(r, refs[i].job_id);
        if (server_job_is_live(r->server->host.state, refs[i]) && !is_hidden) continue;
        server_explain_job(r, refs[i], e);
        return;
    }
}

/* EVENT_REQUEUE knows the jobs that have ended, but not those that were removed from the history. */
static bool explain_removed(struct request *r, struct job_ref ref, struct err *e)
{
    const struct job_ref job = {ref.job_id, NONE};
    enum job_state state;
    uint32_t row_count;
    bool is_live = server_job_is_live(r->server->host.state, job) && !server_hides_job(r, ref.job_id);
    if (is_live || find_ended(r, job, &state, &row_count)) return false;
    server_explain_missing(r, ref.job_id, e);
    return true;
}

/* The database is asked about the first refusals only, because no other request is served meanwhile. */
static struct wire_list refused_of(struct request *r, const struct jobs_report *report)
{
    enum { EXPLAINED_MAX = 100 };
    struct api_refused *rows = arena_alloc(&r->arena, (report->refused_count + (size_t)1) * sizeof *rows);
    for (uint32_t i = 0; i < report->refused_count; i++) {
        const struct job_refusal *refusal = &report->refused[i];
        char id[JOB_ID_TEXT_SIZE];
        struct err e;
        job_id_format(id, refusal->ref.job_id, refusal->ref.task_id);
        rows[i] = (struct api_refused){arena_copy(&r->arena, str(id)), err_name(refusal->code), refusal->message};
        if (refusal->code != ERR_NOT_FOUND || i >= EXPLAINED_MAX) continue;
        if (r->event->kind != EVENT_REQUEUE)
            server_explain_job(r, refusal->ref, &e);
        else if (!explain_removed(r, refusal->ref, &e))
            continue;
        rows[i].name = err_name(e.code);
        rows[i].message = arena_copy(&r->arena, str(ERR_SENTENCE(&e)));
    }
    return (struct wire_list){rows, report->refused_count};
}

static struct wire_list changed_of(struct request *r, const struct jobs_report *report)
{
    const char **ids = arena_alloc(&r->arena, (report->changed_count + (size_t)1) * sizeof *ids);
    for (uint32_t i = 0; i < report->changed_count; i++) {
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, report->changed[i].job_id, report->changed[i].task_id);
        ids[i] = arena_copy(&r->arena, str(id));
    }
    return (struct wire_list){ids, report->changed_count};
}

/* A reply that lists many jobs is rendered by a thread of the host. Until then the request's arena belongs to it. */
struct rendering {
    struct request *request;
    struct api_count counted;
};

static void render_in_thread(void *rendering)
{
    const struct rendering *w = rendering;
    reply_write(w->request, w->request->route->status, &api_count_shape, &w->counted);
}

static void rendered(void *rendering)
{
    struct rendering *w = rendering;
    ensure(w->request->stage == STAGE_RENDERING);
    request_unpark(w->request);
}

/* Returns whether the request has its reply; else it gets it later. */
static bool reply_count(struct request *r, const struct event_result *result)
{
    enum { ROWS_AT_ONCE = 1000 };
    const struct server_host *host = &r->server->host;
    const struct event_jobs *jobs = &r->event->jobs;
    struct api_count counted = {.count = result->job_count};
    if (jobs->report != NULL) counted.refused = refused_of(r, jobs->report);
    if (jobs->is_dry_run) counted.jobs = changed_of(r, jobs->report);
    if (host->run_in_thread == NULL || (counted.refused.count <= ROWS_AT_ONCE && counted.jobs.count <= ROWS_AT_ONCE)) {
        reply_write(r, r->route->status, &api_count_shape, &counted);
        return true;
    }
    struct rendering *w = arena_alloc(&r->arena, sizeof *w);
    *w = (struct rendering){r, counted};
    r->stage = STAGE_RENDERING;
    host->run_in_thread(host->context, render_in_thread, rendered, w);
    return false;
}

static void reply_refusal(struct request *r, const struct err *cause)
{
    struct err e = *cause;
    const struct event *event = r->event;
    if (e.code == ERR_NOT_FOUND) {
        struct job_ref updated = {event->update.job_id, NONE};
        if (event->kind == EVENT_UPDATE) explain_not_found(r, &updated, 1, &e);
        bool is_of_live = event->kind >= EVENT_CANCEL && event->kind < EVENT_UPDATE && event->kind != EVENT_REQUEUE;
        if (is_of_live) explain_not_found(r, event->jobs.refs, event->jobs.count, &e);
        for (uint32_t i = 0; event->kind == EVENT_REQUEUE && i < event->jobs.count; i++) {
            if (explain_removed(r, event->jobs.refs[i], &e)) break;
        }
    }
    reply_error(r, &e);
}

/* What keeps a job waiting until a limit or the job changes; false: nothing. The job may have been started or changed
 * since, by another event of the same commit. */
static bool find_lasting(struct request *r, uint32_t job_id, struct wait_lasting *out)
{
    struct state *s = r->server->host.state;
    uint32_t job = state_find_job(s, job_id);
    if (job == NONE || idset_first(&s->jobs.items[job].pending) == NONE) return false;
    int64_t now_us = r->server->host.now_us(r->server->host.context);
    return wait_lasting_find(s, &s->jobs.items[job], now_us, &r->arena, out);
}

/* Right after its submission, by the setting kill_invalid_depend. */
static bool was_cancelled_by_rule(const struct state *s, uint32_t job_id)
{
    uint32_t row = dependency_target_row(s, job_id);
    return row != NONE && s->jobs.items[row].is_cancelled_by_rule;
}

static void reply_submitted(struct request *r, uint32_t job_id)
{
    char location[sizeof API_JOBS + 24];
    struct wait_lasting wait;
    struct api_submitted submitted = {.job_id = job_id};
    if (find_lasting(r, job_id, &wait)) {
        submitted.limit = wait.text;
        submitted.limit_field = job_field_at(wait.field)->name;
    } else if (was_cancelled_by_rule(r->server->host.state, job_id)) {
        submitted.limit = "its dependencies can never be met, so that it was cancelled (kill_invalid_depend)";
    }
    reply_write(r, r->route->status, &api_submitted_shape, &submitted);
    text_format(location, sizeof location, "%s/%u", API_JOBS, job_id);
    MHD_add_response_header(r->reply, MHD_HTTP_HEADER_LOCATION, location);
}

static void reply_updated(struct request *r, bool is_time_exempt)
{
    struct wait_lasting wait;
    struct api_updated updated = {.ok = true, .is_time_exempt = is_time_exempt};
    if (find_lasting(r, r->event->update.job_id, &wait)) {
        updated.limit = wait.text;
        updated.limit_field = job_field_at(wait.field)->name;
    }
    reply_write(r, r->route->status, &api_updated_shape, &updated);
}

/* As reply_count. */
static bool reply_success(struct request *r, const struct event_result *result)
{
    const struct api_done done = {true};
    switch (r->event->kind) {
    case EVENT_SUBMIT: reply_submitted(r, result->job_id); return true;
    case EVENT_CANCEL:
    case EVENT_HOLD:
    case EVENT_RELEASE:
    case EVENT_REQUEUE:
    case EVENT_SUSPEND:
    case EVENT_RESUME:
    case EVENT_SIGNAL: return reply_count(r, result);
    case EVENT_UPDATE: reply_updated(r, result->is_time_exempt); return true;
    default: reply_write(r, r->route->status, &api_done_shape, &done); return true;
    }
}

void server_answer(struct request *r, const struct event_result *result, const struct err *e)
{
    ensure(r->stage == STAGE_TAKEN);
    if (e != NULL) {
        reply_refusal(r, e);
    } else if (!reply_success(r, result)) {
        return;
    }
    request_unpark(r);
}

int server_get_verify(struct request *r, struct err *e)
{
    if (request_read_query(r, NULL, e) != 0) return -1;
    if (r->is_head) {
        reply_head(r, TYPE_JSON);
        return 0;
    }
    request_park(r, STAGE_VERIFYING);
    r->server->host.verify(r->server->host.context, r);
    return 0;
}

void server_verified(struct request *r, struct str body, const struct err *e)
{
    ensure(r->stage == STAGE_VERIFYING);
    if (e != NULL) {
        reply_error(r, e);
    } else {
        struct buf copy = {0};
        buf_add_str(&copy, body);
        buf_add_char(&copy, '\n');
        reply_take(r, r->route->status, TYPE_JSON, &copy);
    }
    request_unpark(r);
}
