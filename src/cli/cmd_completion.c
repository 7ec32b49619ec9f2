/* fairlead completion bash: a shell completion script, computed from the tables of commands and options.
 *
 *     eval "$(fairlead completion bash)"
 *
 * The script completes commands, options, the choices of an option, file names, and FIELD=VALUE with the choices of the
 * field. It runs without an instance, because completion must work when none answers. */
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/help_topics.h"

static void add_options(struct buf *out, const struct option_row *rows)
{
    for (; rows != NULL && rows->name != NULL; rows++) {
        buf_format(out, " --%s", rows->name);
        if (rows->letter != 0) buf_format(out, " -%c", rows->letter);
    }
}

static bool wants_path(const struct option_row *row)
{
    return strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "PATH") == 0 ||
           strcmp(row->argument, "DIR") == 0;
}

/* "    'share --ties') words='merge slurm' ;;" for each option with an argument. */
static void add_arguments(struct buf *out, const char *command, const struct option_row *rows)
{
    for (; rows != NULL && rows->name != NULL; rows++) {
        if (rows->argument == NULL) continue;
        buf_format(out, "    '%s --%s'", command, rows->name);
        if (rows->letter != 0) buf_format(out, "|'%s -%c'", command, rows->letter);
        const struct field *f = rows->value.field;
        const char *choices = f != NULL ? f->choices : rows->value.choices;
        if (choices == NULL) {
            buf_format(out, ") kind=%s ;;\n", wants_path(rows) ? "path" : "none");
            continue;
        }
        buf_add_text(out, ") kind=words words='");
        for (struct str rest = str(choices); rest.text != NULL;) {
            buf_add_str(out, str_cut(rest, f != NULL ? ',' : '|', &rest));
            buf_add_char(out, rest.text != NULL ? ' ' : '\'');
        }
        buf_add_text(out, " ;;\n");
    }
}

/* "    'set ties') words='merge slurm' ;;" for each field that has choices or a special value. */
static void add_field_values(struct buf *out, const struct command *command)
{
    const struct field *f;
    for (uint32_t i = 0; (f = command_field(command, i)) != NULL; i++) {
        if (f->type != FIELD_CHOICE && f->type != FIELD_BOOL && f->special == NULL) continue;
        buf_format(out, "        '%s %s') words='", command->name, f->name);
        struct str rest = str(f->type == FIELD_BOOL ? "yes,no" : f->type == FIELD_CHOICE ? f->choices : f->special);
        while (rest.text != NULL) {
            buf_add_str(out, str_cut(rest, ',', &rest));
            buf_add_char(out, rest.text != NULL ? ' ' : '\'');
        }
        buf_add_text(out, " ;;\n");
    }
}

static void add_field_names(struct buf *out, const struct command *command)
{
    const struct field *f;
    if (command_field(command, 0) == NULL) return;
    buf_format(out, "    '%s') words='", command->name);
    for (uint32_t i = 0; (f = command_field(command, i)) != NULL; i++)
        buf_format(out, "%s%s=", i > 0 ? " " : "", f->name);
    buf_add_text(out, "' ;;\n");
}

/* The first words of all commands, each once. */
static void add_first_words(struct buf *out)
{
    struct str previous = {0};
    for (const struct command *const *c = commands; *c != NULL; c++) {
        struct str rest, word = str_cut(str((*c)->name), ' ', &rest);
        if (!str_equal(word, previous)) {
            buf_add_char(out, ' ');
            buf_add_str(out, word);
        }
        previous = word;
    }
}

/* "    account) words=' add modify delete show' ;;" for each command with subcommands. */
static void add_subcommands(struct buf *out)
{
    struct str previous = {0};
    for (const struct command *const *c = commands; *c != NULL; c++) {
        struct str rest, word = str_cut(str((*c)->name), ' ', &rest);
        if (rest.text == NULL) continue;
        bool is_new = !str_equal(word, previous);
        if (is_new && previous.text != NULL) buf_add_text(out, "' ;;\n");
        if (is_new) buf_format(out, "    %.*s) words='", (int)word.length, word.text);
        buf_format(out, " %s", rest.text);
        previous = word;
    }
    if (previous.text != NULL) buf_add_text(out, "' ;;\n");
}

/* Finds the command that the line names. */
static const char head[] =
    "# bash completion for fairlead, printed by 'fairlead completion bash'.\n"
    "_fairlead()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words= kind= field=\n"
    "    COMPREPLY=()\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        COMPREPLY=($(compgen -W \"$_fairlead_commands --help --version\" -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    case \"$command\" in\n";

