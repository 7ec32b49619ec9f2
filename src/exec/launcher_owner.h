/* Which instance a system launcher serves: the file owner in the launcher's directory, which is root's, and which the
 * daemon's account can read. A launcher has the jobs of one instance. Another one would end them as jobs that it does
 * not know, and would take the launcher's connection away, so it is refused. */
#ifndef FAIRLEAD_EXEC_LAUNCHER_OWNER_H
#define FAIRLEAD_EXEC_LAUNCHER_OWNER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

#define LAUNCHER_OWNER_FILE "owner"

/* id: of the instance, which follows a state directory that is moved; "": it has none yet. state: the path of its state
 * directory, which stays when a database is restored in it and gets another id. NULL: none. */
struct launcher_owner {
    const char *id, *state;
};

/* Reads the owner of a launcher's directory; members NULL if there is none, or none that can be read. */
struct launcher_owner launcher_owner_read(const char *directory, struct arena *arena);

/* Whether the launcher of the directory may serve an instance: it is the owner, or the owner's state directory is gone.
 * is_busy: the owner's daemon is connected, or launches of it are known. ERR_CONFLICT: it may not. */
int launcher_owner_admit(const char *directory, const struct launcher_owner *owner,
                         const struct launcher_owner *instance, bool is_busy, struct err *e);

#endif
