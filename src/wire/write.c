/* Writes structs and records as JSON: one loop over the rows that describe them, one case for each type of value.
 *
 * Writes straight into a buffer, without jansson, because a listing is 10^5 records of sixty fields. A row of a job
 * takes about 1 us. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/json.h"
#include "wire/base64.h"
#include "wire/member.h"

#define MEMBER WIRE_MEMBER

int64_t wire_get_number(const struct wire_field *f, const void *value)
{
    switch (f->type) {
    case WIRE_U32: return MEMBER(uint32_t, f, value);
    case WIRE_MEMORY:
    case WIRE_U64: return (int64_t)MEMBER(uint64_t, f, value);
    case WIRE_I32: return MEMBER(int32_t, f, value);
    case WIRE_TIME:
    case WIRE_I64: return MEMBER(int64_t, f, value);
    default: ensure(!"a number"); return 0;
    }
}

bool wire_is_absent(const struct wire_field *f, const void *value)
{
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_NAME:
    case WIRE_CHOICE:
    case WIRE_BYTES: return MEMBER(const char *, f, value) == NULL;
    case WIRE_BLOB: return MEMBER(struct str, f, value).text == NULL;
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_RECORDS:
    case WIRE_ROWS: return MEMBER(struct wire_list, f, value).count == 0;
    case WIRE_BOOL: return !MEMBER(bool, f, value);
    case WIRE_DOUBLE: return isnan(MEMBER(double, f, value));
    case WIRE_CUSTOM:
    case WIRE_OBJECT: return false;
    default: return !f->is_required && wire_get_number(f, value) == f->absent;
    }
}

bool wire_is_empty(const struct wire_shape *shape, const void *value)
{
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        if (!wire_is_absent(f, value)) return false;
    }
    for (uint32_t i = 0; shape->table_fields.table != NULL && i < shape->table_fields.table->count; i++) {
        if (wire_table_given(&shape->table_fields, value)[i]) return false;
    }
    return shape->pair_fields.table == NULL || wire_pairs(shape, value)->count == 0;
}

bool wire_is_utf8(struct str s)
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
    if (wire_is_utf8(bytes) && (bytes.length == 0 || memchr(bytes.text, 0, bytes.length) == NULL)) {
        json_str(&j, bytes);
        return;
    }
    buf_add_text(out, "{\"base64\":\"");
    base64_write(bytes, out);
    buf_add_text(out, "\"}");
}

static void write_name(const char *name, char separator, struct buf *out)
{
    buf_add_char(out, separator);
    buf_add_char(out, '"');
    buf_add_text(out, name);
    buf_add(out, "\":", 2);
}

/* --- records ------------------------------------------------------------------------------------------------------ */

static void write_text_value(const struct field *f, const char *text, struct buf *out)
{
    struct json j = {.out = out};
    if (f->type == FIELD_BYTES)
        write_bytes(str(text), out);
    else
        json_text(&j, text);
}

/* {"arch":"lx-amd64","load_avg":"0.45"} */
static void write_pairs(const char *text, struct buf *out)
{
    struct json j = {.out = out};
    struct buf key = {0};
    json_begin_object(&j);
    for (struct str rest = str(text); rest.length > 0;) {
        struct str value, name = str_cut(str_cut(rest, '\n', &rest), '=', &value);
        buf_clear(&key);
        buf_add_str(&key, name);
        json_key(&j, key.text);
        json_str(&j, value);
    }
    json_end(&j);
    buf_release(&key);
}

/* Writes a value as people write it, as a JSON string. */
static void write_as_text(const struct field *f, const struct field_value *value, struct buf *out)
{
    struct json j = {.out = out};
    struct buf text = {0};
    field_format(f, value, &text);
    json_str(&j, (struct str){text.text, text.length});
    buf_release(&text);
}

void wire_write_value(const struct field *f, const struct field_value *value, bool is_written, struct buf *out)
{
    struct json j = {.out = out};
    bool is_special = f->special != NULL && field_is_whole(f) && value->number == FIELD_SPECIAL;
    bool is_quantity = field_is_duration(f) || f->type == FIELD_MEMORY;
    if (field_is_absent(f, value))
        buf_add_text(out, "null");
    else if (f->is_pairs)
        write_pairs(value->text, out);
    else if (field_is_text(f))
        write_text_value(f, value->text, out);
    else if (f->type == FIELD_REAL)
        json_double(&j, value->real);
    else if (is_special || ((is_written || f->is_text) && is_quantity))
        write_as_text(f, value, out);
    else if (f->type == FIELD_BOOL)
        json_bool(&j, value->number != 0);
    else if (f->type == FIELD_CHOICE)
        json_str(&j, field_choice(f->choices, value->number));
    else
        json_i64(&j, value->number);
}

void wire_write_record(const struct field_table *table, const struct field_value *values, struct buf *out)
{
    char separator = '{';
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *f = field_at(table, i);
        if (f->is_hidden) continue;
        write_name(f->name, separator, out);
        separator = ',';
        wire_write_value(f, &values[i], table->is_written, out);
    }
    buf_add_char(out, '}');
}

/* --- shapes ------------------------------------------------------------------------------------------------------- */

static void write_item(const struct wire_field *f, struct wire_list list, uint32_t i, struct buf *out)
{
    struct json j = {.out = out};
    switch (f->type) {
    case WIRE_ROWS: wire_write(f->shape, (const char *)list.items + (size_t)i * f->shape->size, out); return;
    case WIRE_RECORDS:
        wire_write_record(f->table, (const struct field_value *)list.items + (size_t)i * f->table->count, out);
        return;
    case WIRE_TEXTS: json_text(&j, ((const char **)list.items)[i]); return;
    default: write_bytes(((const struct str *)list.items)[i], out);
    }
}

