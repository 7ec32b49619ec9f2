/* Every error has the position of the field that it is about. */
#include "formats/share_columns.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

static uint8_t column_named(const struct share_format *format, struct str heading)
{
    for (uint8_t c = 0; c < COLUMN_COUNT; c++) {
        if (format->headings[c] != NULL && str_equal_nocase(heading, str(format->headings[c]))) return c;
    }
    return COLUMN_COUNT;
}

static int unknown_column(const struct source *s, const struct share_format *format, struct str heading, struct err *e)
{
    struct buf known = {0};
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (format->headings[c] != NULL) buf_format(&known, "%s%s", known.length > 0 ? ", " : "", format->headings[c]);
    }
    (void)err_value(e, "header", heading, "a known column (%s)", known.text);
    buf_release(&known);
    return source_error(s, heading.text, e, -1);
}

static int check_required(const struct source *s, const struct share_format *format, const struct share_columns *c,
                          struct str line, struct err *e)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (format->headings[i] == NULL || c->has[i] || format->is_optional[i]) continue;
        return source_error(s, line.text, e,
                            err_field(e, ERR_INPUT, "header", "the column '%s' is missing", format->headings[i]));
    }
    return 0;
}

int share_columns_parse(const struct source *s, const struct share_format *format, struct str line,
                        struct share_columns *out_columns, struct err *e)
{
    struct share_columns c = {.separator = format->separator};
    struct str rest = line;
    while (rest.text != NULL) {
        struct str heading = str_cut(rest, format->separator, &rest);
        if (c.field_count == SHARE_FIELDS_MAX) {
            return source_error(s, heading.text, e,
                                err_field(e, ERR_INPUT, "header", "more than %d columns", SHARE_FIELDS_MAX));
        }
        uint8_t column = column_named(format, heading);
        bool is_end = heading.length == 0 && rest.text == NULL && c.field_count > 0;
        if (is_end && format->allows_others) {
            c.ends_empty = true;
        } else if (column == COLUMN_COUNT && !format->allows_others) {
            return unknown_column(s, format, heading, e);
        } else if (column != COLUMN_COUNT && c.has[column]) {
            return source_error(s, heading.text, e, err_value_reason(e, "header", heading, "is named twice"));
        }
        c.column_of[c.field_count++] = column;
        if (column != COLUMN_COUNT) c.has[column] = true;
    }
    if (check_required(s, format, &c, line, e) != 0) return -1;
    *out_columns = c;
    return 0;
}

int share_columns_cut(const struct source *s, const struct share_columns *c, struct str line, struct str *out_fields,
                      struct err *e)
{
    struct str empty = {line.text + line.length, 0}, rest = line, field = empty;
    for (int i = 0; i < COLUMN_COUNT; i++) out_fields[i] = empty;
    for (uint32_t i = 0; i < c->field_count; i++) {
        if (rest.text == NULL) {
            return source_error(
                s, empty.text, e,
                err_set(e, ERR_INPUT, "the line has %u fields, but the header has %u", i, c->field_count));
        }
        field = str_cut(rest, c->separator, &rest);
        if (c->column_of[i] != COLUMN_COUNT) out_fields[c->column_of[i]] = field;
    }
    if (rest.text != NULL) {
        return source_error(
            s, rest.text, e,
            err_set(e, ERR_INPUT, "the line has more fields than the header, which has %u", c->field_count));
    }
    if (c->ends_empty && field.length > 0) {
        return source_error(s, field.text, e, err_value_reason(e, NULL, field, "follows the last column"));
    }
    return 0;
}

int share_columns_check_name(const struct source *s, struct str name, const char *what, struct err *e)
{
    if (name.length == 0) return source_error(s, name.text, e, err_field(e, ERR_INPUT, what, "the name is empty"));
    bool is_plain = true; /* visible ASCII, the usual case */
    for (size_t i = 0; i < name.length; i++) {
        unsigned char c = (unsigned char)name.text[i];
        is_plain &= c > ' ' && c < 0x7f && c != '|';
    }
    if (is_plain) return 0;

    if (!str_is_printable(name)) {
        return source_error(s, name.text, e,
                            err_value_reason(e, what, name, "contains control characters or invalid UTF-8"));
    }
    if (str_trim(name).length != name.length) {
        return source_error(s, name.text, e, err_value_reason(e, what, name, "begins or ends with a blank"));
    }
    const char *bar = memchr(name.text, '|', name.length);
    if (bar == NULL) return 0;
    return source_error(s, bar, e, err_value_reason(e, what, name, "contains '|', which separates columns"));
}

int share_columns_parse_shares(const struct source *s, struct str field, bool may_be_empty,
                               struct raw_shares *out_shares, struct err *e)
{
    uint64_t number = 0;
    bool is_parent = str_equal_nocase(field, str("parent")), is_missing = field.length == 0;
    bool is_number = number_parse_u64(field, &number) && number <= SHARES_FIELD_MAX;
    if (!is_parent && !is_number && !(is_missing && may_be_empty)) {
        return source_error(s, field.text, e,
                            err_value(e, "shares", field, "a whole number from 0 to %u or 'parent'", SHARES_FIELD_MAX));
    }
    *out_shares = (struct raw_shares){.number = (uint32_t)number, .is_parent = is_parent, .is_missing = is_missing};
    return 0;
}

int share_columns_parse_usage(const struct source *s, struct str field, bool may_be_empty, double *out_usage,
                              struct err *e)
{
    double usage = 0;
    bool is_read = field.length == 0 ? may_be_empty : number_parse_double(field, &usage);
    if (!is_read || !(usage >= 0 && usage <= USAGE_FIELD_MAX)) {
        return source_error(s, field.text, e, err_value(e, "usage", field, "a number from 0 to 1e300"));
    }
    *out_usage = usage + 0.0; /* -0 becomes 0 */
    return 0;
}

bool share_columns_is_root(struct str account)
{
    return str_equal(account, str("root"));
}
