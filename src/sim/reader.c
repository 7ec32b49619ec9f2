#include "sim/reader.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"

enum { NAME_BYTES = 255, SHOWN_BYTES = 60, MESSAGE_BYTES = 400, PATH_BYTES = 60 };

/* --- where we are, and what is wrong there -------------------------------------------------------------------------- */

size_t reader_enter(struct reader *r, const char *key)
{
    size_t length = r->path.length;
    if (length > 0) buf_add_char(&r->path, '.');
    buf_add_text(&r->path, key);
    return length;
}

size_t reader_enter_index(struct reader *r, size_t index)
{
    size_t length = r->path.length;
    buf_add_char(&r->path, '[');
    buf_add_u64(&r->path, index);
    buf_add_char(&r->path, ']');
    return length;
}

void reader_leave(struct reader *r, size_t length)
{
    r->path.length = length;
    if (r->path.text != NULL) r->path.text[length] = '\0';
}

/* Of a path that is too long for a line the beginning and the end are shown. */
static int fail(struct reader *r, const char *format, va_list arguments)
{
    char text[MESSAGE_BYTES];
    text_vformat(text, sizeof text, format, arguments);
    size_t length = r->path.length;
    if (length == 0) return err_set(r->e, ERR_INPUT, "%s: the document: %s", r->name, text);
    if (length <= 2 * PATH_BYTES) return err_set(r->e, ERR_INPUT, "%s: %s: %s", r->name, r->path.text, text);
    return err_set(r->e, ERR_INPUT, "%s: %.*s...%s: %s", r->name, PATH_BYTES, r->path.text,
                   r->path.text + length - PATH_BYTES, text);
}

int reader_fail(struct reader *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(r, format, arguments);
    va_end(arguments);
    return -1;
}

int reader_fail_at(struct reader *r, const char *key, const char *format, ...)
{
    va_list arguments;
    reader_enter(r, key);
    va_start(arguments, format);
    fail(r, format, arguments);
    va_end(arguments);
    return -1;
}

int reader_fail_below(struct reader *r, const struct err *below)
{
    if (r->e != NULL) *r->e = *below;
    (void)err_in(r->e, "%s", r->path.text);
    return err_prefix(r->e, "%s", r->name);
}

/* A value as an error shows it: short. */
static void show(json_t *value, char out[SHOWN_BYTES + 8])
{
    char number[NUMBER_TEXT_SIZE];
    if (json_is_integer(value)) {
        text_format(out, SHOWN_BYTES, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        number_format_shortest(number, json_real_value(value));
        text_format(out, SHOWN_BYTES, "%s", number);
    } else if (json_is_string(value)) {
        size_t length = json_string_length(value);
        text_format(out, SHOWN_BYTES + 8, "'%.*s%s'", SHOWN_BYTES, json_string_value(value),
                    length > SHOWN_BYTES ? "..." : "");
    } else {
        static const char *const words[] = {
            [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_TRUE] = "true",
            [JSON_FALSE] = "false",      [JSON_NULL] = "null",
        };
        text_format(out, SHOWN_BYTES, "%s", words[json_typeof(value)]);
    }
}

int reader_refuse(struct reader *r, json_t *value, const char *accepted)
{
    char shown[SHOWN_BYTES + 8];
    show(value, shown);
    return reader_fail(r, "%s is not %s", shown, accepted);
}

/* --- single values -------------------------------------------------------------------------------------------------- */

bool name_is_good(const char *name, size_t length)
{
    return length > 0 && length <= NAME_BYTES && str_is_printable((struct str){name, length});
}

int read_name(struct reader *r, json_t *value, const char **out_name)
{
    if (!json_is_string(value) || !name_is_good(json_string_value(value), json_string_length(value)))
        return reader_refuse(r, value, "a name: a text of 1 to 255 printable bytes");
    *out_name = json_string_value(value);
    return 0;
}

static int refuse_number(struct reader *r, json_t *value, const char *kind, double min, double max)
{
    char accepted[100], from[NUMBER_TEXT_SIZE], to[NUMBER_TEXT_SIZE];
    number_format_double(from, min, 16, 'g');
    number_format_double(to, max, 16, 'g');
    text_format(accepted, sizeof accepted, "a %s from %s to %s", kind, from, to);
    return reader_refuse(r, value, accepted);
}

/* 4 and 4.0 are the same number, and some programs write every number with a point. */
static bool is_whole(json_t *value, int64_t *out_number)
{
    static const double max = 9007199254740992.0; /* 2^53 */
    double real = json_is_real(value) ? json_real_value(value) : 0.5;
    if (json_is_integer(value)) {
        *out_number = json_integer_value(value);
        return true;
    }
    if (!(fabs(real) <= max) || floor(real) < real) return false;
    *out_number = (int64_t)real;
    return true;
}

int read_whole(struct reader *r, json_t *value, double min, double max, int64_t *out_number)
{
    int64_t number;
    if (!is_whole(value, &number) || (double)number < min || (double)number > max)
        return refuse_number(r, value, "whole number", min, max);
    *out_number = number;
    return 0;
}

int read_real(struct reader *r, json_t *value, double min, double max, double *out_number)
{
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= min && number <= max)) return refuse_number(r, value, "number", min, max);
    *out_number = number + 0.0; /* no -0, which would stand before 0 where jobs are put in order */
    return 0;
}

