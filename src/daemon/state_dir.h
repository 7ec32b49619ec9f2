/* The state directory of an instance: creates it, checks its owner and mode, and locks it, so that only one daemon at a
 * time uses it. */
#ifndef FAIRLEAD_DAEMON_STATE_DIR_H
#define FAIRLEAD_DAEMON_STATE_DIR_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"

struct state_dir {
    const char *path;        /* absolute, without symbolic links; of this user */
    const char *socket_path; /* absolute */
    int lock_fd;             /* locked until the process ends */
    long long former_pid;    /* of the last daemon here, if it did not end by itself; 0: it did, or there was none */
};

/* The most that others may do: enter that of a system instance. */
#define STATE_DIR_PRIVATE_MODE 0700
#define STATE_DIR_SYSTEM_MODE 0711

/* Opens the directory path and locks it; creates it and its parents if they are missing. path NULL:
 * ${XDG_STATE_HOME:-~/.local/state}/fairlead. socket_path NULL: fairlead.sock in the directory. The texts of out_dir
 * are in memory of arena, or socket_path itself. ERR_CONFLICT: another daemon has the lock. ERR_DENIED: the directory
 * belongs to another user, or other users can write to it. ERR_INPUT, ERR_IO: it cannot be created or opened.
 * ERR_USAGE: path is NULL, and neither XDG_STATE_HOME nor HOME is an absolute path. */
int state_dir_open(const char *path, const char *socket_path, mode_t mode, struct arena *arena,
                   struct state_dir *out_dir, struct err *e);

/* Says in the lock file that this daemon has ended by itself: the next one finds no former_pid. */
void state_dir_note_end(const struct state_dir *dir);

#endif
