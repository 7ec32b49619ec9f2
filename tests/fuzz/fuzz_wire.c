/* Bodies of requests and lines of listings, from bytes somebody sent. The first byte says whose. What is read has to be written such that it
 * reads back the same (the second text equals the first), and what is refused has to be refused as bad input, in a line. */
#include <string.h>

#include "api/wire.h"
#include "api/wire_base64.h"
#include "base/ensure.h"

static const struct wire_shape *const shapes[] = {
    &wire_submit_shape,         &wire_update_shape, &wire_jobs_shape,        &wire_account_shape,
    &wire_account_modify_shape, &wire_user_shape,   &wire_user_modify_shape, &wire_job_row_shape,
    &wire_share_row_shape,      &wire_waited_shape, &wire_status_shape,      &wire_error_shape,
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

union value {
    struct wire_submit submit;
    struct wire_status status;
    struct wire_job_row job;
};

static void check_error(const struct err *e, const struct wire_shape *shape)
{
    ensure(ERR_SENTENCE(e)[0] != '\0' && strchr(ERR_SENTENCE(e), '\n') == NULL);
    ensure(shape && shape->is_reply ? e->code == ERR_INTERNAL : e->code == ERR_INPUT || e->code == ERR_TOO_LARGE);
}

static void read_body(const struct wire_shape *shape, struct str text, struct arena *arena)
{
    union value first, second;
    struct buf written = {0}, again = {0};
    struct err e = {0};
    ensure(shape->size <= sizeof first);
    if (wire_read_text(shape, text, arena, &first, &e) != 0) {
        check_error(&e, shape);
        return;
    }
    wire_write(shape, &first, &written);
    ensure(wire_read_text(shape, (struct str){written.text, written.length}, arena, &second, &e) == 0);
    wire_write(shape, &second, &again);
    ensure(written.length == again.length && memcmp(written.text, again.text, again.length) == 0);
    buf_release(&written);
    buf_release(&again);
}

static void read_query_value(struct str text, struct arena *arena)
{
    struct wire_jobs_query query;
    struct err e = {0};
    struct str value, name = str_cut(text, '=', &value);
    wire_clear(&wire_jobs_query_shape, &query);
    if (wire_read_query(&wire_jobs_query_shape, arena_copy(arena, name), arena_copy(arena, value), arena, &query, &e) !=
        0)
        check_error(&e, &wire_jobs_query_shape);
}

/* "HEADING<line end>LINE": what is read is written such that it reads back the same. */
static void read_lines(struct str text, struct arena *arena)
{
    struct str line, heading = str_cut(text, '\n', &line);
    struct wire_columns columns, own;
    struct wire_job_row first, second;
    struct buf head = {0}, written = {0}, again = {0};
    struct err e = {0};
    if (line.text == NULL || memchr(line.text, '\n', line.length) != NULL) return;
    if (wire_read_heading(&wire_job_row_shape, heading, &columns, &e) != 0 ||
        wire_read_line(&columns, line, arena, &first, &e) != 0) {
        check_error(&e, &wire_job_row_shape);
        return;
    }
    wire_write_heading(&wire_job_row_shape, &head);
    wire_write_line(&wire_job_row_shape, &first, &written);
    ensure(wire_read_heading(&wire_job_row_shape, (struct str){head.text, head.length - 1}, &own, &e) == 0);
    ensure(wire_read_line(&own, (struct str){written.text, written.length - 1}, arena, &second, &e) == 0);
    wire_write_line(&wire_job_row_shape, &second, &again);
    ensure(written.length == again.length && memcmp(written.text, again.text, again.length) == 0);
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
    char id[24];
    struct err e = {0};
    if (wire_job_id_parse(text, "id", &job_id, &task_id, &e) != 0) {
        check_error(&e, NULL);
        return;
    }
    struct str shown = {id, wire_job_id_format(id, job_id, task_id)};
    ensure(wire_job_id_parse(shown, "id", &job_again, &task_again, &e) == 0);
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
    unsigned which = (unsigned)(data[0] - 'a') % (SHAPES + 5);
    if (which < SHAPES) {
        read_body(shapes[which], text, &arena);
    } else if (which == SHAPES) {
        if (wire_read_pairs(text, &arena, &pairs, &e) != 0) check_error(&e, NULL);
    } else if (which == SHAPES + 1) {
        read_query_value(text, &arena);
    } else if (which == SHAPES + 2) {
        read_base64(text, &arena);
    } else if (which == SHAPES + 3) {
        read_id(text);
    } else {
        read_lines(text, &arena);
    }
    arena_release(&arena);
    return 0;
}
