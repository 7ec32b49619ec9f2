#include "formats/source.h"

#include <string.h>

#include "base/text.h"

static const struct str byte_order_mark = {"\xef\xbb\xbf", 3};

int source_error(const struct source *s, const char *at, struct err *e, const char *format, ...)
{
    uint32_t line = 1, column = 1;
    for (const char *c = s->text.text; c < at; c++) {
        if (*c == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            column++;
        }
    }
    char what[ERR_SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    text_vformat(what, sizeof what, format, arguments);
    va_end(arguments);
    (void)err_set(e, ERR_INPUT, "%s", what);
    return err_prefix(e, "%s:%u:%u", s->name, line, column);
}

int source_check(const struct source *s, struct err *e)
{
    if (s->text.length == 0) return source_error(s, s->text.text, e, "it is empty; a header line is wanted");
    const char *zero = memchr(s->text.text, 0, s->text.length);
    if (zero != NULL) return source_error(s, zero, e, "a zero byte; this is no text");
    return 0;
}

bool source_line(struct str *rest, struct str *out_line)
{
    if (rest->length == 0) return false;
    *out_line = str_cut(*rest, '\n', rest);
    if (out_line->length > 0 && out_line->text[out_line->length - 1] == '\r') out_line->length--;
    return true;
}

bool source_header(const struct source *s, struct str *out_line, struct str *rest)
{
    struct str line;
    *rest = s->text;
    if (str_starts(*rest, byte_order_mark)) *rest = str_range(rest->text + 3, rest->text + rest->length);
    while (source_line(rest, &line)) {
        if (str_trim(line).length == 0 || line.text[0] == '#') continue;
        *out_line = line;
        return true;
    }
    return false;
}
