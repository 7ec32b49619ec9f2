/* fairlead help [COMMAND | TOPIC]: the text of 'fairlead COMMAND --help', or of a topic (help_topics.h). */
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/help_topics.h"

static int help_run(struct call *call, struct err *e)
{
    const struct parsed *p = &call->parsed;
    if (p->operand_count == 0) {
        help_write_overview(call->out);
        return 0;
    }
    const struct command *command = command_of_operands(p);
    if (command != NULL) {
        help_write_command(command, call->out);
        return 0;
    }
    const struct help_topic *topic = p->operand_count == 1 ? help_topic_find(p->operands[0]) : NULL;
    if (topic != NULL) {
        topic->write(&call->out->text);
        return 0;
    }
    if (p->operand_count == 1 && help_has_subcommands(p->operands[0])) {
        help_write_subcommands(p->operands[0], call->out);
        return 0;
    }
    const char *kind, *lister = p->operand_count == 1 ? help_topic_of_name(p->operands[0], &kind) : NULL;
    if (lister != NULL)
        return err_set(e, ERR_USAGE, "'%s' is a %s; run 'fairlead help %s'", p->operands[0], kind, lister);
    topic = p->operand_count == 1 ? help_topic_nearest(p->operands[0]) : NULL;
    if (topic != NULL)
        return err_set(e, ERR_USAGE, "unknown command or topic '%s'; did you mean '%s'?", p->operands[0], topic->name);
    return command_unknown(p, e);
}

const struct command cmd_help = {
    .name = "help",
    .group = GROUP_HELP,
    .summary = "show the help of a command or a topic",
    .usage = "[COMMAND | TOPIC]",
    .description =
        "Topics are limits (which limits there are, and of what), reasons (why jobs are pending, and what to do) and times (how "
        "times and durations are written).",
    .operands_max = 2,
    .is_local = true,
    .run = help_run,
};
