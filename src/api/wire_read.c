/* Structs from bodies, by their shapes; and the few things that have no shape. Goes through jansson, because what is read
 * came from somebody else and is short, or is one row: about 10 us a row of a job.
 *
 * Of jansson's leniencies none is used: an object that names a field twice is refused, so are texts with U+0000 in them
 * (base64 is for those). Everything is checked before it is believed: type, range, length; a refusal shows the value as
 * it came, short and on one line, and what is accepted. A request of very many values is refused before jansson makes
 * them, at a hundred times their size. */
#include <math.h>
#include <string.h>

#include "api/wire_base64.h"
#include "api/wire_member.h"
#include "base/ensure.h"
#include "base/number.h"

/* What a read needs everywhere. */
struct reading {
    const struct wire_shape *shape;
    struct arena *arena;
    struct err *e;
};

static enum err_code kind_of(const struct wire_shape *shape)
{
    return shape->is_reply ? ERR_INTERNAL : ERR_INPUT;
}

/* A value as an error shows it: short, on one line. */
static const char *show(json_t *value, char out[64])
{
    char number[NUMBER_TEXT_SIZE];
    if (json_is_integer(value)) {
        text_format(out, 64, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        size_t length = number_format_shortest(number, json_real_value(value));
        bool looks_whole = strspn(number, "-0123456789") == length; /* and would be taken */
        text_format(out, 64, "%.60s%s", number, looks_whole ? ".0" : "");
    } else if (json_is_string(value)) {
        struct str rest = {json_string_value(value), json_string_length(value)};
        size_t used = 0;
        out[used++] = '\'';
        for (size_t n; used < 50 && (n = str_utf8(rest)) > 0; rest.text += n, rest.length -= n) {
            memcpy(out + used, rest.text, n);
            if (!str_is_printable((struct str){rest.text, n})) memset(out + used, '?', n);
            used += n;
        }
        text_format(out + used, 64 - used, "%s'", rest.length > 0 ? "..." : "");
    } else {
        text_format(out, 64, "%s",
                    json_is_array(value)    ? "a list"
                    : json_is_object(value) ? "an object"
                    : json_is_true(value)   ? "true"
                    : json_is_false(value)  ? "false"
                                            : "null");
    }
    return out;
}

static int refuse(const struct reading *r, const struct wire_field *f, json_t *value, const char *accepted)
{
    char shown[64];
    return err_set(r->e, kind_of(r->shape), "%s: %s is not %s", f->name, show(value, shown), accepted);
}

static int refuse_number(const struct reading *r, const struct wire_field *f, json_t *value)
{
    char accepted[120];
    if (f->min == f->max)
        text_format(accepted, sizeof accepted, "%lld, the only value it takes", (long long)f->min);
    else
        text_format(accepted, sizeof accepted, "a whole number from %lld to %lld%s", (long long)f->min,
                    (long long)f->max, wire_has_parent(f) ? ", or 'parent'" : "");
    return refuse(r, f, value, accepted);
}

void wire_set_number(const struct wire_field *f, void *value, int64_t number)
{
    void *member = (char *)value + f->offset;
    switch (f->type) {
    case WIRE_U32:
    case WIRE_SHARE:
    case WIRE_PRIORITY: *(uint32_t *)member = (uint32_t)number; return;
    case WIRE_U64: *(uint64_t *)member = (uint64_t)number; return;
    case WIRE_I32: *(int32_t *)member = (int32_t)number; return;
    case WIRE_I64: *(int64_t *)member = number; return;
    default: ensure(!"a number");
    }
}

static int read_number(const struct reading *r, const struct wire_field *f, json_t *value, void *out)
{
    if (wire_has_parent(f) && json_is_string(value) && strcmp(json_string_value(value), "parent") == 0) {
        wire_set_number(f, out, wire_parent_of(f));
        return 0;
    }
    if (!json_is_integer(value)) return refuse_number(r, f, value);
    int64_t number = json_integer_value(value);
    if (number < f->min || number > f->max) return refuse_number(r, f, value);
    wire_set_number(f, out, number);
    return 0;
}

static int read_double(const struct reading *r, const struct wire_field *f, json_t *value, double *out)
{
    const char *text = json_string_value(value);
    if (json_is_number(value))
        *out = json_number_value(value);
    else if (text && strcmp(text, "inf") == 0)
        *out = (double)INFINITY;
    else if (text && strcmp(text, "-inf") == 0)
        *out = -(double)INFINITY;
    else
        return refuse(r, f, value, "a number");
    return 0;
}

static struct str string_of(json_t *value)
{
    return (struct str){json_string_value(value), json_string_length(value)};
}

static int read_text(const struct reading *r, const struct wire_field *f, json_t *value, const char **out)
{
    if (!json_is_string(value)) return refuse(r, f, value, "text");
    *out = arena_copy(r->arena, string_of(value));
    return 0;
}

static int read_choice(const struct reading *r, const struct wire_field *f, json_t *value, const char **out)
{
    char accepted[200];
    struct str rest = str(f->choices);
    while (json_is_string(value) && rest.text != NULL) {
        if (str_equal(str_cut(rest, ',', &rest), string_of(value))) return read_text(r, f, value, out);
    }
    text_format(accepted, sizeof accepted, "one of %s", f->choices);
    return refuse(r, f, value, accepted);
}

static int read_bytes(const struct reading *r, const struct wire_field *f, json_t *value, struct str *out)
{
    json_t *coded = json_object_get(value, "base64");
    if (json_is_string(value)) {
        *out = string_of(value);
        out->text = arena_copy(r->arena, *out);
    } else if (json_object_size(value) != 1 || !json_is_string(coded)) {
        return refuse(r, f, value, "text or {\"base64\":\"...\"}");
    } else if (!base64_read(string_of(coded), r->arena, out)) {
        return refuse(r, f, coded, "base64 (RFC 4648, with padding)");
    }
    if (f->type != WIRE_BLOB && memchr(out->text, 0, out->length) != NULL)
        return refuse(r, f, coded, "possible: it has a zero byte in it");
    return 0;
}

static int read_object(const struct reading *r, json_t *object, void *out);

static size_t item_size(const struct wire_field *f)
{
    return f->type == WIRE_ROWS ? f->shape->size : f->type == WIRE_TEXTS ? sizeof(const char *) : sizeof(struct str);
}

static int read_list(const struct reading *r, const struct wire_field *f, json_t *value, struct wire_list *out)
{
    size_t size = item_size(f), count = json_array_size(value);
    if (!json_is_array(value)) return refuse(r, f, value, "a list");
    char *items = arena_alloc(r->arena, size * (count + 1));
    *out = (struct wire_list){items, (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(value, i);
        void *place = items + i * size;
        struct reading inner = {f->shape ? f->shape : r->shape, r->arena, r->e};
        int status = f->type == WIRE_ROWS    ? read_object(&inner, item, place)
                     : f->type == WIRE_TEXTS ? read_text(r, f, item, place)
                                             : read_bytes(r, f, item, place);
        if (status != 0) return f->type == WIRE_ROWS ? err_prefix(r->e, "%s", f->name) : -1;
    }
    return 0;
}

static int read_field(const struct reading *r, const struct wire_field *f, json_t *value, void *out)
{
    void *member = (char *)out + f->offset;
    struct str bytes;
    switch (f->type) {
    case WIRE_TEXT: return read_text(r, f, value, member);
    case WIRE_CHOICE: return read_choice(r, f, value, member);
    case WIRE_BYTES:
        if (read_bytes(r, f, value, &bytes) != 0) return -1;
        *(const char **)member = bytes.text;
        return 0;
    case WIRE_BLOB: return read_bytes(r, f, value, member);
    case WIRE_TEXTS:
    case WIRE_BYTES_LIST:
    case WIRE_ROWS: return read_list(r, f, value, member);
    case WIRE_BOOL:
        if (!json_is_boolean(value)) return refuse(r, f, value, "true or false");
        *(bool *)member = json_is_true(value);
        return 0;
    case WIRE_DOUBLE: return read_double(r, f, value, member);
    case WIRE_OBJECT: return read_object(&(struct reading){f->shape, r->arena, r->e}, value, member);
    default: return read_number(r, f, value, out);
    }
}

static const struct wire_field *find_field(const struct wire_shape *shape, const char *name)
{
    const struct wire_field *f = shape->fields;
    while (f->name && strcmp(f->name, name) != 0) f++;
    return f->name ? f : NULL;
}

static int unknown_field(const struct wire_shape *shape, const char *name, struct err *e)
{
    struct buf names = {0};
    for (const struct wire_field *f = shape->fields; f->name; f++)
        buf_format(&names, "%s%s", names.length ? ", " : "", f->name);
    char shown[64];
    json_t *text = json_string(name);
    err_set(e, kind_of(shape), "unknown field %s; there are: %s", show(text, shown), names.text);
    json_decref(text);
    buf_release(&names);
    return -1;
}

static int read_object(const struct reading *r, json_t *object, void *out)
{
    wire_clear(r->shape, out);
    if (!json_is_object(object)) {
        char shown[64];
        return err_set(r->e, kind_of(r->shape), "%s: %s is not an object", r->shape->name, show(object, shown));
    }
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (!r->shape->is_reply && find_field(r->shape, name) == NULL) return unknown_field(r->shape, name, r->e);
    }
    for (const struct wire_field *f = r->shape->fields; f->name; f++) {
        value = json_object_get(object, f->name);
        if (value == NULL || (r->shape->is_reply && json_is_null(value))) {
            if (f->is_required) return err_set(r->e, kind_of(r->shape), "%s: missing; %s", f->name, f->help);
        } else if (read_field(r, f, value, out) != 0) {
            return -1;
        }
    }
    return 0;
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
        else if (f->type >= WIRE_U32 && f->type <= WIRE_I64)
            wire_set_number(f, out_value, f->absent);
        else if (f->type == WIRE_SHARE)
            wire_set_number(f, out_value, WIRE_SHARES_UNSET);
        else if (f->type == WIRE_PRIORITY)
            wire_set_number(f, out_value, WIRE_PRIORITY_UNSET);
    }
}

