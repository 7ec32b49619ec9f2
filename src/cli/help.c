#include "cli/help.h"

#include <ctype.h>
#include <string.h>

#include "base/ensure.h"
#include "base/text.h"
#include "cli/field_help.h"
#include "cli/help_topics.h"
#include "cli/listing.h"
#include "options/usage.h"

enum { NAME_COLUMN = 21 };

const struct command_exit help_common_exits[] = {
    {.status = 0, .meaning = "success"},
    {.status = 1, .meaning = "failure: not allowed, no instance answers, the disk is full ..."},
    {.status = 2, .meaning = "the command line or the input is not accepted; nothing was changed"},
    {0},
};

static void write_heading(struct output *out, const char *heading)
{
    buf_format(&out->text, out->has_styles ? "\n\033[1m%s\033[0m\n" : "\n%s\n", heading);
}

void help_write_overview(struct output *out)
{
    buf_add_text(&out->text, "Usage: fairlead COMMAND [OPTION...] [ARGUMENT...]\n"
                             "\n"
                             "Fairlead, a fair-share batch scheduler, decides which job runs next and runs it.\n");
    for (int group = 0; group < GROUP_COUNT; group++) {
        bool has_heading = false;
        for (const struct command *const *c = commands; *c != NULL; c++) {
            if ((int)(*c)->group != group) continue;
            if (!has_heading) write_heading(out, command_group_names[group]);
            has_heading = true;
            usage_write_entry(&out->text, (*c)->name, (*c)->summary, NAME_COLUMN);
        }
    }
    buf_add_text(&out->text, "\nSee 'fairlead COMMAND --help' or 'man fairlead-COMMAND' for details.\n"
                             "'fairlead --version' prints the version.\n");
    for (const struct help_topic *t = help_topics; t->name != NULL; t++)
        buf_format(&out->text, "'fairlead help %s' says %s.\n", t->name, t->summary);
}

static void write_fields(const struct command *command, struct output *out)
{
    const struct field *f;
    write_heading(out, "Fields");
    for (uint32_t i = 0; (f = command_field(command, i)) != NULL; i++) {
        char name[FIELD_HELP_BYTES];
        field_help_syntax(f, name);
        struct buf meaning = {0};
        field_help_meaning(f, &meaning);
        usage_write_entry(&out->text, name, meaning.text, USAGE_OPTION_COLUMN);
        buf_release(&meaning);
    }
}

static void write_options(const struct command *command, struct output *out)
{
    struct option_tables tables;
    command_option_tables(command, &tables);
    write_heading(out, "Options");
    for (uint32_t i = 0; i < tables.count; i++) usage_write_options(&out->text, tables.rows[i]);
}

static void write_names(const struct command *command, struct output *out)
{
    struct buf names = {0};
    listing_write_names(command->listed, &names);
    write_heading(out, "Fields of -o and --sort");
    usage_wrap(&out->text, (struct str){names.text, names.length}, 2, USAGE_WIDTH);
    buf_release(&names);
}

static void write_exit(struct buf *out, const struct command_exit *x)
{
    char status[24];
    text_format(status, sizeof status, "%d", x->status);
    usage_write_entry(out, status, x->meaning, 8);
}

const struct command_exit *help_find_exit(const struct command_exit *exits, int status)
{
    for (; exits != NULL && exits->meaning != NULL; exits++) {
        if (exits->status == status) return exits;
    }
    return NULL;
}

static void write_exits(const struct command *command, struct output *out)
{
    write_heading(out, "Exit status");
    for (const struct command_exit *x = help_common_exits; x->meaning != NULL; x++) {
        const struct command_exit *own = help_find_exit(command->exits, x->status);
        write_exit(&out->text, own != NULL ? own : x);
    }
    for (const struct command_exit *x = command->exits; x != NULL && x->meaning != NULL; x++) {
        if (help_find_exit(help_common_exits, x->status) == NULL) write_exit(&out->text, x);
    }
}

/* The usage line, folded if it is long. */
static void write_usage(const struct command *command, struct buf *out)
{
    static const char prefix[] = "Usage: ";
    struct buf line = {0};
    buf_format(&line, "fairlead %s %s", command->name, command->usage);
    size_t start = out->length;
    usage_wrap(out, (struct str){line.text, line.length}, sizeof prefix - 1, USAGE_WIDTH);
    memcpy(out->text + start, prefix, sizeof prefix - 1); /* replaces the first line's indent */
    buf_add_char(out, '\n');
    buf_release(&line);
}

void help_write_command(const struct command *command, struct output *out)
{
    write_usage(command, &out->text);
    ensure(islower((unsigned char)command->summary[0]));
    buf_format(&out->text, "%c%s.\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
    if (command->description != NULL) {
        buf_add_char(&out->text, '\n');
        usage_wrap(&out->text, str(command->description), 0, USAGE_WIDTH);
    }
    if (command_field(command, 0) != NULL) write_fields(command, out);
    write_options(command, out);
    if (command->listed != NULL) write_names(command, out);
    if (command->examples != NULL) write_heading(out, "Examples");
    for (const struct command_example *x = command->examples; x != NULL && x->line != NULL; x++) {
        buf_format(&out->text, "  %s\n", x->line);
        usage_wrap(&out->text, str(x->meaning), 6, USAGE_WIDTH);
    }
    write_exits(command, out);
}

/* Whether the command's name is the word followed by a second one. */
static bool is_subcommand_of(const struct command *command, const char *word)
{
    size_t length = strlen(word);
    return strncmp(command->name, word, length) == 0 && command->name[length] == ' ';
}

bool help_has_subcommands(const char *word)
{
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (is_subcommand_of(*c, word)) return true;
    }
    return false;
}

void help_write_subcommands(const char *word, struct output *out)
{
    buf_format(&out->text, "Usage: fairlead %s SUBCOMMAND [OPTION...] [ARGUMENT...]\n\n", word);
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (is_subcommand_of(*c, word)) usage_write_entry(&out->text, (*c)->name, (*c)->summary, NAME_COLUMN);
    }
    buf_format(&out->text, "\nSee 'fairlead %s SUBCOMMAND --help' for details.\n", word);
}

void help_write_subcommand_names(const char *word, struct buf *out)
{
    uint32_t count = 0, i = 0;
    for (const struct command *const *c = commands; *c != NULL; c++) count += is_subcommand_of(*c, word);
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (!is_subcommand_of(*c, word)) continue;
        const char *separator = i == 0 ? "" : i == count - 1 ? " or " : ", ";
        buf_format(out, "%s%s", separator, (*c)->name + strlen(word) + 1);
        i++;
    }
}
