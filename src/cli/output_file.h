/* A file that a command writes. A regular file is replaced as a whole: the text goes to a temporary file beside it,
 * which takes its name once it is synced, so that the old file stays if anything fails. Anything else (a device, a
 * pipe) is written directly. */
#ifndef FAIRLEAD_CLI_OUTPUT_FILE_H
#define FAIRLEAD_CLI_OUTPUT_FILE_H

#include <limits.h>

#include "cli/output.h"

struct output_file {
    struct output output;
    const char *path;             /* as it was given, for messages */
    char target[PATH_MAX];        /* of a regular file: the path without symbolic links */
    char temporary[PATH_MAX + 8]; /* empty: it is written directly */
};

/* ERR_IO: it cannot be opened or created. */
int output_file_open(struct output_file *f, const char *path, struct err *e);

/* Writes the rest of the text, and gives the file its name. status: of what the text was made from; if it is not 0, or
 * if writing fails (ERR_IO), the file is as before. Returns the status. */
int output_file_close(struct output_file *f, int status, struct err *e);

#endif