int wire_read(const struct wire_shape *shape, json_t *object, struct arena *arena, void *out_value, struct err *e)
{
    return read_object(&(struct reading){shape, arena, e}, object, out_value);
}

/* At least as many values as the text has, commas outside of strings counted. */
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

/* A JSON document, the caller's; NULL with *e. */
static json_t *load(struct str text, enum err_code kind, struct err *e)
{
    json_error_t error;
    if (kind == ERR_INPUT && text.length > WIRE_VALUES_MAX && count_values(text) > WIRE_VALUES_MAX) {
        err_set(e, ERR_TOO_LARGE, "the request has more than %d values", WIRE_VALUES_MAX);
        return NULL;
    }
    json_t *object = json_loadb(text.length > 0 ? text.text : "", text.length, JSON_REJECT_DUPLICATES, &error);
    for (char *c = error.text; object == NULL && *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') *c = '?'; /* it quotes what it read */
    }
    if (object == NULL)
        err_set(e, kind, "no JSON object: line %d, column %d: %s", error.line, error.column, error.text);
    return object;
}

int wire_read_text(const struct wire_shape *shape, struct str text, struct arena *arena, void *out_value, struct err *e)
{
    json_t *object = load(text, kind_of(shape), e);
    if (object == NULL) return -1;
    int status = wire_read(shape, object, arena, out_value, e);
    json_decref(object);
    return status;
}

