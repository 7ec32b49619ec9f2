/* Rows as lines between |, for listings of our own that are long: what costs 10 us a row in JSON costs about one here.
 *
 *     id|job_id|task_id|user|...        the names of the fields, so that either end may be older than the other
 *     5|5||alice|...                    an absent value is empty, a text of nothing \e
 *
 * Numbers are written as in JSON. Text is as it is, bytes that are no UTF-8 too, but for \ | and line ends: \\ \p \n. */
#include <string.h>

#include "api/wire_member.h"
#include "base/number.h"

static void write_text(const char *text, struct buf *out)
{
    if (text[0] == '\0') buf_add_text(out, "\\e");
    for (const char *p = text; *p != '\0';) {
        size_t plain = strcspn(p, "\\|\n");
        buf_add(out, p, plain);
        p += plain;
        if (*p == '\0') return;
        buf_add_char(out, '\\');
        buf_add_char(out, *p == '|' ? 'p' : *p == '\n' ? 'n' : '\\');
        p++;
    }
}

static void write_value(const struct wire_field *f, const void *value, struct buf *out)
{
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_CHOICE:
    case WIRE_BYTES: write_text(WIRE_MEMBER(const char *, f, value), out); return;
    case WIRE_BOOL: buf_add_char(out, WIRE_MEMBER(bool, f, value) ? '1' : '0'); return;
    case WIRE_DOUBLE:
        out->length += number_format_shortest(buf_room(out, NUMBER_TEXT_SIZE), WIRE_MEMBER(double, f, value));
        return;
    default: break;
    }
    int64_t number = wire_get_number(f, value);
    if (wire_is_parent(f, number)) {
        buf_add_text(out, "parent");
        return;
    }
    if (number < 0) buf_add_char(out, '-');
    buf_add_u64(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void wire_write_heading(const struct wire_shape *shape, struct buf *out)
{
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        if (f != shape->fields) buf_add_char(out, '|');
        buf_add_text(out, f->name);
    }
    buf_add_char(out, '\n');
}

void wire_write_line(const struct wire_shape *shape, const void *value, struct buf *out)
{
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        if (f != shape->fields) buf_add_char(out, '|');
        if (f->type == WIRE_BOOL || !wire_is_absent(f, value)) write_value(f, value, out);
    }
    buf_add_char(out, '\n');
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool has_column(const struct wire_columns *c, const struct wire_field *wanted)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->field[i] == wanted) return true;
    }
    return false;
}

int wire_read_heading(const struct wire_shape *shape, struct str line, struct wire_columns *out_columns, struct err *e)
{
    struct wire_columns c = {.shape = shape};
    for (struct str rest = line; rest.text != NULL; c.count++) {
        struct str name = str_cut(rest, '|', &rest);
        if (c.count == WIRE_COLUMNS_MAX)
            return err_set(e, ERR_INTERNAL, "%s: more than %d columns", shape->name, WIRE_COLUMNS_MAX);
        const struct wire_field *f = shape->fields;
        while (f->name && !str_equal(name, str(f->name))) f++;
        c.field[c.count] = f->name ? f : NULL;
    }
    for (const struct wire_field *f = shape->fields; f->name; f++) {
        if (f->is_required && !has_column(&c, f))
            return err_set(e, ERR_INTERNAL, "%s: the listing has no column '%s'", shape->name, f->name);
    }
    *out_columns = c;
    return 0;
}

/* Text in memory of arena; NULL: a bad escape. */
static const char *read_text(struct str text, struct arena *arena)
{
    char *out = arena_alloc(arena, text.length + 1), *to = out;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        char escape = ++i < text.length ? text.text[i] : '\0';
        if (escape == 'e') continue;
        if (escape != '\\' && escape != 'p' && escape != 'n') return NULL;
        *to++ = escape == 'p' ? '|' : escape == 'n' ? '\n' : '\\';
    }
    *to = '\0';
    return out;
}

static bool is_choice(const char *choices, struct str word)
{
    for (struct str rest = str(choices); rest.text != NULL;) {
        if (str_equal(str_cut(rest, ',', &rest), word)) return true;
    }
    return false;
}

static bool read_number(const struct wire_field *f, struct str text, void *out)
{
    int64_t number;
    if (wire_has_parent(f) && str_equal(text, str("parent"))) {
        wire_set_number(f, out, wire_parent_of(f));
        return true;
    }
    if (!number_parse_i64(text, &number) || number < f->min || number > f->max) return false;
    wire_set_number(f, out, number);
    return true;
}

static bool read_value(const struct wire_field *f, struct str text, struct arena *arena, void *out)
{
    char *member = (char *)out + f->offset;
    switch (f->type) {
    case WIRE_TEXT:
    case WIRE_CHOICE:
    case WIRE_BYTES:
        if (f->type == WIRE_CHOICE && !is_choice(f->choices, text)) return false;
        *(const char **)(void *)member = read_text(text, arena);
        return *(const char **)(void *)member != NULL;
    case WIRE_BOOL:
        *(bool *)(void *)member = str_equal(text, str("1"));
        return *(bool *)(void *)member || str_equal(text, str("0"));
    case WIRE_DOUBLE: return number_parse_double(text, (double *)(void *)member);
    default: return read_number(f, text, out);
    }
}

int wire_read_line(const struct wire_columns *columns, struct str line, struct arena *arena, void *out_value,
                   struct err *e)
{
    const char *shape = columns->shape->name;
    struct str rest = line;
    wire_clear(columns->shape, out_value);
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct wire_field *f = columns->field[i];
        if (rest.text == NULL)
            return err_set(e, ERR_INTERNAL, "%s: a row has %u of %u columns", shape, i, columns->count);
        struct str text = str_cut(rest, '|', &rest);
        if (f == NULL || (text.length == 0 && !f->is_required)) continue;
        if (!read_value(f, text, arena, out_value))
            return err_set(e, ERR_INTERNAL, "%s: '%.*s' cannot be its %s", shape,
                           (int)(text.length < 60 ? text.length : 60), text.text, f->name);
    }
    if (rest.text != NULL) return err_set(e, ERR_INTERNAL, "%s: a row has more than %u columns", shape, columns->count);
    return 0;
}
