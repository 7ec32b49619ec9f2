/* Replies to what was decided and committed. */
#include "api/server/internal.h"
#include "base/ensure.h"

/* What became of a job that is not live: 1 with the state of its last row, 0 when there never was such a job or task. */
static int find_ended(struct server *s, struct job_ref ref, enum job_state *out_state, uint32_t *out_rows)
{
    struct err e;
    struct job_row row;
    struct job_query query = job_query_of(ref, &ref.job_id);
    query.limit = 2;
    void *cursor = s->host.jobs.open(s->host.jobs.context, &query, &e);
    *out_rows = 0;
    for (int more; cursor != NULL && *out_rows < 2 && (more = s->host.jobs.next(cursor, &row, &e)) > 0;) {
        if (more > 1) continue; /* not yet */
        *out_state = (enum job_state)job_row_number(&row, JOB_FIELD_STATE);
        *out_rows += 1;
    }
    if (cursor != NULL) s->host.jobs.close(cursor);
    return *out_rows > 0;
}

/* The engine knows only live jobs. For people it makes a difference whether there never was such a job, or it has ended;
 * so the first job of the request that is not live is looked up. */
static void explain_not_found(struct request *r, const struct job_ref *refs, uint32_t count, struct err *e)
{
    for (uint32_t i = 0; i < count; i++) {
        char id[JOB_ID_TEXT_SIZE], job_id[JOB_ID_TEXT_SIZE];
        uint32_t rows;
        enum job_state state;
        struct job_ref whole = {refs[i].job_id, NONE};
        if (server_job_is_live(r->server->host.state, refs[i])) continue;
        job_id_format(id, refs[i].job_id, refs[i].task_id);
        job_id_format(job_id, refs[i].job_id, NONE);
        if (find_ended(r->server, refs[i], &state, &rows)) {
            const char *subject = refs[i].task_id == NONE ? "job" : "task";
            (void)err_subject(e, ERR_CONFLICT, subject, str(id), "has ended already%s%s%s", rows > 1 ? "" : " (",
                              rows > 1 ? "" : job_state_name(state), rows > 1 ? "" : ")");
        } else if (refs[i].task_id != NONE && find_ended(r->server, whole, &state, &rows)) {
            (void)err_subject(e, ERR_NOT_FOUND, "job", str(job_id), "has no task %u", refs[i].task_id);
        } else {
            (void)err_not_found(e, "job", str(job_id));
        }
        return;
    }
}

static void reply_refusal(struct request *r, const struct err *cause)
{
    struct err e = *cause;
    const struct event *event = &r->events[0];
    if (e.code == ERR_NOT_FOUND) {
        struct job_ref updated = {event->update.job_id, NONE};
        if (event->kind == EVENT_UPDATE) explain_not_found(r, &updated, 1, &e);
        if (event->kind == EVENT_CANCEL || event->kind == EVENT_HOLD || event->kind == EVENT_RELEASE)
            explain_not_found(r, event->jobs.refs, event->jobs.count, &e);
    }
    reply_error(r, &e);
}

static void reply_success(struct request *r, const struct event_result *result)
{
    char location[sizeof API_JOBS + 24];
    const struct api_submitted submitted = {result->job_id};
    const struct api_count counted = {result->job_count};
    const struct api_done done = {true};
    switch (r->events[0].kind) {
    case EVENT_SUBMIT:
        reply_write(r, r->route->status, &api_submitted_shape, &submitted);
        text_format(location, sizeof location, "%s/%u", API_JOBS, result->job_id);
        MHD_add_response_header(r->reply, MHD_HTTP_HEADER_LOCATION, location);
        return;
    case EVENT_CANCEL:
    case EVENT_HOLD:
    case EVENT_RELEASE: reply_write(r, r->route->status, &api_count_shape, &counted); return;
    default: reply_write(r, r->route->status, &api_done_shape, &done);
    }
}

void server_answer(struct request *r, const struct event_result *result, const struct err *e)
{
    ensure(r->stage == STAGE_TAKEN);
    if (e != NULL) {
        reply_refusal(r, e);
    } else {
        reply_success(r, result);
    }
    request_unpark(r);
}

int server_get_verify(struct request *r, struct err *e)
{
    if (request_read_query(r, NULL, e) != 0) return -1;
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
