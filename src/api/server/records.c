/* Long replies of records that are all in memory: a stream (stream.c) that renders ROWS_AT_ONCE of them in each
 * step. */
#include "api/server/internal.h"

enum { ROWS_AT_ONCE = 64 };

struct records {
    const struct field_table *table;
    struct wire_list list;
    uint32_t next;
};

/* At most max more. Returns whether more follow. */
static bool write_some(struct records *r, uint32_t max, struct buf *out)
{
    const struct field_value *values = r->list.items;
    for (uint32_t i = 0; i < max && r->next < r->list.count; i++, r->next++) {
        buf_add_text(out, r->next > 0 ? ",\n" : "\n");
        wire_write_record(r->table, values + (size_t)r->next * r->table->count, out);
    }
    if (r->next < r->list.count) return true;
    buf_add_text(out, "\n]}\n");
    return false;
}

static int fill(struct stream *stream)
{
    return write_some(stream->context, ROWS_AT_ONCE, &stream->text);
}

void server_write_records(const struct field_table *table, struct wire_list list, struct buf *out)
{
    struct records records = {table, list, 0};
    write_some(&records, NONE, out);
}

int server_reply_records(struct stream *stream, struct request *r, const char *head, const struct field_table *table,
                         struct wire_list list, struct err *e)
{
    struct records *records = arena_alloc(&stream->arena, sizeof *records);
    *records = (struct records){table, list, 0};
    stream->context = records;
    stream->fill = fill;
    buf_add_text(&stream->text, head);
    return stream_reply(stream, r, TYPE_JSON, e) < 0 ? -1 : 0;
}
