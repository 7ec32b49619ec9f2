#include "cli/help.h"

#include <string.h>

#include "base/text.h"

enum { WIDTH = 80, NAME_COLUMN = 21, OPTION_COLUMN = 28, LINE_BYTES = 200 };

const struct command_exit common_exits[] = {
    {0, "success"},
    {1, "it failed: not allowed, nobody answers, the disk is full"},
    {2, "the command line or the input cannot be accepted; nothing was changed"},
    {0},
};

/* One paragraph's line, folded at blanks. A word longer than the line stands alone. */
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
            buf_format(out, "%*s", (int)indent, "");
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

void help_wrap(struct buf *out, struct str text, uint32_t indent, uint32_t width)
{
    while (text.text != NULL) {
        struct str line = str_cut(text, '\n', &text);
        if (line.length > 0 && line.text[0] == ' ') {
            buf_format(out, "%*s", (int)indent, "");
            buf_add_str(out, line);
            buf_add_char(out, '\n');
        } else {
            wrap_line(out, line, indent, width);
        }
    }
}

/* "  name        what it means", the meaning folded behind its column. */
static void write_entry(struct buf *out, const char *name, const char *meaning, uint32_t column)
{
    uint32_t length = (uint32_t)strlen(name) + 2;
    buf_add_text(out, "  ");
    buf_add_text(out, name);
    if (length + 2 > column) {
        buf_add_char(out, '\n');
        help_wrap(out, str(meaning), column, WIDTH);
        return;
    }
    /* The first line follows the name: fold with the indent of all lines, and leave out that of the first. */
    struct buf folded = {0};
    help_wrap(&folded, str(meaning), column, WIDTH);
    buf_format(out, "%*s", (int)(column - length), "");
    buf_add_str(out, (struct str){folded.text + column, folded.length - column});
    buf_release(&folded);
}

static void write_heading(struct output *out, const char *heading)
{
    buf_format(&out->text, out->has_styles ? "\n\033[1m%s\033[0m\n" : "\n%s\n", heading);
}

void help_write_overview(struct output *out)
{
    buf_add_text(&out->text, "Usage: fairlead COMMAND [OPTION...] [ARGUMENT...]\n"
                             "\n"
                             "Fairlead decides whose job runs next, and runs it.\n");
    for (int group = 0; group < GROUP_COUNT; group++) {
        bool has_heading = false;
        for (const struct command *const *c = commands; *c != NULL; c++) {
            if ((int)(*c)->group != group) continue;
            if (!has_heading) write_heading(out, command_group_names[group]);
            has_heading = true;
            write_entry(&out->text, (*c)->name, (*c)->summary, NAME_COLUMN);
        }
    }
    buf_add_text(&out->text,
                 "\n'fairlead COMMAND --help' and 'man fairlead-COMMAND' say more; 'fairlead --version'.\n");
}

void help_argument(const struct option_row *row, char *out)
{
    bool is_optional = row->value.default_value != NULL;
    out[0] = '\0';
    if (row->argument != NULL)
        text_format(out, HELP_ARGUMENT_BYTES, "%s%s%s", is_optional ? "[=" : " ", row->argument,
                    is_optional ? "]" : "");
}

void help_field(const struct field *f, char *out)
{
    static const char *const words[] = {
        [FIELD_NUMBER] = "COUNT", [FIELD_REAL] = "NUMBER", [FIELD_SECONDS] = "SPAN", [FIELD_MINUTES] = "SPAN",
        [FIELD_HOURS] = "HOURS",  [FIELD_MEMORY] = "SIZE", [FIELD_BOOL] = "yes|no",  [FIELD_TEXT] = "TEXT"};
    size_t length =
        text_format(out, HELP_FIELD_BYTES, "%s=%s%s%s", f->name, f->type == FIELD_CHOICE ? f->choices : words[f->type],
                    f->special ? "|" : "", f->special ? f->special : "");
    size_t end = length < HELP_FIELD_BYTES ? length : HELP_FIELD_BYTES - 1;
    for (size_t i = 0; f->type == FIELD_CHOICE && i < end; i++) out[i] = (char)(out[i] == ',' ? '|' : out[i]);
}