static bool is_number(const struct wire_field *f)
{
    return (f->type >= WIRE_U32 && f->type <= WIRE_I64) || wire_has_parent(f);
}

/* The JSON value that a text in a query stands for; what cannot stand for it stays text, for the reader to refuse. */
static json_t *query_value(const struct wire_field *f, const char *text)
{
    int64_t number;
    if (is_number(f) && number_parse_i64(str(text), &number)) return json_integer(number);
    if (f->type == WIRE_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        return json_boolean(text[0] == 't');
    if (f->type != WIRE_TEXTS) return json_string(text);
    json_t *whole = json_string(text), *list = whole ? json_array() : NULL;
    struct str rest = str(whole ? text : NULL);
    json_decref(whole);
    while (rest.text != NULL) {
        struct str item = str_cut(rest, ',', &rest);
        json_array_append_new(list, json_stringn(item.text, item.length));
    }
    return list;
}

int wire_read_query(const struct wire_shape *shape, const char *name, const char *text, struct arena *arena,
                    void *value, struct err *e)
{
    const struct wire_field *f = find_field(shape, name);
    if (f == NULL) return unknown_field(shape, name, e);
    json_t *json = query_value(f, text); /* NULL: jansson takes UTF-8 only */
    if (json == NULL) return err_set(e, ERR_INPUT, "%s: it is not UTF-8 text", f->name);
    int status = read_field(&(struct reading){shape, arena, e}, f, json, value);
    json_decref(json);
    return status;
}

/* --- what no shape has -------------------------------------------------------------------------------------------- */

/* A value as people write it. */
static const char *pair_text(json_t *value, struct arena *arena)
{
    char text[NUMBER_TEXT_SIZE];
    if (json_is_string(value)) return arena_copy(arena, string_of(value));
    if (json_is_boolean(value)) return json_is_true(value) ? "true" : "false";
    if (json_is_real(value)) {
        number_format_shortest(text, json_real_value(value));
    } else {
        text_format(text, sizeof text, "%lld", (long long)json_integer_value(value));
    }
    return arena_copy(arena, str(text));
}

int wire_read_pairs(struct str text, struct arena *arena, struct wire_list *out_pairs, struct err *e)
{
    char shown[64];
    json_t *object = load(text, ERR_INPUT, e);
    if (object == NULL) return -1;
    int status = 0;
    if (json_object_size(object) == 0)
        status = err_set(e, ERR_INPUT, "nothing to change is named: an object is wanted, as in {\"NAME\":\"VALUE\"}");
    struct wire_pair *pairs = arena_alloc(arena, (json_object_size(object) + 1) * sizeof *pairs);
    uint32_t count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (status != 0) break;
        if (!json_is_string(value) && !json_is_number(value) && !json_is_boolean(value))
            status = err_set(e, ERR_INPUT, "%.64s: %s is not text, a number, true or false", name, show(value, shown));
        else
            pairs[count++] = (struct wire_pair){arena_copy(arena, str(name)), pair_text(value, arena)};
    }
    json_decref(object);
    if (status == 0) *out_pairs = (struct wire_list){pairs, count};
    return status;
}

int wire_job_id_parse(struct str text, const char *what, uint32_t *out_job_id, uint32_t *out_task_id, struct err *e)
{
    uint64_t job_id = 0, task_id = NONE;
    struct str task, job = str_cut(text, '_', &task);
    bool is_good = number_parse_u64(job, &job_id) && job_id >= 1 && job_id < NONE - 1;
    if (is_good && task.text != NULL) is_good = number_parse_u64(task, &task_id) && task_id < NONE;
    if (!is_good) {
        char shown[64];
        json_t *value = json_stringn(text.length > 0 ? text.text : "", text.length);
        err_set(e, ERR_INPUT, "%s: %s is not a job's id, as 5, or 5_3 for task 3 of an array", what,
                value ? show(value, shown) : "this");
        json_decref(value);
        return -1;
    }
    *out_job_id = (uint32_t)job_id;
    *out_task_id = (uint32_t)task_id;
    return 0;
}
