/* Where instances listen: the sockets that a client tries, and the state directory of a private instance.
 *
 *     given (--socket)              only this one
 *     $FAIRLEAD_SOCKET              only this one
 *     STATE/fairlead.sock           the private instance of the user
 *     /run/fairlead/fairlead.sock   the instance of the system, if no private one answers
 *
 * If neither answers, the error is about the private instance, unless the user has none and the machine has one.
 *
 * STATE is ${XDG_STATE_HOME:-~/.local/state}/fairlead. */
#ifndef FAIRLEAD_API_CLIENT_ADDRESS_H
#define FAIRLEAD_API_CLIENT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { ADDRESS_BYTES_MAX = 107 }; /* of a socket's path, by struct sockaddr_un of Linux */

#define SYSTEM_ADDRESS "/run/fairlead/fairlead.sock"

/* Where a machine with an instance for all users has something also while that is down. */
#define SYSTEM_RUN "/run/fairlead"
#define SYSTEM_LAUNCHER_STATE "/var/lib/fairlead-launcher"

/* The sockets to try, in this order. */
struct addresses {
    const char *path[2];
    uint32_t count;
};

/* Finds the sockets to try. given: NULL if --socket is not given. The paths are in memory of arena, are given itself,
 * or live as long as the environment. ERR_INPUT: the first path is empty or too long. */
int addresses_find(const char *given, struct arena *arena, struct addresses *out_addresses, struct err *e);

/* Whether a socket can have this path: 0, or -1 with ERR_INPUT. */
int address_check(const char *path, struct err *e);

/* Whether the path is /run/NAME/FILE, the only ones at which a server of another user is trusted. */
bool address_is_below_run(const char *path);

/* The absolute form of a path: path itself, or in memory of arena. Does not resolve symbolic links. ERR_INPUT: it is
 * empty. ERR_IO: the current directory cannot be read. */
int address_absolute(const char *path, struct arena *arena, const char **out_path, struct err *e);

/* The absolute path of a private instance's state directory: given, or the default if given is NULL. ERR_INPUT: there
 * is no default, because neither XDG_STATE_HOME nor HOME is an absolute path. */
int address_state_directory(const char *given, struct arena *arena, const char **out_path, struct err *e);

/* The path of the socket of the instance with that state directory, in memory of arena. */
const char *address_in(const char *state_directory, struct arena *arena);

#endif
