#include "options/manual_page.h"

#include <string.h>

void manual_page_escape(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        bool begins_line = i == 0 || text.text[i - 1] == '\n';
        if (begins_line && (c == '.' || c == '\'')) buf_add_text(out, "\\&");
        if (c == '\\') {
            buf_add_text(out, "\\e");
        } else if (c == '-') {
            buf_add_text(out, "\\-");
        } else {
            buf_add_char(out, c);
        }
    }
}

void manual_page_line(struct buf *out, const char *before, const char *text)
{
    buf_add_text(out, before);
    manual_page_escape(out, str(text));
    buf_add_char(out, '\n');
}

void manual_page_head(struct buf *out, const char *page, int section, const char *summary)
{
    buf_add_text(out, ".TH \"");
    for (const char *c = page; *c != 0; c++) buf_add_char(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    buf_format(out, "\" \"%d\" \"\" \"Fairlead " FAIRLEAD_VERSION "\" \"Fairlead\"\n.SH NAME\n", section);
    manual_page_escape(out, str(page));
    manual_page_line(out, " \\- ", summary);
}

void manual_page_text(struct buf *out, const char *text)
{
    struct str rest = str(text);
    bool is_literal = false;
    while (rest.text != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        bool begins_blank = line.length > 0 && line.text[0] == ' ';
        if (begins_blank != is_literal) buf_add_text(out, begins_blank ? ".PP\n.nf\n" : ".fi\n");
        is_literal = begins_blank;
        if (line.length == 0) {
            buf_add_text(out, ".PP\n");
            continue;
        }
        if (begins_blank) buf_add_text(out, "\\&");
        manual_page_escape(out, line);
        buf_add_char(out, '\n');
    }
    if (is_literal) buf_add_text(out, ".fi\n");
}

void manual_page_option(struct buf *out, const struct option_row *row)
{
    buf_add_text(out, ".TP\n");
    if (row->letter != 0) buf_format(out, "\\fB\\-%c\\fR, ", row->letter);
    buf_add_text(out, "\\fB\\-\\-");
    manual_page_escape(out, str(row->name));
    buf_add_text(out, "\\fR");
    char argument[USAGE_ARGUMENT_BYTES];
    usage_argument(row, argument);
    if (row->argument != NULL) buf_format(out, "\\fI%s\\fR", argument);
    buf_add_char(out, '\n');
    manual_page_line(out, "", row->help);
}

void manual_page_write_program(struct buf *out, const struct program_usage *u)
{
    manual_page_head(out, u->name, 8, u->title);
    buf_add_text(out, ".SH SYNOPSIS\n\\fB");
    manual_page_escape(out, str(u->name));
    manual_page_line(out, "\\fR ", u->line);
    buf_add_text(out, ".SH DESCRIPTION\n");
    manual_page_text(out, u->summary);
    buf_add_text(out, ".PP\n");
    manual_page_text(out, u->text);
    buf_add_text(out, ".SH OPTIONS\n");
    for (const struct option_row *row = u->rows; row->name != NULL; row++) manual_page_option(out, row);
    buf_add_text(out, ".SH SEE ALSO\n\\fBfairlead\\fR(1), \\fBfairleadd\\fR(8), \\fBfairlead\\-launcher\\fR(8)\n");
}
