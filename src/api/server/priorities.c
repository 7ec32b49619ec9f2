/* GET /v1/priorities: jobs by priority, with the terms of the model in force (engine/priorities.h).
 *
 * The handler computes all numbers at once and copies them, with the few texts of each row, into the stream's arena,
 * because the state changes while the client reads. That takes about 15 ms at 10^5 jobs in the multifactor model, and
 * twice as long in the tickets model. The rows are then rendered piece by piece. */
#include <string.h>

#include "api/server/internal.h"
#include "engine/priority_values.h"

enum { ROWS_AT_ONCE = 64 };

struct priority_stream {
    struct priorities all;
    struct priority_text *texts;
    bool is_lines;
    uint32_t next;
};

static void add_row(const struct priority_stream *l, uint32_t i, struct buf *out)
{
    struct priority_record record;
    priority_values_make(&l->all, l->texts, i, &record);
    if (l->is_lines) {
        wire_write_line(&priority_fields, record.value, out);
    } else {
        buf_add_text(out, i > 0 ? ",\n" : "\n");
        wire_write_record(&priority_fields, record.value, out);
    }
}

static int fill(struct stream *stream)
{
    struct priority_stream *l = stream->context;
    for (int rows = 0; rows < ROWS_AT_ONCE && l->next < l->all.count; rows++) add_row(l, l->next++, &stream->text);
    if (l->next < l->all.count) return 1;
    if (!l->is_lines) buf_add_text(&stream->text, "\n]}\n");
    return 0;
}

int server_get_priorities(struct request *r, struct err *e)
{
    struct api_priorities_query query;
    struct server *server = r->server;
    struct state *s = server->host.state;
    if (request_read_query(r, &query, e) != 0) return -1;
    if (query.job != NONE && state_find_job(s, query.job) == NONE) {
        char id[JOB_ID_TEXT_SIZE];
        job_id_format(id, query.job, NONE);
        return err_subject(e, ERR_NOT_FOUND, "job", str(id), "is not pending or running");
    }
    struct stream *stream = stream_new(r);
    struct priority_stream *l = arena_alloc(&stream->arena, sizeof *l);
    l->is_lines = query.format != NULL && strcmp(query.format, "lines") == 0;
    state_priorities(s, server->host.now_us(server->host.context), query.job, &stream->arena, &l->all);
    l->texts = priority_text_make_all(s, &l->all, &stream->arena);
    stream->context = l;
    stream->fill = fill;
    if (l->is_lines) {
        wire_write_heading(&priority_fields, &stream->text);
    } else {
        buf_add_text(&stream->text, "{\"priorities\":[");
    }
    return stream_reply(stream, r, l->is_lines ? TYPE_TEXT : TYPE_JSON, e) < 0 ? -1 : 0;
}
