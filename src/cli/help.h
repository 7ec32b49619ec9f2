/* The text of --help, computed from the tables of commands and options. */
#ifndef FAIRLEAD_CLI_HELP_H
#define FAIRLEAD_CLI_HELP_H

#include "cli/command.h"

/* Appends the list of all commands, by group. */
void help_write_overview(struct output *out);

/* Appends the help of one command: usage, description, fields, options, examples, exit statuses. */
void help_write_command(const struct command *command, struct output *out);

/* Whether the word ("account") has subcommands; appends their help; appends "add, modify, delete or show". */
bool help_has_subcommands(const char *word);
void help_write_subcommands(const char *word, struct output *out);
void help_write_subcommand_names(const char *word, struct buf *out);

/* The exit statuses that every command has; ends with {0}. */
extern const struct command_exit help_common_exits[];

/* The row for the status in a table of exit statuses (NULL: no table), or NULL. A command's row replaces the common
 * one. */
const struct command_exit *help_find_exit(const struct command_exit *exits, int status);

#endif
