#include "formats/sched_conf.h"

#include <string.h>

#include "base/text.h"

/* Whether a line goes on, and the line without its backslash. */
static bool cut_continuation(struct str *line)
{
    *line = str_trim(*line);
    if (line->length == 0 || line->text[line->length - 1] != '\\') return false;
    line->length--;
    *line = str_trim(*line);
    return true;
}

/* The value on its first line, and on those on which it goes on. */
static struct str take_value(struct conf_pairs *p, struct str first, struct str *rest)
{
    struct buf joined = {0};
    bool goes_on = cut_continuation(&first);
    if (!goes_on) return first;
    buf_add_str(&joined, first);
    for (struct str line; goes_on && source_line(rest, &line);) {
        goes_on = cut_continuation(&line);
        buf_add_str(&joined, line);
    }
    struct str value = {arena_copy(&p->arena, (struct str){joined.text, joined.length}), joined.length};
    buf_release(&joined);
    return value;
}

static size_t name_length(struct str line)
{
    size_t length = 0;
    while (length < line.length && line.text[length] != ' ' && line.text[length] != '\t') length++;
    return length;
}

void sched_conf_read(const struct source *s, struct conf_pairs *io_pairs)
{
    struct str rest = s->text, line;
    if (rest.length > 0 && memchr(rest.text, 0, rest.length) != NULL) {
        conf_pairs_fault(io_pairs, s, memchr(rest.text, 0, rest.length), "the text contains a zero byte");
        return;
    }
    while (source_line(&rest, &line)) {
        line = str_trim(line);
        if (line.length == 0 || line.text[0] == '#') continue;
        struct str name = {line.text, name_length(line)};
        struct str first = str_trim(str_range(line.text + name.length, line.text + line.length));
        struct str value = take_value(io_pairs, first, &rest);
        if (value.length == 0) {
            conf_pairs_fault(io_pairs, s, name.text, "%.*s has no value", (int)(name.length < 60 ? name.length : 60),
                             name.text);
            continue;
        }
        *array_add(&io_pairs->items) = (struct conf_pair){
            name, value, s, name.text, first.length > 0 ? first.text : name.text, io_pairs->line_count++};
    }
}
