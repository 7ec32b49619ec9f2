/* fairlead help [COMMAND]: the text of 'fairlead COMMAND --help'. */
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"

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
    if (p->operand_count == 1 && help_has_subcommands(p->operands[0])) {
        help_write_subcommands(p->operands[0], call->out);
        return 0;
    }
    return command_unknown(p, e);
}

const struct command cmd_help = {
    .name = "help",
    .group = GROUP_HELP,
    .summary = "show the help of a command",
    .usage = "[COMMAND]",
    .operands_max = 2,
    .is_local = true,
    .run = help_run,
};
