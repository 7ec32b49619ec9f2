#include "cli/directive_lines.h"

#include <string.h>

#include "base/text.h"

const char *const directive_prefixes[DIRECTIVE_FAMILY_COUNT] = {
    [DIRECTIVE_OWN] = "#FAIRLEAD",
    [DIRECTIVE_SBATCH] = "#SBATCH",
    [DIRECTIVE_QSUB] = "#$",
    [DIRECTIVE_PBS] = "#PBS",
};

typedef ARRAY(struct directive_word) word_list;

struct directive_reader {
    const char *file;
    struct str prefixes[DIRECTIVE_FAMILY_COUNT]; /* empty: not read */
    struct arena *arena;
    struct str rest; /* the lines that follow */
    uint32_t line;   /* of the line that was taken last, from 1 */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct str next_line(struct directive_reader *r)
{
    r->line++;
    return str_cut(r->rest, '\n', &r->rest);
}

/* Whether the line is a directive with the prefix. "#SBATCHED" and "#$x" are comments. */
static bool has_prefix(struct str line, struct str prefix)
{
    if (prefix.length == 0 || !str_starts(line, prefix)) return false;
    if (line.length == prefix.length) return true;
    char next = line.text[prefix.length];
    return is_blank(next) || next == '-';
}

static int refuse(const struct directive_reader *r, size_t column, struct err *e, const char *reason)
{
    (void)err_set(e, ERR_INPUT, "%s", reason);
    return err_prefix(e, "%s:%u:%zu", r->file, r->line, column);
}

/* Reads one word from *p on, which is not at a blank. *p becomes the character after it. */
static int read_word(const struct directive_reader *r, struct str line, size_t *p, word_list *words, struct err *e)
{
    struct buf text = {0};
    size_t start = *p, quote_at = 0;
    char quote = '\0';
    for (; *p < line.length && (quote != '\0' || !is_blank(line.text[*p])); ++*p) {
        char c = line.text[*p];
        bool escapes = c == '\\' && quote != '\'' && *p + 1 < line.length;
        if (c == quote && quote != '\0') {
            quote = '\0';
        } else if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
            quote_at = *p;
        } else {
            buf_add_char(&text, escapes ? line.text[++*p] : c);
        }
    }
    bool has_zero = text.length > 0 && memchr(text.text, '\0', text.length) != NULL;
    if (quote == '\0' && !has_zero) {
        *array_add(words) = (struct directive_word){
            .text = arena_copy(r->arena, text.length > 0 ? (struct str){text.text, text.length} : str("")),
            .line = r->line,
            .column = (uint32_t)start + 1};
    }
    buf_release(&text);
    if (quote != '\0') return refuse(r, quote_at + 1, e, "a quote without its end: close it in the same line");
    return has_zero ? refuse(r, start + 1, e, "a directive with a zero byte") : 0;
}

/* Reads the words of a line from begin on. *out_goes_on: it ends with a backslash. */
static int read_words(const struct directive_reader *r, struct str line, size_t begin, word_list *words,
                      bool *out_goes_on, struct err *e)
{
    size_t p = begin;
    while (line.length > begin && is_blank(line.text[line.length - 1])) line.length--;
    *out_goes_on = line.length > begin && line.text[line.length - 1] == '\\' && line.text[line.length - 2] != '\\';
    if (*out_goes_on) line.length--;
    for (;;) {
        while (p < line.length && is_blank(line.text[p])) p++;
        if (p == line.length) return 0;
        if (line.text[p] == '#') {
            *out_goes_on = false;
            return 0;
        }
        if (read_word(r, line, &p, words, e) != 0) return -1;
    }
}