int read_moment(struct reader *r, json_t *value, int64_t *out_us)
{
    struct str text;
    int64_t whole;
    bool is_text = json_is_string(value) || is_whole(value, &whole);
    if (is_text && read_scalar(r, value, &text) != 0) return -1;
    if (!is_text || time_parse(text, "", out_us, NULL) != 0)
        return reader_refuse(r, value, "a moment: seconds since 1970, or a text like '2026-11-21T09:05:00Z'");
    return 0;
}

int read_memory(struct reader *r, json_t *value, uint64_t *out_mib)
{
    struct str text;
    int64_t whole;
    bool is_text = json_is_string(value) || is_whole(value, &whole);
    if (is_text && read_scalar(r, value, &text) != 0) return -1;
    if (is_text && str_equal(text, str("0"))) {
        *out_mib = 0;
        return 0;
    }
    if (!is_text || memory_parse(text, "", out_mib, NULL) != 0)
        return reader_refuse(r, value, "an amount of memory: whole MiB, or a text like '4G'");
    return 0;
}

int read_scalar(struct reader *r, json_t *value, struct str *out_text)
{
    char number[NUMBER_TEXT_SIZE];
    buf_clear(&r->scalar);
    if (json_is_string(value)) {
        *out_text = (struct str){json_string_value(value), json_string_length(value)};
        return 0;
    }
    if (json_is_integer(value)) {
        buf_format(&r->scalar, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        buf_add(&r->scalar, number, number_format_shortest(number, json_real_value(value)));
    } else if (json_is_boolean(value)) {
        buf_add_text(&r->scalar, json_is_true(value) ? "true" : "false");
    } else {
        return reader_refuse(r, value, "a text, a number, true or false");
    }
    *out_text = (struct str){r->scalar.text, r->scalar.length};
    return 0;
}

int read_reference(struct reader *r, json_t *value, const struct map *names, const char *what, uint32_t *out_index)
{
    const char *name;
    if (read_name(r, value, &name) != 0) return -1;
    uint32_t index = map_get(names, str(name));
    if (index == NONE)
        return reader_fail(r, "'%.*s' is not a %s of this document%s", SHOWN_BYTES, name, what,
                           names->count == 0 ? ", which has none" : "");
    *out_index = index;
    return 0;
}

/* --- objects and lists ---------------------------------------------------------------------------------------------- */

const struct key *key_find(const struct key *keys, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(keys[i].name, name) == 0) return &keys[i];
    }
    return NULL;
}

int key_unknown(struct reader *r, const char *name, const struct key *keys, uint32_t count, const struct field *fields,
                uint32_t field_count)
{
    struct buf names = {0};
    for (uint32_t i = 0; i < count; i++) buf_format(&names, "%s%s", i > 0 ? ", " : "", keys[i].name);
    for (uint32_t i = 0; i < field_count; i++) buf_format(&names, "%s%s", names.length > 0 ? ", " : "", fields[i].name);
    int status = reader_fail(r, "no key '%.*s'; there are: %s", SHOWN_BYTES, name, names.text);
    buf_release(&names);
    return status;
}

static int read_number_key(struct reader *r, json_t *value, const struct key *key, char *member)
{
    int64_t number = 0;
    if (read_whole(r, value, key->min, key->max, &number) != 0) return -1;
    switch (key->type) {
    case KEY_U32: *(uint32_t *)member = (uint32_t)number; return 0;
    case KEY_I32: *(int32_t *)member = (int32_t)number; return 0;
    case KEY_U64: *(uint64_t *)member = (uint64_t)number; return 0;
    default: *(int64_t *)member = number; return 0;
    }
}

int read_key(struct reader *r, json_t *value, const struct key *key, void *target)
{
    char *member = (char *)target + key->offset;
    size_t length = reader_enter(r, key->name);
    int status = 0;
    switch (key->type) {
    case KEY_U32:
    case KEY_I32:
    case KEY_U64:
    case KEY_I64: status = read_number_key(r, value, key, member); break;
    case KEY_REAL: status = read_real(r, value, key->min, key->max, (double *)member); break;
    case KEY_NAME: status = read_name(r, value, (const char **)member); break;
    case KEY_MOMENT: status = read_moment(r, value, (int64_t *)member); break;
    case KEY_OTHER: status = key->read(r, value, target); break;
    }
    if (status == 0) reader_leave(r, length);
    return status;
}

int check_needed(struct reader *r, json_t *value, const struct key *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i].is_needed && json_object_get(value, keys[i].name) == NULL)
            return reader_fail(r, "'%s' is needed", keys[i].name);
    }
    return 0;
}

int read_object(struct reader *r, json_t *value, const struct key *keys, uint32_t count, void *target)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return reader_refuse(r, value, "an object");
    json_object_foreach(value, name, item)
    {
        const struct key *key = key_find(keys, count, name);
        if (key == NULL) return key_unknown(r, name, keys, count, NULL, 0);
        if (read_key(r, item, key, target) != 0) return -1;
    }
    return check_needed(r, value, keys, count);
}

int read_list(struct reader *r, json_t *value, int (*read)(struct reader *r, json_t *item, uint32_t index))
{
    if (!json_is_array(value)) return reader_refuse(r, value, "a list");
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count; i++) {
        size_t length = reader_enter_index(r, i);
        if (read(r, json_array_get(value, i), (uint32_t)i) != 0) return -1;
        reader_leave(r, length);
    }
    return 0;
}