void help_field_meaning(const struct field *f, struct buf *out)
{
    struct buf accepted = {0}, default_value = {0};
    if (f->type != FIELD_CHOICE && f->type != FIELD_BOOL) field_accepted(f, &accepted); /* the name has their words */
    field_format(f, &f->default_value, &default_value);
    buf_add_text(out, f->help);
    if (accepted.length > 0 && !(f->min < f->max)) {
        buf_format(out, " (%s)", accepted.text);
    } else if (accepted.length > 0 && default_value.length > 0) {
        buf_format(out, " (%s; %s by default)", accepted.text, default_value.text);
    } else if (default_value.length > 0) {
        buf_format(out, " (%s by default)", default_value.text);
    }
    buf_release(&accepted);
    buf_release(&default_value);
}

static void write_fields(const struct command *command, struct output *out)
{
    const struct field *f;
    write_heading(out, "Fields");
    for (uint32_t i = 0; (f = command_field(command, i)) != NULL; i++) {
        char name[HELP_FIELD_BYTES];
        help_field(f, name);
        struct buf meaning = {0};
        help_field_meaning(f, &meaning);
        write_entry(&out->text, name, meaning.text, OPTION_COLUMN);
        buf_release(&meaning);
    }
}

static void write_option(struct buf *out, const struct option_row *row)
{
    char name[LINE_BYTES];
    size_t length = row->letter != 0 ? text_format(name, sizeof name, "-%c, --%s", row->letter, row->name)
                                     : text_format(name, sizeof name, "    --%s", row->name);
    help_argument(row, name + length);
    write_entry(out, name, row->help, OPTION_COLUMN);
}

static void write_options(const struct command *command, struct output *out)
{
    write_heading(out, "Options");
    for (const struct option_row *row = command->options; row != NULL && row->name != NULL; row++) {
        write_option(&out->text, row);
    }
    for (const struct option_row *row = common_options + command->is_local; row->name != NULL; row++) {
        write_option(&out->text, row);
    }
}

static void write_exit(struct buf *out, const struct command_exit *x)
{
    char status[24];
    text_format(status, sizeof status, "%d", x->status);
    write_entry(out, status, x->meaning, 8);
}

static void write_exits(struct buf *out, const struct command_exit *exits)
{
    for (; exits != NULL && exits->meaning != NULL; exits++) write_exit(out, exits);
}

bool help_has_exit(const struct command_exit *exits, int status)
{
    for (; exits != NULL && exits->meaning != NULL; exits++) {
        if (exits->status == status) return true;
    }
    return false;
}

/* The usage line, folded where it is long. */
static void write_usage(const struct command *command, struct buf *out)
{
    static const char begin[] = "Usage: ";
    struct buf line = {0};
    buf_format(&line, "fairlead %s %s", command->name, command->usage);
    size_t start = out->length;
    help_wrap(out, (struct str){line.text, line.length}, sizeof begin - 1, WIDTH);
    memcpy(out->text + start, begin, sizeof begin - 1); /* in place of the first line's indent */
    buf_add_char(out, '\n');
    buf_release(&line);
}

void help_write_command(const struct command *command, struct output *out)
{
    write_usage(command, &out->text);
    buf_format(&out->text, "fairlead %s: %s.\n", command->name, command->summary);
    if (command->text != NULL) {
        buf_add_char(&out->text, '\n');
        help_wrap(&out->text, str(command->text), 0, WIDTH);
    }
    if (command_field(command, 0) != NULL) write_fields(command, out);
    write_options(command, out);
    if (command->examples != NULL) write_heading(out, "Examples");
    for (const struct command_example *x = command->examples; x != NULL && x->line != NULL; x++) {
        buf_format(&out->text, "  %s\n", x->line);
        help_wrap(&out->text, str(x->meaning), 6, WIDTH);
    }
    write_heading(out, "Exit status");
    for (const struct command_exit *x = common_exits; x->meaning != NULL; x++) {
        if (!help_has_exit(command->exits, x->status)) write_exit(&out->text, x);
    }
    write_exits(&out->text, command->exits);
}

/* Whether the command's name is the word and a second one. */
static bool is_of_family(const struct command *command, const char *word)
{
    size_t length = strlen(word);
    return strncmp(command->name, word, length) == 0 && command->name[length] == ' ';
}

bool help_has_family(const char *word)
{
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (is_of_family(*c, word)) return true;
    }
    return false;
}

void help_write_family(const char *word, struct output *out)
{
    buf_format(&out->text, "Usage: fairlead %s COMMAND [OPTION...] [ARGUMENT...]\n\n", word);
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (is_of_family(*c, word)) write_entry(&out->text, (*c)->name, (*c)->summary, NAME_COLUMN);
    }
    buf_format(&out->text, "\n'fairlead %s COMMAND --help' says more.\n", word);
}
