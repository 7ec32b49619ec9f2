/* A file that appears under its name only when it is complete and on the disk. Until then it is NAME.XXXXXX, with mode
 * 0600, and SIGINT, SIGTERM, SIGHUP and every failure remove it. One at a time in a process. */
#ifndef FAIRLEAD_CLI_TEMPORARY_FILE_H
#define FAIRLEAD_CLI_TEMPORARY_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

struct temporary_file {
    int fd;
    const char *name; /* the caller's, while the file is open */
    char path[PATH_MAX];
};

/* Creates the file beside name. Afterwards a file that grows over ulimit -f is a failed write (SIGXFSZ is ignored).
 * ERR_IO. */
int temporary_file_open(struct temporary_file *t, const char *name, struct err *e);

/* Brings the file and its directory entry to the disk. replaces: a file of that name is replaced; otherwise it is
 * ERR_EXISTS. ERR_IO. Closes the file in any case, and removes it if that fails. */
int temporary_file_publish(struct temporary_file *t, bool replaces, struct err *e);

/* Closes and removes the file. */
void temporary_file_remove(struct temporary_file *t);

#endif
