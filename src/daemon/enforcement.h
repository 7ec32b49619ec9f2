/* Keeping jobs to what they asked for: which limits a launch gets, and what status says of them. */
#ifndef FAIRLEAD_DAEMON_ENFORCEMENT_H
#define FAIRLEAD_DAEMON_ENFORCEMENT_H

#include "api/server/server.h"
#include "daemon/daemon.h"

/* Sets the CPUs and the memory limit of a launch, whose mem_mib is set, as the settings say. The caller releases its
 * CPUs. */
void enforcement_set(const struct daemon *d, const struct task *k, struct launch *launch);

/* The function for server_host.list_enforcement; context is the daemon. */
uint32_t enforcement_list(void *context, struct arena *arena, const struct server_enforcement **out_rows);

#endif
