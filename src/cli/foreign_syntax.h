/* What people type who come from another scheduler: its commands, its options of submission, its lines in scripts. They
 * are not accepted, because they would mean something a little different; but the message says what is written here. */
#ifndef FAIRLEAD_CLI_FOREIGN_SYNTAX_H
#define FAIRLEAD_CLI_FOREIGN_SYNTAX_H

#include "base/str.h"

/* The command of ours for one of another scheduler ("sbatch": "submit"), or NULL. */
const char *foreign_syntax_command(const char *word);

/* What is written instead of an option of sbatch or qsub, without dashes; or NULL. */
const char *foreign_syntax_submit_option(const char *word);

/* What is written instead of a resource that qsub -l knows as a limit ("h_rt"); or NULL. */
const char *foreign_syntax_request(struct str name);

/* "#SBATCH", "#$" or "#PBS", whichever a line among the script's first comments begins with; or NULL. */
const char *foreign_syntax_directive(struct str script);

#endif
