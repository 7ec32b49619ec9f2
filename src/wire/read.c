/* Reads structs and records from JSON, by the tables that describe them. jansson parses the text, because the input is
 * untrusted, and is short or is one row. A row of a job takes about 10 us.
 *
 * An object with two members of one name is refused, and so is text with U+0000 in it, which has to come as base64.
 * Type, range and length of every value are checked; but not the range of numbers in a record of a reply, because one
 * damaged row must not hide all others. A request with more than WIRE_VALUES_MAX values is refused before
 * jansson parses it, because jansson needs up to a hundred times the memory of the text. */
#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "wire/base64.h"
#include "wire/member.h"
#include "wire/reader.h"

/* --- members of a shape ------------------------------------------------------------------------------------------- */

void wire_set_number(const struct wire_field *f, void *value, int64_t number)
{
    void *member = (char *)value + f->offset;
    switch (f->type) {
    case WIRE_U32: *(uint32_t *)member = (uint32_t)number; return;
    case WIRE_MEMORY:
    case WIRE_U64: *(uint64_t *)member = (uint64_t)number; return;
    case WIRE_I32: *(int32_t *)member = (int32_t)number; return;
    case WIRE_TIME:
    case WIRE_I64: *(int64_t *)member = number; return;
    default: ensure(!"a number");
    }
}

static int read_number(struct wire_reader *r, const struct wire_field *f, json_t *value, void *target)
{
    const struct wire_range range = {f->min, f->max, f->special, f->special_number};
    int64_t number;
    if (wire_read_whole(r, value, &range, &number) != 0) return -1;
    wire_set_number(f, target, number);
    return 0;
}

/* JSON has no number for infinity: it is the text "inf". */
static int read_double(struct wire_reader *r, json_t *value, double *out)
{
    const char *text = json_string_value(value);
    if (json_is_number(value))
        *out = json_number_value(value) + 0.0; /* -0 becomes 0, as in wire_read_real */
    else if (text && strcmp(text, "inf") == 0)
        *out = (double)INFINITY;
    else if (text && strcmp(text, "-inf") == 0)
        *out = -(double)INFINITY;
    else
        return wire_refuse(r, value, "a number");
    return 0;
}

static int read_text(struct wire_reader *r, json_t *value, const char **out)
{
    if (!json_is_string(value)) return wire_refuse(r, value, "text");
    *out = arena_copy(r->arena, wire_string(value));
    return 0;
}

static int read_choice(struct wire_reader *r, const char *choices, json_t *value, int64_t *out_index)
{
    int64_t index = 0;
    struct str rest = str(choices);
    for (; json_is_string(value) && rest.text != NULL; index++) {
        if (!str_equal(str_cut(rest, ',', &rest), wire_string(value))) continue;
        *out_index = index;
        return 0;
    }
    return wire_refuse(r, value, "one of %s", choices);
}

static int read_bytes(struct wire_reader *r, json_t *value, bool may_have_zero, struct str *out)
{
    json_t *coded = json_object_get(value, "base64");
    if (json_is_string(value)) {
        *out = wire_string(value);
        out->text = arena_copy(r->arena, *out);
    } else if (json_object_size(value) != 1 || !json_is_string(coded)) {
        return wire_refuse(r, value, "text or {\"base64\":\"...\"}");
    } else if (!base64_read(wire_string(coded), r->arena, out)) {
        return wire_refuse(r, coded, "base64 (RFC 4648, with padding)");
    }
    if (!may_have_zero && memchr(out->text, 0, out->length) != NULL)
        return wire_fail(r, "has a zero byte, which is not accepted");
    return 0;
}

static int read_bytes_member(struct wire_reader *r, json_t *value, const char **out)
{
    struct str bytes;
    if (read_bytes(r, value, false, &bytes) != 0) return -1;
    *out = bytes.text;
    return 0;
}

static int read_object(struct wire_reader *r, const struct wire_shape *shape, json_t *value, void *target)
{
    wire_clear(shape, target);
    return wire_read_members(r, shape, value, target);
}

