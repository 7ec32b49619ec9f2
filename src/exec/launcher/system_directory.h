/* The state directory of a system launcher. What is in it the launcher trusts, so only root may write there: the
 * directory and all above it belong to root and are closed to the writes of others, but for directories with the sticky
 * bit, such as /tmp, in which nothing of root's can be exchanged. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_SYSTEM_DIRECTORY_H
#define FAIRLEAD_EXEC_LAUNCHER_SYSTEM_DIRECTORY_H

#include <limits.h>

#include "base/err.h"
#include "exec/launcher_owner.h"

/* Creates the directory if it is missing, and checks it. out_path: its path without symbolic links. ERR_DENIED: it,
 * or a directory above, could be changed by another user. ERR_IO. spool_open checks its mode. */
int system_directory_prepare(const char *path, char out_path[PATH_MAX], struct err *e);

/* Makes the file `instance`, with a random id, in the open directory, unless it exists. ERR_UNAVAILABLE, ERR_IO. */
int system_directory_make_id(int fd, struct err *e);

/* Writes the file `owner`, synced, in the place of the former one. ERR_IO. */
int system_directory_write_owner(int fd, const struct launcher_owner *owner, struct err *e);

#endif
