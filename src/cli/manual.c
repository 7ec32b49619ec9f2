/* Manual pages in the man(7) format, for man-db and mandoc. Text is escaped, so no help text is read as a request: a
 * leading point or apostrophe, backslashes, and '-', which must stay the ASCII character. */
#include "cli/manual.h"

#include <string.h>

#include "base/text.h"
#include "cli/field_help.h"
#include "cli/help.h"
#include "cli/listing.h"
#include "options/usage.h"

enum { PAGE_NAME_BYTES = 100 };

static void add_escaped(struct buf *out, struct str text)
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

static void add_line(struct buf *out, const char *before, const char *text)
{
    buf_add_text(out, before);
    add_escaped(out, str(text));
    buf_add_char(out, '\n');
}

static void add_head(struct buf *out, const char *page, const char *summary)
{
    buf_add_text(out, ".TH \"");
    for (const char *c = page; *c != 0; c++) buf_add_char(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    buf_add_text(out, "\" \"1\" \"\" \"Fairlead " FAIRLEAD_VERSION "\" \"Fairlead\"\n.SH NAME\n");
    add_escaped(out, str(page));
    add_line(out, " \\- ", summary);
}

/* Paragraphs; lines that begin with a blank are not filled. */
static void add_text(struct buf *out, const char *text)
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
        add_escaped(out, line);
        buf_add_char(out, '\n');
    }
    if (is_literal) buf_add_text(out, ".fi\n");
}

static void add_option(struct buf *out, const struct option_row *row)
{
    buf_add_text(out, ".TP\n");
    if (row->letter != 0) buf_format(out, "\\fB\\-%c\\fR, ", row->letter);
    buf_add_text(out, "\\fB\\-\\-");
    add_escaped(out, str(row->name));
    buf_add_text(out, "\\fR");
    char argument[USAGE_ARGUMENT_BYTES];
    usage_argument(row, argument);
    if (row->argument != NULL) buf_format(out, "\\fI%s\\fR", argument);
    buf_add_char(out, '\n');
    add_line(out, "", row->help);
}

static void add_fields(struct buf *out, const struct command *command)
{
    const struct field *f;
    buf_add_text(out, ".SH FIELDS\n");
    for (uint32_t i = 0; (f = command_field(command, i)) != NULL; i++) {
        char name[FIELD_HELP_BYTES];
        field_help_syntax(f, name);
        buf_add_text(out, ".TP\n\\fB");
        add_escaped(out, str(name));
        struct buf meaning = {0};
        field_help_meaning(f, &meaning);
        add_line(out, "\\fR\n", meaning.text);
        buf_release(&meaning);
    }
}

static void add_names(struct buf *out, const struct column_table *listed)
{
    struct buf names = {0};
    listing_write_names(listed, &names);
    add_line(out, ".SH FIELDS OF \\-o AND \\-\\-sort\n.nh\n.na\n", names.text);
    buf_add_text(out, ".ad\n.hy\n");
    buf_release(&names);
}

static void add_exit(struct buf *out, const struct command_exit *x)
{
    buf_format(out, ".TP\n\\fB%d\\fR\n", x->status);
    add_line(out, "", x->meaning);
}

/* exits: of a command; NULL: the common ones only. */
static void add_exits(struct buf *out, const struct command_exit *exits)
{
    buf_add_text(out, ".SH EXIT STATUS\n");
    for (const struct command_exit *x = help_common_exits; x->meaning != NULL; x++) {
        const struct command_exit *own = help_find_exit(exits, x->status);
        add_exit(out, own != NULL ? own : x);
    }
    for (; exits != NULL && exits->meaning != NULL; exits++) {
        if (help_find_exit(help_common_exits, exits->status) == NULL) add_exit(out, exits);
    }
}

static void add_environment(struct buf *out, bool is_local)
{
    buf_add_text(out, ".SH ENVIRONMENT\n");
    if (!is_local) {
        add_line(out, ".TP\n\\fBFAIRLEAD_SOCKET\\fR\n", "socket of the instance, unless --socket is given");
    }
    add_line(out, ".TP\n\\fBNO_COLOR\\fR\n", "if it is set and not empty, nothing is printed in bold");
}

/* Writes the name of a command's page: "fairlead-account-add". out: PAGE_NAME_BYTES. */
static void page_name(const struct command *command, char *out)
{
    text_format(out, PAGE_NAME_BYTES, "fairlead-%s", command->name);
    for (char *blank = strchr(out, ' '); blank != NULL; blank = strchr(blank, ' ')) *blank = '-';
}

static void add_see_also(struct buf *out, const struct command *command)
{
    buf_add_text(out, ".SH SEE ALSO\n\\fBfairlead\\fR(1)");
    struct str rest = str(command->see_also);
    while (rest.text != NULL) {
        struct str name = str_cut(rest, ' ', &rest);
        buf_add_text(out, ", \\fBfairlead\\-");
        add_escaped(out, name);
        buf_add_text(out, "\\fR(1)");
    }
    buf_add_char(out, '\n');
}

void manual_write_command(const struct command *command, struct buf *out)
{
    char page[PAGE_NAME_BYTES];
    page_name(command, page);
    add_head(out, page, command->summary);

    buf_format(out, ".SH SYNOPSIS\n\\fBfairlead %s\\fR ", command->name);
    add_line(out, "", command->usage);
    if (command->description != NULL) {
        buf_add_text(out, ".SH DESCRIPTION\n");
        add_text(out, command->description);
    }
    if (command_field(command, 0) != NULL) add_fields(out, command);
    buf_add_text(out, ".SH OPTIONS\n");
    struct option_tables tables;
    command_option_tables(command, &tables);
    for (uint32_t i = 0; i < tables.count; i++) {
        for (const struct option_row *row = tables.rows[i]; row != NULL && row->name != NULL; row++)
            add_option(out, row);
    }
    if (command->listed != NULL) add_names(out, command->listed);
    add_exits(out, command->exits);
    add_environment(out, command->is_local);
    if (command->examples != NULL) buf_add_text(out, ".SH EXAMPLES\n");
    for (const struct command_example *x = command->examples; x != NULL && x->line != NULL; x++) {
        add_line(out, ".TP\n", x->line);
        add_line(out, "", x->meaning);
    }
    add_see_also(out, command);
}

void manual_write_overview(struct buf *out)
{
    add_head(out, "fairlead", "fair-share batch scheduler");
    buf_add_text(out, ".SH SYNOPSIS\n\\fBfairlead\\fR COMMAND [OPTION...] [ARGUMENT...]\n.SH DESCRIPTION\n");
    add_text(out,
             "Fairlead is a batch scheduler that divides a machine among its users in proportion to their shares. Each "
             "command has its own page: 'man fairlead-COMMAND'.");
    for (int group = 0; group < GROUP_COUNT; group++) {
        bool has_heading = false;
        for (const struct command *const *c = commands; *c != NULL; c++) {
            if ((int)(*c)->group != group) continue;
            if (!has_heading) add_line(out, ".SS ", command_group_names[group]);
            has_heading = true;
            buf_add_text(out, ".TP\n\\fB");
            add_escaped(out, str((*c)->name));
            add_line(out, "\\fR\n", (*c)->summary);
        }
    }
    buf_add_text(out, ".SH OPTIONS\n");
    add_line(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n", "print the list of commands");
    add_line(out, ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\n", "print the version");
    add_exits(out, NULL);
    add_environment(out, false);
}
