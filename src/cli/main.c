/* fairlead: finds the command, parses its options and runs it. An error is printed as one line.
 *
 *     argv -> command_of_words -> options_parse -> command->run -> output_flush -> exit status
 *
 * Exit status: the command's own; 2 for input that cannot be read or accepted, 1 for every other failure (base/err.c).
 * The output is flushed before the exit status is chosen, so a full disk is a failure. */
#include <string.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/foreign_syntax.h"
#include "cli/help.h"
#include "cli/hints.h"
#include "cli/instance.h"
#include "cli/job_options.h"
#include "cli/older_limits.h"

enum { EXIT_USAGE = 2, NAME_BYTES = 80 };

/* Whether there is a hint for the error of a command. A file's fields are not in the help of the command. */
static bool write_hint(const char *name, const struct err *e, char out[HINT_SIZE])
{
    if (hint_write(e, out)) return true;
    if (name[0] == '\0' || e->where[0] != '\0' || !err_has_near_fields(e)) return false;
    text_format(out, HINT_SIZE, "see 'fairlead %s --help'", name);
    return true;
}

/* Prints the error as one line, with a hint if there is one. Returns the exit status. name: of the command, or "". */
static int fail(const char *name, const struct err *e, bool has_position)
{
    char hint[HINT_SIZE];
    const char *sentence = ERR_SENTENCE(e);
    bool has_hint = write_hint(name, e, hint),
         is_question = sentence[0] != '\0' && *(strchr(sentence, '\0') - 1) == '?';
    const char *separator = !has_hint ? "" : is_question ? " " : "; ", *advice = has_hint ? hint : "";
    if (has_position) {
        output_note("%s%s%s", sentence, separator, advice);
    } else {
        output_note("fairlead%s%s: %s%s%s", name[0] != 0 ? " " : "", name, sentence, separator, advice);
    }
    return err_exit_status(e->code);
}

/* Flushes; a failed write turns success into failure. */
static int finish(struct output *out, const char *name, int status)
{
    struct err e = {0};
    bool is_known = out->is_failure_known;
    if (output_flush(out, &e) != 0) {
        int write_status = is_known ? err_exit_status(e.code) : fail(name, &e, false);
        if (status == 0) status = write_status;
    }
    output_release(out);
    return status;
}

/* The tables of the command's options and the structs that they fill, in the order of command_option_tables. */
static struct option_rules rules_of(const struct command *command, struct call *call, void *values, const char *name)
{
    struct option_tables tables;
    void *const targets[OPTION_SETS_MAX] = {values, call->job, &call->common};
    struct option_rules rules = {.name = name,
                                 .options_first = command->options_first,
                                 .explain = command->explain,
                                 .now_us = instance_now_us,
                                 .now_context = call};
    command_option_tables(command, &tables);
    rules.set_count = tables.count;
    for (uint32_t i = 0; i < tables.count; i++)
        rules.sets[i] = (struct option_set){.rows = tables.rows[i], .values = targets[i]};
    return rules;
}

/* Whether the first operand is a name, which is never empty. */
static bool names_first(const struct command *command)
{
    if (command->usage == NULL) return false;
    return strstr(command->usage, "[NAME]") != NULL ||
           (command->operands_min > 0 && strstr(command->usage, "NAME") != NULL);
}

static int run(const struct command *command, int argc, char **argv, struct arena *arena, struct output *out)
{
    void *values = arena_alloc(arena, command->values_size);
    struct call call = {.command = command, .values = values, .arena = arena, .out = out};
    struct err e = {0};
    char name[NAME_BYTES];
    text_format(name, sizeof name, "fairlead %s", command->name);
    if (command->job_options != JOB_OPTIONS_NONE) call.job = arena_alloc(arena, sizeof *call.job);
    const struct option_rules rules = rules_of(command, &call, values, name);
    if (options_parse(&rules, argc, argv, &call.parsed, &e) != 0) {
        return fail(command->name, &e, false);
    }
    if (call.common.wants_help) {
        help_write_command(command, out);
        return 0;
    }
    uint32_t count = call.parsed.operand_count;
    if (count > command->operands_max) {
        if (!options_explain_bare(&call.parsed, &e))
            err_set(&e, ERR_USAGE, "unexpected argument '%s'; see '%s --help'",
                    call.parsed.operands[command->operands_max], name);
        return fail(command->name, &e, false);
    }
    if (count < command->operands_min) {
        err_set(&e, ERR_USAGE, "missing argument; usage: %s %s", name, command->usage);
        return fail(command->name, &e, false);
    }
    if (count > 0 && call.parsed.operands[0][0] == '\0' && names_first(command)) {
        err_set(&e, ERR_USAGE, "the name is empty; see '%s --help'", name);
        return fail(command->name, &e, false);
    }
    int status = older_limits_rewrite(&call, &e) != 0 ? -1 : command->run(&call, &e);
    return status >= 0 ? status : fail(command->name, &e, call.error_has_position);
}