static int read_record(struct wire_reader *r, const struct field_table *table, json_t *value,
                       struct field_value *out_values);

static size_t item_size(const struct wire_field *f)
{
    switch (f->type) {
    case WIRE_ROWS: return f->shape->size;
    case WIRE_RECORDS: return f->table->count * sizeof(struct field_value);
    case WIRE_TEXTS: return sizeof(const char *);
    default: return sizeof(struct str);
    }
}

static int read_item(struct wire_reader *r, const struct wire_field *f, json_t *item, void *out)
{
    switch (f->type) {
    case WIRE_ROWS: return read_object(r, f->shape, item, out);
    case WIRE_RECORDS: return read_record(r, f->table, item, out);
    case WIRE_TEXTS: return read_text(r, item, out);
    default: return read_bytes(r, item, false, out);
    }
}

static int read_list(struct wire_reader *r, const struct wire_field *f, json_t *value, struct wire_list *out)
{
    size_t size = item_size(f), count = json_array_size(value);
    if (!json_is_array(value)) return wire_refuse(r, value, "a list");
    if (f->type == WIRE_ROWS && f->max > 0 && (double)count > f->max)
        return wire_fail(r, "has %zu items; at most %.0f are accepted", count, f->max);
    char *items = arena_alloc(r->arena, size * (count + 1));
    *out = (struct wire_list){items, (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        size_t length = wire_enter_index(r, i);
        if (read_item(r, f, json_array_get(value, i), items + i * size) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

static int read_value(struct wire_reader *r, const struct wire_field *f, json_t *value, void *target)
{
    void *member = (char *)target + f->offset;
    int64_t index;
    switch (f->type) {
    case WIRE_TEXT: return read_text(r, value, member);
    case WIRE_NAME: return wire_read_name(r, value, member);
    case WIRE_CHOICE:
        if (!r->is_reply && read_choice(r, f->choices, value, &index) != 0) return -1;
        return read_text(r, value, member);
    case WIRE_BYTES: return read_bytes_member(r, value, member);
    case WIRE_BLOB: return read_bytes(r, value, true, member);
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_RECORDS:
    case WIRE_ROWS: return read_list(r, f, value, member);
    case WIRE_BOOL:
        if (!json_is_boolean(value)) return wire_refuse(r, value, "true or false");
        *(bool *)member = json_is_true(value);
        return 0;
    case WIRE_DOUBLE:
        return f->min < f->max ? wire_read_real(r, value, f->min, f->max, member) : read_double(r, value, member);
    case WIRE_TIME: return wire_read_time(r, value, member);
    case WIRE_MEMORY: return wire_read_memory(r, value, member);
    case WIRE_OBJECT: return read_object(r, f->shape, value, member);
    case WIRE_CUSTOM: return f->read(r, value, target);
    default: return read_number(r, f, value, target);
    }
}

/* --- values of a field table -------------------------------------------------------------------------------------- */

/* Reads a value as people write it: text, or a number that stands for the same text. */
static int read_written(struct wire_reader *r, const struct field *f, json_t *value, struct field_value *out)
{
    struct str text;
    struct err below;
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    if (field_parse(f, text, r->arena, out, &below) == 0) return 0;
    below.field[0] = '\0'; /* the path has the name already */
    return wire_fail_below(r, &below);
}

static int read_pairs(struct wire_reader *r, json_t *value, const char **out)
{
    struct buf text = {0};
    const char *name;
    json_t *item;
    int status = json_is_object(value) ? 0 : wire_refuse(r, value, "an object of texts");
    buf_add_text(&text, "");
    json_object_foreach(value, name, item)
    {
        if (status == 0 && !json_is_string(item)) status = wire_refuse(r, item, "text");
        if (status != 0) break;
        buf_format(&text, "%s%s=", text.length > 0 ? "\n" : "", name);
        buf_add_str(&text, wire_string(item));
    }
    if (status == 0) *out = arena_copy(r->arena, (struct str){text.text, text.length});
    buf_release(&text);
    return status;
}

static int read_exact(struct wire_reader *r, const struct field *f, json_t *value, struct field_value *out)
{
    const struct wire_range range = {f->min, f->max, f->special, FIELD_SPECIAL};
    struct err below;
    *out = (struct field_value){.text = ""};
    switch (f->type) {
    case FIELD_TEXT:
        if ((f->is_pairs ? read_pairs : read_text)(r, value, &out->text) != 0) return -1;
        break;
    case FIELD_BYTES:
        if (read_bytes_member(r, value, &out->text) != 0) return -1;
        break;
    case FIELD_REAL:
        if (read_double(r, value, &out->real) != 0) return -1;
        break;
    case FIELD_CHOICE: return read_choice(r, f->choices, value, &out->number);
    case FIELD_BOOL:
        if (!json_is_boolean(value)) return wire_refuse(r, value, "true or false");
        out->number = json_is_true(value);
        return 0;
    default:
        if (!r->is_reply || !json_is_integer(value)) return wire_read_whole(r, value, &range, &out->number);
        out->number = json_integer_value(value);
        return out->number != FIELD_ABSENT ? 0 : wire_refuse(r, value, "a number of this field");
    }
    if (r->is_reply || field_check(f, out, &below) == 0) return 0;
    below.field[0] = '\0';
    return wire_fail_below(r, &below);
}

/* is_written: durations and memory are as people write them; 120 minutes are "120" or 120. */
static int read_field(struct wire_reader *r, const struct field *f, bool is_written, json_t *value,
                      struct field_value *out)
{
    bool is_quantity = field_is_duration(f) || f->type == FIELD_MEMORY;
    if (f->is_nullable && json_is_null(value)) {
        *out = field_absent();
        return 0;
    }
    if (r->is_document || ((is_written || f->is_text) && is_quantity)) return read_written(r, f, value, out);
    return read_exact(r, f, value, out);
}

static int read_record(struct wire_reader *r, const struct field_table *table, json_t *value,
                       struct field_value *out_values)
{
    if (!json_is_object(value)) return wire_refuse(r, value, "an object");
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *f = field_at(table, i);
        json_t *member = f->is_hidden ? NULL : json_object_get(value, f->name);
        out_values[i] = field_unsaid(f);
        if (member == NULL || json_is_null(member)) continue;
        size_t length = wire_enter(r, f->name);
        if (read_field(r, f, table->is_written, member, &out_values[i]) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}

/* --- objects ------------------------------------------------------------------------------------------------------ */

const struct wire_field *wire_find_field(const struct wire_shape *shape, const char *name)
{
    const struct wire_field *f = shape->fields;
    while (f->name && strcmp(f->name, name) != 0) f++;
    return f->name ? f : NULL;
}

/* Finds the field of the shape's table that has this name in the body; NONE: no field. In documents case is ignored, as
 * in Slurm's keywords. */
static uint32_t find_table_field(const struct wire_reader *r, const struct wire_table_fields *t, const char *name)
{
    for (uint32_t i = 0; t->table != NULL && i < t->table->count; i++) {
        const char *accepted = wire_table_name(t, i);
        if (accepted == NULL) continue;
        if (r->is_document ? str_equal_nocase(str(accepted), str(name)) : strcmp(accepted, name) == 0) return i;
    }
    return NONE;
}

static int fail_unknown(struct wire_reader *r, const struct wire_shape *shape, const char *name)
{
    struct buf names = {0};
    const struct wire_table_fields *t = &shape->table_fields;
    for (const struct wire_field *f = shape->fields; f->name; f++)
        buf_format(&names, "%s%s", names.length ? ", " : "", f->name);
    for (uint32_t i = 0; t->table != NULL && i < t->table->count; i++) {
        if (wire_table_name(t, i) != NULL) buf_format(&names, "%s%s", names.length ? ", " : "", wire_table_name(t, i));
    }
    if (shape->pair_fields.table != NULL) {
        if (names.length > 0) buf_add_text(&names, ", ");
        field_names(shape->pair_fields.table, &names);
    }
    wire_fill_unknown(r, name, names.text);
    buf_release(&names);
    return -1;
}

static bool is_pair(const struct wire_shape *shape, const char *name)
{
    return shape->pair_fields.table != NULL && shape->pair_fields.is_member(name);
}

static bool is_name_of(const struct wire_reader *r, const struct wire_shape *shape, const char *name)
{
    return wire_find_field(shape, name) != NULL || find_table_field(r, &shape->table_fields, name) != NONE ||
           is_pair(shape, name);
}

static int check_names(struct wire_reader *r, const struct wire_shape *shape, json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (!is_name_of(r, shape, name)) return fail_unknown(r, shape, name);
    }
    return 0;
}

static int read_table_field(struct wire_reader *r, const struct wire_table_fields *t, uint32_t field, json_t *value,
                            void *target)
{
    struct field_value *values = (struct field_value *)(void *)((char *)target + t->values_offset);
    bool *is_given = (bool *)((char *)target + t->given_offset);
    if (is_given[field]) return wire_fail(r, "occurs twice");
    is_given[field] = true;
    return read_field(r, field_at(t->table, field), t->table->is_written, value, &values[field]);
}

/* Appends to the list, whose memory doubles whenever it is full. */
static int read_pair(struct wire_reader *r, const struct wire_pair_fields *p, const char *name, json_t *value,
                     void *target)
{
    struct wire_list *list = (struct wire_list *)(void *)((char *)target + p->offset);
    bool is_full = (list->count & (list->count - 1)) == 0;
    struct wire_pair *pairs = list->items;
    struct str text;
    if (wire_read_scalar(r, value, &text) != 0) return -1;
    if (is_full) {
        pairs = arena_alloc(r->arena, (2 * (size_t)list->count + 1) * sizeof *pairs);
        if (list->count > 0) memcpy(pairs, list->items, list->count * sizeof *pairs);
    }
    pairs[list->count] = (struct wire_pair){arena_copy(r->arena, str(name)), arena_copy(r->arena, text)};
    *list = (struct wire_list){pairs, list->count + 1};
    return 0;
}

static int read_member(struct wire_reader *r, const struct wire_shape *shape, const char *name, json_t *value,
                       void *target)
{
    const struct wire_field *f = wire_find_field(shape, name);
    uint32_t field = f == NULL ? find_table_field(r, &shape->table_fields, name) : NONE;
    bool is_other = f == NULL && field == NONE;
    if ((is_other && !is_pair(shape, name)) || (r->is_reply && json_is_null(value))) return 0;
    size_t length = wire_enter(r, name);
    int status = is_other    ? read_pair(r, &shape->pair_fields, name, value, target)
                 : f != NULL ? read_value(r, f, value, target)
                             : read_table_field(r, &shape->table_fields, field, value, target);
    if (status == 0) wire_leave(r, length);
    return status;
}

int wire_read_member(struct wire_reader *r, const struct wire_shape *shape, const char *name, json_t *value,
                     void *target)
{
    if (!r->is_reply && !is_name_of(r, shape, name)) return fail_unknown(r, shape, name);
    return read_member(r, shape, name, value, target);
}

static int fail_missing(struct wire_reader *r, const char *name, const char *help)
{
    if (r->is_reply) return wire_fail_at(r, name, "missing; the instance is of another version than this command");
    return help != NULL ? wire_fail_at(r, name, "missing; %s", help) : wire_fail_at(r, name, "missing");
}

static int check_required(struct wire_reader *r, const struct wire_shape *shape, json_t *object, const void *target)
{
    const struct wire_table_fields *t = &shape->table_fields;
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        json_t *value = json_object_get(object, f->name);
        bool is_present = value != NULL && !(r->is_reply && json_is_null(value));
        if (f->is_required && !is_present) return fail_missing(r, f->name, f->help);
    }
    for (uint32_t i = 0; t->table != NULL && t->is_required != NULL && i < t->table->count; i++) {
        if (t->is_required(i) && !wire_table_given(t, target)[i])
            return fail_missing(r, wire_table_name(t, i), field_at(t->table, i)->help);
    }
    return 0;
}

int wire_read_members(struct wire_reader *r, const struct wire_shape *shape, json_t *object, void *target)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object)) return wire_refuse(r, object, "an object");
    if (!r->is_reply && check_names(r, shape, object) != 0) return -1;
    json_object_foreach(object, name, value)
    {
        if (read_member(r, shape, name, value, target) != 0) return -1;
    }
    return check_required(r, shape, object, target);
}

