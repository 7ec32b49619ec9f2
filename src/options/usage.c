#include "options/usage.h"

#include <string.h>

enum { LINE_BYTES = 200 };

/* One line of a paragraph, folded at blanks. A word longer than the width gets its own line. */
static void wrap_line(struct buf *out, struct str line, uint32_t indent, uint32_t width)
{
    uint32_t column = 0;
    while (line.text != NULL) {
        struct str word = str_cut(line, ' ', &line);
        if (word.length == 0) continue;
        if (column > 0 && column + 1 + word.length > width) {
            buf_add_char(out, '\n');
            column = 0;
        }
        if (column == 0) {
            buf_add_blanks(out, indent);
            column = indent;
        } else {
            buf_add_char(out, ' ');
            column++;
        }
        buf_add_str(out, word);
        column += (uint32_t)word.length;
    }
    buf_add_char(out, '\n');
}

void usage_wrap(struct buf *out, struct str text, uint32_t indent, uint32_t width)
{
    while (text.text != NULL) {
        struct str line = str_cut(text, '\n', &text);
        if (line.length > 0 && line.text[0] == ' ') {
            buf_add_blanks(out, indent);
            buf_add_str(out, line);
            buf_add_char(out, '\n');
        } else {
            wrap_line(out, line, indent, width);
        }
    }
}

void usage_write_entry(struct buf *out, const char *name, const char *meaning, uint32_t column)
{
    uint32_t length = (uint32_t)strlen(name) + 2;
    buf_add_text(out, "  ");
    buf_add_text(out, name);
    if (length + 2 > column) {
        buf_add_char(out, '\n');
        usage_wrap(out, str(meaning), column, USAGE_WIDTH);
        return;
    }
    /* The first line follows the name: fold all lines with the same indent, then drop that of the first. */
    struct buf folded = {0};
    usage_wrap(&folded, str(meaning), column, USAGE_WIDTH);
    buf_add_blanks(out, column - length);
    buf_add_str(out, (struct str){folded.text + column, folded.length - column});
    buf_release(&folded);
}

void usage_argument(const struct option_row *row, char *out)
{
    bool is_optional = row->value.default_value != NULL;
    out[0] = '\0';
    if (row->argument != NULL)
        text_format(out, USAGE_ARGUMENT_BYTES, "%s%s%s", is_optional ? "[=" : " ", row->argument,
                    is_optional ? "]" : "");
}

void usage_write_options(struct buf *out, const struct option_row *rows)
{
    for (const struct option_row *row = rows; row != NULL && row->name != NULL; row++) {
        char name[LINE_BYTES];
        size_t length = row->letter != 0 ? text_format(name, sizeof name, "-%c, --%s", row->letter, row->name)
                                         : text_format(name, sizeof name, "    --%s", row->name);
        usage_argument(row, name + length);
        usage_write_entry(out, name, row->help, USAGE_OPTION_COLUMN);
    }
}

void usage_write_program(struct buf *out, const struct program_usage *u)
{
    buf_format(out, "Usage: %s %s\n\n", u->name, u->line);
    usage_wrap(out, str(u->summary), 0, USAGE_WIDTH);
    buf_add_char(out, '\n');
    usage_write_options(out, u->rows);
    buf_add_char(out, '\n');
    usage_wrap(out, str(u->text), 0, USAGE_WIDTH);
}
