/* A file of qsub's -o or -e as a PATTERN of 'fairlead submit'. A directory stands for Grid Engine's default name in it:
 * NAME.oID, or NAME.oID.TASK of an array, and .e for standard error. */
#ifndef FAIRLEAD_CLI_DIRECTIVE_PATH_H
#define FAIRLEAD_CLI_DIRECTIVE_PATH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

struct directive_path {
    const char *text;      /* "[HOST]:/path/$JOB_NAME.o$JOB_ID" */
    const char *directory; /* in which the job runs, for a relative path; NULL: the current one */
    bool is_array, is_error;
};

/* Appends the pattern. ERR_INPUT, without a position: a variable that has no counterpart. */
int directive_path_add_pattern(const struct directive_path *path, struct buf *out, struct err *e);

#endif
