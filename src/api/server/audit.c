/* GET /v1/audit: administrative changes, the newest first. They are read in pieces while they are sent: entries are
 * only added, so a piece begins before the last entry of the one before it. */
#include "api/server/internal.h"
#include "fields/audit_fields.h"

enum { ROWS_AT_ONCE = 100 };

struct audit_stream {
    struct audit_reader reader;
    struct audit_query query;
    uint32_t rows_left;
    bool has_rows;
};

static void write_entry(const struct audit_row *row, struct buf *out)
{
    const struct audit_entry *a = &row->entry;
    const struct field_value values[AUDIT_FIELD_COUNT] = {
        [AUDIT_FIELD_SEQ] = field_number((int64_t)row->seq),
        [AUDIT_FIELD_AT] = field_number(a->at_us),
        [AUDIT_FIELD_UID] = field_number(a->uid),
        [AUDIT_FIELD_USER] = field_text(a->user),
        [AUDIT_FIELD_COMMAND] = field_text(a->command),
        [AUDIT_FIELD_NAME] = field_text(a->name),
        [AUDIT_FIELD_FIELD] = field_text(a->field),
        [AUDIT_FIELD_BEFORE] = field_text(a->before),
        [AUDIT_FIELD_AFTER] = field_text(a->after),
    };
    wire_write_record(&audit_fields, values, out);
}

static int fill(struct stream *stream)
{
    struct audit_stream *a = stream->context;
    struct arena arena = {0};
    struct audit_row *rows;
    uint32_t count;
    a->query.limit = a->rows_left < ROWS_AT_ONCE ? a->rows_left : ROWS_AT_ONCE;
    int result = a->reader.read(a->reader.context, &a->query, &arena, &rows, &count, &stream->e);
    for (uint32_t i = 0; result == 0 && i < count; i++) {
        buf_add_text(&stream->text, a->has_rows ? ",\n" : "\n");
        a->has_rows = true;
        a->query.before = rows[i].seq;
        write_entry(&rows[i], &stream->text);
    }
    arena_release(&arena);
    if (result != 0) return -1;
    a->rows_left -= count;
    if (count == a->query.limit && a->rows_left > 0) return 1;
    buf_add_text(&stream->text, "\n]}\n");
    return 0;
}

int server_get_audit(struct request *r, struct err *e)
{
    const struct server_host *host = &r->server->host;
    struct api_audit_query wanted;
    if (request_read_query(r, &wanted, e) != 0) return -1;
    struct stream *stream = stream_new(r);
    struct audit_stream *a = arena_alloc(&stream->arena, sizeof *a);
    *a = (struct audit_stream){
        .reader = host->audit,
        .query = {.since_us = wanted.since_us, .until_us = wanted.until_us, .before = wanted.before},
        .rows_left = wanted.limit != 0 ? wanted.limit : UINT32_MAX};
    if (wanted.user != NULL) a->query.user = arena_copy(&stream->arena, str(wanted.user));
    if (wanted.command != NULL) a->query.command = arena_copy(&stream->arena, str(wanted.command));
    if (wanted.name != NULL) a->query.name = arena_copy(&stream->arena, str(wanted.name));
    stream->context = a;
    stream->fill = fill;
    buf_add_text(&stream->text, "{\"audit\":[");
    return stream_reply(stream, r, TYPE_JSON, e) < 0 ? -1 : 0;
}
