/* Records as lines, for Fairlead's own long listings: reading a row takes about 1 us, and 10 us as JSON.
 *
 *     id|job_id|task_id|user|...        the names of the fields, so that either end may be older than the other
 *     5|5||alice|...                    a field without a value is empty, an empty text is \e
 *
 * A number may be out of its field's range: the instance is trusted, and one damaged row must not hide all others.
 * Numbers are written as in JSON. Text keeps all its bytes, also those that are not UTF-8, except that \ | and line
 * ends become \\ \p and \n. */
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "wire/wire.h"

/* --- writing ------------------------------------------------------------------------------------------------------ */

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

static void write_whole(int64_t number, struct buf *out)
{
    if (number < 0) buf_add_char(out, '-');
    buf_add_u64(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static void write_value(const struct field *f, const struct field_value *value, struct buf *out)
{
    if (field_is_text(f))
        write_text(value->text, out);
    else if (f->type == FIELD_REAL)
        out->length += number_format_shortest(buf_room(out, NUMBER_TEXT_SIZE), value->real);
    else if (f->special != NULL && value->number == FIELD_SPECIAL)
        buf_add_text(out, f->special);
    else if (f->type == FIELD_CHOICE)
        buf_add_str(out, field_choice(f->choices, value->number));
    else
        write_whole(value->number, out);
}

void wire_write_heading(const struct field_table *table, struct buf *out)
{
    const char *separator = "";
    for (uint32_t i = 0; i < table->count; i++) {
        if (field_at(table, i)->is_hidden) continue;
        buf_add_text(out, separator);
        buf_add_text(out, field_at(table, i)->name);
        separator = "|";
    }
    buf_add_char(out, '\n');
}

void wire_write_line(const struct field_table *table, const struct field_value *values, struct buf *out)
{
    bool is_first = true;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *f = field_at(table, i);
        if (f->is_hidden) continue;
        if (!is_first) buf_add_char(out, '|');
        is_first = false;
        if (!field_is_absent(f, &values[i])) write_value(f, &values[i], out);
    }
    buf_add_char(out, '\n');
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

#define fail_line(table, e, ...) (err_set(e, ERR_INTERNAL, __VA_ARGS__), err_of(e, (table)->name, str("")))

int wire_read_heading(const struct field_table *table, struct str line, struct wire_columns *out_columns, struct err *e)
{
    struct wire_columns c = {.table = table};
    bool has_known = false;
    for (struct str rest = line; rest.text != NULL; c.count++) {
        struct str name = str_cut(rest, '|', &rest);
        if (c.count == WIRE_COLUMNS_MAX) return fail_line(table, e, "more than %d columns", WIRE_COLUMNS_MAX);
        uint32_t field = field_find(table, name);
        bool is_known = field != NONE && !field_at(table, field)->is_hidden;
        c.field[c.count] = is_known ? field : NONE;
        has_known |= is_known;
    }
    if (!has_known) return fail_line(table, e, "the listing has no known column");
    *out_columns = c;
    return 0;
}

/* Returns the text without its escapes, in memory of arena; NULL: an unknown escape. */
static const char *read_text(struct str text, struct arena *arena)
{
    char *out = arena_alloc(arena, text.length + 1), *end = out;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c != '\\') {
            *end++ = c;
            continue;
        }
        char escape = ++i < text.length ? text.text[i] : '\0';
        if (escape == 'e') continue;
        if (escape != '\\' && escape != 'p' && escape != 'n') return NULL;
        *end++ = escape == 'p' ? '|' : escape == 'n' ? '\n' : '\\';
    }
    *end = '\0';
    return out;
}

static bool read_whole(const struct field *f, struct str text, int64_t *out_number)
{
    if (f->special != NULL && str_equal(text, str(f->special))) {
        *out_number = FIELD_SPECIAL;
        return true;
    }
    if (f->type == FIELD_CHOICE) {
        *out_number = field_choice_index(f->choices, text);
        return *out_number >= 0;
    }
    if (!number_parse_i64(text, out_number) || *out_number == FIELD_ABSENT) return false;
    return f->type != FIELD_BOOL || *out_number == 0 || *out_number == 1;
}

static bool read_value(const struct field *f, struct str text, struct arena *arena, struct field_value *out)
{
    *out = (struct field_value){.text = ""};
    if (f->type == FIELD_REAL) {
        if (!number_parse_double(text, &out->real)) return false;
        out->real += 0.0; /* -0 becomes 0, as in wire_read_real */
        return true;
    }
    if (!field_is_text(f)) return read_whole(f, text, &out->number);
    out->text = read_text(text, arena);
    return out->text != NULL;
}

int wire_read_line(const struct wire_columns *columns, struct str line, struct arena *arena,
                   struct field_value *out_values, struct err *e)
{
    const struct field_table *table = columns->table;
    struct str rest = line;
    for (uint32_t i = 0; i < table->count; i++) out_values[i] = field_unsaid(field_at(table, i));
    for (uint32_t i = 0; i < columns->count; i++) {
        if (rest.text == NULL) return fail_line(table, e, "a row has %u of %u columns", i, columns->count);
        struct str text = str_cut(rest, '|', &rest);
        uint32_t field = columns->field[i];
        if (field == NONE || text.length == 0) continue;
        if (read_value(field_at(table, field), text, arena, &out_values[field])) continue;
        err_fill(e, ERR_INTERNAL, ERR_FORM_NOT_ACCEPTED, field_at(table, field)->name, text, "a valid value");
        return err_of(e, table->name, str(""));
    }
    if (rest.text != NULL) return fail_line(table, e, "a row has more than %u columns", columns->count);
    return 0;
}
