/* Bodies, records, lines of listings, queries, base64 and ids, from arbitrary bytes; the first byte chooses the reader.
 * A value that is read is the same after it is written and read again: both are written as the same text. The error of
 * a refused one has the code of its kind, and is one line. */
#include <string.h>

#include "api/bodies.h"
#include "base/ensure.h"
#include "fields/job_id.h"
#include "fields/priority_fields.h"
#include "fields/share_fields.h"
#include "wire/base64.h"

/* A body by a shape, or a record by a table. The files of the corpus choose them by position. */
static const struct target {
    const struct wire_shape *shape;
    const struct field_table *table;
} targets[] = {
    {.shape = &api_submit_shape},
    {.shape = &api_update_shape},
    {.shape = &api_jobs_shape},
    {.shape = &api_account_shape},
    {.shape = &api_account_change_shape},
    {.shape = &api_user_shape},
    {.shape = &api_user_change_shape},
    {.table = &job_fields},
    {.table = &share_fields},
    {.shape = &api_waited_shape},
    {.shape = &api_status_shape},
    {.shape = &api_error_shape},
};
enum { TARGET_COUNT = sizeof targets / sizeof *targets, READER_COUNT = 5 };

/* Tables that are read both as records and as lines; chosen after the targets and the other readers. */
static const struct field_table *const tables[] = {
    &object_classes[OBJECT_PARTITION].record,
    &object_classes[OBJECT_QOS].record,
    &object_classes[OBJECT_USER_POLICY].record,
    &object_classes[OBJECT_RESOURCE].record,
    &priority_fields,
    &account_fields_user,
};
enum { TABLE_COUNT = sizeof tables / sizeof *tables };

union value {
    struct api_submit submit;
    struct api_status status;
    struct api_waited waited;
};

static struct str text_of(const struct buf *b)
{
    return (struct str){b->text, b->length};
}

/* ERR_INTERNAL for replies, the client's mistake for requests. */
static void check_error(const struct err *e, bool is_reply)
{
    ensure(ERR_SENTENCE(e)[0] != '\0' && strchr(ERR_SENTENCE(e), '\n') == NULL);
    ensure(is_reply ? e->code == ERR_INTERNAL : e->code == ERR_INPUT || e->code == ERR_TOO_LARGE);
}

static void read_body(const struct wire_shape *shape, struct str text, struct arena *arena)
{
    union value first, second;
    struct buf written = {0}, again = {0};
    struct err e = {0};
    ensure(shape->size <= sizeof first);
    if (wire_read_text(shape, text, arena, &first, &e) != 0) {
        check_error(&e, shape->is_reply);
        return;
    }
    wire_write(shape, &first, &written);
    ensure(wire_read_text(shape, text_of(&written), arena, &second, &e) == 0);
    wire_write(shape, &second, &again);
    ensure(str_equal(text_of(&written), text_of(&again)));
    buf_release(&written);
    buf_release(&again);
}

/* Whether every field can be written: a missing number is 0, which may be out of its range. */
static bool is_complete(const struct field_table *table, const struct field_value *values)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *f = field_at(table, i);
        if (!f->is_hidden && field_is_whole(f) && !f->is_nullable && f->min > 0 && values[i].number == 0) return false;
    }
    return true;
}

static void read_record(const struct field_table *table, struct str text, struct arena *arena)
{
    struct field_value *first = arena_alloc(arena, table->count * sizeof *first);
    struct field_value *second = arena_alloc(arena, table->count * sizeof *second);
    struct buf written = {0}, again = {0};
    struct err e = {0};
    if (wire_read_record(table, text, arena, first, &e) != 0) {
        check_error(&e, true);
        return;
    }
    if (!is_complete(table, first)) return;
    wire_write_record(table, first, &written);
    ensure(wire_read_record(table, text_of(&written), arena, second, &e) == 0);
    wire_write_record(table, second, &again);
    ensure(str_equal(text_of(&written), text_of(&again)));
    buf_release(&written);
    buf_release(&again);
}

