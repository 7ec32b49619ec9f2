/* Where instances listen: which sockets a client tries, and where a private instance keeps its state.
 *
 *     given (--socket)              only this one
 *     $FAIRLEAD_SOCKET              only this one
 *     STATE/fairlead.sock           the private instance of the user
 *     /run/fairlead/fairlead.sock   the instance of the system, if no private one answers
 *
 * STATE is ${XDG_STATE_HOME:-~/.local/state}/fairlead. */
#ifndef FAIRLEAD_API_CLIENT_ADDRESS_H
#define FAIRLEAD_API_CLIENT_ADDRESS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { ADDRESS_LENGTH_MAX = 107 }; /* of a socket's path, by the kernel's struct sockaddr_un */

#define SYSTEM_ADDRESS "/run/fairlead/fairlead.sock"

/* What to try, in this order. */
struct addresses {
    const char *path[2];
    uint32_t count;
};

/* given NULL: not given. Paths are in arena or live as long as the environment. ERR_INPUT: too long. */
int addresses_find(const char *given, struct arena *a, struct addresses *out_addresses, struct err *e);

/* ERR_INPUT when no socket can have that path. */
int address_check(const char *path, struct err *e);

/* The path from the root: itself, or behind the current directory. ERR_INPUT: empty. */
int address_absolute(const char *path, struct arena *a, const char **out_path, struct err *e);

/* The state directory of a private instance, absolute: the one given, else the standard one. ERR_INPUT when neither
 * XDG_STATE_HOME nor HOME says where. */
int address_state_directory(const char *given, struct arena *a, const char **out_path, struct err *e);

/* The socket of the instance with that state directory. */
const char *address_in(const char *state_directory, struct arena *a);

#endif
