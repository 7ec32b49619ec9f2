/* The whole of a file, a pipe or a terminal, for commands with -f. */
#ifndef FAIRLEAD_CLI_READ_FILE_H
#define FAIRLEAD_CLI_READ_FILE_H

#include "base/err.h"
#include "base/text.h"

/* Appends what is at path ("-": standard input). ERR_INPUT with the path: it is not there or not to be read, a folder, larger
 * than 4 GiB; ERR_IO: the disk. */
int read_file(const char *path, struct buf *out_text, struct err *e);

#endif
