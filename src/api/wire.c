/* Bodies from structs, by their shapes: one loop over a shape's rows, one case for each type of field. What the fields are
 * is in wire_shapes.c; the way back is wire_read.c.
 *
 * Writing goes straight into a buffer, because a listing is 10^5 objects of thirty fields: about 1 us a row of a job. */
#include "api/wire_member.h"

#include <math.h>
#include <string.h>

#include "api/wire_base64.h"
#include "base/ensure.h"
#include "base/json.h"

static const char *field_at(const struct wire_field *f, const void *value)
{
    return (const char *)value + f->offset;
}

#define MEMBER WIRE_MEMBER

int64_t wire_get_number(const struct wire_field *f, const void *value)
{
    switch (f->type) {
    case WIRE_U32:
    case WIRE_SHARE:
    case WIRE_PRIORITY: return MEMBER(uint32_t, f, value);
    case WIRE_U64: return (int64_t)MEMBER(uint64_t, f, value);
    case WIRE_I32: return MEMBER(int32_t, f, value);
    case WIRE_I64: return MEMBER(int64_t, f, value);
    default: ensure(!"a number"); return 0;
    }
}

bool wire_is_absent(const struct wire_field *f, const void *value)
{
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_CHOICE:
    case WIRE_BYTES: return MEMBER(const char *, f, value) == NULL;
    case WIRE_BLOB: return MEMBER(struct str, f, value).text == NULL;
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_ROWS: return MEMBER(struct wire_list, f, value).count == 0;
    case WIRE_BOOL: return !MEMBER(bool, f, value);
    case WIRE_DOUBLE: return isnan(MEMBER(double, f, value));
    case WIRE_SHARE: return MEMBER(uint32_t, f, value) == WIRE_SHARES_UNSET;
    case WIRE_PRIORITY: return MEMBER(uint32_t, f, value) == WIRE_PRIORITY_UNSET;
    case WIRE_OBJECT: return false;
    default: return !f->is_required && wire_get_number(f, value) == f->absent;
    }
}

bool wire_is_empty(const struct wire_shape *shape, const void *value)
{
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        if (!wire_is_absent(f, value)) return false;
    }
    return true;
}

static bool is_utf8(struct str s)
{
    while (s.length > 0) {
        size_t sequence = str_utf8(s);
        if (sequence == 0) return false;
        s.text += sequence;
        s.length -= sequence;
    }
    return true;
}

static void write_bytes(struct str bytes, struct buf *out)
{
    struct json j = {.out = out};
    if (is_utf8(bytes) && (bytes.length == 0 || memchr(bytes.text, 0, bytes.length) == NULL)) {
        json_str(&j, bytes);
        return;
    }
    buf_add_text(out, "{\"base64\":\"");
    base64_write(bytes, out);
    buf_add_text(out, "\"}");
}

static void write_list(const struct wire_field *f, struct wire_list list, struct buf *out)
{
    struct json j = {.out = out};
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < list.count; i++) {
        if (i > 0) buf_add_char(out, ',');
        if (f->type == WIRE_ROWS) buf_add_char(out, '\n');
        if (f->type == WIRE_ROWS)
            wire_write(f->shape, (const char *)list.items + (size_t)i * f->shape->size, out);
        else if (f->type == WIRE_TEXTS)
            json_text(&j, ((const char **)list.items)[i]);
        else
            write_bytes(((const struct str *)list.items)[i], out);
    }
    if (f->type == WIRE_ROWS) buf_add_char(out, '\n');
    buf_add_char(out, ']');
}

static void write_field(const struct wire_field *f, const void *value, struct buf *out)
{
    struct json j = {.out = out};
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_CHOICE: json_text(&j, MEMBER(const char *, f, value)); return;
    case WIRE_BYTES: write_bytes(str(MEMBER(const char *, f, value)), out); return;
    case WIRE_BLOB: write_bytes(MEMBER(struct str, f, value), out); return;
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_ROWS: write_list(f, MEMBER(struct wire_list, f, value), out); return;
    case WIRE_BOOL: json_bool(&j, MEMBER(bool, f, value)); return;
    case WIRE_DOUBLE: json_double(&j, MEMBER(double, f, value)); return;
    case WIRE_OBJECT: wire_write(f->shape, field_at(f, value), out); return;
    default: break;
    }
    int64_t number = wire_get_number(f, value);
    if (wire_is_parent(f, number)) {
        json_text(&j, "parent");
    } else {
        json_i64(&j, number);
    }
}

void wire_write(const struct wire_shape *shape, const void *value, struct buf *out)
{
    char separator = '{';
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        bool has_null =
            f->type != WIRE_BOOL && f->type != WIRE_TEXTS && f->type != WIRE_BYTES_LIST && f->type != WIRE_ROWS;
        bool absent = wire_is_absent(f, value);
        if (absent && !shape->is_reply && !f->is_required) continue;
        buf_add_char(out, separator);
        buf_add_char(out, '"');
        buf_add_text(out, f->name);
        buf_add(out, "\":", 2);
        separator = ',';
        if (!absent || !has_null) {
            write_field(f, value, out);
        } else {
            ensure(!f->is_required);
            buf_add_text(out, "null");
        }
    }
    if (separator == '{') buf_add_char(out, '{');
    buf_add_char(out, '}');
}

static int check_text(const struct wire_field *f, const char *text, struct err *e)
{
    if (text == NULL || is_utf8(str(text))) return 0;
    return err_set(e, ERR_INPUT, "%s: '%.60s' is not UTF-8 text", f->name, text);
}

int wire_request(const struct wire_shape *shape, const void *value, struct buf *out, struct err *e)
{
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        if ((f->type == WIRE_TEXT || f->type == WIRE_CHOICE) && check_text(f, MEMBER(const char *, f, value), e) != 0)
            return -1;
        if (f->type != WIRE_TEXTS) continue;
        struct wire_list list = MEMBER(struct wire_list, f, value);
        for (uint32_t i = 0; i < list.count; i++) {
            if (check_text(f, ((const char **)list.items)[i], e) != 0) return -1;
        }
    }
    wire_write(shape, value, out);
    return 0;
}

size_t wire_job_id_format(char out[24], uint32_t job_id, uint32_t task_id)
{
    return task_id == NONE ? text_format(out, 24, "%u", job_id) : text_format(out, 24, "%u_%u", job_id, task_id);
}