static void write_list(const struct wire_field *f, struct wire_list list, struct buf *out)
{
    bool has_lines = f->type == WIRE_ROWS || f->type == WIRE_RECORDS;
    buf_add_char(out, '[');
    for (uint32_t i = 0; i < list.count; i++) {
        if (i > 0) buf_add_char(out, ',');
        if (has_lines) buf_add_char(out, '\n');
        write_item(f, list, i, out);
    }
    if (has_lines) buf_add_char(out, '\n');
    buf_add_char(out, ']');
}

static void write_number(const struct wire_field *f, int64_t number, struct buf *out)
{
    struct json j = {.out = out};
    if (f->special != NULL && number == f->special_number)
        json_text(&j, f->special);
    else
        json_i64(&j, number);
}

static void write_field(const struct wire_field *f, const void *value, struct buf *out)
{
    struct json j = {.out = out};
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_NAME:
    case WIRE_CHOICE: json_text(&j, MEMBER(const char *, f, value)); return;
    case WIRE_BYTES: write_bytes(str(MEMBER(const char *, f, value)), out); return;
    case WIRE_BLOB: write_bytes(MEMBER(struct str, f, value), out); return;
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_RECORDS:
    case WIRE_ROWS: write_list(f, MEMBER(struct wire_list, f, value), out); return;
    case WIRE_BOOL: json_bool(&j, MEMBER(bool, f, value)); return;
    case WIRE_DOUBLE: json_double(&j, MEMBER(double, f, value)); return;
    case WIRE_OBJECT: wire_write(f->shape, (const char *)value + f->offset, out); return;
    default: write_number(f, wire_get_number(f, value), out);
    }
}

static bool may_be_null(const struct wire_field *f)
{
    return f->type != WIRE_BOOL && f->type != WIRE_TEXTS && f->type != WIRE_BYTES_LIST && f->type != WIRE_ROWS &&
           f->type != WIRE_RECORDS;
}

static void write_table_fields(const struct wire_table_fields *t, const void *value, char separator, struct buf *out)
{
    for (uint32_t i = 0; i < t->table->count; i++) {
        if (!wire_table_given(t, value)[i]) continue;
        const char *name = wire_table_name(t, i);
        ensure(name != NULL);
        write_name(name, separator, out);
        separator = ',';
        wire_write_value(field_at(t->table, i), &wire_table_values(t, value)[i], t->table->is_written, out);
    }
    if (separator == '{') buf_add_char(out, '{');
}

static void write_pair_fields(const struct wire_list *list, char separator, struct buf *out)
{
    struct json j = {.out = out};
    const struct wire_pair *pairs = list->items;
    for (uint32_t i = 0; i < list->count; i++) {
        write_name(pairs[i].name, separator, out);
        separator = ',';
        json_text(&j, pairs[i].value);
    }
    if (separator == '{') buf_add_char(out, '{');
}

void wire_write(const struct wire_shape *shape, const void *value, struct buf *out)
{
    char separator = '{';
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        bool is_absent = wire_is_absent(f, value);
        if (is_absent && !shape->is_reply && !f->is_required) continue;
        write_name(f->name, separator, out);
        separator = ',';
        if (!is_absent || !may_be_null(f)) {
            write_field(f, value, out);
        } else {
            ensure(!f->is_required);
            buf_add_text(out, "null");
        }
    }
    if (shape->table_fields.table != NULL)
        write_table_fields(&shape->table_fields, value, separator, out);
    else if (shape->pair_fields.table != NULL)
        write_pair_fields(wire_pairs(shape, value), separator, out);
    else if (separator == '{')
        buf_add_char(out, '{');
    buf_add_char(out, '}');
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

static int check_text(const char *name, const char *text, struct err *e)
{
    if (text == NULL || wire_is_utf8(str(text))) return 0;
    return err_value(e, name, str(text), "UTF-8 text");
}

static int check_texts(const struct wire_field *f, struct wire_list list, struct err *e)
{
    for (uint32_t i = 0; i < list.count; i++) {
        if (check_text(f->name, ((const char **)list.items)[i], e) != 0) return -1;
    }
    return 0;
}

static int check_table_fields(const struct wire_table_fields *t, const void *value, struct err *e)
{
    for (uint32_t i = 0; t->table != NULL && i < t->table->count; i++) {
        const struct field *f = field_at(t->table, i);
        if (!wire_table_given(t, value)[i] || f->type != FIELD_TEXT) continue;
        if (check_text(f->name, wire_table_values(t, value)[i].text, e) != 0) return -1;
    }
    return 0;
}

/* Their names are those of fields. */
static int check_pairs(const struct wire_list *list, struct err *e)
{
    const struct wire_pair *pairs = list->items;
    for (uint32_t i = 0; i < list->count; i++) {
        if (check_text(pairs[i].name, pairs[i].value, e) != 0) return -1;
    }
    return 0;
}

int wire_request(const struct wire_shape *shape, const void *value, struct buf *out, struct err *e)
{
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        bool is_text = f->type == WIRE_TEXT || f->type == WIRE_NAME || f->type == WIRE_CHOICE;
        if (is_text && check_text(f->name, MEMBER(const char *, f, value), e) != 0) return -1;
        if (f->type == WIRE_TEXTS && check_texts(f, MEMBER(struct wire_list, f, value), e) != 0) return -1;
    }
    if (check_table_fields(&shape->table_fields, value, e) != 0) return -1;
    if (shape->pair_fields.table != NULL && check_pairs(wire_pairs(shape, value), e) != 0) return -1;
    wire_write(shape, value, out);
    return 0;
}
