/* What --help says, from the tables of commands and options. */
#ifndef FAIRLEAD_CLI_HELP_H
#define FAIRLEAD_CLI_HELP_H

#include "cli/command.h"

/* All commands in groups. */
void help_write_overview(struct output *out);

/* One command: usage, text, options, examples, exit statuses. */
void help_write_command(const struct command *command, struct output *out);

/* The commands of two words that begin with this one ("account"). */
bool help_has_family(const char *word);
void help_write_family(const char *word, struct output *out);

/* A field as it is written: "PriorityTier=COUNT", "ties=merge|slurm". out: HELP_FIELD_BYTES. */
enum { HELP_FIELD_BYTES = 160 };
void help_field(const struct field *f, char *out);

/* "how long (a duration in seconds from 0 to 86400; 30 by default)". */
void help_field_meaning(const struct field *f, struct buf *out);

/* The exit statuses every command has, and the environment: for help and manual pages. */
extern const struct command_exit help_common_exits[];

/* Whether a command says itself what a status means, instead of help_common_exits. */
bool help_has_exit(const struct command_exit *exits, int status);

#endif