/* Reads a directive, the first line of which was taken. */
static int read_directive(struct directive_reader *r, struct str line, enum directive_family family,
                          struct directive_lines *out, struct err *e)
{
    struct str prefix = r->prefixes[family], unused;
    struct directive directive = {.family = family, .line = r->line};
    word_list words = {0};
    bool goes_on = true;
    int status = 0;
    while (goes_on && status == 0) {
        status = read_words(r, line, prefix.length, &words, &goes_on, e);
        if (status != 0 || !goes_on) break;
        if (has_prefix(str_cut(r->rest, '\n', &unused), prefix)) {
            line = next_line(r);
            continue;
        }
        status = err_set(e, ERR_INPUT, "the backslash continues the directive: begin the next line with %.*s",
                         (int)prefix.length, prefix.text);
        (void)err_prefix(e, "%s:%u:%zu", r->file, r->line, str_trim(line).length);
    }
    if (status == 0) {
        directive.count = words.count;
        directive.words = arena_alloc(r->arena, (words.count > 0 ? words.count : 1) * sizeof *words.items);
        if (words.count > 0) memcpy(directive.words, words.items, words.count * sizeof *words.items);
        *array_add(&out->list) = directive;
    }
    array_release(&words);
    return status;
}

/* Which families are read, and with which prefix. */
static void choose_prefixes(struct directive_reader *r, const char *prefix)
{
    if (prefix != NULL) r->prefixes[DIRECTIVE_OWN] = str(prefix);
    for (enum directive_family f = 0; f < DIRECTIVE_FAMILY_COUNT; f++) {
        if (prefix != NULL && strcmp(prefix, directive_prefixes[f]) == 0) r->prefixes[DIRECTIVE_OWN] = (struct str){0};
        if (prefix == NULL || strcmp(prefix, directive_prefixes[f]) == 0) r->prefixes[f] = str(directive_prefixes[f]);
    }
}

/* Takes lines up to the next one that is a directive in its place; false: there is none. late_line may be NULL. */
static bool find_directive(struct directive_reader *r, bool *io_is_late, uint32_t *late_line, struct str *out_line,
                           enum directive_family *out_family)
{
    while (r->rest.text != NULL) {
        struct str line = next_line(r), text = str_trim(line);
        enum directive_family f = 0;
        while (f < DIRECTIVE_FAMILY_COUNT && !has_prefix(line, r->prefixes[f])) f++;
        if (f == DIRECTIVE_FAMILY_COUNT) {
            *io_is_late = *io_is_late || (text.length > 0 && text.text[0] != '#');
        } else if (*io_is_late && f != DIRECTIVE_QSUB) {
            if (late_line != NULL && late_line[f] == 0) late_line[f] = r->line;
        } else {
            *out_line = line;
            *out_family = f;
            return true;
        }
    }
    return false;
}

/* Whether the script, which is not read on, has a directive of the family. */
static bool has_family(struct directive_reader r, enum directive_family family)
{
    struct str line;
    enum directive_family f = DIRECTIVE_FAMILY_COUNT;
    bool is_late = false;
    while (f != family && find_directive(&r, &is_late, NULL, &line, &f)) {
    }
    return f == family;
}

int directive_lines_read(struct str script, const char *file, const char *prefix, struct arena *arena,
                         struct directive_lines *out, struct err *e)
{
    struct directive_reader r = {.file = file, .arena = arena, .rest = script};
    struct directive_lines lines = {0};
    struct str line;
    enum directive_family f;
    bool is_late = false; /* behind the first line of commands */
    choose_prefixes(&r, prefix);
    bool is_ignored[DIRECTIVE_FAMILY_COUNT] = {
        [DIRECTIVE_PBS] = true, [DIRECTIVE_QSUB] = has_family(r, DIRECTIVE_SBATCH)};
    while (find_directive(&r, &is_late, lines.late_line, &line, &f)) {
        if (is_ignored[f]) {
            *array_add(&lines.list) = (struct directive){.family = f, .line = r.line};
        } else if (read_directive(&r, line, f, &lines, e) != 0) {
            directive_lines_release(&lines);
            return -1;
        }
    }
    *out = lines;
    return 0;
}

void directive_lines_release(struct directive_lines *lines)
{
    array_release(&lines->list);
}
