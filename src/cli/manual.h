/* Manual pages, from the tables of commands and options. */
#ifndef FAIRLEAD_CLI_MANUAL_H
#define FAIRLEAD_CLI_MANUAL_H

#include "cli/command.h"

/* fairlead.1: all commands, the environment, the exit statuses. */
void manual_write_overview(struct buf *out);

/* fairlead-COMMAND.1. */
void manual_write_command(const struct command *command, struct buf *out);

#endif
