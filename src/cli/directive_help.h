/* The text of 'fairlead help directives': the rules, and what each option of sbatch and qsub means, from the table. */
#ifndef FAIRLEAD_CLI_DIRECTIVE_HELP_H
#define FAIRLEAD_CLI_DIRECTIVE_HELP_H

#include "base/text.h"

void directive_help_write(struct buf *out);

#endif
