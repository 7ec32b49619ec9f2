#include "wire/reader.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/quantity.h"

/* A path that is longer than two parts is shown in messages as its beginning and its end. */
enum { NAME_BYTES_MAX = 255, PATH_PART_BYTES = 60, PATH_SIZE = 2 * PATH_PART_BYTES + 4, MESSAGE_SIZE = 500 };

struct wire_reader wire_reader_for(const struct wire_shape *shape, struct arena *arena, struct err *e)
{
    return (struct wire_reader){.arena = arena,
                                .root = shape->name,
                                .code = shape->is_reply ? ERR_INTERNAL : ERR_INPUT,
                                .is_reply = shape->is_reply,
                                .e = e};
}

void wire_reader_release(struct wire_reader *r)
{
    buf_release(&r->path);
    buf_release(&r->scalar);
}

/* --- the path ----------------------------------------------------------------------------------------------------- */

size_t wire_enter(struct wire_reader *r, const char *key)
{
    size_t length = r->path.length;
    if (length > 0) buf_add_char(&r->path, '.');
    buf_add_text(&r->path, key);
    return length;
}

size_t wire_enter_index(struct wire_reader *r, size_t index)
{
    size_t length = r->path.length;
    buf_add_char(&r->path, '[');
    buf_add_u64(&r->path, index);
    buf_add_char(&r->path, ']');
    return length;
}

void wire_leave(struct wire_reader *r, size_t length)
{
    ensure(length <= r->path.length);
    r->path.length = length;
    if (r->path.text != NULL) r->path.text[length] = '\0';
}

static bool is_within_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The path as messages show it: its names come from the client, so control characters are masked, and the middle of a
 * long path is left out. */
