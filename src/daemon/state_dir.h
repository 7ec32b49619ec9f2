/* The state directory: made, checked, and locked so that one daemon at a time uses it. */
#ifndef FAIRLEAD_DAEMON_STATE_DIR_H
#define FAIRLEAD_DAEMON_STATE_DIR_H

#include "base/arena.h"
#include "base/err.h"

struct place {
    const char *directory;   /* absolute, without symbolic links; ours, mode 0700 */
    const char *socket_path; /* absolute */
    int lock;                /* held until the process ends */
};

/* directory NULL: ${XDG_STATE_HOME:-~/.local/state}/fairlead. socket_path NULL: fairlead.sock in it. Makes what is missing.
 * ERR_CONFLICT when another daemon has it; ERR_DENIED when it belongs to somebody else or others may write to it. */
int place_open(const char *directory, const char *socket_path, struct arena *arena, struct place *out_place,
               struct err *e);

#endif
