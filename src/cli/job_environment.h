/* The environment that a job starts with, as --export chooses it:
 *
 *     ALL          all of the submitter's (the default)
 *     NONE         only PATH, HOME, USER, LOGNAME, SHELL, LANG
 *     A,B=x        these six, A as the submitter has it, and B as x
 *     ALL,B=x      all of the submitter's, and B as x
 *
 * The daemon sets the variables that begin with FAIRLEAD_ and those that choose GPUs for each task, whatever is given
 * here. */
#ifndef FAIRLEAD_CLI_JOB_ENVIRONMENT_H
#define FAIRLEAD_CLI_JOB_ENVIRONMENT_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"

typedef ARRAY(struct str) environment_list; /* "NAME=value" */

/* spec: the argument of --export; NULL: ALL. The entries' texts are in the arena or in the process's environment; the
 * caller releases the list. ERR_INPUT: an invalid name, or a variable that is not set. */
int job_environment_collect(const char *spec, struct arena *a, environment_list *out_entries, struct err *e);

#endif
