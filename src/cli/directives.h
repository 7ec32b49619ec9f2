/* The directives of a job script as options of 'fairlead submit'. What decides for each option, first to last:
 *
 *     the command line  |  #FAIRLEAD lines  |  #SBATCH lines, or #$ lines if there are none
 *
 * An option of a higher rank takes the place of a lower one, also of one that means the same thing otherwise (--slots
 * of --cpus). #PBS lines are not read. */
#ifndef FAIRLEAD_CLI_DIRECTIVES_H
#define FAIRLEAD_CLI_DIRECTIVES_H

#include "cli/command.h"

struct directives;

/* Reads the directives of the script and makes call->values and call->job those of all ranks together. file: its name,
 * for positions; prefix: of --directive-prefix, NULL: not given. What is ignored is named on standard error.
 * ERR_INPUT or ERR_USAGE with FILE:LINE:COLUMN. out_directives: for directives_explain, in the call's arena. */
int directives_apply(struct call *call, struct str script, const char *file, const char *prefix,
                     struct directives **out_directives, struct err *e);

/* Puts the position of the directive before an error about an option which a directive gave. d: NULL if
 * there was no script. Returns -1. */
int directives_explain(const struct directives *d, struct call *call, struct err *e);

#endif