static void read_query_value(struct str text, struct arena *arena)
{
    struct api_jobs_query query;
    struct err e = {0};
    struct str value, name = str_cut(text, '=', &value);
    wire_clear(&api_jobs_query_shape, &query);
    if (wire_read_query(&api_jobs_query_shape, arena_copy(arena, name), arena_copy(arena, value), arena, &query, &e) !=
        0)
        check_error(&e, false);
}

/* text: "HEADING<line end>LINE". */
static void read_lines(const struct field_table *table, struct str text, struct arena *arena)
{
    struct str line, heading = str_cut(text, '\n', &line);
    struct wire_columns columns, own;
    struct field_value *first = arena_alloc(arena, table->count * sizeof *first);
    struct field_value *second = arena_alloc(arena, table->count * sizeof *second);
    struct buf head = {0}, written = {0}, again = {0};
    struct err e = {0};
    if (line.text == NULL || memchr(line.text, '\n', line.length) != NULL) return;
    if (wire_read_heading(table, heading, &columns, &e) != 0 || wire_read_line(&columns, line, arena, first, &e) != 0) {
        check_error(&e, true);
        return;
    }
    if (!is_complete(table, first)) return;
    wire_write_heading(table, &head);
    wire_write_line(table, first, &written);
    ensure(wire_read_heading(table, (struct str){head.text, head.length - 1}, &own, &e) == 0);
    ensure(wire_read_line(&own, (struct str){written.text, written.length - 1}, arena, second, &e) == 0);
    wire_write_line(table, second, &again);
    ensure(str_equal(text_of(&written), text_of(&again)));
    buf_release(&head);
    buf_release(&written);
    buf_release(&again);
}

static void read_base64(struct str text, struct arena *arena)
{
    struct str bytes, again;
    struct buf coded = {0};
    base64_write(text, &coded);
    ensure(base64_read((struct str){coded.text, coded.length}, arena, &again) && str_equal(again, text));
    buf_clear(&coded);
    if (base64_read(text, arena, &bytes)) {
        base64_write(bytes, &coded);
        ensure(str_equal((struct str){coded.text, coded.length}, text));
    }
    buf_release(&coded);
}

static void read_id(struct str text)
{
    uint32_t job_id, task_id, job_again, task_again;
    char id[JOB_ID_TEXT_SIZE];
    struct err e = {0};
    if (job_id_parse(text, "id", &job_id, &task_id, &e) != 0) {
        check_error(&e, false);
        return;
    }
    struct str shown = {id, job_id_format(id, job_id, task_id)};
    ensure(job_id_parse(shown, "id", &job_again, &task_again, &e) == 0);
    ensure(job_again == job_id && task_again == task_id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct wire_list pairs;
    struct err e = {0};
    if (size == 0) return 0;
    struct str text = {(const char *)data + 1, size - 1};
    unsigned which = (unsigned)(data[0] - 'a') % (TARGET_COUNT + READER_COUNT + 2 * TABLE_COUNT);
    if (which < TARGET_COUNT && targets[which].shape != NULL) {
        read_body(targets[which].shape, text, &arena);
    } else if (which < TARGET_COUNT) {
        read_record(targets[which].table, text, &arena);
    } else if (which == TARGET_COUNT) {
        if (wire_read_pairs(text, &arena, &pairs, &e) != 0) check_error(&e, false);
    } else if (which == TARGET_COUNT + 1) {
        read_query_value(text, &arena);
    } else if (which == TARGET_COUNT + 2) {
        read_base64(text, &arena);
    } else if (which == TARGET_COUNT + 3) {
        read_id(text);
    } else if (which == TARGET_COUNT + 4) {
        read_lines(&job_fields, text, &arena);
    } else if (which < TARGET_COUNT + READER_COUNT + TABLE_COUNT) {
        read_record(tables[which - TARGET_COUNT - READER_COUNT], text, &arena);
    } else {
        read_lines(tables[which - TARGET_COUNT - READER_COUNT - TABLE_COUNT], text, &arena);
    }
    arena_release(&arena);
    return 0;
}