/* The command that argv[1], or argv[1] and argv[2] together, name, or NULL. *out_word_count: 1 or 2. */
static const struct command *command_of_words(int argc, char **argv, int *out_word_count)
{
    char name[NAME_BYTES];
    const struct command *found = NULL;
    if (argc > 2 && text_format(name, sizeof name, "%s %s", argv[1], argv[2]) < sizeof name) found = command_find(name);
    *out_word_count = found != NULL ? 2 : 1;
    return found != NULL ? found : command_find(argv[1]);
}

/* Whether the name is of two words, the first of which is parent. */
static bool is_subcommand(const char *name, const char *parent)
{
    size_t length = strlen(parent);
    return strncmp(name, parent, length) == 0 && name[length] == ' ';
}

/* The command with the name most like a mistyped one, or NULL: at most half of the letters may differ. parent: the word
 * before it, or NULL. */
static const struct command *nearest_command(const char *parent, const char *word)
{
    const struct command *nearest = NULL;
    uint32_t length = (uint32_t)strlen(word), min = length / 3 + 2;
    size_t start = parent != NULL ? strlen(parent) + 1 : 0;
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (parent != NULL && !is_subcommand((*c)->name, parent)) continue;
        uint32_t distance = str_distance(str(word), str((*c)->name + start));
        if (distance < min && 2 * distance <= length) {
            min = distance;
            nearest = *c;
        }
    }
    return nearest;
}

static const struct command *only_subcommand(const char *parent)
{
    const struct command *found = NULL;
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (!is_subcommand((*c)->name, parent)) continue;
        if (found != NULL) return NULL;
        found = *c;
    }
    return found;
}

/* "modify account" is 'account modify', "list users" is 'user show', as in sacctmgr. next: NULL: no more words. NULL:
 * not known. */
static const char *equivalent_of_reversed(const char *word, const char *next)
{
    char name[NAME_BYTES];
    const char *subcommand = foreign_syntax_subcommand(word), *shown = next != NULL ? foreign_syntax_shown(next) : NULL;
    const struct command *found;
    if (next == NULL) return NULL;
    if (subcommand != NULL && strcmp(subcommand, "show") == 0 && shown != NULL) return shown;
    text_format(name, sizeof name, "%s %s", next, subcommand != NULL ? subcommand : word);
    found = command_find(name);
    return found != NULL ? found->name : NULL;
}

