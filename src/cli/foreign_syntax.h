/* The syntax of other schedulers on the command line: Slurm's, Grid Engine's and PBS' commands, options and resources.
 * They are not accepted, because they would mean something slightly different here; but the error message names
 * Fairlead's equivalent. Options of submissions are those of foreign_options.h, which directives use, too. */
#ifndef FAIRLEAD_CLI_FOREIGN_SYNTAX_H
#define FAIRLEAD_CLI_FOREIGN_SYNTAX_H

#include <stdbool.h>

#include "base/str.h"

enum { FOREIGN_COMMAND_SIZE = 40 };

/* The equivalent command, maybe with an option ("sbatch": "submit", "requeuehold": "requeue --hold"), or NULL. */
const char *foreign_syntax_command(const char *word);

/* Advice for an option of sbatch or qsub, given without its dashes ("ntasks": "use -n, --cpus for CPUs"), or NULL. */
const char *foreign_syntax_submit_option(const char *word);

/* The same for a change of a job; what a submission alone can set, it says. */
const char *foreign_syntax_update_option(const char *word);

/* The same for options of the commands that list jobs, priorities and shares, and that cancel jobs. */
const char *foreign_syntax_queue_option(const char *word);
const char *foreign_syntax_history_option(const char *word);
const char *foreign_syntax_prio_option(const char *word);
const char *foreign_syntax_share_option(const char *word);
const char *foreign_syntax_cancel_option(const char *word);

/* The equivalent of a word that stands for a subcommand ("list": "show"), or NULL. */
const char *foreign_syntax_subcommand(const char *word);

/* The command that shows what other programs show by this word after 'show' ("nodes": "host show"), or NULL. */
const char *foreign_syntax_shown(const char *word);

/* Advice for a word, in any case, among the fields of an account or user ("Fairshare": "use --shares N for the
 * shares"), or NULL. */
const char *foreign_syntax_field(struct str name);

/* The same among the fields of partitions, groups and other objects ("Nodes": "use hosts=NAME,..."). */
const char *foreign_syntax_object_field(struct str name);

/* The same for a NAME=VALUE of scontrol update ("TimeLimit": "use -t, --time DURATION"). */
const char *foreign_syntax_update_pair(struct str name);

/* The command for an option of qconf ("-mq": "partition modify") or qmod ("-d": "partition drain"). */
bool foreign_syntax_qconf(const char *option, char out[FOREIGN_COMMAND_SIZE]);
const char *foreign_syntax_qmod(const char *option);

/* Advice for a resource of qsub -l that is an option here ("h_rt": "use -t for the time limit"), or NULL. */
const char *foreign_syntax_request(struct str name);

#endif