static const char *shown_path(const struct wire_reader *r, char out[PATH_SIZE])
{
    const char *path = r->path.text;
    size_t length = r->path.length;
    if (length == 0) return r->root;
    if (length <= 2 * PATH_PART_BYTES) {
        text_format(out, PATH_SIZE, "%s", path);
    } else {
        size_t head = PATH_PART_BYTES, tail = length - PATH_PART_BYTES;
        while (is_within_character(path[head])) head--;
        while (is_within_character(path[tail])) tail++;
        text_format(out, PATH_SIZE, "%.*s...%s", (int)head, path, path + tail);
    }
    text_make_plain(out, strlen(out));
    return out;
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

void wire_fill(struct wire_reader *r, const char *key, const char *format, ...)
{
    char reason[MESSAGE_SIZE], path[PATH_SIZE];
    va_list arguments;
    va_start(arguments, format);
    text_vformat(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (key != NULL) wire_enter(r, key);
    (void)err_field(r->e, r->code, shown_path(r, path), "%s", reason);
}

/* A value that is not text, as messages show it. 4.0 keeps its point: no message says "4 is not a whole number". */
static const char *shown_value(json_t *value, char out[NUMBER_TEXT_SIZE + 4])
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    if (json_is_integer(value)) {
        text_format(out, NUMBER_TEXT_SIZE, "%lld", (long long)json_integer_value(value));
        return out;
    }
    if (!json_is_real(value)) return names[json_typeof(value)];
    size_t length = number_format_shortest(out, json_real_value(value));
    if (strspn(out, "-0123456789") == length) memcpy(out + length, ".0", 3);
    return out;
}

void wire_fill_refused(struct wire_reader *r, json_t *value, const char *format, ...)
{
    char accepted[MESSAGE_SIZE], path[PATH_SIZE], number[NUMBER_TEXT_SIZE + 4];
    bool is_text = json_is_string(value);
    struct str shown = is_text ? wire_string(value) : str(shown_value(value, number));
    va_list arguments;
    va_start(arguments, format);
    text_vformat(accepted, sizeof accepted, format, arguments);
    va_end(arguments);
    (void)err_value(r->e, shown_path(r, path), shown, "%s", accepted);
    if (r->e == NULL) return;
    r->e->code = r->code;
    r->e->is_number = !is_text;
}

void wire_fill_below(struct wire_reader *r, const struct err *below)
{
    char path[PATH_SIZE];
    if (r->e == NULL) return;
    *r->e = *below;
    r->e->code = r->code;
    if (r->path.length > 0) (void)err_in(r->e, "%s", shown_path(r, path));
}

void wire_fill_unknown(struct wire_reader *r, const char *name, const char *names)
{
    char path[PATH_SIZE];
    (void)err_unknown_field(r->e, shown_path(r, path), str(name), names);
    if (r->e == NULL) return;
    r->e->code = r->code;
    if (r->path.length == 0) r->e->field[0] = '\0';
}

/* --- single values ------------------------------------------------------------------------------------------------ */

struct str wire_string(json_t *value)
{
    ensure(json_is_string(value));
    return (struct str){json_string_value(value), json_string_length(value)};
}

bool wire_is_name(struct str text)
{
    return text.length > 0 && text.length <= NAME_BYTES_MAX && str_is_printable(text);
}

int wire_read_name(struct wire_reader *r, json_t *value, const char **out_name)
{
    if (!json_is_string(value) || !wire_is_name(wire_string(value)))
        return wire_refuse(r, value, "a name of 1 to %d printable bytes", NAME_BYTES_MAX);
    *out_name = arena_copy(r->arena, wire_string(value));
    return 0;
}

/* Shows the bounds of whole numbers in full, because a time has 18 digits. */
static int refuse_number(struct wire_reader *r, json_t *value, bool is_integer, const struct wire_range *range)
{
    char min[NUMBER_TEXT_SIZE], max[NUMBER_TEXT_SIZE];
    const char *kind = is_integer ? "whole number" : "number";
    number_format_double(min, range->min, is_integer ? 0 : 16, is_integer ? 'f' : 'g');
    number_format_double(max, range->max, is_integer ? 0 : 16, is_integer ? 'f' : 'g');
    if (!(range->min < range->max)) return wire_refuse(r, value, "%s, the only accepted value", min);
    if (range->special == NULL) return wire_refuse(r, value, "a %s from %s to %s", kind, min, max);
    return wire_refuse(r, value, "a %s from %s to %s, or '%s'", kind, min, max, range->special);
}

/* Whether the value is a whole number. In a document 4.0 is one, because some programs write every number with a
 * point. */
static bool is_whole(const struct wire_reader *r, json_t *value, int64_t *out_number)
{
    static const double max = 9007199254740992.0; /* 2^53 */
    double real = json_is_real(value) ? json_real_value(value) : 0.5;
    if (json_is_integer(value)) {
        *out_number = json_integer_value(value);
        return true;
    }
    if (!r->is_document || !(fabs(real) <= max) || floor(real) < real) return false;
    *out_number = (int64_t)real;
    return true;
}

int wire_read_whole(struct wire_reader *r, json_t *value, const struct wire_range *range, int64_t *out_number)
{
    int64_t number;
    if (range->special != NULL && json_is_string(value) && str_equal(wire_string(value), str(range->special))) {
        *out_number = range->special_number;
        return 0;
    }
    if (!is_whole(r, value, &number) || !number_is_between(number, range->min, range->max))
        return refuse_number(r, value, true, range);
    *out_number = number;
    return 0;
}

static bool is_held(json_t *value)
{
    char text[32];
    if (!json_is_integer(value)) return true;
    return number_is_held(
        (struct str){text, text_format(text, sizeof text, "%lld", (long long)json_integer_value(value))});
}

int wire_read_real(struct wire_reader *r, json_t *value, double min, double max, double *out_number)
{
    ensure(min < max);
    double number = json_number_value(value);
    if (!is_held(value)) return wire_refuse(r, value, "a number that is kept exactly: whole numbers up to 2^53 are");
    if (!json_is_number(value) || !(number >= min && number <= max))
        return refuse_number(r, value, false, &(struct wire_range){.min = min, .max = max});
    *out_number = number + 0.0; /* -0 becomes 0: it would sort before 0 where jobs are ordered */
    return 0;
}

int wire_read_time(struct wire_reader *r, json_t *value, int64_t *out_us)
{
    struct str text;
    int64_t whole;
    bool is_text = json_is_string(value) || is_whole(r, value, &whole);
    if (is_text && wire_read_scalar(r, value, &text) != 0) return -1;
    if (!is_text || time_parse(text, "", out_us, NULL) != 0)
        return wire_refuse(r, value, "a time: seconds since 1970, or text such as '2026-11-21T09:05:00Z'");
    return 0;
}

int wire_read_memory(struct wire_reader *r, json_t *value, uint64_t *out_mib)
{
    struct str text;
    int64_t whole;
    bool is_text = json_is_string(value) || is_whole(r, value, &whole);
    if (is_text && wire_read_scalar(r, value, &text) != 0) return -1;
    if (is_text && str_equal(text, str("0"))) {
        *out_mib = 0;
        return 0;
    }
    if (!is_text || memory_parse(text, "", out_mib, NULL) != 0)
        return wire_refuse(r, value, "an amount of memory: whole MiB, or text such as '4G'");
    return 0;
}

int wire_read_scalar(struct wire_reader *r, json_t *value, struct str *out_text)
{
    char number[NUMBER_TEXT_SIZE];
    buf_clear(&r->scalar);
    if (json_is_string(value)) {
        *out_text = wire_string(value);
        return 0;
    }
    if (json_is_integer(value)) {
        buf_format(&r->scalar, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        buf_add(&r->scalar, number, number_format_shortest(number, json_real_value(value)));
    } else if (json_is_boolean(value)) {
        buf_add_text(&r->scalar, json_is_true(value) ? "true" : "false");
    } else {
        return wire_refuse(r, value, "text, a number, true or false");
    }
    *out_text = (struct str){r->scalar.text, r->scalar.length};
    return 0;
}

int wire_read_items(struct wire_reader *r, json_t *value,
                    int (*read)(struct wire_reader *r, json_t *item, uint32_t index))
{
    if (!json_is_array(value)) return wire_refuse(r, value, "a list");
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count; i++) {
        size_t length = wire_enter_index(r, i);
        if (read(r, json_array_get(value, i), (uint32_t)i) != 0) return -1;
        wire_leave(r, length);
    }
    return 0;
}