static bool is_either(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* The command for "scontrol update JobId=5", "sacctmgr add user ann", "qconf -mq", "qmod -d"; NULL: not known. out: its
 * memory, if it needs any. */
static const char *equivalent_of_program(int argc, char **argv, char out[FOREIGN_COMMAND_SIZE])
{
    int unused;
    if (argc < 3) return NULL;
    if (strcmp(argv[1], "qconf") == 0) return foreign_syntax_qconf(argv[2], out) ? out : NULL;
    if (strcmp(argv[1], "qmod") == 0) return foreign_syntax_qmod(argv[2]);
    if (!is_either(argv[1], "scontrol", "sacctmgr")) return NULL;
    const char *equivalent = equivalent_of_reversed(argv[2], argc > 3 ? argv[3] : NULL);
    const struct command *command = command_of_words(argc - 1, argv + 1, &unused);
    if (command != NULL) return command->name;
    if (equivalent == NULL && argc > 3 && strcmp(argv[2], "show") == 0) equivalent = foreign_syntax_shown(argv[3]);
    return equivalent != NULL ? equivalent : foreign_syntax_command(argv[2]);
}

/* argv[1] names no command: says which one it may have been. */
static int refuse_unknown(int argc, char **argv)
{
    char text[FOREIGN_COMMAND_SIZE];
    const char *word = argv[1], *equivalent = equivalent_of_program(argc, argv, text);
    if (equivalent == NULL) equivalent = equivalent_of_reversed(word, argc > 2 ? argv[2] : NULL);
    if (equivalent == NULL) equivalent = foreign_syntax_command(word);
    const struct command *nearest = equivalent == NULL ? nearest_command(NULL, word) : NULL;
    if (nearest != NULL) equivalent = nearest->name;
    if (word[0] == '-') {
        output_note("fairlead: unknown option '%s': a command comes first; see 'fairlead --help'", word);
    } else if (equivalent != NULL) {
        output_note("fairlead: unknown command '%s'; did you mean '%s'? see 'fairlead --help'", word, equivalent);
    } else {
        output_note("fairlead: unknown command '%s'; see 'fairlead --help'", word);
    }
    return EXIT_USAGE;
}

/* "user list" is 'user show', "show partition" is 'partition show', "show nodes" is 'host show'. NULL: not known. */
static const struct command *equivalent_of_subcommand(const char *parent, const char *word)
{
    char name[NAME_BYTES];
    const char *equivalent = foreign_syntax_subcommand(word);
    if (strcmp(parent, "show") == 0) {
        const char *shown = foreign_syntax_shown(word);
        text_format(name, sizeof name, "%s%s", shown != NULL ? shown : word, shown != NULL ? "" : " show");
        return command_find(name);
    }
    text_format(name, sizeof name, "%s %s", parent, equivalent != NULL ? equivalent : "");
    return command_find(name);
}

/* The same for a word after one that has subcommands. */
static int refuse_unknown_subcommand(const char *parent, const char *word)
{
    const struct command *nearest = nearest_command(parent, word), *equivalent = equivalent_of_subcommand(parent, word);
    struct buf names = {0};
    if (equivalent != NULL) nearest = equivalent;
    if (nearest == NULL) nearest = only_subcommand(parent);
    if (nearest != NULL) {
        output_note("fairlead: unknown command '%s %s'; did you mean '%s'? see 'fairlead --help'", parent, word,
                    nearest->name);
        return EXIT_USAGE;
    }
    help_write_subcommand_names(parent, &names);
    output_note("fairlead %s: unknown subcommand '%s': %.*s", parent, word, (int)names.length, names.text);
    buf_release(&names);
    return EXIT_USAGE;
}

static int refuse_missing_subcommand(const char *word)
{
    struct buf names = {0};
    help_write_subcommand_names(word, &names);
    output_note("fairlead %s: missing subcommand: %.*s", word, (int)names.length, names.text);
    buf_release(&names);
    return EXIT_USAGE;
}

/* "fairlead", "fairlead --help", "fairlead --version", "fairlead account": the words name no command. */
static int run_without_command(int argc, char **argv, struct output *out)
{
    if (argc < 2) {
        output_note("fairlead: missing command; see 'fairlead --help'");
        return EXIT_USAGE;
    }
    if (is_either(argv[1], "--help", "-h")) {
        help_write_overview(out);
        return 0;
    }
    if (is_either(argv[1], "--version", "-V")) {
        buf_add_text(&out->text, "fairlead " FAIRLEAD_VERSION "\n");
        return 0;
    }
    if (help_has_subcommands(argv[1]) && argc > 2 && is_either(argv[2], "--help", "-h")) {
        help_write_subcommands(argv[1], out);
        return 0;
    }
    if (!help_has_subcommands(argv[1])) return refuse_unknown(argc, argv);
    return argc == 2 ? refuse_missing_subcommand(argv[1]) : refuse_unknown_subcommand(argv[1], argv[2]);
}

/* A daemon that is stopped, or waits for its disk, accepts connections all the same. */
static void note_silence(const struct client *c, int seconds)
{
    output_note(
        "the instance at %s (process %d) has not answered for %d s; still waiting. Its log is fairleadd.log in its "
        "state directory; 'ps -o stat,wchan,args -p %d' shows what it does (T: stopped, D: waits for the disk)",
        c->socket, (int)client_peer(c), seconds, (int)client_peer(c));
}

int main(int argc, char **argv)
{
    struct output out;
    struct arena arena = {0};
    if (isatty(STDERR_FILENO)) client_on_slow = note_silence;
    output_init(&out, STDOUT_FILENO);

    int word_count = 1, status;
    const struct command *command = argc > 1 ? command_of_words(argc, argv, &word_count) : NULL;
    if (command == NULL) {
        status = run_without_command(argc, argv, &out);
    } else {
        status = run(command, argc - word_count, argv + word_count, &arena, &out);
    }
    status = finish(&out, command != NULL ? command->name : "", status);
    arena_release(&arena);
    return status;
}
