/* Reads a whole file, pipe or terminal, for commands with -f. */
#ifndef FAIRLEAD_CLI_READ_FILE_H
#define FAIRLEAD_CLI_READ_FILE_H

#include "base/err.h"
#include "base/text.h"

/* Appends the content of path ("-": standard input) to out_text. The error begins with the path. ERR_INPUT: it does not
 * exist, cannot be read, is a directory, has a zero byte, or is larger than 1 GiB; ERR_IO: an I/O error. */
int read_file(const char *path, struct buf *out_text, struct err *e);

#endif
