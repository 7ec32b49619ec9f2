/* The state directory of an instance: creates it, checks its owner and mode, and locks it, so that only one daemon at a
 * time uses it. */
#ifndef FAIRLEAD_DAEMON_STATE_DIR_H
#define FAIRLEAD_DAEMON_STATE_DIR_H

#include "base/arena.h"
#include "base/err.h"

struct state_dir {
    const char *path;        /* absolute, without symbolic links; of this user, mode 0700 */
    const char *socket_path; /* absolute */
    int lock_fd;             /* locked until the process ends */
};

/* Opens the directory path and locks it; creates it and its parents if they are missing. path NULL:
 * ${XDG_STATE_HOME:-~/.local/state}/fairlead. socket_path NULL: fairlead.sock in the directory. The texts of out_dir
 * are in memory of arena, or socket_path itself. ERR_CONFLICT: another daemon has the lock. ERR_DENIED: the directory
 * belongs to another user, or other users can write to it. ERR_INPUT, ERR_IO: it cannot be created or opened.
 * ERR_USAGE: path is NULL, and neither XDG_STATE_HOME nor HOME is an absolute path. */
int state_dir_open(const char *path, const char *socket_path, struct arena *arena, struct state_dir *out_dir,
                   struct err *e);

#endif
