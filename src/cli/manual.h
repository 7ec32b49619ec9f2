/* Manual pages, computed from the tables of commands and options. */
#ifndef FAIRLEAD_CLI_MANUAL_H
#define FAIRLEAD_CLI_MANUAL_H

#include "cli/command.h"

/* Appends fairlead.1: the list of commands, the exit statuses, the environment. */
void manual_write_overview(struct buf *out);

/* Appends fairlead-COMMAND.1. */
void manual_write_command(const struct command *command, struct buf *out);

#endif
