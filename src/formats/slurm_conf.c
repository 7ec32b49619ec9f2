#include "formats/slurm_conf.h"

#include <string.h>

#include "base/text.h"

/* One file while it is read. */
struct slurm_reader {
    const struct source *source;
    slurm_conf_open *open;
    void *context;
    struct conf_pairs *pairs;
    uint32_t *files; /* opened so far */
    uint32_t depth;
    const char *at, *end;
};

static void read_source(struct slurm_reader *r);

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_line_end(const struct slurm_reader *r, const char *at)
{
    return at == r->end || *at == '\n';
}

/* The length of a mark of a template up to its end on the same line; 0: there is none. */
static size_t template_length(const struct slurm_reader *r, const char *at)
{
    if (r->end - at < 2 || at[0] != '{' || (at[1] != '{' && at[1] != '%' && at[1] != '#')) return 0;
    char last = at[1] == '{' ? '}' : at[1];
    const char *c = at + 2;
    while (!is_line_end(r, c) && !(c + 1 < r->end && c[0] == last && c[1] == '}')) c++;
    return is_line_end(r, c) ? 0 : (size_t)(c + 2 - at);
}

static void count_template(struct slurm_reader *r, const char *at)
{
    if (r->pairs->template_count++ == 0)
        r->pairs->template_mark = (struct conf_fault){.source = r->source, .position = at, .text = ""};
}

/* The length of a backslash and the end of its line; 0: the line does not go on there. */
static size_t continuation(const struct slurm_reader *r, const char *at)
{
    if (at == r->end || *at != '\\') return 0;
    const char *next = at + 1;
    while (next < r->end && is_blank(*next)) next++;
    return next < r->end && *next == '\n' ? (size_t)(next + 1 - at) : 0;
}

static void skip_line(struct slurm_reader *r)
{
    while (!is_line_end(r, r->at)) r->at++;
}

static void skip_blanks(struct slurm_reader *r)
{
    for (size_t length = 1; length > 0;) {
        length = continuation(r, r->at);
        if (length == 0 && r->at < r->end && is_blank(*r->at)) length = 1;
        r->at += length;
    }
}

/* Blanks, marks of templates, and a comment up to the line's end. */
static void skip_to_word(struct slurm_reader *r)
{
    size_t length = 1;
    while (length > 0) {
        skip_blanks(r);
        length = template_length(r, r->at);
        if (length > 0) count_template(r, r->at);
        r->at += length;
    }
    if (r->at < r->end && *r->at == '#') skip_line(r);
}

/* The value's text without continuations and without backslashes before '#': a view where there are none. */
static struct str plain_value(struct slurm_reader *r, struct str raw)
{
    if (raw.length == 0 || memchr(raw.text, '\\', raw.length) == NULL) return raw;
    struct buf text = {0};
    const char *end = raw.text + raw.length;
    for (const char *c = raw.text; c < end;) {
        size_t skipped = continuation(r, c);
        if (skipped == 0 && *c == '\\' && c + 1 < end && c[1] == '#') skipped = 1;
        c += skipped;
        if (skipped == 0 || (c < end && *c == '#')) buf_add_char(&text, *c++);
    }
    struct str value = {arena_copy(&r->pairs->arena, (struct str){text.text, text.length}), text.length};
    buf_release(&text);
    return value;
}

/* From the position up to a blank, a comment or the line's end. */
static struct str take_bare_value(struct slurm_reader *r)
{
    const char *begin = r->at;
    while (!is_line_end(r, r->at) && !is_blank(*r->at)) {
        size_t length = continuation(r, r->at);
        if (length == 0 && *r->at == '#') break;
        if (length == 0 && (length = template_length(r, r->at)) > 0) count_template(r, r->at);
        if (length == 0) length = *r->at == '\\' && !is_line_end(r, r->at + 1) ? 2 : 1;
        r->at += length;
    }
    return plain_value(r, str_range(begin, r->at));
}

static bool take_quoted_value(struct slurm_reader *r, struct str *out_value)
{
    const char *quote = r->at++, *begin = r->at;
    while (!is_line_end(r, r->at) && *r->at != '"') {
        size_t length = continuation(r, r->at);
        r->at += length > 0 ? length : 1;
    }
    if (is_line_end(r, r->at)) {
        conf_pairs_fault(r->pairs, r->source, quote, "a quotation mark is not closed before the end of the line");
        return false;
    }
    *out_value = plain_value(r, str_range(begin, r->at++));
    return true;
}

static bool take_value(struct slurm_reader *r, struct str *out_value)
{
    if (r->at < r->end && *r->at == '"') return take_quoted_value(r, out_value);
    *out_value = take_bare_value(r);
    return true;
}

