/* GET /v1/priorities: jobs by priority, with the terms of the model in force (engine/priorities.h).
 *
 * The handler computes all numbers at once and copies them, with the few texts of each row, into the stream's arena,
 * because the state changes while the client reads. The rows are then rendered piece by piece. The numbers of many jobs
 * take 30 ms and more for 10^5 of them, so they are computed, and all rows rendered, from a copy of the state. */
#include <string.h>

#include "api/server/internal.h"
#include "engine/priority_values.h"
#include "engine/visibility.h"

enum { ROWS_AT_ONCE = 64, FEW_JOBS = 10000 };

struct priority_stream {
    struct priorities all;
    struct priority_text *texts;
    bool is_lines;
    uint32_t next;
    bool has_rows;
    uint32_t hidden;    /* of the rows of other users than viewer (engine/visibility.h) */
    const char *viewer; /* in memory of the stream */
};

/* Priorities come from usage. */
static bool is_shown(const struct priority_stream *l, const char *user, bool *out_is_own)
{
    *out_is_own = l->hidden == 0 || (l->viewer != NULL && strcmp(l->viewer, user) == 0);
    return *out_is_own || (l->hidden & (PRIVATE_JOBS | PRIVATE_USAGE)) == 0;
}

static void add_row(struct priority_stream *l, uint32_t i, struct buf *out)
{
    struct priority_record record;
    bool is_own;
    if (!is_shown(l, l->texts[i].user, &is_own)) return;
    priority_values_make(&l->all, l->texts, i, &record);
    if (!is_own && (l->hidden & PRIVATE_DETAILS) != 0) {
        record.value[PRIORITY_FIELD_USER] = record.value[PRIORITY_FIELD_ACCOUNT] = field_text(VISIBILITY_HIDDEN_NAME);
        record.value[PRIORITY_FIELD_PROJECT] = field_text("");
    }
    if (l->is_lines) {
        wire_write_line(&priority_fields, record.value, out);
    } else {
        buf_add_text(out, l->has_rows ? ",\n" : "\n");
        wire_write_record(&priority_fields, record.value, out);
    }
    l->has_rows = true;
}

/* Returns whether more rows follow. */
static bool fill_text(struct priority_stream *l, struct buf *out)
{
    for (int rows = 0; rows < ROWS_AT_ONCE && l->next < l->all.count; rows++) add_row(l, l->next++, out);
    if (l->next < l->all.count) return true;
    if (!l->is_lines) buf_add_text(out, "\n]}\n");
    return false;
}

static int fill(struct stream *stream)
{
    return fill_text(stream->context, &stream->text);
}

static void begin(struct request *r, const struct api_priorities_query *query, struct arena *arena,
                  struct priority_stream *l, struct buf *out)
{
    struct state *s = r->server->host.state;
    *l = (struct priority_stream){.is_lines = query->format != NULL && strcmp(query->format, "lines") == 0};
    state_priorities(s, r->now_us, query->job, arena, &l->all);
    l->texts = priority_text_make_all(s, &l->all, arena);
    if (query->task != NONE) priority_text_keep_task(s, query->task, arena, &l->all, l->texts);
    l->hidden = visibility_hidden_from(s, &r->actor);
    l->viewer = r->actor.user != NULL ? arena_copy(arena, str(r->actor.user)) : NULL;
    if (l->is_lines)
        wire_write_heading(&priority_fields, out);
    else
        buf_add_text(out, "{\"priorities\":[");
}

/* Of all jobs. */
static int render(struct request *r, struct buf *out, struct err *e)
{
    struct api_priorities_query query;
    struct priority_stream l;
    struct arena arena = {0};
    if (request_read_query(r, &query, e) != 0) return -1;
    begin(r, &query, &arena, &l, out);
    while (fill_text(&l, out)) continue;
    arena_release(&arena);
    return 0;
}

static int reply_stream(struct request *r, const struct api_priorities_query *query, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct stream *stream = stream_new(r);
    struct priority_stream *l = arena_alloc(&stream->arena, sizeof *l);
    r->now_us = host->now_us(host->context);
    begin(r, query, &stream->arena, l, &stream->text);
    stream->context = l;
    stream->fill = fill;
    return stream_reply(stream, r, l->is_lines ? TYPE_TEXT : TYPE_JSON, e) < 0 ? -1 : 0;
}

static int check_task(const struct request *r, const struct api_priorities_query *query, struct err *e)
{
    const struct state *s = r->server->host.state;
    char id[JOB_ID_TEXT_SIZE];
    if (query->task == NONE) return 0;
    if (query->job == NONE) return err_field(e, ERR_INPUT, "task", "is accepted only with job");
    const struct job *j = &s->jobs.items[state_find_job(s, query->job)];
    job_id_format(id, query->job, NONE);
    if (!j->is_array)
        return err_subject(e, ERR_NOT_FOUND, "job", str(id), "is not an array; it has no task %u", query->task);
    if (idset_has(&j->pending, query->task) || state_find_task(s, query->job, query->task) != NONE) return 0;
    job_id_format(id, query->job, query->task);
    return err_subject(e, ERR_NOT_FOUND, "task", str(id), "is not pending or running");
}

int server_get_priorities(struct request *r, struct err *e)
{
    static const struct request_snapshot lines = {.render = render, .content_type = TYPE_TEXT},
                                         json = {.render = render, .content_type = TYPE_JSON};
    struct api_priorities_query query;
    const struct server_host *host = &r->server->host;
    if (request_read_query(r, &query, e) != 0) return -1;
    if (query.job != NONE && server_hides_job(r, query.job)) {
        server_explain_missing(r, query.job, e);
        return -1;
    }
    if (query.job != NONE && state_find_job(host->state, query.job) == NONE) {
        bool hides_jobs = (visibility_hidden_from(host->state, &r->actor) & PRIVATE_JOBS) != 0;
        if (hides_jobs) { /* as of a hidden job that is live */
            server_explain_job(r, (struct job_ref){query.job, NONE}, e);
            return -1;
        }
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, query.job, NONE);
        return err_subject(e, ERR_NOT_FOUND, "job", str(id), "is not pending or running");
    }
    if (check_task(r, &query, e) != 0) return -1;
    if (query.job != NONE || host->state->jobs.count <= FEW_JOBS || host->run_in_snapshot == NULL)
        return reply_stream(r, &query, e);
    bool is_lines = query.format != NULL && strcmp(query.format, "lines") == 0;
    return request_reply_snapshot(r, is_lines ? &lines : &json, true, e);
}
