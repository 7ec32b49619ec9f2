/* fairlead manual [COMMAND]: the source of a manual page. The build generates the installed pages with it. */
#include "base/text.h"
#include "cli/command.h"
#include "cli/manual.h"

static int manual_run(struct call *call, struct err *e)
{
    if (call->parsed.operand_count == 0) {
        manual_write_overview(&call->out->text);
        return 0;
    }
    const struct command *command = command_of_operands(&call->parsed);
    if (command == NULL) return command_unknown(&call->parsed, e);
    manual_write_command(command, &call->out->text);
    return 0;
}

static const struct command_example manual_examples[] = {
    {.line = "fairlead manual share | man -l -", .meaning = "read a page that is not installed"},
    {0},
};

const struct command cmd_manual = {
    .name = "manual",
    .group = GROUP_HELP,
    .summary = "print the source of a manual page",
    .usage = "[COMMAND]",
    .description = "Prints fairlead-COMMAND(1), or fairlead(1) if no command is given, in the man(7) format.",
    .operands_max = 2,
    .is_local = true,
    .examples = manual_examples,
    .run = manual_run,
};
