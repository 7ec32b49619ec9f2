#include "formats/share_fields.h"

#include <math.h>
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"

static uint8_t column_named(const struct share_form *form, struct str heading)
{
    for (uint8_t c = 0; c < COLUMN_COUNT; c++) {
        if (form->headings[c] != NULL && str_equal_nocase(heading, str(form->headings[c]))) return c;
    }
    return COLUMN_COUNT;
}

static int check_columns(const struct source *s, const struct share_form *form, const struct share_header *h,
                         struct str line, struct err *e)
{
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (form->headings[c] == NULL || h->has[c] || form->may_miss[c]) continue;
        return source_error(s, line.text, e, "the header has no column '%s'", form->headings[c]);
    }
    return 0;
}

int share_header_read(const struct source *s, const struct share_form *form, struct str line,
                      struct share_header *out_header, struct err *e)
{
    struct share_header h = {.separator = form->separator};
    struct str rest = line;
    while (rest.text != NULL) {
        struct str heading = str_cut(rest, form->separator, &rest);
        if (h.field_count == SHARE_FIELDS_MAX) {
            return source_error(s, heading.text, e, "more than %d columns", SHARE_FIELDS_MAX);
        }
        uint8_t column = column_named(form, heading);
        bool is_end = heading.length == 0 && rest.text == NULL && h.field_count > 0;
        if (is_end && form->may_have_others) {
            h.ends_empty = true;
        } else if (column == COLUMN_COUNT && !form->may_have_others) {
            return source_error(s, heading.text, e, "unknown column '%.*s'", QUOTED(heading));
        } else if (column != COLUMN_COUNT && h.has[column]) {
            return source_error(s, heading.text, e, "the column '%s' stands there twice", form->headings[column]);
        }
        h.column_of[h.field_count++] = column;
        if (column != COLUMN_COUNT) h.has[column] = true;
    }
    if (check_columns(s, form, &h, line, e) != 0) return -1;
    *out_header = h;
    return 0;
}

int share_line_cut(const struct source *s, const struct share_header *h, struct str line, struct str *out_fields,
                   struct err *e)
{
    struct str empty = {line.text + line.length, 0}, rest = line, field = empty;
    for (int c = 0; c < COLUMN_COUNT; c++) out_fields[c] = empty;
    for (uint32_t i = 0; i < h->field_count; i++) {
        if (rest.text == NULL) {
            return source_error(s, empty.text, e, "%u fields; the header has %u", i, h->field_count);
        }
        field = str_cut(rest, h->separator, &rest);
        if (h->column_of[i] != COLUMN_COUNT) out_fields[h->column_of[i]] = field;
    }
    if (rest.text != NULL) return source_error(s, rest.text, e, "more fields than the header's %u", h->field_count);
    if (h->ends_empty && field.length > 0) {
        return source_error(s, field.text, e, "'%.*s' behind the last column", QUOTED(field));
    }
    return 0;
}

int share_name_check(const struct source *s, struct str name, const char *what, struct err *e)
{
    if (name.length == 0) return source_error(s, name.text, e, "the %s's name is empty", what);
    bool is_plain = true; /* visible ASCII, the usual case */
    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)name.text[i];
        is_plain &= c > ' ' && c < 0x7f && c != '|';
    }
    if (is_plain) return 0;

    if (!str_is_printable(name)) {
        return source_error(s, name.text, e, "%s '%.*s': control characters or no UTF-8 in a name", what, QUOTED(name));
    }
    if (str_trim(name).length != name.length) {
        return source_error(s, name.text, e, "%s '%.*s': a name may not begin or end with a blank", what, QUOTED(name));
    }
    const char *bar = memchr(name.text, '|', name.length);
    if (bar != NULL) {
        return source_error(s, bar, e, "%s '%.*s': a name may not hold '|', which separates columns", what,
                            QUOTED(name));
    }
    return 0;
}

int share_shares_read(const struct source *s, struct str field, struct share_field *out_shares, struct err *e)
{
    uint64_t number = 0;
    bool is_parent = str_equal_nocase(field, str("parent"));
    if (field.length > 0 && !is_parent && (!number_parse_u64(field, &number) || number > SHARES_FIELD_MAX)) {
        return source_error(s, field.text, e, "shares '%.*s': a whole number from 0 to %u, or 'parent', is wanted",
                            QUOTED(field), SHARES_FIELD_MAX);
    }
    *out_shares = (struct share_field){(uint32_t)number, is_parent, field.length == 0};
    return 0;
}

int share_usage_read(const struct source *s, struct str field, bool may_be_empty, double *out_usage, struct err *e)
{
    double usage = 0;
    bool is_good = field.length == 0 ? may_be_empty : number_parse_double(field, &usage);
    if (!is_good || !(usage >= 0 && usage <= USAGE_FIELD_MAX)) {
        return source_error(s, field.text, e, "usage '%.*s': a number from 0 to 1e300 is wanted", QUOTED(field));
    }
    *out_usage = usage + 0.0; /* -0 becomes 0 */
    return 0;
}
