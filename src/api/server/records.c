/* Long replies of records that are all in memory: a stream (stream.c) that renders ROWS_AT_ONCE of them in each
 * step. */
#include "api/server/internal.h"

enum { ROWS_AT_ONCE = 64 };

struct records {
    const struct field_table *table;
    struct wire_list list;
    uint32_t next;
};

static int fill(struct stream *stream)
{
    struct records *r = stream->context;
    const struct field_value *values = r->list.items;
    for (int i = 0; i < ROWS_AT_ONCE && r->next < r->list.count; i++, r->next++) {
        buf_add_text(&stream->text, r->next > 0 ? ",\n" : "\n");
        wire_write_record(r->table, values + (size_t)r->next * r->table->count, &stream->text);
    }
    if (r->next < r->list.count) return 1;
    buf_add_text(&stream->text, "\n]}\n");
    return 0;
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