static struct str take_name(struct slurm_reader *r)
{
    const char *begin = r->at;
    while (!is_line_end(r, r->at) && !is_blank(*r->at) && *r->at != '=' && *r->at != '#' && continuation(r, r->at) == 0)
        r->at++;
    return str_range(begin, r->at);
}

enum { NAME_SHOWN = 60 };
static int name_shown(struct str name)
{
    return (int)(name.length < NAME_SHOWN ? name.length : NAME_SHOWN);
}

static void include(struct slurm_reader *r, const char *position)
{
    char fault[SLURM_CONF_FAULT_SIZE] = "";
    struct str path = {0};
    if (!take_value(r, &path)) return;
    const struct source *source = NULL;
    if (path.length == 0)
        text_format(fault, sizeof fault, "Include names no file");
    else if (r->open == NULL)
        text_format(fault, sizeof fault, "Include is not read here");
    else if (r->depth == SLURM_CONF_INCLUDE_DEPTH_MAX)
        text_format(fault, sizeof fault, "files include each other more than %d deep; does one include itself?",
                    SLURM_CONF_INCLUDE_DEPTH_MAX);
    else if (*r->files == SLURM_CONF_FILES_MAX)
        text_format(fault, sizeof fault, "more than %d files are included", SLURM_CONF_FILES_MAX);
    else
        source = r->open(r->context, r->source, path, fault);
    if (source == NULL) {
        conf_pairs_fault(r->pairs, r->source, position, "%s", fault);
        return;
    }
    ++*r->files;
    struct slurm_reader inner = *r;
    inner.source = source;
    inner.depth++;
    read_source(&inner);
}

static void refuse_word(struct slurm_reader *r, struct str name, const char *position)
{
    conf_pairs_fault(r->pairs, r->source, position, "no '=' after '%.*s'; write NAME=VALUE", name_shown(name),
                     name.text);
    skip_line(r);
}

/* One pair, or an Include. */
static void read_pair(struct slurm_reader *r)
{
    const char *position = r->at;
    struct str name = take_name(r), value = {0};
    bool is_include = str_equal_nocase(name, str("include"));
    skip_blanks(r);
    if (is_include && (r->at == r->end || *r->at != '=')) {
        include(r, position);
        return;
    }
    if (name.length == 0 || r->at == r->end || *r->at != '=') {
        if (name.length == 0) name = (struct str){"=", 1};
        refuse_word(r, name, position);
        return;
    }
    r->at++;
    skip_blanks(r);
    const char *value_position = r->at;
    if (!take_value(r, &value)) {
        skip_line(r);
    } else if (value.length == 0) {
        conf_pairs_fault(r->pairs, r->source, position, "%.*s has no value", name_shown(name), name.text);
    } else {
        *array_add(&r->pairs->items) =
            (struct conf_pair){name, value, r->source, position, value_position, r->pairs->line_count};
    }
}

static void read_line(struct slurm_reader *r)
{
    const struct conf_pairs *p = r->pairs;
    for (skip_to_word(r); !is_line_end(r, r->at); skip_to_word(r)) read_pair(r);
    bool has_pairs = p->items.count > 0 && p->items.items[p->items.count - 1].line == p->line_count;
    if (has_pairs) r->pairs->line_count++;
}

static void read_source(struct slurm_reader *r)
{
    r->at = r->source->text.text;
    r->end = r->at + r->source->text.length;
    if (str_starts(r->source->text, str("\xef\xbb\xbf"))) r->at += 3;
    const char *zero = r->at < r->end ? memchr(r->at, 0, (size_t)(r->end - r->at)) : NULL;
    if (zero != NULL) {
        conf_pairs_fault(r->pairs, r->source, zero, "the text contains a zero byte");
        return;
    }
    while (r->at < r->end) {
        read_line(r);
        if (r->at < r->end) r->at++;
    }
}

void slurm_conf_read(const struct source *s, slurm_conf_open *open, void *context, struct conf_pairs *io_pairs)
{
    uint32_t files = 1;
    struct slurm_reader r = {
        .source = s, .open = open, .context = context, .pairs = io_pairs, .files = &files, .depth = 0};
    read_source(&r);
}

bool slurm_conf_is(struct str text)
{
    struct str line;
    while (source_line(&text, &line)) {
        line = str_trim(line);
        if (line.length == 0 || line.text[0] == '#') continue;
        return memchr(line.text, '=', line.length) != NULL ||
               (line.length > 7 && str_equal_nocase((struct str){line.text, 7}, str("include")));
    }
    return true;
}
