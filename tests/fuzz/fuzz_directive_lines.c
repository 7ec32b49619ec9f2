/* Directives of job scripts from arbitrary bytes: the lines, and the options of sbatch and qsub in them.
 *
 *     input     0: all prefixes, 1: a prefix of its own (%%), 2: none | the script
 *
 * Words are where they are said to be. What is translated is one option with two dashes; what is refused is refused
 * with a position in the script and one line that can be printed. */
#include <string.h>

#include "base/ensure.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/directive_options.h"
#include "cli/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_BYTES = 4000 };

static const struct option_row rows[] = {{.name = "cpus"}, {.name = "array"}, {.name = "begin"}, {.name = "mem"}, {0}};

/* The notes about ignored options. */
void output_note(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    size_t length = text_vformat(line, sizeof line, format, arguments);
    va_end(arguments);
    ensure(length > 0 && strchr(format, '\n') == NULL);
}

static void check_refusal(const struct err *e)
{
    const char *sentence = ERR_SENTENCE(e);
    ensure(e->code == ERR_INPUT && strncmp(sentence, "job:", 4) == 0 && str_is_printable(str(sentence)));
}

static struct str line_of(struct str script, uint32_t number)
{
    struct str line = {0}, rest = script;
    for (uint32_t i = 0; i < number; i++) {
        ensure(rest.text != NULL);
        line = str_cut(rest, '\n', &rest);
    }
    return line;
}

static void check_lines(const struct directive_lines *lines, struct str script)
{
    uint32_t line = 0;
    for (uint32_t i = 0; i < lines->list.count; i++) {
        const struct directive *d = &lines->list.items[i];
        ensure(d->line > line && d->family < DIRECTIVE_FAMILY_COUNT);
        line = d->line;
        for (uint32_t w = 0; w < d->count; w++) {
            struct str text = line_of(script, d->words[w].line);
            uint32_t column = d->words[w].column;
            ensure(d->words[w].line >= line && column > 1 && column <= text.length);
            ensure(text.text[column - 1] != ' ' && text.text[column - 1] != '#');
        }
    }
}

static void check_translation(const struct directive_lines *lines, struct str script, struct arena *arena,
                              int (*translate)(const struct directive_lines *, struct directive_options *,
                                               struct err *))
{
    struct err e = {0};
    const struct option_set own = {.rows = rows};
    struct directive_options options = {.file = "job", .script = script, .own = &own, .own_count = 1, .arena = arena};
    if (translate(lines, &options, &e) != 0) check_refusal(&e);
    for (uint32_t i = 0; i < options.list.count; i++) {
        const struct directive_option *option = &options.list.items[i];
        ensure(strncmp(option->word, "--", 2) == 0 && option->line > 0 && option->column > 1);
    }
    directive_options_release(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const prefixes[] = {NULL, "%%", ""};
    struct str script = {(const char *)data + 1, size - 1};
    struct directive_lines lines = {0};
    struct arena arena = {0};
    struct err e = {0};
    if (size == 0) return 0;
    const char *prefix = prefixes[data[0] % 3];
    if (directive_lines_read(script, "job", prefix, &arena, &lines, &e) != 0) {
        check_refusal(&e);
    } else {
        check_lines(&lines, script);
        ensure(prefix == NULL || prefix[0] != '\0' || lines.list.count == 0);
        check_translation(&lines, script, &arena, directive_options_of_sbatch);
        check_translation(&lines, script, &arena, directive_options_of_qsub);
    }
    directive_lines_release(&lines);
    arena_release(&arena);
    return 0;
}
