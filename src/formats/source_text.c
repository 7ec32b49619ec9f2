/* A position is counted from the beginning of the text for each error, O(length). A parser fails at most once, so that
 * is cheaper than counting lines during parsing. */
#include "formats/source_text.h"

#include <string.h>

#include "base/ensure.h"

static const struct str byte_order_mark = {"\xef\xbb\xbf", 3};

void source_position(const struct source *s, const char *position, uint32_t *out_line, uint32_t *out_column)
{
    ensure(position >= s->text.text && position <= s->text.text + s->text.length);
    *out_line = *out_column = 1;
    for (const char *c = s->text.text; c < position; c++) {
        bool is_first_byte = ((unsigned char)*c & 0xc0) != 0x80; /* of a UTF-8 sequence */
        if (*c == '\n') {
            ++*out_line;
            *out_column = 1;
        } else if (is_first_byte) {
            ++*out_column;
        }
    }
}

int source_error(const struct source *s, const char *position, struct err *e, int filled)
{
    uint32_t line, column;
    ensure(filled == -1);
    source_position(s, position, &line, &column);
    return err_prefix(e, "%s:%u:%u", s->name, line, column);
}

int source_check(const struct source *s, struct err *e)
{
    if (s->text.length == 0) {
        return source_error(s, s->text.text, e, err_set(e, ERR_INPUT, "the text is empty"));
    }
    const char *zero = memchr(s->text.text, 0, s->text.length);
    if (zero == NULL) return 0;
    return source_error(s, zero, e, err_set(e, ERR_INPUT, "the text contains a zero byte"));
}

bool source_line(struct str *rest, struct str *out_line)
{
    if (rest->length == 0) return false;
    *out_line = str_cut(*rest, '\n', rest);
    if (out_line->length > 0 && out_line->text[out_line->length - 1] == '\r') out_line->length--;
    return true;
}

int source_header(const struct source *s, struct str *out_line, struct str *rest, struct err *e)
{
    struct str line;
    *rest = s->text;
    if (str_starts(*rest, byte_order_mark)) *rest = str_range(rest->text + 3, rest->text + rest->length);
    while (source_line(rest, &line)) {
        if (str_trim(line).length == 0 || line.text[0] == '#') continue;
        *out_line = line;
        return 0;
    }
    return source_error(s, s->text.text, e, err_set(e, ERR_INPUT, "the text has no header line"));
}