static void clear_table_fields(const struct wire_table_fields *t, void *target)
{
    struct field_value *values = (struct field_value *)(void *)((char *)target + t->values_offset);
    for (uint32_t i = 0; i < t->table->count; i++) values[i] = field_absent();
}

void wire_clear(const struct wire_shape *shape, void *out_value)
{
    memset(out_value, 0, shape->size);
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        char *member = (char *)out_value + f->offset;
        if (f->type == WIRE_OBJECT)
            wire_clear(f->shape, member);
        else if (f->type == WIRE_DOUBLE)
            *(double *)(void *)member = (double)NAN;
        else if (wire_is_whole(f))
            wire_set_number(f, out_value, f->absent);
    }
    if (shape->table_fields.table != NULL) clear_table_fields(&shape->table_fields, out_value);
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

int wire_read(const struct wire_shape *shape, json_t *object, struct arena *arena, void *out_value, struct err *e)
{
    struct wire_reader r = wire_reader_for(shape, arena, e);
    int status = read_object(&r, shape, object, out_value);
    wire_reader_release(&r);
    return status;
}

/* An upper bound for the number of values in the text, without parsing it: its commas and brackets outside of
 * strings. */
static size_t count_values(struct str text)
{
    size_t count = 1;
    bool in_string = false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c == '"')
            in_string = !in_string;
        else if (in_string && c == '\\')
            i++;
        else if (!in_string && (c == ',' || c == '[' || c == '{'))
            count++;
    }
    return count;
}

