/* The environment a job starts with, by --export:
 *
 *     ALL          all of the submitter's (the default)
 *     NONE         only PATH, HOME, USER, LOGNAME, SHELL, LANG
 *     A,B=x        those and A as the submitter has it, B as x
 *     ALL,B=x      all of the submitter's, B as x
 *
 * Variables that begin with FAIRLEAD_ and those that choose GPUs are the daemon's, which sets them for each task. */
#ifndef FAIRLEAD_CLI_JOB_ENVIRONMENT_H
#define FAIRLEAD_CLI_JOB_ENVIRONMENT_H

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"

typedef ARRAY(struct str) environment_list; /* "NAME=value" */

/* spec NULL: ALL. The entries are in arena or the process's own environment. ERR_INPUT: a name that is none, or is not
 * set. */
int job_environment_collect(const char *spec, struct arena *a, environment_list *out_entries, struct err *e);

#endif