static const char middle[] =
    "    help) [ \"$COMP_CWORD\" -eq 2 ] && words=\"$_fairlead_commands $_fairlead_topics\" ;;\n"
    "    manual) [ \"$COMP_CWORD\" -eq 2 ] && words=$_fairlead_commands ;;\n"
    "    completion) [ \"$COMP_CWORD\" -eq 2 ] && words=bash ;;\n"
    "    esac\n"
    "    if [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$words\" ] && [ \"${cur#-}\" = \"$cur\" ]; then\n"
    "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    case \"$command\" in help|manual|completion) words= ;; esac\n"
    "    case \" $words \" in *\" ${COMP_WORDS[2]} \"*) command=\"$command ${COMP_WORDS[2]}\" ;; esac\n"
    "    case \"$command $prev\" in\n";

static const char options_head[] = "    esac\n"
                                   "    case \"$kind\" in\n"
                                   "    words) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return ;;\n"
                                   "    none) return ;;\n"
                                   "    esac\n"
                                   "    [ \"$kind\" = path ] || case \"$cur\" in\n"
                                   "    -*)\n"
                                   "        case \"$command\" in\n";

/* NAME=VALUE: bash passes the name, the = and the value as three words. */
static const char values_head[] = "        esac\n"
                                  "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                                  "        return ;;\n"
                                  "    esac\n"
                                  "    words=\n"
                                  "    [ \"$prev\" = = ] && field=${COMP_WORDS[COMP_CWORD-2]}\n"
                                  "    [ \"$cur\" = = ] && field=$prev cur=\n"
                                  "    if [ -n \"$field\" ]; then\n"
                                  "        case \"$command $field\" in\n";

static const char names_head[] = "        esac\n"
                                 "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                                 "        return\n"
                                 "    fi\n"
                                 "    case \"$command\" in\n";

static const char tail[] = "    esac\n"
                           "    if [ -n \"$words\" ] && [ \"$kind\" != path ]; then\n"
                           "        compopt -o nospace 2>/dev/null\n"
                           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                           "        return\n"
                           "    fi\n"
                           "    compopt -o filenames 2>/dev/null\n"
                           "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                           "}\n"
                           "complete -F _fairlead fairlead\n";

static void write_bash(struct buf *out)
{
    buf_add_text(out, "_fairlead_commands='");
    add_first_words(out);
    buf_add_text(out, "'\n_fairlead_topics='");
    for (const struct help_topic *t = help_topics; t->name != NULL; t++) buf_format(out, " %s", t->name);
    buf_add_text(out, "'\n");
    buf_add_text(out, head);
    add_subcommands(out);
    buf_add_text(out, middle);
    for (const struct command *const *c = commands; *c != NULL; c++) {
        struct option_tables tables;
        command_option_tables(*c, &tables);
        for (uint32_t i = 0; i < tables.count; i++) add_arguments(out, (*c)->name, tables.rows[i]);
    }
    buf_add_text(out, options_head);
    for (const struct command *const *c = commands; *c != NULL; c++) {
        struct option_tables tables;
        command_option_tables(*c, &tables);
        buf_format(out, "        '%s') words='", (*c)->name);
        for (uint32_t i = 0; i < tables.count; i++) add_options(out, tables.rows[i]);
        buf_add_text(out, "' ;;\n");
    }
    buf_add_text(out, values_head);
    for (const struct command *const *c = commands; *c != NULL; c++) add_field_values(out, *c);
    buf_add_text(out, names_head);
    for (const struct command *const *c = commands; *c != NULL; c++) add_field_names(out, *c);
    buf_add_text(out, tail);
}

static int completion_run(struct call *call, struct err *e)
{
    const char *shell = call->parsed.operands[0];
    if (strcmp(shell, "bash") != 0) return err_set(e, ERR_USAGE, "'%s' is not a supported shell (bash)", shell);
    write_bash(&call->out->text);
    return 0;
}

static const struct command_example completion_examples[] = {
    {.line = "eval \"$(fairlead completion bash)\"", .meaning = "complete commands and options in this shell"},
    {0},
};

const struct command cmd_completion = {
    .name = "completion",
    .group = GROUP_HELP,
    .summary = "print a shell completion script",
    .usage = "bash",
    .description = "The script completes commands, options and their values. An installed package contains it already.",
    .operands_min = 1,
    .operands_max = 1,
    .is_local = true,
    .examples = completion_examples,
    .run = completion_run,
};