json_t *wire_parse(struct str text, json_error_t *out_error)
{
    json_t *value = json_loadb(text.length > 0 ? text.text : "", text.length, JSON_REJECT_DUPLICATES, out_error);
    for (char *c = out_error->text; value == NULL && *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') *c = '?'; /* jansson quotes the input */
    }
    return value;
}

json_t *wire_load(struct str text, enum err_code code, struct err *e)
{
    json_error_t error;
    json_t *object = wire_parse(text, &error);
    if (object == NULL) err_set(e, code, "invalid JSON: line %d, column %d: %s", error.line, error.column, error.text);
    return object;
}

json_t *wire_load_request(struct str text, struct err *e)
{
    if (text.length > WIRE_VALUES_MAX && count_values(text) > WIRE_VALUES_MAX) {
        err_set(e, ERR_TOO_LARGE, "the request has more than %d values", WIRE_VALUES_MAX);
        return NULL;
    }
    return wire_load(text, ERR_INPUT, e);
}

int wire_read_text(const struct wire_shape *shape, struct str text, struct arena *arena, void *out_value, struct err *e)
{
    json_t *object = shape->is_reply ? wire_load(text, ERR_INTERNAL, e) : wire_load_request(text, e);
    if (object == NULL) return -1;
    int status = wire_read(shape, object, arena, out_value, e);
    json_decref(object);
    return status;
}

int wire_read_record(const struct field_table *table, struct str text, struct arena *arena,
                     struct field_value *out_values, struct err *e)
{
    struct wire_reader r = {.arena = arena, .root = table->name, .code = ERR_INTERNAL, .is_reply = true, .e = e};
    json_t *object = wire_load(text, ERR_INTERNAL, e);
    if (object == NULL) return -1;
    int status = read_record(&r, table, object, out_values);
    wire_reader_release(&r);
    json_decref(object);
    return status;
}
