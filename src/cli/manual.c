#include "cli/manual.h"

#include <string.h>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/field_help.h"
#include "cli/help.h"
#include "cli/listing.h"
#include "options/manual_page.h"
#include "options/time_text.h"

enum { PAGE_NAME_BYTES = 100 };

static void add_fields(struct buf *out, const struct command *command)
{
    const struct field *f;
    buf_add_text(out, ".SH FIELDS\n");
    for (uint32_t i = 0; (f = command_field(command, i)) != NULL; i++) {
        char name[FIELD_HELP_BYTES];
        field_help_syntax(f, name);
        buf_add_text(out, ".TP\n\\fB");
        manual_page_escape(out, str(name));
        struct buf meaning = {0};
        field_help_meaning(f, &meaning);
        manual_page_line(out, "\\fR\n", meaning.text);
        buf_release(&meaning);
    }
}

static void add_names(struct buf *out, const struct column_table *listed)
{
    struct buf names = {0};
    listing_write_names(listed, &names);
    manual_page_line(out, ".SH FIELDS OF \\-o AND \\-\\-sort\n.nh\n.na\n", names.text);
    buf_add_text(out, ".ad\n.hy\n");
    buf_release(&names);
}

static void add_exit(struct buf *out, const struct command_exit *x)
{
    buf_format(out, ".TP\n\\fB%d\\fR\n", x->status);
    manual_page_line(out, "", x->meaning);
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
        manual_page_line(out, ".TP\n\\fBFAIRLEAD_SOCKET\\fR\n", "socket of the instance, unless --socket is given");
    }
    manual_page_line(out, ".TP\n\\fBNO_COLOR\\fR\n", "if it is set and not empty, nothing is printed in bold");
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
        manual_page_escape(out, name);
        buf_add_text(out, "\\fR(1)");
    }
    buf_add_char(out, '\n');
}

void manual_write_command(const struct command *command, struct buf *out)
{
    char page[PAGE_NAME_BYTES];
    page_name(command, page);
    manual_page_head(out, page, 1, command->summary);

    buf_format(out, ".SH SYNOPSIS\n\\fBfairlead %s\\fR ", command->name);
    manual_page_line(out, "", command->usage);
    if (command->description != NULL) {
        buf_add_text(out, ".SH DESCRIPTION\n");
        manual_page_text(out, command->description);
    }
    if (command_field(command, 0) != NULL) add_fields(out, command);
    buf_add_text(out, ".SH OPTIONS\n");
    struct option_tables tables;
    command_option_tables(command, &tables);
    for (uint32_t i = 0; i < tables.count; i++) {
        for (const struct option_row *row = tables.rows[i]; row != NULL && row->name != NULL; row++)
            manual_page_option(out, row);
    }
    if (command->listed != NULL) add_names(out, command->listed);
    add_exits(out, command->exits);
    add_environment(out, command->is_local);
    if (command->examples != NULL) buf_add_text(out, ".SH EXAMPLES\n");
    for (const struct command_example *x = command->examples; x != NULL && x->line != NULL; x++) {
        manual_page_line(out, ".TP\n", x->line);
        manual_page_line(out, "", x->meaning);
    }
    add_see_also(out, command);
}

static void add_form(struct buf *out, const char *form, const char *meaning)
{
    buf_add_text(out, ".TP\n\\fB");
    manual_page_escape(out, str(form));
    manual_page_line(out, "\\fR\n", meaning);
}

static void add_times(struct buf *out)
{
    buf_add_text(out, ".SH TIMES\n");
    for (const struct time_form *f = time_text_forms; f->form != NULL; f++) add_form(out, f->form, f->meaning);
    buf_add_text(out, ".SH DURATIONS\n");
    for (const struct duration_form *f = duration_forms; f->form != NULL; f++) add_form(out, f->form, f->meaning);
}

void manual_write_overview(struct buf *out)
{
    manual_page_head(out, "fairlead", 1, "fair-share batch scheduler");
    buf_add_text(out, ".SH SYNOPSIS\n\\fBfairlead\\fR COMMAND [OPTION...] [ARGUMENT...]\n.SH DESCRIPTION\n");
    manual_page_text(
        out, "Fairlead is a batch scheduler that divides a machine among its users in proportion to their shares. Each "
             "command has its own page: 'man fairlead-COMMAND'.");
    for (int group = 0; group < GROUP_COUNT; group++) {
        bool has_heading = false;
        for (const struct command *const *c = commands; *c != NULL; c++) {
            if ((int)(*c)->group != group) continue;
            if (!has_heading) manual_page_line(out, ".SS ", command_group_names[group]);
            has_heading = true;
            buf_add_text(out, ".TP\n\\fB");
            manual_page_escape(out, str((*c)->name));
            manual_page_line(out, "\\fR\n", (*c)->summary);
        }
    }
    buf_add_text(out, ".SH OPTIONS\n");
    manual_page_line(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n", "print the list of commands");
    manual_page_line(out, ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\n", "print the version");
    add_times(out);
    add_exits(out, NULL);
    add_environment(out, false);
}
